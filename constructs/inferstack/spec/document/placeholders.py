"""Which texts of a spec contain values that only the deployment knows."""

from collections.abc import Iterator

from inferstack.spec.problem import SpecPath


def texts_with(mark: str, data: object) -> Iterator[tuple[SpecPath, str]]:
    """Every text in the data that contains the mark, with its path."""
    # Most specs have none, and searching the texts without building paths takes half the time.
    return _texts(mark, (), data) if _any_has(mark, data) else iter(())


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


def _texts(mark: str, path: SpecPath, value: object) -> Iterator[tuple[SpecPath, str]]:
    match value:
        case str():
            if mark in value:
                yield path, value
        case dict():
            for key, item in value.items():
                yield from _texts(mark, (*path, key), item)
        case list():
            for index, item in enumerate(value):
                yield from _texts(mark, (*path, index), item)
