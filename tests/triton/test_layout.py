"""A layout is judged the same in a folder on this machine and in an archive, and each mistake in it once."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.archiving import CONFIG, ENSEMBLE, MODEL, PIPE, lay_out

from inferstack.problems import FilePlace
from inferstack.triton import folders
from inferstack.triton.archive.inspection import inspect_archive
from inferstack.triton.folders import MOST_MODELS, read_archive_folders, read_repository
from inferstack.triton.model import Repository, likely_default_model
from inferstack.triton.rules import repository_problems

LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3\n"
OTHER = {path.replace("net/", "other/"): content for path, content in MODEL.items()}
LAYER = {f"r/{path}": content for path, content in MODEL.items()}
TOP = {"config.pbtxt": CONFIG}

Said = tuple[str, str]
"""A code, and the place that it is reported for, from the top of the repository."""
Found = tuple[str, str, str]
"""The same, with what was found and how to fix it."""

LAYOUTS: list[tuple[str, Mapping[str, str], list[Said], list[Said]]] = [
    # what, contents, problems as the only archive, problems as one of a multi-model endpoint
    ("a model", MODEL, [], []),
    ("an ensemble", PIPE, [], []),
    ("the configuration at the top", {**TOP, "1/model.py": ""}, [("IS901", "config.pbtxt")], []),
    ("nothing but that", TOP, [("IS901", "config.pbtxt")], [("IS907", "config.pbtxt")]),
    (
        "one at the top that cannot be read",
        {"config.pbtxt": "?", "1/model.py": ""},
        [("IS901", "config.pbtxt")],
        [("IS900", "config.pbtxt")],
    ),
    (
        "one at the top beside a wrong model",
        {**TOP, "net/config.pbtxt": CONFIG},
        [("IS901", "config.pbtxt"), ("IS907", "net/config.pbtxt")],
        [("IS907", "config.pbtxt")],
    ),
    ("a folder too many", LAYER, [("IS901", "r")], [("IS901", "r")]),
    (
        "a folder too many beside a wrong model",
        {**LAYER, "net/config.pbtxt": CONFIG},
        [("IS901", "r"), ("IS907", "net/config.pbtxt")],
        [("IS901", "r"), ("IS907", "net/config.pbtxt")],
    ),
    ("nothing", {}, [("IS901", "")], [("IS901", "")]),
    ("files only", {"model.py": ""}, [("IS901", "")], [("IS901", "")]),
    (
        "too large a configuration",
        {**MODEL, "net/config.pbtxt": CONFIG + "#" * (1 << 20)},
        [("IS900", "net/config.pbtxt")],
        [("IS900", "net/config.pbtxt")],
    ),
    (
        "leftovers that look like models",
        {**MODEL, "net/.git/config.pbtxt": "", ".git/config.pbtxt": ""},
        [],
        [],
    ),
    ("two models", {**MODEL, **OTHER}, [("IS917", "?")], [("IS914", "?")]),
    (
        "the ensemble's version lost",
        {**MODEL, "pipe/config.pbtxt": ENSEMBLE},
        [("IS907", "pipe/config.pbtxt")],
        [("IS907", "pipe/config.pbtxt")],
    ),
]
KINDS = pytest.mark.parametrize("multi_model", [False, True], ids=["single", "multi-model"])


def found_in(top: Path, repository: Repository) -> Iterator[Found]:
    for problem in repository_problems(repository, lambda _: FilePlace("?")):
        place = problem.file.removeprefix(top.as_posix()).lstrip("/")
        yield problem.code, place, f"{problem.message}; {problem.fix}"


def in_folder(tmp_path: Path, *, multi_model: bool) -> list[Found]:
    """What is wrong with the folder ``model``, from which the archive is to be made."""
    folder = tmp_path / "models/model"
    source = ("triton", "repository")
    if multi_model:
        (found,) = read_archive_folders(folder.parent, source=source)
    else:
        found = read_repository(folder, source=source)
        # For an archive the default model is guessed from its models; for a folder the spec has to name it.
        found = replace(found, default_model=likely_default_model(found.models))
    return sorted(found_in(folder, found))


def in_archive(tmp_path: Path, *, multi_model: bool) -> list[Found]:
    """What is wrong with an archive of that folder."""
    archive = tmp_path / "model.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", tmp_path / "models/model", "."], check=True)
    repository = inspect_archive(archive, multi_model=multi_model).repository
    assert repository is not None
    return sorted(found_in(archive, repository))


def said(found: list[Found]) -> list[Said]:
    return [(code, place) for code, place, _ in found]


@pytest.mark.parametrize(
    ("contents", "single", "many"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS]
)
def test_a_layout_is_judged_alike_wherever_it_stands(
    contents: Mapping[str, str], single: list[Said], many: list[Said], tmp_path: Path
) -> None:
    (tmp_path / "models/model").mkdir(parents=True)
    lay_out(tmp_path / "models/model", contents)
    for multi_model, expected in ((False, single), (True, many)):
        assert said(in_folder(tmp_path, multi_model=multi_model)) == sorted(expected)
        assert said(in_archive(tmp_path, multi_model=multi_model)) == sorted(expected)


@KINDS
@pytest.mark.parametrize("place", ["net/1/model.py", "net/config.pbtxt", "net/1", "net", "other"])
def test_a_model_with_a_link_in_it_is_not_judged(place: str, multi_model: bool, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models/model", {**MODEL, "net/2/model.py": ""})
    if (folder / place).is_dir():
        (folder / place).rename(tmp_path / "away")
    (folder / place).unlink(missing_ok=True)
    (folder / place).symlink_to(tmp_path)
    assert said(in_folder(tmp_path, multi_model=multi_model)) == [("IS991", place)]
    # All links in an archive are a single problem.
    ((code, _, message),) = in_archive(tmp_path, multi_model=multi_model)
    assert code == "IS991"
    assert message.startswith(f"symbolic link in the archive: `{place}`; ")


WORDS: dict[str, tuple[Mapping[str, str], str]] = {
    "a pointer for a configuration": (
        {**MODEL, "net/config.pbtxt": LFS},
        "config.pbtxt cannot be read: it is a Git LFS pointer; fetch the files: `git lfs pull`",
    ),
    "leftovers in the place of the model's file": (
        {"net/config.pbtxt": CONFIG, "net/1/.DS_Store": ""},
        "version 1 of net is missing `model.py`; add it, or name another with `default_model_filename`",
    ),
}


@KINDS
@pytest.mark.parametrize(("contents", "words"), WORDS.values(), ids=WORDS)
def test_what_helps_is_said_alike(
    contents: Mapping[str, str], words: str, multi_model: bool, tmp_path: Path
) -> None:
    lay_out(tmp_path / "models/model", contents)
    for found in (
        in_folder(tmp_path, multi_model=multi_model),
        in_archive(tmp_path, multi_model=multi_model),
    ):
        assert [message for _, _, message in found] == [words]


@KINDS
def test_only_so_many_folders_of_models_are_looked_at(multi_model: bool, tmp_path: Path) -> None:
    models = {
        f"m{number:04}/{path}": "" for number in range(MOST_MODELS + 1) for path in ("config.pbtxt", "1/")
    }
    lay_out(tmp_path / "models/model", models)
    for found in (
        in_folder(tmp_path, multi_model=multi_model),
        in_archive(tmp_path, multi_model=multi_model),
    ):
        (message,) = [message for code, _, message in found if code == "IS901"]
        assert "1,001 folders of models" in message


LIMITS = {"MOST_FILES": 7, "MOST_CONFIGURATION": 100, "DEEPEST": 3}
TOO_MUCH = {
    "MOST_FILES": ({f"m/1/{number}": "" for number in range(6)}, "more than 7 files and folders"),
    "MOST_CONFIGURATION": (
        {f"m{number}/config.pbtxt": f"# {'x' * 50}\n" for number in range(2)},
        "more than 100 bytes of config.pbtxt",
    ),
    "DEEPEST": ({"m/1/2/3/4": ""}, "folders in one another more than 3 deep"),
}
JUST_ENOUGH = {
    "MOST_FILES": {f"m/1/{number}": "" for number in range(5)},
    "MOST_CONFIGURATION": {"m/config.pbtxt": f"# {'x' * 50}\n", "m/1/": ""},
    "DEEPEST": {"m/1/2/3": ""},
}


@KINDS
@pytest.mark.parametrize("limit", LIMITS)
def test_a_folder_without_end_is_not_gone_through(
    limit: str, multi_model: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, limit, LIMITS[limit])
    listed: list[object] = []
    scan = os.scandir
    monkeypatch.setattr(folders.os, "scandir", lambda path: listed.append(path) or scan(path))
    files, words = TOO_MUCH[limit]
    lay_out(tmp_path / "models", {**files, "z/1/2/a": "", "z/2/a": ""})
    read = read_archive_folders if multi_model else lambda folder: (read_repository(folder),)
    (found,) = read(tmp_path / "models")
    assert found.models == ()
    (fault,) = found.faults
    assert (fault.code, fault.file) == ("IS901", (tmp_path / "models").as_posix())
    assert f"/models has {words}, and no more are looked at" in fault.message
    assert not [path for path in listed if "/z" in str(path)], "it stops where it has seen enough"


@KINDS
@pytest.mark.parametrize("limit", LIMITS)
def test_a_folder_up_to_the_limit_is(
    limit: str, multi_model: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, limit, LIMITS[limit])
    lay_out(tmp_path / "models", JUST_ENOUGH[limit])
    read = read_archive_folders if multi_model else lambda folder: (read_repository(folder),)
    (found,) = read(tmp_path / "models")
    assert len(found.models) == 1
    assert found.faults == ()


def test_the_folder_of_a_model_is_not_one_of_archives(tmp_path: Path) -> None:
    folder = lay_out(tmp_path, {**TOP, "1/model.py": ""})
    (found,) = read_archive_folders(folder)
    assert said(sorted(found_in(folder, found))) == [("IS901", "config.pbtxt")]


def test_archives_beside_a_stray_configuration_are_judged(tmp_path: Path) -> None:
    folder = lay_out(
        tmp_path, {**TOP, **MODEL, **{f"both/{path}": text for path, text in PIPE.items()}, "x/": ""}
    )
    found = read_archive_folders(folder)
    assert [(it.archive, len(it.models)) for it in found[1:]] == [("both.tar.gz", 2), ("net.tar.gz", 1)]


def test_a_folder_too_many_is_mended_where_it_is(tmp_path: Path) -> None:
    lay_out(tmp_path / "models/model", LAYER)
    (single,) = read_repository(tmp_path / "models/model").faults
    (many,) = read_archive_folders(tmp_path / "models")[0].faults
    assert single.fix == f"name {(tmp_path / 'models/model/r').as_posix()} as the repository"
    assert many.fix == f"move what is in it to {(tmp_path / 'models/model').as_posix()}"
