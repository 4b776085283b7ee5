"""What breaking a rule looks like in a spec, and what is right in its place: `inferstack explain` shows it.

The file is made of the test cases by `tools/update_examples.py`, so that each example has been tried.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

EXAMPLES_FILE = Path(__file__).with_name("examples.json")
WRONG, RIGHT, BOTH = "-+ "
# In words: the minus of a diff would look like an item of a list.
_IN_THE_MARGIN = {WRONG: "wrong", RIGHT: "right", BOTH: ""}


class Example(msgspec.Struct, frozen=True):
    """A part of a spec. Each line begins with the sign of where it stands: wrong, right or both."""

    title: str
    lines: tuple[str, ...]

    def shown(self) -> Iterator[str]:
        """The lines as a terminal of 80 columns has room for them."""
        return (f"{_IN_THE_MARGIN[line[0]]:5}  {line[1:]}" for line in self.lines)


@cache
def examples() -> dict[str, Example]:
    """The examples by code. Not every code has one."""
    return msgspec.json.decode(EXAMPLES_FILE.read_bytes(), type=dict[str, Example])
