"""Whatever docs/constructs.md says to import can be imported."""

import importlib
import pkgutil
from typing import Any

import inferstack.format
import inferstack.spec
from inferstack.format.base import Block


def declared() -> dict[str, type[Block]]:
    """Every class of the format, by name."""
    found: dict[str, type[Block]] = {}
    for module in pkgutil.iter_modules(inferstack.format.__path__):
        home: Any = importlib.import_module(f"inferstack.format.{module.name}")
        mine = (it for it in vars(home).values() if isinstance(it, type) and it.__module__ == home.__name__)
        found |= {it.__name__: it for it in mine if issubclass(it, Block) and it is not Block}
    return found


def test_every_class_of_the_format_can_be_imported_from_one_place() -> None:
    classes = declared()
    assert {name: getattr(inferstack.format, name) for name in classes} == classes


def test_the_door_to_specs_shows_what_can_be_imported_from_it() -> None:
    assert {it for it in dir(inferstack.spec) if not it.startswith("_")} == set(inferstack.spec.__all__)
