"""The command, ended at its worst moments: while it packs, and when Triton starts and has its shared memory."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

import pytest
from support.program import PROGRAM, SOURCE_ROOT
from support.rehearsal import SERVER_PYTHON, model, spec

SPEC = spec(
    "single-model",
    """
    models:
      net:
        backend: python
        input: [{name: A, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [2]}]
        files: {1/model.py: net.py}
    """,
)
SLOW = model('return {"B": given["A"]}').replace(
    "    def execute",
    '    def initialize(self, args):\n        __import__("time").sleep(1000)\n\n    def execute',
)
# Weights that nothing here can read: they take long to pack, and no space before that.
LARGE = spec(
    "single-model",
    """
    models:
      net:
        platform: tensorrt_plan
        max_batch_size: 4
        input: [{name: A, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [2]}]
        files: {1/model.plan: large.plan}
    """,
)
ENDINGS = pytest.mark.parametrize(
    ("ending", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)],
    ids=["ctrl-c", "terminated", "killed"],
)
_SECONDS = 30.0


def _wait_for(what: Callable[[], object]) -> None:
    deadline = monotonic() + _SECONDS
    while not what():
        assert monotonic() < deadline, what.__name__
        sleep(0.05)


def _processes_of(scratch: Path) -> list[Path]:
    """Processes that have the scratch folder in their command line or as working directory."""
    found: list[Path] = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (
                os.fsencode(scratch) in (process / "cmdline").read_bytes()
                or str((process / "cwd").readlink()).startswith(str(scratch))
            ):
                found.append(process)
        except OSError:
            continue
    return found


def _shared_memory_of(scratch: Path) -> set[str]:
    """Names of Triton's files in the `/dev/shm` that its processes see."""
    found: set[str] = set()
    for process in _processes_of(scratch):
        with suppress(OSError):  # it may have ended by now
            found |= {
                file.name for file in (process / "root" / "dev" / "shm").glob("triton_python_backend_*")
            }
    return found


@contextmanager
def _running(
    tmp_path: Path, spec: str, stderr: int = subprocess.DEVNULL
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "spec.yaml").write_text(spec)
    command = ["rehearse", "spec.yaml", "--python", str(SERVER_PYTHON), "--timeout", "600"]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        start_new_session=True,
    ) as process:
        try:
            yield process, scratch
        finally:
            process.kill()


def _end(process: subprocess.Popen[bytes], ending: signal.Signals) -> int:
    """Its exit status. A terminal sends Ctrl-C to all processes of a command, anything else ends just one."""
    (os.killpg if ending is signal.SIGINT else os.kill)(process.pid, ending)
    return process.wait(_SECONDS)


@ENDINGS
def test_a_rehearsal_that_is_interrupted_while_it_packs_leaves_nothing(
    tmp_path: Path, ending: signal.Signals, status: int
) -> None:
    with (tmp_path / "large.plan").open("wb") as file:
        file.truncate(20 << 30)
    reader, terminal = pty.openpty()
    with _running(tmp_path, LARGE, terminal) as (process, scratch):

        def an_archive_has_begun() -> bool:
            return any(path.stat().st_size > 1 << 20 for path in scratch.rglob("packed/*"))

        def nothing_is_left() -> bool:
            return not list(scratch.iterdir()) and not _processes_of(scratch)

        _wait_for(an_archive_has_begun)
        assert _end(process, ending) == status
        _wait_for(nothing_is_left)
    os.close(terminal)
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert "\rpacking model.tar.gz [" in shown
    if ending is not signal.SIGKILL:
        assert shown.endswith("\r\x1b[Kinferstack: interrupted\r\n")


@ENDINGS
def test_an_interrupted_rehearsal_leaves_no_process_no_file_and_no_shared_memory(
    tmp_path: Path, ending: signal.Signals, status: int
) -> None:
    (tmp_path / "net.py").write_text(SLOW)
    with _running(tmp_path, SPEC) as (process, scratch):

        def triton_has_shared_memory() -> object:
            return _shared_memory_of(scratch)

        def nothing_is_left() -> bool:
            return not list(scratch.iterdir()) and not _processes_of(scratch)

        _wait_for(triton_has_shared_memory)
        regions = _shared_memory_of(scratch)
        assert _end(process, ending) == status
        _wait_for(nothing_is_left)
        assert not [name for name in regions if Path("/dev/shm", name).exists()]
