"""JSON Schema of `inferstack review --format json`, made from the classes in :mod:`inferstack.review.page`.

`tools/schemas.py` writes it, and a test keeps both equal.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import msgspec

from inferstack.facts.scaling import InstanceCounts
from inferstack.format.schema import JsonSchema
from inferstack.review.page import data, outcome
from inferstack.review.page.effects import MEANINGS
from inferstack.review.update import Fate
from tools.schema_from_classes import field_texts

SCHEMA_FILE = "review.schema.json"
_EFFECTS = sorted(MEANINGS)


def review_schema() -> JsonSchema:
    """The schema of the classes as they are now."""
    _, components = msgspec.json.schema_components([outcome.Review], ref_template="#/$defs/{name}")
    classes = {it.__name__: it for it in _classes()}
    for name, component in components.items():
        if name != Fate.__name__:
            _describe(component, classes[name])
    review = components.pop(outcome.Review.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:inferstack:review",
        **review,
        "title": "inferstack review",
        "$defs": dict(sorted(components.items())),
    }


def _classes() -> Iterator[type[msgspec.Struct]]:
    yield InstanceCounts
    for module in (data, outcome):
        for found in vars(module).values():
            if inspect.isclass(found) and issubclass(found, msgspec.Struct):
                yield found


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
