"""docs/validate.md has a row for each format."""

import re
from pathlib import Path

from inferstack.cli.report import FORMATS

PAGE = Path(__file__).parents[2] / "docs" / "validate.md"


def test_the_table_has_every_format() -> None:
    _, _, below = PAGE.read_text("utf-8").partition("| `--format` | for |\n")
    first_cells = re.findall(r"^\| ([^|]*) \|", below.partition("\n\n")[0], re.MULTILINE)
    named = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert named == {*FORMATS}, "the table of formats in docs/validate.md is out of date"
