"""JSON Schema of the format, made from the classes in :mod:`inferstack.format`.

The result is committed and shipped as ``structure.schema.json``; `tools/schemas.py` writes it, and
a test keeps both equal. msgspec turns types into a schema; this module adds the texts under the fields, our
defaults, and AWS's enums, patterns and bounds from the catalog.
"""

import ast
import inspect
import textwrap
from typing import Any

import msgspec

from inferstack.catalog import cloudformation, document
from inferstack.format.base import Block, with_subclasses
from inferstack.format.defaults import FIELD_DEFAULTS
from inferstack.format.elsewhere import LISTS
from inferstack.format.kinds import NAMELESS, Spec
from inferstack.format.project import Project
from inferstack.format.schema import LIST_OR_ELSEWHERE, JsonSchema, kind_definitions
from inferstack.texts.elsewhere import WHOLE_LIST
from inferstack.texts.placeholders import OR_PLACEHOLDER

_TITLE = "inferstack model spec"
_KIND, _NAME = "kind", "endpoint_name"
_KIND_TEXT = "The shape of the endpoint: it decides which blocks the spec has."
_NUMBER = [{"type": "integer"}, {"type": "number"}]
_TRITON = "triton-model-config.json"


def generate_schema() -> JsonSchema:
    """The schema of the classes as they are now."""
    _, components = msgspec.json.schema_components([Spec, Project], ref_template="#/$defs/{name}")
    classes = {block.__name__: block for block in with_subclasses(Block)}
    definitions = {name: _described(components[name], classes[name]) for name in sorted(components)}
    _admit_placeholders(definitions)
    _admit_whole_lists(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:inferstack:model-spec",
        "title": _TITLE,
        "description": "One SageMaker inference endpoint. `kind` decides which blocks there are.",
        "type": "object",
        "required": [_KIND],
        "properties": {
            _KIND: {"enum": list(kind_definitions()), "description": _KIND_TEXT},
        },
        "allOf": [_branch(kind, name) for kind, name in kind_definitions().items()],
        "$defs": {**definitions, **document(_TRITON)["$defs"]},
    }


def _branch(kind: str, definition: str) -> JsonSchema:
    condition = {"properties": {_KIND: {"const": kind}}, "required": [_KIND]}
    return {"if": condition, "then": {"$ref": f"#/$defs/{definition}"}}


def _described(component: JsonSchema, block: type[Block]) -> JsonSchema:
    texts = field_texts(block)
    for name, schema in component.get("properties", {}).items():
        _remove_null(schema)
        _remove_null(schema.get("items", {}))
        _constrain(schema, _aws_constraints(block, name))
        schema["description"] = _KIND_TEXT if name == _KIND else texts[name]
    _require_name(component)
    for name, default in FIELD_DEFAULTS.get(block, {}).items():
        component["properties"][name]["default"] = msgspec.to_builtins(default.value)
    component["description"] = " ".join(inspect.cleandoc(block.__doc__ or "").split())
    return component


def _require_name(component: JsonSchema) -> None:
    """A file must name its endpoint; only in Python can the name be left out."""
    if component.get("properties", {}).get(_NAME, {}).pop("default", None) == NAMELESS:
        component["required"] = [*component["required"][:1], _NAME, *component["required"][1:]]


def field_texts(block: type[msgspec.Struct]) -> dict[str, str]:
    """The string under each field, of this class and of those that it inherits from."""
    texts: dict[str, str] = {}
    own = [c for c in block.__mro__ if issubclass(c, msgspec.Struct) and c is not msgspec.Struct]
    for cls in reversed(own):
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    texts[name] = " ".join(words.split())
    return texts


def _aws_constraints(block: type[Block], field: str) -> JsonSchema:
    for shape, key in _places(block, field):
        property_ = cloudformation.shape(*shape.split(".")).get(key)
        if property_ is not None:
            return dict(property_.schema)
    return {}


def _places(block: type[Block], field: str) -> list[tuple[str, str]]:
    """Where AWS may describe a field, as pairs of shape and key."""
    if field not in block.aws_keys:
        return [(shape, field) for shape in block.shapes]
    place = block.aws_keys[field]
    return [] if place is None else [place]


def _remove_null(schema: JsonSchema) -> None:
    """``None`` stands for an absent key, so it is neither a type nor a default in the schema."""
    if schema.get("default", ...) is None:
        del schema["default"]
    branches = [b for b in schema.pop("anyOf", []) if b != {"type": "null"}]
    if branches[:2] == _NUMBER:
        branches[:2] = [{"type": "number"}]
    if len(branches) == 1:
        schema.update(branches[0])
    elif branches:
        schema["anyOf"] = branches


def _admit_placeholders(schema: Any) -> None:
    match schema:
        case {"type": "string", "pattern": str(pattern)}:
            schema["pattern"] = pattern + OR_PLACEHOLDER
        case {"propertyNames": {"pattern": str(pattern)} as names, "additionalProperties": {"$ref": str()}}:
            # Names of models and components: the values are blocks of their own.
            names["pattern"] = pattern + OR_PLACEHOLDER
        case dict():
            for below in schema.values():
                _admit_placeholders(below)
        case list():
            for below in schema:
                _admit_placeholders(below)


def _admit_whole_lists(definitions: JsonSchema) -> None:
    for definition in definitions.values():
        for name, schema in definition.get("properties", {}).items():
            if name in LISTS and schema.get("type") == "array":
                schema |= {"type": LIST_OR_ELSEWHERE, "pattern": WHOLE_LIST}


_WORDS = {
    "string": ("enum", "pattern", "minLength", "maxLength"),
    "integer": ("enum", "minimum", "maximum"),
    "number": ("enum", "minimum", "maximum"),
    "array": ("minItems", "maxItems", "uniqueItems"),
}


def _constrain(schema: JsonSchema, aws: JsonSchema) -> None:
    """Adds AWS's constraints; those of the class itself take precedence."""
    for branch in schema.get("anyOf", [schema]):
        kind = branch.get("type", "")
        own_form = {"enum", "pattern"} & branch.keys()
        for word in _WORDS.get(kind, ()):
            if word in aws and not (own_form and word in {"enum", "pattern"}):
                branch.setdefault(word, aws[word])
        if kind == "array" and isinstance(branch.get("items"), dict):
            _constrain(branch["items"], aws.get("items", {}) if aws.get("type") == "array" else aws)
