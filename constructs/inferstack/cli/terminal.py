"""Standard streams and signals: output, tables, color, refusals, termination, and a progress bar."""

import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from types import FrameType
from typing import Any, TextIO


class Refusal(Exception):  # noqa: N818 - no error of the program: the user reads its text
    """Says in one line why nothing was done; the exit status is 1. `main` escapes what it quotes."""


# ---------------------------------------------------------------- Standard output and standard error


def tell(line: str) -> None:
    """Writes to standard error. Where that is closed (``2>&-``), ``print`` would take standard output."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def never_fail_on_a_character() -> None:
    """Escapes what the terminal's encoding lacks: messages quote specs, which may hold any character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Writes out what is buffered, while an error can still be reported. A closed stream is None."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def write_into_nothing() -> None:
    """Sends failed streams to the null device: Python flushes them once more on exit, and would complain."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nothing, stream.fileno())


# ---------------------------------------------------------------- Tables and color


def table(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows in columns that are as wide as their widest cell."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


_STYLES = {"bold": 1, "red": 31, "green": 32, "yellow": 33}


def painted(said: str, style: str, stream: TextIO | None) -> str:
    """The text in a style, if the stream is a terminal that shows colors; ``None`` is none.

    `NO_COLOR` and `FORCE_COLOR` decide otherwise, the former first, as in Python's own programs.
    https://no-color.org, https://force-color.org
    """
    return f"\x1b[{_STYLES[style]}m{said}\x1b[0m" if said and _has_colors(stream) else said


def _has_colors(stream: TextIO | None) -> bool:
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    # The consoles of older Windows show the codes themselves.
    old = os.name == "nt" and "WT_SESSION" not in os.environ
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not old


# ---------------------------------------------------------------- Termination


# SIGHUP comes when the terminal closes; Windows has none.
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Within the block, a request to terminate raises ``KeyboardInterrupt``, as Ctrl-C does.

    By default it would end the process on the spot, and leave unfinished work behind.
    """
    before: dict[int, Any] = {}
    # Only the main thread gets signals, and no other may ask for them.
    with suppress(ValueError):
        before = {ending: signal.signal(ending, _interrupt) for ending in _ENDINGS}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


# ---------------------------------------------------------------- Progress


_WIDTH = 30
_BESIDE_LABEL = _WIDTH + len(" [] 100 % ")
_WORTH_IT = 64 << 20


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal's standard error how much of ``total`` bytes is done, and clears it in the end.

    The function that it yields takes the bytes done since the last call. Without a terminal, or for little
    work, nothing is shown.
    """
    if sys.stderr is None or not sys.stderr.isatty() or total < _WORTH_IT:
        yield lambda _: None
        return
    from inferstack.problems import printable  # noqa: PLC0415 - not needed without a bar

    shown = _Bar(printable(label), total)
    try:
        yield shown.advance
    finally:
        shown.clear()


@contextmanager
def passing() -> Iterator[Callable[[str], None]]:
    """Shows on a terminal's standard error what is being done, each line in place of the one before, and
    clears it in the end. Without a terminal, nothing is shown.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from inferstack.problems import printable  # noqa: PLC0415 - not needed without a terminal

    def show(text: str) -> None:
        line = printable(text)[: max(1, get_terminal_size().columns - 1)]
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Bar:
    """Draws only when another percent is done: a terminal is slower than a disk."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total = _shortened(label), total
        self._done, self._percent = 0, -1

    def advance(self, done: int) -> None:
        self._done += done
        percent = min(100, self._done * 100 // self._total)
        if percent != self._percent:
            self._percent = percent
            full = "#" * (_WIDTH * percent // 100)
            self._write(f"\r{self._label} [{full:<{_WIDTH}}] {percent:3d} %")

    def clear(self) -> None:
        self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _shortened(label: str) -> str:
    """The end of a label that would not fit in one line: a line that wraps would not be cleared."""
    room = max(1, get_terminal_size().columns - _BESIDE_LABEL)
    return label if len(label) <= room else f"…{label[len(label) - room + 1 :]}"
