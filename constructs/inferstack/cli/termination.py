"""What a request to end does to a command that has something to clean up."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

# SIGHUP comes when the terminal closes; Windows has none.
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Within the block, a request to end raises ``KeyboardInterrupt`` as Ctrl-C does.

    By default it would end the process on the spot, and leave behind what it was about to finish.
    """
    before: dict[int, Any] = {}
    # Another thread than the first one gets no signals, and may not ask for them.
    with suppress(ValueError):
        before = {ending: signal.signal(ending, _interrupt) for ending in _ENDINGS}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
