"""A lock is read wherever possible, and refused where it is wrong."""

import io
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.checking import check_file
from support.locked_specs import Change, edit, found, locked_spec
from support.locking import ONE, lay_out_spec, write_lock

from inferstack.check.files import check_files, spec_files
from inferstack.check.load import load_spec
from inferstack.check.lock import LOCK_CODES, file as reading
from inferstack.problems import SpecError


def without_triton(file: Path) -> None:
    text = file.read_text()
    file.write_text(text[: text.index("triton:\n")])


def changed(*path: str, to: object) -> Change:
    def change(lock: Path) -> None:
        data: Any = json.loads(lock.read_text())
        inner = data
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to
        lock.write_text(json.dumps(data, indent=1))

    return change


def replaced_by(content: bytes) -> Change:
    return lambda lock: lock.write_bytes(content)


def conflicting(lock: Path) -> None:
    ours, _, theirs = lock.read_text().partition("\n")
    lock.write_text(f"{ours}\n<<<<<<< HEAD\n{theirs}=======\n{theirs}>>>>>>> other\n")


def a_folder(lock: Path) -> None:
    lock.unlink()
    lock.mkdir()


def twice(lock: Path) -> None:
    text = lock.read_text()
    lock.write_text(text.replace('   "url":', '   "url": "s3://x/",\n   "url":'))


UPLOAD = ("uploads", "s3://acme-models/one/model.tar.gz")
ARCHIVE = (*UPLOAD, "archives", "model.tar.gz")
WRONG = {
    "no JSON": (replaced_by(b'{\n "version": 1,\n 2}'), 3, "IS051", "not JSON"),
    "empty": (replaced_by(b""), 1, "IS051", "not JSON"),
    "no mapping": (replaced_by(b"[]"), 1, "IS051", "not a lock"),
    "endless nesting": (replaced_by(b"[" * 100_000), 1, "IS051", "endless"),
    "an endless number": (replaced_by(b"1" * 10_000), 1, "IS051", "endless"),
    "not UTF-8": (replaced_by(b"\xff\xfe{}"), 1, "IS050", "UTF-8"),
    "a folder": (a_folder, 1, "IS050", "not a regular file"),
    "markers of a merge": (conflicting, 2, "IS051", "conflict markers"),
    "a key twice": (twice, 6, "IS051", '"url" twice'),
    "a newer form": (changed("version", to=3), 2, "IS052", "version 3"),
    "a form that never was": (changed("version", to=0), 1, "IS051", "version"),
    "half a character": (changed(*UPLOAD, "archives", "\ud800", to={}), 1, "IS051", "half a character"),
    "half a character in a key": (changed("\udfff", to=1), 1, "IS051", "half a character"),
    "no version": (changed("version", to=None), 1, "IS051", "version"),
    "an unknown key": (changed("uplaod", to={}), 1, "IS051", "uplaod"),
    "a size below zero": (changed(*ARCHIVE, "size", to=-1), 1, "IS051", "size"),
    "a digest that is none": (changed(*ARCHIVE, "sha256", to="abc"), 1, "IS051", "sha256"),
    "no archives": (changed(*UPLOAD, "archives", to={}), 1, "IS051", "archives"),
    "another digest": (changed(*ARCHIVE, "sha256", to="0" * 64), 5, "IS053", "is not where these archives are"),
    "another bucket": (changed(*UPLOAD, "url", to="s3://evil/one/model.tar.gz"), 5, "IS053", "s3://evil/one"),
    "two archives for one": (
        changed(*UPLOAD, "archives", "b.tar.gz", to={"size": 1, "sha256": "0" * 64, "files": {}}),
        5,
        "IS051",
        "is one archive",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "line", "code", "said"), WRONG.values(), ids=WRONG)
def test_a_lock_that_is_none_is_refused_where_it_is_wrong(
    change: Change, line: int, code: str, said: str, tmp_path: Path
) -> None:
    file = lay_out_spec(tmp_path, ONE)
    lock = write_lock(file)
    change(lock)
    (problem,) = found(file)
    assert (problem.file, problem.line, problem.code) == (lock.as_posix(), line, code)
    assert said in problem.message
    assert problem.fix


def test_a_lock_that_another_program_wrote_out_again_is_read(tmp_path: Path) -> None:
    """Some write every character that is not ASCII as two escapes."""
    file = lay_out_spec(
        tmp_path, ONE.replace("1/model.onnx:", "1/\U0001f600.onnx: weights/net.onnx, 1/model.onnx:")
    )
    lock = write_lock(file)
    assert "\\ud83d" not in lock.read_text("utf-8")
    lock.write_text(json.dumps(json.loads(lock.read_text("utf-8"))))
    assert "\\ud83d" in lock.read_text("utf-8")
    assert found(file) == []


def test_a_lock_of_endless_length_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = locked_spec(tmp_path, ONE)
    monkeypatch.setattr(reading, "LARGEST", 100)
    (problem,) = found(file)
    assert (problem.code, "larger than 100 bytes" in problem.message) == ("IS050", True)


def test_a_lock_of_a_spec_without_models_says_that_it_is_left_over(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE)
    lock = write_lock(file)
    without_triton(file)
    (problem,) = found(file)
    assert (problem.file, problem.line, problem.code) == (lock.as_posix(), 4, "IS054")


def test_problems_of_spec_and_lock_are_said_together(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, ONE)
    edit("initial_instance_count: 2", "initial_instance_count: 2, volume_size_in_gb: 8")(file)
    edit("ml.m5.large", "ml.g5.xlarge")(file)
    edit("weights/net.onnx", "weights/dogs.onnx")(file)
    assert {"IS054", "IS263"} <= {problem.code for problem in check_file(file)}


def test_a_folder_of_specs_leaves_locks_alone(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, ONE)
    assert spec_files(tmp_path) == (file,)


def test_a_lock_that_is_named_as_a_spec_is_recognised(tmp_path: Path) -> None:
    lock = write_lock(lay_out_spec(tmp_path, ONE))
    (problem,) = check_files([lock])
    assert (problem.code, problem.fix) == ("IS056", f"name {(tmp_path / 'a.yaml').as_posix()}")


def test_every_code_of_locks_is_shown_here() -> None:
    shown = {code for _, _, code, _ in WRONG.values()} | {"IS054", "IS055", "IS057", "IS063"}
    assert shown == set(LOCK_CODES)


STAGED = ONE + "stages: {test: {}, prod: {}}\n"


@pytest.mark.parametrize("text", [ONE, STAGED], ids=["alone", "with stages"])
@pytest.mark.parametrize("look", [load_spec, check_file])
@pytest.mark.parametrize(
    ("change", "looks"),
    [(lambda lock: None, ["stat", "open"]), (replaced_by(b"[]"), ["stat", "open"]), (Path.unlink, ["stat"])],
    ids=["right", "wrong", "not there"],
)
def test_a_lock_is_looked_at_once(
    text: str,
    look: Callable[[Path], object],
    change: Change,
    looks: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = lay_out_spec(tmp_path, text)
    lock = write_lock(file)
    change(lock)
    made = looks_at(lock, monkeypatch)
    with suppress(SpecError):
        look(file)
    assert made == looks


def looks_at(file: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collects what is asked of the operating system about a file."""
    made: list[str] = []

    def watch(owner: object, name: str) -> None:
        asked = getattr(owner, name)

        def ask(path: object, *rest: object, **more: object) -> object:
            made.extend([name] if str(path) == str(file) else [])
            return asked(path, *rest, **more)

        monkeypatch.setattr(owner, name, ask)

    for name in ("stat", "lstat"):
        watch(os, name)
    for name in ("open", "open_code"):
        watch(io, name)
    return made
