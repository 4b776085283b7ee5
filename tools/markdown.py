"""Tables for the generated pages."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are Markdown themselves."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(text: str) -> str:
    """A text for a cell: on one line, and without a bar that would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")
