"""Reduces a property of a CloudFormation registry schema to the keywords that constrain its value."""

from typing import Any

from tools.portable_pattern import portable
from tools.sources import Json

KEPT = (
    "type",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "maxProperties",
    "uniqueItems",
)


def constraints_of_property(prop: Json, schema: Json) -> dict[str, Any]:
    """Constraints of ``prop``; references to plain values are resolved, references to structures stay."""
    if "$ref" in prop:
        name = prop["$ref"].removeprefix("#/definitions/")
        target = schema["definitions"][name]
        return {"$ref": name} if "properties" in target else constraints_of_property(target, schema)
    words = _kept(prop)
    if "items" in prop:
        words["items"] = constraints_of_property(prop["items"], schema)
    return words | _map_words(prop)


def telling(words: dict[str, Any]) -> dict[str, Any]:
    """``words`` without those that exclude nothing, or nothing that an enum does not already exclude."""
    silent = {word for word in ("minLength", "minItems", "minProperties") if words.get(word) == 0}
    silent |= {word for word in ("pattern", "uniqueItems") if not words.get(word)}
    if "enum" in words:
        silent |= {"pattern", "minLength", "maxLength"}
    return {word: value for word, value in words.items() if word not in silent}


def _kept(prop: Json) -> dict[str, Any]:
    words = {word: prop[word] for word in KEPT if word in prop}
    if "enum" in words:
        words["enum"] = sorted(words["enum"])
    if "pattern" in words:
        words["pattern"] = portable(words["pattern"])
    return telling(words)


def _map_words(prop: Json) -> dict[str, Any]:
    """A map with one kind of entry, written without a pattern as a key."""
    entries = prop.get("patternProperties", {})
    if len(entries) != 1:
        return {}
    [(pattern, value)] = entries.items()
    return {"propertyNames": telling({"pattern": portable(pattern)}), "additionalProperties": _kept(value)}
