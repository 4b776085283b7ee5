"""Edits of specs by commands: only right specs are written, and whole, where the file really is."""

import stat
from pathlib import Path

import pytest

from inferstack.cli.editing import edit_spec
from inferstack.cli.terminal import Refusal
from inferstack.source.edit import Edit

SPEC = """\
kind: single-model
endpoint_name: bert  # the first
model: {image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/bert:1", model_data_url: s3://models/bert.tar.gz}
variant: {instance_type: ml.g5.xlarge, initial_instance_count: 2}
"""
COUNT = ("variant", "initial_instance_count")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "bert.yaml"
    path.write_text(SPEC)
    return path


def test_the_diff_is_shown_and_the_spec_written(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit_spec(spec, {COUNT: 5})
    assert spec.read_text() == SPEC.replace("initial_instance_count: 2", "initial_instance_count: 5")
    found = capsys.readouterr()
    assert [line[0] for line in found.out.splitlines()[3:]] == [" ", " ", " ", "-", "+"]
    assert found.err == f"{spec}: written\n"
    assert list(spec.parent.iterdir()) == [spec]


def test_a_spec_that_would_be_wrong_is_not_written(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        Refusal, match=r"not written, because the edited spec would be wrong: IS\d+: .*ml.g5.tiny"
    ):
        edit_spec(spec, {("variant", "instance_type"): "ml.g5.tiny"})
    assert (spec.read_text(), capsys.readouterr().out) == (SPEC, "")


def test_what_was_wrong_before_is_no_reason(spec: Path) -> None:
    spec.write_text(SPEC.replace("bert  #", "-bert  #"))
    edit_spec(spec, {COUNT: 5})
    assert "initial_instance_count: 5" in spec.read_text()


def test_new_warnings_are_said(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit_spec(spec, {("autoscaling",): {"min_capacity": 1, "max_capacity": 2}})
    assert "warning" in capsys.readouterr().err


def test_nothing_is_written_where_nothing_changes(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = spec.stat().st_ino
    edit_spec(spec, {COUNT: 2})
    assert spec.stat().st_ino == before
    assert capsys.readouterr() == ("", f"{spec}: unchanged\n")


def test_mark_line_ends_permissions_and_links_stay(spec: Path, tmp_path: Path) -> None:
    old = b"\xef\xbb\xbf" + SPEC.replace("\n", "\r\n").encode()
    spec.write_bytes(old)
    spec.chmod(0o640)
    (tmp_path / "link.yaml").symlink_to("bert.yaml")
    edit_spec(tmp_path / "link.yaml", {COUNT: 7})
    assert spec.read_bytes() == old.replace(b"count: 2", b"count: 7")
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640
    assert (tmp_path / "link.yaml").is_symlink()


def test_standard_input_cannot_be_edited() -> None:
    with pytest.raises(Refusal, match="name the file of the spec"):
        edit_spec(Path("-"), {COUNT: 2})


def test_what_somebody_else_wrote_meanwhile_is_not_lost(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def diff(_: Edit) -> str:
        spec.write_text("kind: other\n")
        return ""

    monkeypatch.setattr(Edit, "diff", property(diff))
    with pytest.raises(Refusal, match="the file has changed since it was read"):
        edit_spec(spec, {COUNT: 5})
    assert spec.read_text() == "kind: other\n"
