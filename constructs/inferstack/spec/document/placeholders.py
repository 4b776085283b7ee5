"""Which texts of a spec hold placeholders."""

from collections.abc import Iterator

from inferstack.spec.problem import SpecPath


def texts_with_placeholders(data: object) -> Iterator[tuple[SpecPath, str]]:
    """Every text in some data that may hold a placeholder, with its path."""
    # Most specs have none, and a look at the texts alone takes half of the time.
    return _texts((), data) if _any_has_one(data) else iter(())


def _any_has_one(data: object) -> bool:
    todo = [data]
    while todo:
        match todo.pop():
            case str() as text:
                if "${" in text:
                    return True
            case dict() as mapping:
                todo += mapping.values()
            case list() as items:
                todo += items
    return False


def _texts(path: SpecPath, value: object) -> Iterator[tuple[SpecPath, str]]:
    match value:
        case str():
            if "${" in value:
                yield path, value
        case dict():
            for key, item in value.items():
                yield from _texts((*path, key), item)
        case list():
            for index, item in enumerate(value):
                yield from _texts((*path, index), item)
