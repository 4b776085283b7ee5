"""A progress bar for long work, where there is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

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
    shown = _Bar(label, total)
    try:
        yield shown.advance
    finally:
        shown.clear()


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
