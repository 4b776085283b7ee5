"""Lets a command clean up when it is asked to terminate."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

# SIGHUP comes when the terminal closes; Windows has none.
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Within the block, a request to terminate raises ``KeyboardInterrupt`` as Ctrl-C does.

    By default it would end the process on the spot, and leave behind what is unfinished.
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
