"""Whatever docs/constructs.md says to import can be imported, and costs nothing if it is not."""

import importlib
import pkgutil
import subprocess
import sys
from typing import Any

import pytest

import inferstack.spec
import inferstack.spec.blocks
from inferstack.spec.blocks.base import Block


def declared() -> dict[str, type[Block]]:
    """Every class of the format, by name."""
    found: dict[str, type[Block]] = {}
    for module in pkgutil.iter_modules(inferstack.spec.blocks.__path__):
        home: Any = importlib.import_module(f"inferstack.spec.blocks.{module.name}")
        mine = (it for it in vars(home).values() if isinstance(it, type) and it.__module__ == home.__name__)
        found |= {it.__name__: it for it in mine if issubclass(it, Block) and it is not Block}
    return found


def test_every_class_of_the_format_can_be_imported_from_one_place() -> None:
    classes = declared()
    assert sorted(classes) == inferstack.spec.blocks.__all__
    assert {name: getattr(inferstack.spec.blocks, name) for name in classes} == classes


@pytest.mark.parametrize("room", [inferstack.spec, inferstack.spec.blocks])
def test_a_room_shows_what_can_be_imported_from_it(room: Any) -> None:
    assert set(room.__all__) <= set(dir(room))
    assert all(getattr(room, name).__name__ == name for name in room.__all__)
    with pytest.raises(AttributeError, match=f"module '{room.__name__}' has no attribute 'Varaint'"):
        room.Varaint  # noqa: B018


@pytest.mark.parametrize(
    ("imported", "brought"),
    [
        (
            "inferstack.spec.texts.placeholders",
            {
                "inferstack.catalog",
                "inferstack.catalog.dynamic_references",
                "inferstack.spec",
                "inferstack.spec.texts",
                "inferstack.spec.texts.placeholders",
            },
        ),
        ("inferstack.spec.blocks", {"inferstack.spec", "inferstack.spec.blocks"}),
    ],
)
def test_what_is_not_asked_for_is_not_imported(imported: str, brought: set[str]) -> None:
    program = f"import sys, {imported}; print(*(it for it in sys.modules if it.startswith('inferstack.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == brought
