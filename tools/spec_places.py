"""Where the specs of this repository show a block of the format: each is walked along the JSON Schema."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inferstack.source.document import read_document
from tools.generated_files import ROOT

Schema = Mapping[str, Any]
PREFIX = "#/$defs/"
FOLDERS = ("model_specs", "tests/shapes")


@dataclass(frozen=True, slots=True)
class Place:
    """A block in a spec: the way to it from the top, and its keys."""

    file: str
    length: int
    way: tuple[str, ...]
    keys: frozenset[str]

    def link(self) -> str:
        """The file, for a page in `docs`."""
        return f"[{Path(self.file).name}](../{self.file})"


class Examples:
    """All blocks of some specs, by the name that the schema has for them."""

    def __init__(self, schema: Schema, specs: Mapping[str, Mapping[str, Any]]) -> None:
        self._definitions = schema["$defs"]
        kinds = {it["if"]["properties"]["kind"]["const"]: it["then"] for it in schema["allOf"]}
        self._places: dict[str, list[Place]] = {}
        for file, spec in specs.items():
            for name, way, block in self._walk(kinds[spec["kind"]], spec, ()):
                place = Place(file, _length(spec), way, frozenset(block))
                self._places.setdefault(name, []).append(place)

    def all_of(self, name: str) -> list[Place]:
        """Every place of a block, in the order of the specs."""
        return self._places.get(name, [])

    def best(self, name: str) -> Place | None:
        """Where a block has most of its keys; of equals, the one in the shortest spec."""
        places = self.all_of(name)
        return min(places, key=lambda it: (-len(it.keys), it.length, it.file, it.way), default=None)

    def shortest_with(self, kind: str, way: str) -> Place:
        """The block that ends the way to a key, in the shortest spec of a kind that has the key.

        Raises:
            ValueError: when none has it.
        """
        *above, key = way.split(".")
        files = {place.file for place in self.all_of(kind)}
        blocks = (it for places in self._places.values() for it in places if it.way == tuple(above))
        found = (it for it in blocks if key in it.keys and it.file in files)
        return min(found, key=lambda it: (it.length, it.file))

    def _walk(
        self, schema: Schema, value: object, way: tuple[str, ...]
    ) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, Any]]]:
        match schema, value:
            case {"$ref": target}, dict():
                name = target.removeprefix(PREFIX)
                yield name, way, value
                for key, inner in self._definitions[name].get("properties", {}).items():
                    if key in value:
                        yield from self._walk(inner, value[key], (*way, key))
            case {"anyOf": branches}, _:
                for branch in branches:
                    yield from self._walk(branch, value, way)
            case {"items": dict() as items}, list():
                for at, item in enumerate(value):
                    yield from self._walk(items, item, (*way, str(at)))
            case {"additionalProperties": dict() as values}, dict():
                for key, inner in value.items():
                    yield from self._walk(values, inner, (*way, key))


def _length(value: object) -> int:
    """How many values a spec has."""
    inner: Iterable[object] = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return 1 + sum(map(_length, inner))


def example_specs() -> dict[str, Mapping[str, Any]]:
    """The specs that come with the repository, by their paths in it."""
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.yaml")))
    return {file.relative_to(ROOT).as_posix(): read_document(file).data for file in files}
