"""For reviewers: a comment on a pull request."""

import re
from collections.abc import Iterator, Sequence

from inferstack.spec.problem import Problem, printable
from inferstack.spec.report.words import Findings, summary, words
from inferstack.spec.texts.file_names import relative_to_cwd

LONGEST = 40_000
"""Characters for all rows, or for all lines. GitHub allows 65,536 a comment; the pipeline has the rest."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>&#~|])")
_HEAD = ("| Severity | Where | What |", "| --- | --- | --- |")


def markdown(found: Findings) -> str:
    """A heading with the counts, a list of what the deployment will do, and a table of what is wrong.

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
    """As many lines as fit into a comment; if some are left out, the last line says how many."""
    room = LONGEST
    for index, line in enumerate(lines):
        room -= len(line)
        if room < 0:
            yield f"\n… and {len(lines) - index} more"
            return
        yield line


def _inline(said: str) -> str:
    """The text escaped so that it appears literally, except for code in backticks; it fits into one cell."""
    parts = printable(said).split("`")
    if len(parts) % 2 == 0 or "``" in said:
        # It is unclear which backticks enclose code: their number is odd, or several in a row count as one.
        return _escaped(printable(said))
    shown = (part.replace("|", r"\|") if index % 2 else _escaped(part) for index, part in enumerate(parts))
    return "`".join(shown)


def _escaped(said: str) -> str:
    return _SPECIAL.sub(r"\\\1", said)
