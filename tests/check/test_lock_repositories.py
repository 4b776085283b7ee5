"""A lock vouches for files of an existing repository that are missing, and is compared with those that are there."""

import shutil
from pathlib import Path

import pytest
from support.locked_specs import edit, found, urls
from support.locking import ONE, lay_out_spec, write_lock

from inferstack.check.in_stack import in_place
from inferstack.check.load import load_spec, ruled
from inferstack.problems import SpecError


@pytest.fixture
def existing(tmp_path: Path) -> Path:
    file = lay_out_spec(tmp_path, ONE[: ONE.index("  models:")] + "  repository: models\n")
    folder = tmp_path / "models/net/1"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_text("cats")
    (folder / "vocabulary.txt").write_text("cat")
    (folder.parent / "config.pbtxt").write_text('platform: "onnxruntime_onnx"\n')
    write_lock(file)
    return file


@pytest.mark.parametrize(
    ("path", "content"),
    [("net/config.pbtxt", 'platform: "onnxruntime_onnx" max_batch_size: 4'), ("net/1/model.onnx", "dogs")],
)
def test_an_existing_repository_is_compared_file_by_file(path: str, content: str, existing: Path) -> None:
    assert found(existing) == []
    (existing.parent / "models" / path).write_text(content)
    (problem,) = found(existing, "IS054")
    assert f"models/{path} has" in problem.message
    assert problem.file == (existing.parent / "models/net/config.pbtxt").as_posix()


def test_a_model_that_is_gone_from_a_repository_is_noticed(existing: Path) -> None:
    (existing.parent / "models/net").rename(existing.parent / "models/cat")
    assert found(existing, "IS054")


@pytest.mark.parametrize("gone", ["models", "models/net/1/vocabulary.txt"])
def test_what_is_not_in_this_copy_of_a_repository_is_taken_as_uploaded(gone: str, existing: Path) -> None:
    path = existing.parent / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert found(existing) == []
    assert "-sha256-" in urls(existing).pop()


def test_the_lock_vouches_for_weights_that_a_pipeline_does_not_have(existing: Path) -> None:
    shutil.rmtree(existing.parent / "models/net/1")
    assert found(existing, "IS") == []
    assert "-sha256-" in urls(existing).pop()
    assert ruled(in_place(load_spec(existing), None, "eu-west-1")).spec.endpoint_name == "one"


def test_the_lock_vouches_for_the_empty_version_of_an_ensemble_that_git_does_not_keep(existing: Path) -> None:
    tensors = (
        'input { name: "X" data_type: TYPE_FP32 dims: 1 } output { name: "Y" data_type: TYPE_FP32 dims: 1 }\n'
    )
    maps = 'input_map { key: "X" value: "X" } output_map { key: "Y" value: "Y" }'
    step = f'ensemble_scheduling {{ step {{ model_name: "net" model_version: -1 {maps} }} }}'
    models = existing.parent / "models"
    (models / "whole/1").mkdir(parents=True)
    (models / "whole/config.pbtxt").write_text(f'platform: "ensemble" max_batch_size: 0\n{tensors}{step}')
    (models / "net/config.pbtxt").write_text(f'platform: "onnxruntime_onnx"\n{tensors}')
    edit("repository: models", "repository: models\n  default_model: whole")(existing)
    write_lock(existing)
    (models / "whole/1").rmdir()
    assert found(existing, "IS") == []
    existing.with_name("a.lock.json").unlink()
    assert found(existing, "IS907")


def test_whoever_packs_needs_the_weights_themselves(existing: Path) -> None:
    (existing.parent / "models/net/1/model.onnx").unlink()
    with pytest.raises(SpecError, match=r"IS910: version 1 of net is missing `model\.onnx`"):
        load_spec(existing, locked=False)


def test_the_lock_vouches_for_what_was_uploaded_only(existing: Path) -> None:
    folder = existing.parent / "models/net"
    (folder / "config.pbtxt").write_text(
        'platform: "onnxruntime_onnx" default_model_filename: "other.onnx"\n'
    )
    (folder / "1/model.onnx").unlink()
    assert found(existing, "IS910")
