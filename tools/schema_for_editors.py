"""The published JSON Schema: that of the format, with what editors can complete and mark besides.

`jsonschema` decides the structure by the schema of the classes, and rules say the rest in better words. An
editor has no rules: so here keys depend on `kind`, values of an open set are listed beside the placeholders
that may stand instead, the conditions that newcomers miss are written as ``if`` and ``then``, and each stage
is a spec of which nothing is required. ``errorMessage`` is a word of the YAML and JSON language servers;
other validators ignore it.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.metrics import PROVISIONED_CONCURRENCY
from inferstack.facts.kinds import KINDS, Kind
from inferstack.format.model import Container
from inferstack.format.project import Defaults, Project
from inferstack.format.schema import JsonSchema
from inferstack.source.stages import STAGES
from tools.editor_help import (
    ARCHIVES_UNDER_A_PREFIX,
    MOST_LISTED,
    conditions,
    never_zero,
    under,
    values,
    with_choices,
)

_KEYWORDS = frozenset({"properties", "anyOf", "allOf", "items", "then", "else"})
_REFERENCE = "#/$defs/"
_KIND = "kind"

# ---------------------------------------------------------------- what depends on the kind


def _unfit(kind: Kind) -> dict[str, set[str]]:
    """By definition: the keys that it does not have in a spec of this kind, since a rule refuses them."""
    model, variant, config = set[str](), set[str](), set[str]()
    of_several = {"containers", "inference_execution_config"}
    model |= set(Container.__struct_fields__) if kind.containers == "several" else of_several
    if kind.archives == "one":
        model |= {"multi_model_config"}
    if PROVISIONED_CONCURRENCY not in kind.scales:
        variant |= {"serverless_config"}
    if kind.hosts == "components":
        variant |= {"model_name", "initial_variant_weight"}
    else:
        variant |= {"managed_instance_scaling"}
        config |= {"vpc_config", "enable_network_isolation"}
    return {"Model": model, "NamedModel": model, "Variant": variant, "EndpointConfig": config}


def _of_kind(kind: Kind, definitions: Mapping[str, JsonSchema]) -> JsonSchema:
    """The definitions of a kind that differ from those of others, and those that lead to them."""
    spec, unfit = kind.spec.__name__, _unfit(kind)
    names = {name: f"{name}_{kind.name.replace('-', '_')}" for name in unfit}
    made = {names[name]: _without(definitions[name], keys) for name, keys in unfit.items()}
    if kind.archives == "many":
        _also(made[names["Model"]], [under("model_data_url", ARCHIVES_UNDER_A_PREFIX)])
    made[spec] = _led_to(definitions[spec], names)
    in_stage = _InStages({**definitions, **made})
    stage = in_stage.named(spec)
    made |= in_stage.made
    for key in (_KIND, STAGES):
        del made[stage]["properties"][key]
    # A stage that changes nothing is written `{}`.
    made[stage]["type"] = "object"
    made[spec]["properties"][STAGES]["additionalProperties"] = {"$ref": f"{_REFERENCE}{stage}"}
    if kind.hosts == "models":
        _also(made[spec], [never_zero()])
    return made


def _without(block: JsonSchema, keys: set[str]) -> JsonSchema:
    kept = {key: it for key, it in block["properties"].items() if key not in keys}
    return {**block, "properties": kept}


def _also(block: JsonSchema, conditions: list[JsonSchema]) -> None:
    block["allOf"] = [*block.get("allOf", ()), *conditions]


def _led_to(schema: Any, names: Mapping[str, str]) -> Any:
    """A copy in which references to some definitions lead to others."""
    match schema:
        case {"$ref": str(reference), **others}:
            name = reference.removeprefix(_REFERENCE)
            return {"$ref": f"{_REFERENCE}{names.get(name, name)}", **others}
        case dict():
            return {key: _led_to(it, names) for key, it in schema.items()}
        case list():
            return [_led_to(it, names) for it in schema]
        case _:
            return schema


# ---------------------------------------------------------------- stages


class _InStages:
    """Copies of definitions as they are in a stage: nothing is required, and `null` removes any key.

    Lists replace those of the spec, so what stands in them is whole.
    """

    def __init__(self, definitions: Mapping[str, JsonSchema]) -> None:
        self._definitions = definitions
        self.made: JsonSchema = {}

    def named(self, name: str) -> str:
        """The name of a definition's copy, which is made if there is none."""
        copy = f"{name}_in_stage"
        if copy not in self.made:
            self.made[copy] = {}  # so that a definition which leads to itself comes to an end
            self.made[copy] = self._value(self._definitions[name])
        return copy

    def _block(self, block: JsonSchema) -> JsonSchema:
        made = {key: it for key, it in block.items() if key not in ("required", "minProperties", "allOf")}
        if "properties" in block:
            made["properties"] = {key: self._value(it) for key, it in block["properties"].items()}
        if isinstance(block.get("additionalProperties"), dict):
            made["additionalProperties"] = self._value(block["additionalProperties"])
        if conditions := [it for it in block.get("allOf", ()) if "not" not in it]:
            made["allOf"] = conditions
        return self._or_null(made)

    def _value(self, value: JsonSchema) -> JsonSchema:
        match value:
            case {"$ref": str(reference), **others}:
                return {"$ref": _REFERENCE + self.named(reference.removeprefix(_REFERENCE)), **others}
            case {"anyOf": list(branches), **others}:
                made = {**others, "anyOf": [*map(self._value, branches), {"type": "null"}]}
                return self._or_null(made)
            case {"type": "object"}:
                return self._block(value)
            case _:
                return self._or_null(value)

    @staticmethod
    def _or_null(schema: JsonSchema) -> JsonSchema:
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        made = {**schema, "type": [*types, "null"]} if types else dict(schema)
        return {**made, "enum": [*made["enum"], None]} if "enum" in made else made


# ---------------------------------------------------------------- the whole


def for_editors(schema: JsonSchema) -> JsonSchema:
    """The published schema, made from that of the classes."""
    definitions: JsonSchema = with_choices(schema["$defs"])
    for (name, key), more in values().items():
        definitions[name]["properties"][key] |= more
    for name, schemas in conditions().items():
        _also(definitions[name], [{"$ref": f"{_REFERENCE}{name}_conditions"}])
        definitions[f"{name}_conditions"] = {"allOf": schemas}
    definitions = _each_list_once(definitions)
    made = dict(definitions)
    for kind in KINDS:
        made |= _of_kind(kind, definitions)
    made |= _of_projects(definitions)
    published = {**schema, "$defs": made}
    return {**published, "$defs": _used(published, Project.__name__)}


def _of_projects(definitions: JsonSchema) -> JsonSchema:
    """The definitions of a project's file, `#/$defs/Project`. As in a stage, no default is required."""
    in_stage = _InStages(definitions)
    defaults = in_stage.named(Defaults.__name__)
    at_stage = _without(in_stage.made[defaults], {STAGES})
    stages = {**definitions[Defaults.__name__]["properties"][STAGES]}
    stages["additionalProperties"] = {"$ref": f"{_REFERENCE}{defaults}"}
    whole = {**at_stage, "properties": {**at_stage["properties"], STAGES: stages}, "type": "object"}
    return {
        **in_stage.made,
        defaults: {**at_stage, "type": "object"},
        Defaults.__name__: whole,
        Project.__name__: definitions[Project.__name__],
    }


def _each_list_once(definitions: JsonSchema) -> JsonSchema:
    """The definitions, in which each long list of values that a key has is a definition of its own."""
    lists: JsonSchema = {}

    def moved(schema: Any, key: str) -> Any:
        match schema:
            case {"type": "string", "enum": list(values), "errorMessage": _} if len(values) > MOST_LISTED:
                others = (it for it in itertools.count(1) if lists.get(f"{key}_{it}", schema) == schema)
                name = f"{key}_{next(others)}"
                lists[name] = schema
                return {"$ref": f"{_REFERENCE}{name}"}
            case dict():
                return {name: moved(it, key if name in _KEYWORDS else name) for name, it in schema.items()}
            case list():
                return [moved(it, key) for it in schema]
            case _:
                return schema

    made = {name: moved(it, name) for name, it in definitions.items()}
    return made | lists


def _used(schema: JsonSchema, *roots: str) -> JsonSchema:
    """The definitions that something leads to, the roots among them; those of which each kind has its own are
    left out.
    """
    definitions, used = schema["$defs"], dict[str, None]()
    waiting = [*roots, *_references({key: it for key, it in schema.items() if key != "$defs"})]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = None
            waiting.extend(_references(definitions[name]))
    return {name: it for name, it in definitions.items() if name in used}


def _references(schema: Any) -> Iterator[str]:
    match schema:
        case {"$ref": str(reference)}:
            yield reference.removeprefix(_REFERENCE)
        case dict():
            for it in schema.values():
                yield from _references(it)
        case list():
            for it in schema:
                yield from _references(it)
