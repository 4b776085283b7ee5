"""``inferstack explain``: what each code means, and its source."""

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from inferstack.check.every_code import every_code, examples
from inferstack.check.ignore import may_be_ignored
from inferstack.cli.terminal import Refusal
from inferstack.problems.words import listed

_LOOK_LIKE_DIGITS = str.maketrans("OIL", "011")
_MOST_DIGITS = 4
_WIDTH = 80
# In fewer columns, more lines would be broken inside words than between them.
_NARROWEST = 40


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack explain``."""
    command.add_argument("code", metavar="CODE", nargs="?", help="such as IS012; without it, list all codes")


def run(options: argparse.Namespace) -> int:
    """Explain a code and cite its source; without a code, list all codes."""
    if options.code is None:
        _list_all()
        return 0
    entry = every_code().get(options.code.upper())
    if entry is None:
        close = _probably_meant(options.code.upper())
        hint = f"did you mean {listed(close, quote='')}?" if close else "`inferstack explain` lists all codes"
        raise Refusal(f"there is no code {options.code}; {hint}")
    print(f"{entry.code} ({entry.severity})", _wrapped(entry.sentence), f"Source: {entry.source}", sep="\n")
    if may_be_ignored(entry.code):
        print(f"If it does not apply to a spec, say so there: ignore: [{{code: {entry.code}, reason: …}}]")
    _show_example(entry.code)
    return 0


def _list_all() -> None:
    for it in every_code().values():
        code = f"{it.code} {it.severity:7} "
        # One line per code for programs that read it, such as grep.
        print(_wrapped(it.sentence, code) if sys.stdout.isatty() else f"{code}{it.sentence}")


def _show_example(code: str) -> None:
    example = examples().get(code)
    if example is not None:
        print("", _wrapped(f"For example, {example.title}:"), "", *example.shown(), sep="\n")


def _wrapped(text: str, before: str = "") -> str:
    """The text wrapped to the terminal's width; its further lines are indented by the width of ``before``."""
    width = max(_NARROWEST, shutil.get_terminal_size((_WIDTH, 0)).columns)
    return textwrap.fill(
        text,
        width,
        initial_indent=before,
        subsequent_indent=" " * len(before),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _probably_meant(code: str) -> list[str]:
    """Codes that this may be a typo for. A number that is only close to a code's is not a typo."""
    digits = re.sub("[^0-9]", "", code.removeprefix("IS").translate(_LOOK_LIKE_DIGITS))
    if not (0 < len(digits) <= _MOST_DIGITS and re.search("[0-9]", code)):
        return []
    written = f"IS{digits:0>3}"
    return [written] if written in every_code() else sorted({*_slips(digits)} & every_code().keys())


def _slips(digits: str) -> Iterator[str]:
    """The codes with two neighbouring digits swapped, or with only one of two that are the same."""
    for at, (left, right) in enumerate(pairwise(digits)):
        once = left if left == right else f"{right}{left}"
        yield f"IS{digits[:at]}{once}{digits[at + 2 :]}"
