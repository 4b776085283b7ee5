"""Work on many files in as many processes as the machine has cores for, and as have enough to do."""

import os
import signal
from collections.abc import Callable, Iterable
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

# Starting a process, and what it then finds out for itself, takes as long as checking some dozens of specs.
_FEWEST = 40
# Portions of a process: many enough that none ends long before the others.
_PORTIONS = 8


def mapped(work: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
    """What the work makes of each item, in order. In other processes if there are many items: what it
    remembers, or prints, is then lost.
    """
    todo = list(items)
    count = min(_cores(), len(todo) // _FEWEST)
    if count < 2:
        return list(map(work, todo))
    # What this reads and compiles for itself, such as the tables of the catalog, the processes then have.
    first, *rest = work(todo[0]), *todo[1:]
    try:
        return [first, *_in_processes(work, rest, count)]
    except Exception:
        # No more processes allowed, no shared memory, one was killed: then this one has to do. What is wrong
        # with the work itself is wrong here, too.
        return [first, *map(work, rest)]


def _cores() -> int:
    """How many processes can work at once; 1 where a process cannot be copied as it is, with all it knows."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") and hasattr(os, "fork") else 1


def _in_processes(work: Callable[[In], Out], items: list[In], count: int) -> list[Out]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - few need it, and it takes 20 ms
    from multiprocessing import get_context  # noqa: PLC0415

    portion = -(-len(items) // (count * _PORTIONS))
    with ProcessPoolExecutor(count, get_context("fork"), _depend_on_the_first) as processes:
        try:
            return list(processes.map(work, items, chunksize=portion))
        except BaseException:
            processes.shutdown(wait=False, cancel_futures=True)
            raise


def _depend_on_the_first() -> None:
    """Ctrl-C reaches every process of a terminal, and the first one answers for all. Nothing may outlive it:
    who reads its output would wait for the others, and these for work.
    """
    from threading import Thread  # noqa: PLC0415 - as above

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_the_first, daemon=True).start()


def _end_with_the_first() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415 - as above

    if (first := parent_process()) is not None:
        first.join()
        os._exit(1)
