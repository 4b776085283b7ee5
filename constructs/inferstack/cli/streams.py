"""Standard output and standard error, whatever they are connected to."""

import io
import os
import sys


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
    """Connects streams that failed to nothing: Python flushes them once more on exit, and would complain."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nothing, stream.fileno())
