"""Tables for the generated pages."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table of cells that are Markdown themselves."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(text: str) -> str:
    """A text as it may stand in a cell: in one line, and without a bar that would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")
