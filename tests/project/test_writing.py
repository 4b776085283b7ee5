"""All files or none, whatever is there."""

from pathlib import Path

import pytest

from inferstack.project.writing import write_all


def test_a_file_that_somebody_has_just_made_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("ours", "utf-8")
    with pytest.raises(FileExistsError):
        write_all(tmp_path, {"a": "x", "b": "x", "c/d": "x"}, ())
    assert {it.name: it.read_text("utf-8") for it in tmp_path.iterdir()} == {"b": "ours"}


def test_nor_is_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        write_all(tmp_path, {"a": "x"}, ())
    assert [it.name for it in tmp_path.iterdir()] == ["a"]


def test_folders_that_were_there_stay(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "z").touch()
    with pytest.raises(FileExistsError):
        write_all(tmp_path, {"empty/a": "x", "new/deep/a": "x", "z": "x"}, ())
    assert sorted(it.name for it in tmp_path.iterdir()) == ["empty", "z"]


def test_what_is_replaced_is_put_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before", "utf-8")
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError):
        write_all(tmp_path, {"a": "after", "b": "x"}, {"a", "b"})
    assert (tmp_path / "a").read_text("utf-8") == "before"
    assert sorted(it.name for it in tmp_path.iterdir()) == ["a", "b"]


def test_line_ends_are_the_same_everywhere(tmp_path: Path) -> None:
    write_all(tmp_path / "new", {"a/b": "x\ny\n"}, ())
    assert (tmp_path / "new/a/b").read_bytes() == b"x\ny\n"


@pytest.mark.parametrize("link", ["tests", "ci", "ci/iam"])
def test_nothing_is_written_through_a_link(link: str, tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(elsewhere)
    with pytest.raises(NotADirectoryError, match="this is a link"):
        write_all(project, {"a": "x", "tests/a": "x", "ci/iam/b": "x"}, ())
    assert [*elsewhere.iterdir()] == []
    assert [it for it in project.rglob("*") if it.is_file()] == []


def test_the_project_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "project").symlink_to("real")
    write_all(tmp_path / "project", {"a/b": "x"}, ())
    assert (tmp_path / "real/a/b").read_text("utf-8") == "x"
