"""Programs, specs and sessions that a page shows."""

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

ELLIPSIS = "…"
"""Marks output that a page leaves out."""


def code_blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in this language, in the page's order; there must be some."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"{page.name} shows no {language}"
    return found


def commands(session: str) -> Iterator[tuple[str, str]]:
    """The commands of a console session, each with the output that is shown below it.

    What a command is given in a here document, up to the line `END`, is part of the command.
    """
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        first, _, rest = part.partition("\n")
        given, end, output = rest.partition("END\n") if first.endswith("<<'END'") else ("", "", rest)
        yield f"{first}\n{given}{end}" if end else first, output


def assert_printed(printed: str, shown: str) -> None:
    """What a command printed is what the page shows, save for what the page leaves out."""
    same = doctest.OutputChecker().check_output(
        shown.replace(ELLIPSIS, "...").strip(), printed.strip(), doctest.ELLIPSIS
    )
    assert same, f"the page shows\n{shown}\nand it prints\n{printed}"


def files(page: Path) -> dict[str, str]:
    """The files that a page tells readers to write: blocks below a line that names one and ends with a colon."""
    found = re.findall(
        r"`([\w./-]+)`[^`\n]*:\n\n```\w*\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return {name: content for name, content in found if "." in name}
