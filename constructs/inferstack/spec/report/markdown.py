"""For people who review: a comment on a pull request."""

import re
from collections.abc import Iterator, Sequence

from inferstack.spec.document import relative_to_cwd
from inferstack.spec.problem import Problem, printable
from inferstack.spec.report.words import Findings, summary, words

LONGEST = 40_000
"""Characters of all rows, or of all lines. GitHub takes 65,536 of a comment; the rest is the pipeline's."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>&#~|])")
_HEAD = ("| Severity | Where | What |", "| --- | --- | --- |")


def markdown(found: Findings) -> str:
    """What is wrong as a table, and what deploying does as a list; a heading says how much it is.

    https://github.github.com/gfm/
    """
    parts = [f"### inferstack: {summary(found.problems, found.specs)}"]
    if found.updates:
        parts.append("\n".join(_fitting([f"- {_inline(line)}" for line in found.updates])))
    if found.problems:
        parts.append("\n".join((*_HEAD, *_fitting([_row(problem) for problem in found.problems]))))
    return "\n\n".join(parts) + "\n"


def _row(problem: Problem) -> str:
    where = _inline(f"`{relative_to_cwd(problem.file)}:{problem.line}`")
    return f"| {problem.severity} | {where} | **{problem.code}** {_inline(words(problem))} |"


def _fitting(lines: Sequence[str]) -> Iterator[str]:
    """As many lines as a comment has room for; the last says how many more there are."""
    room = LONGEST
    for index, line in enumerate(lines):
        room -= len(line)
        if room < 0:
            yield f"\n… and {len(lines) - index} more"
            return
        yield line


def _inline(said: str) -> str:
    """The words as they are, but for code in backticks; on one line, and within one cell."""
    parts = printable(said).split("`")
    if len(parts) % 2 == 0:
        # One backtick is left over: none of them can be trusted to enclose code.
        return _escaped(printable(said))
    shown = (part.replace("|", r"\|") if index % 2 else _escaped(part) for index, part in enumerate(parts))
    return "`".join(shown)


def _escaped(said: str) -> str:
    return _SPECIAL.sub(r"\\\1", said)
