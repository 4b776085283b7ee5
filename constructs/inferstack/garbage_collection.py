"""Switches off Python's search for reference cycles, which reading specs does not need."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Nothing looks for reference cycles within the block.

    Reading specs makes none. Again and again the search would find everything that was read still in use:
    that takes a quarter of the time for many specs, and more for an app, which keeps them all.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
