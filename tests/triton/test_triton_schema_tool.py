"""Descriptor, license and schema of Triton's models are consistent, and what makes them refuses to guess."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tools import triton_descriptions, triton_schema, triton_wheel

DESCRIPTOR = triton_wheel.DESCRIPTOR.read_bytes()


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel with generated code like tritonclient's, around the committed descriptor."""
    code = f"import nothing_of_this_is_run\npool.AddSerializedFile({DESCRIPTOR!r})"
    return make_wheel(tmp_path, code)


def make_wheel(folder: Path, code: str) -> Path:
    path = folder / "tritonclient-9.8.7-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("tritonclient/grpc/model_config_pb2.py", code)
        archive.writestr("tritonclient-9.8.7.dist-info/licenses/LICENSE.txt", "# Terms\n#  * of use\n")
    return path


def test_a_wheel_yields_the_committed_descriptor_without_running_its_code(wheel: Path) -> None:
    assert triton_wheel.descriptor_in_wheel(wheel) == DESCRIPTOR


def test_the_one_wheel_in_the_folder_is_taken(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton_wheel, "WHEELS", wheel.parent)
    assert triton_wheel.generate() == {
        triton_wheel.DESCRIPTOR: DESCRIPTOR,
        triton_wheel.NOTICE: triton_wheel.notice_of_wheel(wheel),
    }
    wheel.with_name("tritonclient-9.8.8-py3-none-any.whl").touch()
    with pytest.raises(SystemExit, match=f"2 wheels .*: {triton_wheel.DOWNLOAD}"):
        triton_wheel.generate()


def test_the_notice_gives_origin_holders_and_terms(wheel: Path) -> None:
    notice = triton_wheel.notice_of_wheel(wheel)
    for part in ("tritonclient 9.8.7", "NVIDIA CORPORATION", "TensorFlow Authors", "\nTerms\n * of use\n"):
        assert part in notice


def test_the_descriptor_has_its_license_beside_it() -> None:
    assert "Redistribution and use in source and binary forms" in triton_wheel.NOTICE.read_text()


def test_generated_code_of_another_make_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="AddSerializedFile"):
        triton_wheel.descriptor_in_wheel(make_wheel(tmp_path, "DESCRIPTOR = None"))


@pytest.mark.parametrize(
    ("path", "fields", "complaint"),
    [
        ("ModelInput", {"name": "…"}, r"missing: \[\('ModelInput', ''\)\]"),
        ("ModelInput", {"": "…", "nmae": "…"}, r"out of date: \[\('ModelInput', 'nmae'\)\]"),
        ("ModelGone", {"": "…"}, r"out of date: \[\('ModelGone', ''\)\]"),
    ],
)
def test_descriptions_must_match_the_descriptor(
    monkeypatch: pytest.MonkeyPatch, path: str, fields: dict[str, str], complaint: str
) -> None:
    descriptions = {**triton_descriptions.DESCRIPTIONS, path: fields}
    monkeypatch.setattr(triton_schema, "DESCRIPTIONS", descriptions)
    with pytest.raises(LookupError, match=complaint):
        triton_schema.document(DESCRIPTOR)


def test_a_field_of_tritons_that_the_sugar_would_hide_is_an_error() -> None:
    descriptor = FileDescriptorProto.FromString(DESCRIPTOR)
    config = next(m for m in descriptor.message_type if m.name == "ModelConfig")
    config.field.add().CopyFrom(config.field[0])
    config.field[-1].name = "files"
    with pytest.raises(LookupError, match="files"):
        triton_schema.document(descriptor.SerializeToString())


def test_two_types_of_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    # Flattened, a message `ModelInputFormat` would have the same name as the enum `ModelInput.Format`.
    descriptor = FileDescriptorProto.FromString(DESCRIPTOR)
    types = {message.name: message for message in descriptor.message_type}
    types["ModelOperations"].name = "ModelInputFormat"
    field = next(f for f in types["ModelConfig"].field if f.name == "model_operations")
    field.type_name = ".inference.ModelInputFormat"
    descriptions = dict(triton_descriptions.DESCRIPTIONS)
    descriptions["ModelInputFormat"] = descriptions.pop("ModelOperations")
    monkeypatch.setattr(triton_schema, "DESCRIPTIONS", descriptions)
    with pytest.raises(LookupError, match="share one definition name"):
        triton_schema.document(descriptor.SerializeToString())
