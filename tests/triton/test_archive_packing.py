"""The same repository gives the same archive on every machine, completely or not at all, whatever its size."""

import gzip
import hashlib
import os
import subprocess
import sys
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from support.archiving import ENSEMBLE, MODEL, PIPE, lay_out, locate, names

from inferstack.problems import SpecError
from inferstack.triton.archive.packing import Packed, StoredGzip, pack, unpacked_size
from inferstack.triton.archive.plan import Plan, plan_archive
from inferstack.triton.folders import read_repository

LONG = f"net/1/{'long' * 40}.bin"
JUNK = {
    "net/.ipynb_checkpoints/model-checkpoint.py": "old",
    "net/1/__pycache__/model.cpython-311.pyc": "bytes",
    "net/1/._model.py": "mac",
    "net/.DS_Store": "mac",
    "pipe/1/.gitkeep": "",
    "__MACOSX/net/._config.pbtxt": "mac",
    ".ipynb_checkpoints/": "",
    "net/1/.inferstack-0123456789ab.part": "half",
    ".inferstack-ba9876543210.part": "half",
}


def planned(folder: Path) -> Plan:
    return plan_archive(read_repository(folder), [folder], locate)


def packed(folder: Path, target: Path) -> Packed:
    return pack(planned(folder), target)


def test_copies_that_differ_in_times_modes_and_junk_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = (lay_out(tmp_path / name, {**PIPE, LONG: "x" * 70_000}) for name in ("one", "other"))
    lay_out(other, JUNK)
    for path in other.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (1, 1))
    first, second = packed(one, tmp_path / "a.tar.gz"), packed(other, tmp_path / "b.tar.gz")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert (first.tar_sha256, first.file_sha256) == (second.tar_sha256, second.file_sha256)


def test_the_bytes_are_those_of_every_other_machine_and_version(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", {**PIPE, LONG: "x" * 70_000})
    (folder / "net/1/model.py").chmod(0o755)
    found = packed(folder, tmp_path / "model.tar.gz")
    assert found.tar_sha256 == "d92360bddb60885abc90225414eb316484d23252476dacdd16d1ed3198065dcf"
    assert found.file_sha256 == "9ed0e03c81999e3313bbcedd06ceef9365bd960cd7c254a107b0867ab7ca70dd"


def test_nothing_in_the_archive_tells_of_the_machine(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    (folder / "net/1/run.sh").write_text("#!/bin/sh\n")
    (folder / "net/1/run.sh").chmod(0o700)
    with tarfile.open(packed(folder, tmp_path / "model.tar.gz").path) as tar:
        found = {info.name: info for info in tar}
    assert {(it.uid, it.gid, it.uname, it.gname, it.mtime) for it in found.values()} == {(0, 0, "", "", 0)}
    assert {name: it.mode for name, it in found.items()} == {
        "net": 0o755,
        "net/1": 0o755,
        "net/1/model.py": 0o644,
        "net/1/run.sh": 0o755,
        "net/config.pbtxt": 0o644,
    }


def test_the_executable_bit_is_part_of_the_content(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    plain = packed(folder, tmp_path / "a.tar.gz")
    (folder / "net/1/model.py").chmod(0o755)
    assert packed(folder, tmp_path / "b.tar.gz").tar_sha256 != plain.tar_sha256


def test_the_digests_are_those_of_the_file_and_of_the_tar_inside(tmp_path: Path) -> None:
    found = packed(lay_out(tmp_path / "models", PIPE), tmp_path / "model.tar.gz")
    content = found.path.read_bytes()
    assert found.size == len(content)
    assert unpacked_size(planned(tmp_path / "models")) == len(gzip.decompress(content))
    assert found.file_sha256 == hashlib.sha256(content).hexdigest()
    assert found.tar_sha256 == hashlib.sha256(gzip.decompress(content)).hexdigest()


def test_an_empty_version_folder_is_kept(tmp_path: Path) -> None:
    archive = packed(lay_out(tmp_path / "models", PIPE), tmp_path / "model.tar.gz").path
    assert names(archive) == [
        "net",
        "net/1",
        "net/1/model.py",
        "net/config.pbtxt",
        "pipe",
        "pipe/1",
        "pipe/config.pbtxt",
    ]


def test_junk_is_left_out_and_said_so(tmp_path: Path) -> None:
    plan = planned(lay_out(tmp_path / "models", {**PIPE, **JUNK, "README.md": "hello"}))
    assert [left.name for left in plan.left_out] == [
        ".inferstack-ba9876543210.part",
        ".ipynb_checkpoints",
        "README.md",
        "__MACOSX",
        "net/.DS_Store",
        "net/.ipynb_checkpoints",
        "net/1/._model.py",
        "net/1/.inferstack-0123456789ab.part",
        "net/1/__pycache__",
        "pipe/1/.gitkeep",
    ]
    assert {entry.name for entry in plan.entries} == set(
        names(packed(tmp_path / "models", tmp_path / "m").path)
    )


def test_an_own_configuration_goes_in_as_it_is_written(tmp_path: Path) -> None:
    config = "# by hand\r\n" + ENSEMBLE
    folder = lay_out(tmp_path / "models", {**PIPE, "pipe/config.pbtxt": config})
    with tarfile.open(packed(folder, tmp_path / "model.tar.gz").path) as tar:
        written = tar.extractfile("pipe/config.pbtxt")
        assert written is not None
        assert written.read() == (folder / "pipe/config.pbtxt").read_bytes()


@pytest.mark.parametrize("size", [0, 1, 65_534, 65_535, 65_536, 200_000])
@pytest.mark.parametrize("piece", [1_000, 65_535, 1 << 20])
def test_stored_gzip_is_gzip_and_does_not_depend_on_the_pieces(size: int, piece: int) -> None:
    content = os.urandom(size)
    written: list[list[bytes]] = []
    for step in (piece, max(size, 1)):
        written.append([])
        stream = StoredGzip(written[-1].append)
        for start in range(0, size, step):
            stream.write(content[start : start + step])
        stream.close()
    one, other = map(b"".join, written)
    assert one == other
    assert gzip.decompress(one) == content


def test_a_large_file_is_packed_in_little_memory(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    with (folder / "net/1/weights.bin").open("wb") as file:
        file.truncate(300 << 20)
    plan = planned(folder)
    tracemalloc.start()
    try:
        found = pack(plan, tmp_path / "model.tar.gz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.size > 300 << 20
    assert peak < 16 << 20


def test_progress_adds_up_to_the_whole(tmp_path: Path) -> None:
    plan = planned(lay_out(tmp_path / "models", {**PIPE, LONG: "x" * 3_000_000}))
    steps: list[int] = []
    pack(plan, tmp_path / "model.tar.gz", steps.append)
    assert sum(steps) == unpacked_size(plan)
    assert len(steps) > 3


def changed(file: Path) -> None:
    file.write_text("other content")


def touched(file: Path) -> None:
    os.utime(file, (5, 5))


def replaced_by_a_link(file: Path) -> None:
    file.rename(file.with_name("moved"))
    file.symlink_to("moved")


def replaced_by_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("change", [changed, touched, Path.unlink, replaced_by_a_link, replaced_by_a_pipe])
def test_a_file_that_changes_after_it_was_looked_at_is_refused(change: object, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    plan = planned(folder)
    change(folder / "net/1/model.py")  # type: ignore[operator]
    with pytest.raises(SpecError, match=r"IS995: .*model\.py"):
        pack(plan, tmp_path / "out/model.tar.gz")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_that_changed_is_not_read_first(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", {**MODEL, "net/1/weights.bin": "x" * 3_000_000})
    plan = planned(folder)
    touched(folder / "net/1/weights.bin")
    steps: list[int] = []
    with pytest.raises(SpecError, match="IS995"):
        pack(plan, tmp_path / "model.tar.gz", steps.append)
    assert sum(steps) < 1_000_000


@pytest.mark.parametrize("change", ["append", "truncate", "touch"])
def test_a_file_that_changes_while_it_is_read_is_refused(change: str, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", {**MODEL, "net/1/weights.bin": "x" * 3_000_000})
    weights = folder / "net/1/weights.bin"
    plan = planned(folder)
    done = 0

    def meddle(size: int) -> None:
        nonlocal done
        done += size
        if done > 1_500_000:
            match change:
                case "append":
                    os.truncate(weights, 3_000_001)
                case "truncate":
                    os.truncate(weights, 2_000_000)
                case _:
                    os.utime(weights, (5, 5))

    with pytest.raises(SpecError, match=r"IS995: .* changed"):
        pack(plan, tmp_path / "model.tar.gz", meddle)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["models"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
def test_what_ends_early_leaves_nothing_and_the_old_archive(error: BaseException, tmp_path: Path) -> None:
    plan = planned(lay_out(tmp_path / "models", MODEL))
    out = tmp_path / "out"
    out.mkdir()
    (out / "model.tar.gz").write_text("the old one")

    def fail(_: int) -> None:
        raise error

    with pytest.raises((KeyboardInterrupt, MemoryError, OSError)):
        pack(plan, out / "model.tar.gz", fail)
    assert [path.name for path in out.iterdir()] == ["model.tar.gz"]
    assert (out / "model.tar.gz").read_text() == "the old one"


def test_an_archive_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    plan = planned(lay_out(tmp_path / "models", MODEL))
    seen: list[bool] = []
    pack(plan, tmp_path / "model.tar.gz", lambda _: seen.append((tmp_path / "model.tar.gz").exists()))
    assert seen
    assert not any(seen)
    assert (tmp_path / "model.tar.gz").exists()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from support.archiving import locate
from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import plan_archive
from inferstack.triton.folders import read_repository

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
folder = Path(sys.argv[1])
try:
    pack(plan_archive(read_repository(folder), [folder], locate), folder.parent / "out/model.tar.gz")
except OSError as error:
    print(f"{Path(error.filename).name}: {error.strerror}")
"""


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", {**MODEL, "net/1/weights.bin": "x" * 300_000})
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "model.tar.gz: File too large\n"
    assert list((tmp_path / "out").iterdir()) == []
