"""Every key of a spec and of the project file, where it is, and which of them a path may mean."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from inferstack.catalog.cloudformation import snake
from inferstack.format.project import Project
from inferstack.format.schema import JsonSchema, kind_definitions, shipped_schema
from inferstack.problems.words import chosen, describe, listed, span, type_name
from inferstack.source.spec_file import PROJECT_FILE

_DEFINITIONS = "#/$defs/"
_NAME = "NAME"
_OF_BLOCKS = {"": "Keys", "[]": "Keys of each entry", f".{_NAME}": "Keys of each"}


class SpecKey(msgspec.Struct, frozen=True):
    """A key of a block. ``places`` are the paths where specs have it, the shortest first, as in
    ``autoscaling.policies[].target_value``; ``kinds`` the kinds of spec that have it anywhere.
    """

    name: str
    block: str
    schema: JsonSchema
    required: bool
    places: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def text(self) -> str:
        """What the format says about it."""
        return str(self.schema.get("description", ""))

    @property
    def form(self) -> str:
        """Its type in words, and whether a block needs it."""
        wanted = listed(list(dict.fromkeys(_types(self.schema))), quote="")
        return f"{wanted}, required" if self.required else wanted

    def limits(self) -> Iterator[str]:
        """Allowed values, bounds and the default, one line each, as far as there are any."""
        for branch in self.schema.get("anyOf", [self.schema]):
            low, high = (chosen(branch.get(word)) for word in ("minimum", "maximum"))
            if "enum" in branch:
                yield f"Allowed: {listed(branch['enum'])}"
            if (low, high) != (None, None):
                yield f"Allowed: {span(low, high)}"
        if "default" in self.schema:
            default = self.schema["default"]
            yield f"Default: {default if isinstance(default, str) else describe(default)}"

    def contents(self) -> Iterator[tuple[str, list[str]]]:
        """The blocks that the key holds: what their keys are called, and the keys."""
        for how, block in _blocks(self.schema):
            if keys := keys_of(block):
                yield _OF_BLOCKS[how], keys


def keys_of(block: str) -> list[str]:
    """The keys of a block; those that are required come first and say so."""
    definition = shipped_schema()["$defs"][block]
    required = definition.get("required", ())
    others = [key for key in definition.get("properties", ()) if key not in required]
    return [*(f"{key} (required)" for key in required), *others]


def _types(value: JsonSchema) -> Iterator[str]:
    for branch in value.get("anyOf", [value]):
        schema = shipped_schema()["$defs"][_target(branch)] if "$ref" in branch else branch
        yield type_name(schema["type"]) if "type" in schema else "a string"


def _target(branch: JsonSchema) -> str:
    return str(branch["$ref"]).removeprefix(_DEFINITIONS)


@cache
def every_key() -> tuple[SpecKey, ...]:
    """Every key of every block; those nearest to the top of a spec first."""
    definitions = shipped_schema()["$defs"]
    # By block and key: its places, and the kinds of spec.
    occurrences: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for kind, top in {**kind_definitions(), PROJECT_FILE: Project.__name__}.items():
        for at in _below(top):
            # Blocks at the top of a spec are alike in all kinds.
            block = "" if at.block in kind_definitions().values() else at.block
            places, kinds = occurrences.setdefault((block, at.key), ({}, {}))
            places[at.place] = kinds[kind] = None
    keys = []
    for (block, key), (places, kinds) in occurrences.items():
        owner = definitions[block or kind_definitions()[next(iter(kinds))]]
        required = key in owner.get("required", ())
        by_length = tuple(sorted(places, key=lambda place: (place.count("."), len(place))))
        keys.append(SpecKey(key, block, owner["properties"][key], required, by_length, tuple(kinds)))
    return tuple(sorted(keys, key=lambda it: it.places[0].count(".")))


class _PlacedKey(NamedTuple):
    """The place of a key, the block that it is one of, and its name."""

    place: str
    block: str
    key: str


def _below(top: str) -> Iterator[_PlacedKey]:
    """Every key in a kind of spec. No block leads to itself."""
    waiting = [("", top)]
    for before, block in waiting:
        for key, value in shipped_schema()["$defs"][block].get("properties", {}).items():
            yield _PlacedKey(f"{before}{key}", block, key)
            waiting += [(f"{before}{key}{how}.", name) for how, name in _blocks(value)]


def _blocks(value: JsonSchema) -> Iterator[tuple[str, str]]:
    """The blocks under a key, with what stands between: `[]` for an item of a list, `.NAME` for a name."""
    if "$ref" in value:
        yield "", _target(value)
    for branch in value.get("anyOf", ()):
        yield from _blocks(branch)
    for word, how in (("items", "[]"), ("additionalProperties", f".{_NAME}")):
        if isinstance(value.get(word), dict):
            yield from ((f"{how}{more}", name) for more, name in _blocks(value[word]))


def keys_called(asked: str) -> list[SpecKey]:
    """The keys that a path may mean, those nearest to the top first: the last part is the key's name, the
    others stand before it, maybe with more between, as in `autoscaling.target_value`.
    """
    *before, name = _parts(asked) or [""]
    namesakes = [key for key in every_key() if key.name == name]
    # Names that a spec gives, as that of a component, lead nowhere.
    known = {key.name for key in every_key()}
    before = [part for part in before if part in known]
    placed = [
        (key, [place for place in key.places if _leads(before, _parts(place)[:-1])]) for key in namesakes
    ]
    fitting = [msgspec.structs.replace(key, places=tuple(places)) for key, places in placed if places]
    return [key for key in fitting if [*before, name] in map(_parts, key.places)] or fitting


def _parts(path: str) -> list[str]:
    """The keys in a path; positions in lists are left out, however they are written."""
    words = re.split(r"[.\s\[\]]+", path)
    return [snake(word) for word in words if word and not word.isdigit() and word != _NAME]


def _leads(wanted: Sequence[str], there: Sequence[str]) -> bool:
    """Whether the first words are among the others in the same order."""
    rest = iter(there)
    return all(word in rest for word in wanted)
