"""The command line. ``arguments.py`` has the list of commands, each of which is the module of its name; the
other modules are what commands share.

Results go to standard output, everything else to standard error. Exit status: 0 done, 1 problems found
or a file that cannot be written, 2 wrong usage, 3 something could not be checked, 70 a bug of ours, 130
interrupted, 141 broken pipe.
"""

import gc
import sys
from collections.abc import Sequence

from inferstack.cli.terminal import Refusal, flush, never_fail_on_a_character, tell, write_into_nothing

__all__ = ["main", "program"]

_REFUSED = 1
_BUG = 70
_INTERRUPTED = 130
_NOBODY_READS = 141


def program() -> int:
    """The console script: one command, and then the process ends."""
    # Reading specs makes no reference cycles; looking for them takes a fifth of the time of many specs.
    gc.disable()
    return main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status; wrong usage ends in ``SystemExit(2)``."""
    never_fail_on_a_character()
    try:
        try:
            status = _run(sys.argv[1:] if arguments is None else arguments)
        finally:
            # Also after help and wrong usage, which end in SystemExit.
            flush()
    except Refusal as refusal:
        return _end(_REFUSED, str(refusal))
    except BrokenPipeError:
        # `inferstack … | head` is not a mistake, so nothing is said about it.
        return _end(_NOBODY_READS, None)
    except OSError as error:
        where = "the output cannot be written" if error.filename is None else error.filename
        return _end(_REFUSED, f"{where}: {error.strerror}")
    except KeyboardInterrupt:
        return _end(_INTERRUPTED, "interrupted")
    except Exception as error:
        # Last resort: a user can do nothing with a traceback, but can report this line.
        return _end(_BUG, f"internal error, please report it: {type(error).__name__}: {error}")
    return status


def _run(words: Sequence[str]) -> int:
    # Imported here, so that Ctrl-C while a command is imported prints one line, too.
    from inferstack.cli.arguments import parse  # noqa: PLC0415
    from inferstack.problems import SpecError  # noqa: PLC0415

    options = parse(words)
    try:
        status: int = options.run(options)
    except SpecError as error:
        from inferstack.cli.report import text  # noqa: PLC0415 - not needed where all is well

        tell(text(error.problems, sys.stderr).rstrip("\n"))
        return _REFUSED
    return status


def _end(status: int, message: str | None) -> int:
    try:
        if message is not None:
            from inferstack.problems import printable  # noqa: PLC0415 - as in `_run`

            tell(f"inferstack: {printable(message)}")
        flush()
    except OSError:
        write_into_nothing()
    return status
