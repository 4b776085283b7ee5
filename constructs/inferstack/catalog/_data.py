"""Reads the package's data files, each of them once, and only when it is needed."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

# Not `importlib.resources`, which takes as long to import as all other modules of this package together.
_FOLDER = Path(__file__).with_name("data")


def text(name: str) -> str:
    """The content of a file in ``data/``."""
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")


@cache
def document(name: str) -> Any:
    """A JSON file in ``data/``. Callers share the result and must not change it."""
    return msgspec.json.decode(text(name))
