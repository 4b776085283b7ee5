"""Files of numbers that other programs wrote: what is wrong with their lines and cells, in words."""

from collections.abc import Sequence

_LONGEST = 60
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def other_separator(names: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong with the header of a CSV file, and the fix, if something else than commas separates it.

    Spreadsheets do that in countries in which numbers have a comma.
    """
    for separator, called in _OTHER_SEPARATORS.items():
        if len(names) == 1 and separator in names[0]:
            fix = "separate them by commas, and write numbers with a point"
            return f"{called} separate the columns", fix
    return None


def wrong_form(key: str, error: Exception) -> str:
    """Says that an API's answer does not have its form, and what is wrong with it, if that is known."""
    message = f"`{key}` does not have the form of its API"
    match error:
        case KeyError():
            return f"{message}: `{error.args[0]}` is missing"
        case ValueError():
            return f"{message}: {error}"
        case _:
            return message


def counted(cells: Sequence[str]) -> str:
    """The number of cells of a line."""
    return f"{len(cells)} value{'' if len(cells) == 1 else 's'}"


def shown(text: str) -> str:
    """A cell of a table in a message, shortened if it is long."""
    if not text:
        return "empty"
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}…`"
