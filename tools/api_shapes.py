"""Reads botocore's service models: which members an operation takes, and which values these allow."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from tools.portable_pattern import portable
from tools.registry_words import telling
from tools.sources import Json, service_model

# What JSON Schema calls the "min" and "max" of each kind of API shape.
BOUNDS = {
    "string": ("minLength", "maxLength"),
    "list": ("minItems", "maxItems"),
    "map": ("minProperties", "maxProperties"),
    **dict.fromkeys(("integer", "long", "float", "double"), ("minimum", "maximum")),
}
# The limits of each numeric type itself. YAML has no integer beyond those of a `long`.
LIMITS: dict[str, tuple[float, float]] = {
    "integer": (-(2**31), 2**31 - 1),
    "float": (-3.4028234663852886e38, 3.4028234663852886e38),
}
_RANGE = re.compile(r"Values must be in the range of -2\^([0-9]+) to 2\^([0-9]+)")
# Which API shapes may describe a CloudFormation property of each type.
KINDS = {
    "array": {"list"},
    "boolean": {"boolean"},
    "integer": {"integer", "long"},
    "number": {"integer", "long", "float", "double"},
    "object": {"map", "structure"},
    "string": {"string", "timestamp"},
}
# The narrowest JSON type for each kind of API shape: "integer" comes after "number" here, and the last wins.
JSON_TYPES = {kind: json_type for json_type in sorted(KINDS, reverse=True) for kind in KINDS[json_type]}


@dataclass(frozen=True)
class Api:
    """One service model."""

    model: Json

    @classmethod
    @cache
    def load(cls, service: str) -> Self:
        """The installed botocore's model of ``service``."""
        return cls(service_model(service))

    def __hash__(self) -> int:
        return id(self)

    def input_of(self, operation: str) -> str:
        """The name of the structure that an operation takes."""
        return str(self.model["operations"][operation]["input"]["shape"])

    def shape(self, name: str) -> Json:
        """A shape as botocore writes it."""
        return dict(self.model["shapes"][name])

    def item_of(self, name: str) -> str | None:
        """The shape of a list's items."""
        shape = self.shape(name)
        return str(shape["member"]["shape"]) if shape["type"] == "list" else None

    def structure_behind(self, name: str) -> str | None:
        """``name`` itself or its items' shape, whichever is a structure."""
        for candidate in (name, self.item_of(name)):
            if candidate is not None and self.shape(candidate)["type"] == "structure":
                return candidate
        return None


def members_of(api: Api, structure: str) -> Iterator[tuple[str, str]]:
    """Member names of a structure with the names of their shapes."""
    for name, member in api.shape(structure)["members"].items():
        yield name, member["shape"]


def describes(api: Api, name: str, json_type: Any) -> bool:
    """Whether a shape's kind fits a JSON type, or one of several.

    The two sides sometimes disagree: tags are a map for one service and a list for CloudFormation.
    """
    types = [json_type] if isinstance(json_type, str) else json_type
    return any(api.shape(name)["type"] in KINDS[each] for each in types)


def constraints_of_shape(api: Api, name: str) -> dict[str, Any]:
    """A shape's enum, pattern and bounds as JSON Schema keywords; for a map, also of its keys and values."""
    shape = api.shape(name)
    if "enum" in shape:
        return {"enum": sorted(shape["enum"])}
    lower, upper = BOUNDS.get(shape["type"], ("", ""))
    least, most = LIMITS.get(shape["type"], (None, None))
    bounds = {lower: shape.get("min", least), upper: shape.get("max", most)}
    words: dict[str, Any] = {word: bound for word, bound in bounds.items() if bound is not None}
    if "pattern" in shape:
        words["pattern"] = portable(_anchored(shape["pattern"]))
    if shape["type"] == "map":
        words["propertyNames"] = constraints_of_shape(api, shape["key"]["shape"])
        value = constraints_of_shape(api, shape["value"]["shape"])
        words["additionalProperties"] = {"type": "string", **value}
    return telling(words)


def bounds_in_words(member: Json) -> dict[str, float]:
    """Bounds of a number that are only in the description of a structure's member."""
    found = _RANGE.search(member.get("documentation", ""))
    return {} if found is None else {"minimum": -(2.0 ** int(found[1])), "maximum": 2.0 ** int(found[2])}


def schema_of_shape(api: Api, name: str) -> dict[str, Any]:
    """A shape's type and constraints; a structure is only a mapping here, without its members."""
    kind = api.shape(name)["type"]
    schema = {"type": JSON_TYPES[kind], **constraints_of_shape(api, name)}
    item = api.item_of(name)
    return schema if item is None else {**schema, "items": schema_of_shape(api, item)}


def _anchored(pattern: str) -> str:
    """The API matches whole values, but JSON Schema matches anywhere in a value."""
    if portable(pattern) is None or (pattern.startswith("^") and pattern.endswith("$")):
        return pattern
    return f"^(?:{pattern.removeprefix('^').removesuffix('$')})$"
