"""`ranker.yaml` and `ranker.yml` would share one lock, so they cannot be in one folder if either needs a lock."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.locked_specs import found
from support.locking import ONE, lay_out_spec, write_lock

from inferstack.check.files import check_files
from inferstack.cli import main

OTHER = ONE.replace("endpoint_name: one", "endpoint_name: other").replace(
    "acme-models/one", "acme-models/other"
)
ALONE = OTHER[: OTHER.index("triton:\n")].replace("triton", "xgboost").replace("25.09", "1.7-1")
Folder = Callable[[str, str], tuple[Path, Path]]


@pytest.fixture
def two(tmp_path: Path) -> Folder:
    """A folder with ``a.yaml`` and ``a.yml``."""

    def lay_out(one: str, other: str) -> tuple[Path, Path]:
        return lay_out_spec(tmp_path, one), lay_out_spec(tmp_path, other, "a.yml")

    return lay_out


def test_two_that_pack_models_are_refused_alone_and_together(two: Folder) -> None:
    files = two(ONE, OTHER)
    for file, other in (files, files[::-1]):
        (problem,) = found(file)
        assert (problem.code, problem.line) == ("IS057", 7)
        assert f"{other.as_posix()} exists as well, and a.lock.json would be" in problem.message
    shared = [problem for problem in check_files(files) if problem.code.startswith("IS05")]
    assert [(problem.file, problem.code) for problem in shared] == [(it.as_posix(), "IS057") for it in files]


def test_one_that_packs_models_is_refused_beside_one_that_does_not(two: Folder) -> None:
    packs, alone = two(ONE, ALONE)
    assert [problem.code for problem in found(packs)] == ["IS057"]
    # The lock, which it does not need, does not exist yet, and the spec itself is right.
    assert found(alone) == []


def test_a_lock_that_may_be_the_others_is_not_said_to_be_left_over(two: Folder) -> None:
    packs, alone = two(ONE, ALONE)
    alone.rename(alone.with_suffix(".off"))
    write_lock(packs)
    alone.with_suffix(".off").rename(alone)
    assert [problem.code for problem in found(alone)] == ["IS057"]


def test_two_that_pack_nothing_may_stand_beside_one_another(two: Folder) -> None:
    assert not [
        problem
        for problem in check_files(two(ALONE.replace("other", "one"), ALONE))
        if "lock" in problem.message
    ]


def test_a_folder_of_the_other_name_is_no_spec(tmp_path: Path) -> None:
    (tmp_path / "a.yml").mkdir()
    assert found(lay_out_spec(tmp_path, ONE)) == []


def test_nothing_is_packed_and_no_lock_is_written_for_two(
    two: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _, other = two(ONE, OTHER)
    assert main(["package", "a.yaml", "--out", "out"]) == 1
    assert "IS057" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    shutil.move(other, tmp_path / "b.yml")
    assert main(["package", "a.yaml", "--out", "out"]) == 0
