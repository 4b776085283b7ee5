"""Runs a program and measures wall time, CPU time, and the peak memory of Python and Node."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

_MEGABYTE = 1 << 20
_LOOK_EVERY = 0.05
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, where, and with which changes to the environment. ``statuses`` are those of success."""

    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    statuses: frozenset[int] = frozenset({0})


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run took: seconds, and megabytes of 2^20 bytes. CPU time is that of all processes together."""

    wall: float
    cpu: float
    python_mb: float
    node_mb: float


def run(program: Program, environment: Mapping[str, str]) -> Sample:
    """Runs a program to its end. Only on Linux is the memory of Node known separately: it is 0 elsewhere.

    Raises:
        SystemExit: when the program fails, with what it wrote to standard error.
    """
    start = perf_counter()
    process = subprocess.Popen(
        program.command,
        cwd=program.folder,
        env={**environment, **program.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    watch = _Watch(process.pid)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    peaks = watch.stop()
    if process.returncode not in program.statuses:
        command = " ".join(program.command)
        sys.exit(f"{command} ended with {process.returncode}:\n{said.decode(errors='replace')[-2000:]}")
    # The largest process of all: Python itself, unless there is a Node, which the watch has then seen.
    largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / _MEGABYTE
    node = sum(peaks.node.values()) / _MEGABYTE
    python = peaks.root / _MEGABYTE if node else largest
    return Sample(wall, usage.ru_utime + usage.ru_stime, python, node)


@dataclass(slots=True)
class _Peaks:
    root: float = 0
    node: dict[int, float] = field(default_factory=dict)


class _Watch:
    """Looks at the peak memory of a process and of the Node processes below it until told to stop."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peaks = _Peaks()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._thread.start()

    def stop(self) -> _Peaks:
        self._done.set()
        self._thread.join()
        return self._peaks

    def _look_on(self) -> None:
        # The kernel keeps the peak, so only growth after the last look can be missed.
        while not self._done.wait(_LOOK_EVERY):
            self._peaks.root = max(self._peaks.root, _peak(self._pid))
            for child in filter(_is_node, _descendants(self._pid)):
                self._peaks.node[child] = max(self._peaks.node.get(child, 0), _peak(child))


def _descendants(pid: int) -> list[int]:
    try:
        children = (_PROC / f"{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    found = [int(child) for child in children.split()]
    return found + [below for child in found for below in _descendants(child)]


def _is_node(pid: int) -> bool:
    try:
        return (_PROC / f"{pid}/exe").readlink().name == "node"
    except OSError:
        return False


def _peak(pid: int) -> float:
    try:
        status = (_PROC / f"{pid}/status").read_text()
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return float(kilobytes[0]) * 1024 if kilobytes else 0
