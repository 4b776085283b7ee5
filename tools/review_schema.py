"""JSON Schema of `inferstack review --format json`, made from the classes in :mod:`inferstack.review`.

`tools/schemas.py` writes it, and a test keeps both equal.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import msgspec

from inferstack.format.schema import JsonSchema
from inferstack.review import Fate, Review
from inferstack.updates.effects import MEANINGS
from tools.schema_from_classes import field_texts

SCHEMA_FILE = "review.schema.json"
_EFFECTS = sorted(MEANINGS)


def review_schema() -> JsonSchema:
    """The schema of the classes as they are now."""
    _, components = msgspec.json.schema_components([Review], ref_template="#/$defs/{name}")
    classes = {it.__name__: it for it in _classes()}
    for name, component in components.items():
        if name != Fate.__name__:
            _describe(component, classes[name])
    review = components.pop(Review.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:inferstack:review",
        **review,
        "title": "inferstack review",
        "$defs": dict(sorted(components.items())),
    }


def _classes(kind: Any = None) -> Iterator[type[msgspec.Struct]]:
    """The classes that a review consists of."""
    match msgspec.inspect.type_info(Review) if kind is None else kind:
        case msgspec.inspect.StructType(cls=cls, fields=fields):
            yield cls
            for field in fields:
                yield from _classes(field.type)
        case msgspec.inspect.UnionType(types=types):
            for one in types:
                yield from _classes(one)
        case msgspec.inspect.VarTupleType(item_type=item):
            yield from _classes(item)


def _describe(component: JsonSchema, cls: type[msgspec.Struct]) -> None:
    texts = field_texts(cls)
    for name, schema in component.get("properties", {}).items():
        schema["description"] = texts[name]
        _put_in_words(schema)
    # msgspec leaves out fields with a default, but reviews are always written whole.
    component["required"] = list(component.get("properties", {}))
    component["additionalProperties"] = False
    component["description"] = " ".join(inspect.cleandoc(cls.__doc__ or "").split())


def _put_in_words(schema: dict[str, Any]) -> None:
    """What each effect means, for readers of the schema alone."""
    if sorted(schema.get("enum", ())) == _EFFECTS:
        schema["oneOf"] = [{"const": it, "description": MEANINGS[it]} for it in MEANINGS]
        del schema["enum"]
