"""Files appear whole or not at all, and what killed processes leave is removed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from inferstack.source.whole_files import complete_or_absent

WRITER = """
import sys, time
from pathlib import Path
from inferstack.source.whole_files import complete_or_absent
with complete_or_absent(Path("whole")) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


def writer() -> subprocess.Popen[str]:
    """A process in the middle of writing."""
    running = subprocess.Popen(
        [sys.executable, "-c", WRITER],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "writing\n"
    return running


def write(content: bytes = b"content") -> None:
    with complete_or_absent(Path("whole")) as file:
        file.write(content)


def names() -> list[str]:
    return sorted(it.name for it in Path().iterdir())


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_there() -> None:
    with writer() as killed:
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    (left,) = names()
    assert left.startswith(".inferstack-")
    assert left.endswith(".part")
    write()
    assert names() == ["whole"]


def test_what_another_process_is_writing_stays() -> None:
    with writer() as other:
        write()
        assert len(names()) == 2
        other.communicate("")
    assert names() == ["whole"]
    assert Path("whole").read_bytes() == b"half"


def test_who_is_taken_for_dead_before_it_could_say_otherwise_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = Path.open
    taken: list[Path] = []

    def taking(path: Path, mode: str) -> object:
        file = opened(path, mode)
        if not taken:
            taken.append(path)
            path.unlink()
        return file

    with monkeypatch.context() as changed:
        changed.setattr(Path, "open", taking)
        write()
    assert taken
    assert Path("whole").read_bytes() == b"content"


def test_where_files_cannot_be_locked_nothing_is_taken_for_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refused)
    Path(".inferstack-0123456789ab.part").touch()
    write()
    assert names() == [".inferstack-0123456789ab.part", "whole"]


def test_an_exception_removes_what_was_begun_and_keeps_what_was_there() -> None:
    def interrupted() -> None:
        with complete_or_absent(Path("whole")) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    write(b"before")
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names() == ["whole"]
    assert Path("whole").read_bytes() == b"before"
