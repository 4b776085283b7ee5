"""The search for reference cycles, which what reads specs goes without."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Within the block nothing looks for reference cycles.

    Reading specs makes none. The search finds all of what was read alive, again and again, which takes a
    quarter of the time of many specs, and more of an app's, which keeps them all.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
