"""The content of an archive is written to disk as the hosting container finds it, and nothing else is."""

import gzip
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from support.archiving import MODEL, PIPE, lay_out, locate, member, tar_of

from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import plan_archive
from inferstack.triton.archive.reading import UnreadableError, unpack
from inferstack.triton.folders import read_repository

END = bytes(1024)


def everything(_: str) -> bool:
    return True


def unpacked(folder: Path, content: bytes) -> Path:
    (folder / "model.tar.gz").write_bytes(gzip.compress(content, 1))
    unpack(folder / "model.tar.gz", folder / "out", everything)
    return folder / "out"


def tree(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mode & 0o777,
            path.read_bytes() if path.is_file() else None,
        )
        for path in folder.rglob("*")
    }


def test_our_own_archive_unpacks_as_tar_does(tmp_path: Path) -> None:
    folder = lay_out(
        tmp_path / "models", {**PIPE, "net/1/run.sh": "exit\n", f"net/{'long' * 50}": "x" * 70_000}
    )
    (folder / "net/1/run.sh").chmod(0o755)
    made = pack(plan_archive(read_repository(folder), [folder], locate), tmp_path / "model.tar.gz")
    unpack(made.path, tmp_path / "ours", everything)
    with tarfile.open(made.path) as tar:
        tar.extractall(tmp_path / "tars", filter="data")
    assert tree(tmp_path / "ours") == tree(tmp_path / "tars")
    assert "pipe/1" in tree(tmp_path / "ours")


def test_what_nobody_reads_is_as_long_as_it_is_and_takes_no_room(tmp_path: Path) -> None:
    weights = "w" * (4 << 20)
    (tmp_path / "model.tar.gz").write_bytes(
        gzip.compress(tar_of({"net/1/weights": weights, "net/a": "a"}), 1)
    )
    unpack(tmp_path / "model.tar.gz", tmp_path / "out", lambda path: path != "net/1/weights")
    found = (tmp_path / "out/net/1/weights").stat()
    assert (found.st_size, found.st_blocks) == (len(weights), 0)
    assert (tmp_path / "out/net/a").read_text() == "a"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (tar_of({"net/../../x": ""}), "cannot be unpacked: it has `..` in it"),
        (tar_of({"/x": ""}), "cannot be unpacked: it is absolute"),
        (member("net/x", tarfile.SYMTYPE, linkname="/etc/passwd") + END, "is a symbolic link"),
        (member("net/x", tarfile.LNKTYPE, linkname="net/y") + END, "is a hard link"),
        (member("net/x", tarfile.FIFOTYPE) + END, "is a pipe"),
        (tar_of({"net/x": "1", "./net/x": "2"}), "it has .* twice"),
        (tar_of({"net": "1", "net/x": "2"}), "it has .* twice"),
        (member("net/x", content=b"x" * 600)[:800], "it ends in the middle of a member"),
    ],
    ids=["way out", "absolute", "symbolic link", "hard link", "pipe", "twice", "file as folder", "cut"],
)
def test_what_must_not_be_unpacked_is_refused(content: bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=why):
        unpacked(tmp_path, content)
    assert {path.name for path in tmp_path.iterdir()} <= {"model.tar.gz", "out"}
    assert not [path for path in tmp_path.rglob("*") if path.is_symlink()]


def test_a_damaged_archive_is_found_at_its_end(tmp_path: Path) -> None:
    packed = gzip.compress(tar_of(MODEL), 1)
    (tmp_path / "model.tar.gz").write_bytes(packed[:-8] + bytes(4) + packed[-4:])
    with pytest.raises(UnreadableError, match="damaged"):
        unpack(tmp_path / "model.tar.gz", tmp_path / "out", everything)


def test_a_large_file_is_unpacked_in_little_memory(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    with (folder / "net/1/weights").open("wb") as weights:
        weights.write(os.urandom(1 << 20) * 64)
    made = pack(plan_archive(read_repository(folder), [folder], locate), tmp_path / "model.tar.gz")
    tracemalloc.start()
    unpack(made.path, tmp_path / "out", everything)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20
