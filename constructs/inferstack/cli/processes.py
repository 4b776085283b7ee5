"""Work on many files in as many processes as the machine has cores for, if each has enough to do.

This process works, too. The others are copies of it (forks), with all that it has in memory: they take
portions of the work from a pipe until that is empty, and each finally hands over what it made. What a copy
does not hand over, because it was killed or the work failed, this process does itself.
"""

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn, TypeVar

import msgspec

In = TypeVar("In")
Out = TypeVar("Out")

# Copying this process, and what a copy then has to load for itself, takes as long as checking a dozen specs.
_FEWEST = 20
# With more, the work takes less time than the program takes to start; and not every core that a container
# sees is its own.
_MOST = 8
# A portion is taken by reading its number from the pipe, which is a single byte.
_PORTIONS = 256


def mapped(work: Callable[[In], Out], items: Iterable[In], makes: type[Out]) -> list[Out]:
    """The results of ``work`` for each item, in order, all of the type ``makes``. If there are many items,
    other processes take part: what ``work`` remembers or prints there is lost.
    """
    todo = list(items)
    count = min(_cores(), _MOST, len(todo) // _FEWEST)
    if count < 2:
        return list(map(work, todo))
    # Copied before the first item: what each process has to load, such as the tables of the catalog, all load
    # at the same time, and memory that was never shared need not be copied on write.
    return _in_processes(work, todo, count, makes)


def _cores() -> int:
    """How many processes can work at once; 1 where a process cannot be copied with all that it has."""
    if not (hasattr(os, "sched_getaffinity") and hasattr(os, "fork")):
        return 1
    # Where the end of children is ignored, none can be waited for, and its id may soon be another process's.
    return 1 if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN else len(os.sched_getaffinity(0))


def _in_processes(work: Callable[[In], Out], items: Sequence[In], count: int, makes: type[Out]) -> list[Out]:
    size = -(-len(items) // _PORTIONS)
    portions = [items[start : start + size] for start in range(0, len(items), size)]
    first = os.getpid()

    def done() -> dict[int, list[Out]]:
        return {number: list(map(work, portions[number])) for number in _taken(source, first)}

    with _numbers(len(portions)) as source, _copies(done, count - 1) as copies:
        made = done()
        for copy in copies:
            made |= _handed_over(copy, makes)
    return [
        result
        for number, portion in enumerate(portions)
        for result in (made[number] if number in made else map(work, portion))
    ]


@contextmanager
def _numbers(count: int) -> Iterator[int]:
    """A pipe that holds the numbers below ``count``, a byte each, and then ends."""
    source, sink = os.pipe()
    os.write(sink, bytes(range(count)))
    os.close(sink)
    try:
        yield source
    finally:
        os.close(source)


def _taken(source: int, first: int) -> Iterator[int]:
    """Numbers from the pipe, until all are taken. Each number is read by one process only.

    No copy goes on when the first process is gone: what reads the output would wait for the copy to end.
    """
    while first in (os.getpid(), os.getppid()) and (number := os.read(source, 1)):
        yield number[0]


@contextmanager
def _copies(done: Callable[[], dict[int, list[Out]]], count: int) -> Iterator[list[int]]:
    """Copies of this process at work: the pipes that they write to. None is left after the block."""
    started: dict[int, int] = {}
    try:
        # If no more processes are allowed, the others do their part.
        with suppress(OSError):
            for _ in range(count):
                process, pipe = _copy(done)
                started[process] = pipe
        yield list(started.values())
    finally:
        for process, pipe in started.items():
            os.close(pipe)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _copy(done: Callable[[], dict[int, list[Out]]]) -> tuple[int, int]:
    """A copy of this process at work: its process id, and the pipe that it writes to."""
    source, sink = os.pipe()
    process = os.fork()
    if not process:
        _work_and_end(done, source, sink)
    os.close(sink)
    return process, source


def _work_and_end(done: Callable[[], object], source: int, sink: int) -> NoReturn:
    """What a copy does. It ends here, whatever happens: the rest of the program is for the first process."""
    try:
        # With this end open, a copy would not notice that nobody reads any more, and would wait for ever.
        os.close(source)
        # Ctrl-C reaches every process of a terminal, and the first one answers for all.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        made = msgspec.msgpack.encode(done())
        with open(sink, "wb") as stream:
            stream.write(made)
    finally:
        os._exit(0)


def _handed_over(pipe: int, makes: type[Out]) -> dict[int, list[Out]]:
    """What a copy made; nothing where it failed or was killed."""
    with open(pipe, "rb", closefd=False) as stream:
        content = stream.read()
    try:
        return msgspec.msgpack.decode(content, type=dict[int, list[makes]])  # type: ignore[valid-type]
    except msgspec.DecodeError:
        return {}
