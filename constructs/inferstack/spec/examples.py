"""For each rule, what is wrong in a spec and what is right instead; `inferstack explain` shows it.

`tools/update_examples.py` generates the file from the test cases, so every example has been tested.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

EXAMPLES_FILE = Path(__file__).with_name("examples.json")
WRONG, RIGHT, BOTH = "-+ "
# In words, since the minus sign of a diff would look like a list item in YAML.
_IN_THE_MARGIN = {WRONG: "wrong", RIGHT: "right", BOTH: ""}


class Example(msgspec.Struct, frozen=True):
    """Part of a spec. Each line begins with a sign: it is in the wrong version, the right one, or both."""

    title: str
    lines: tuple[str, ...]

    def shown(self) -> Iterator[str]:
        """The lines, for a terminal with 80 columns."""
        return (f"{_IN_THE_MARGIN[line[0]]:5}  {line[1:]}" for line in self.lines)


@cache
def examples() -> dict[str, Example]:
    """The examples, by code. Not every code has one."""
    return msgspec.json.decode(EXAMPLES_FILE.read_bytes(), type=dict[str, Example])
