"""The scalars in a spec's data, with their paths."""

from collections.abc import Iterator
from typing import Any

from inferstack.spec.problem import SpecPath


def scalars(value: Any, path: SpecPath = ()) -> Iterator[tuple[SpecPath, Any]]:
    """Everything in the data that is neither a mapping nor a list."""
    match value:
        case dict():
            for key, item in value.items():
                yield from scalars(item, (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from scalars(item, (*path, index))
        case _:
            yield path, value


def texts_with(mark: str, data: object) -> Iterator[tuple[SpecPath, str]]:
    """Every text in the data that contains the mark."""
    # Most specs have none, and searching the texts without building paths takes half the time.
    found = scalars(data) if _any_has(mark, data) else ()
    return ((path, text) for path, text in found if isinstance(text, str) and mark in text)


def _any_has(mark: str, data: object) -> bool:
    todo = [data]
    while todo:
        match todo.pop():
            case str() as text:
                if mark in text:
                    return True
            case dict() as mapping:
                todo += mapping.values()
            case list() as items:
                todo += items
    return False
