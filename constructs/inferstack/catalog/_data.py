"""Reads the package's data files, each once and only when something asks for it."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


def text(name: str) -> str:
    """The content of a file in ``data/``."""
    return (files("inferstack.catalog") / "data" / name).read_text(encoding="utf-8")


@cache
def document(name: str) -> Any:
    """A JSON file in ``data/``. Callers share the result and must not change it."""
    return json.loads(text(name))
