"""Whether data fits the schema: yes or no, many times faster than `jsonschema` says why not.

Each definition of the shipped schema is compiled to a check, a function from a value to a bool, when data
first needs it. A JSON Schema keyword that is not in the table is an error, so that none is ignored.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any

from inferstack.check.structure.keywords import has_form, is_integer, is_number
from inferstack.format.schema import JsonSchema, shipped_schema
from inferstack.texts.placeholders import is_opaque, sample

Check = Callable[[Any], bool]


def fits(definition: str, value: object) -> bool:
    """Whether a value fits a definition of the shipped schema."""
    return _defined(definition)(value)


@cache
def _defined(name: str) -> Check:
    return compiled(shipped_schema()["$defs"][name])


def compiled(schema: JsonSchema) -> Check:
    """The check for one schema.

    Raises:
        ValueError: when the schema has a keyword that is not known here.
    """
    unknown = schema.keys() - _CHECKS.keys() - _SAYING_NOTHING
    if unknown:
        raise ValueError(f"words of JSON Schema that are not known here: {', '.join(sorted(unknown))}")
    return _all([_CHECKS[word](schema) for word in _CHECKS if word in schema])


def _all(checks: list[Check]) -> Check:
    match checks:
        case []:
            return lambda _: True
        case [only]:
            return only
        case [first, second]:
            return lambda value: first(value) and second(value)
        case _:
            return _every(tuple(checks))


def _every(checks: tuple[Check, ...]) -> Check:
    def check_all(value: Any) -> bool:
        # A generator inside `all` would take longer than most of the checks.
        for check in checks:  # noqa: SIM110
            if not check(value):
                return False
        return True

    return check_all


# ---------------------------------------------------------------- one function for each keyword

_TYPES: dict[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "number": is_number,
}


def _type(schema: JsonSchema) -> Check:
    wanted = schema["type"]
    return _TYPES[wanted] if isinstance(wanted, str) else _any([_TYPES[name] for name in wanted])


def _any(checks: list[Check]) -> Check:
    match checks:
        case [first, second]:
            return lambda value: first(value) or second(value)
        case _:
            return _one_of(tuple(checks))


def _one_of(checks: tuple[Check, ...]) -> Check:
    def check_any(value: Any) -> bool:
        for check in checks:  # noqa: SIM110 - as above
            if check(value):
                return True
        return False

    return check_any


def _reference(schema: JsonSchema) -> Check:
    name = schema["$ref"].removeprefix("#/$defs/")
    defined: Check | None = None

    def check(value: Any) -> bool:
        nonlocal defined
        # Compiled only when it is needed, since few specs have all blocks.
        if defined is None:
            defined = _defined(name)
        return defined(value)

    return check


def _any_of(schema: JsonSchema) -> Check:
    return _any([compiled(branch) for branch in schema["anyOf"]])


def _all_of(schema: JsonSchema) -> Check:
    return _all([compiled(part) for part in schema["allOf"]])


def _not(schema: JsonSchema) -> Check:
    check = compiled(schema["not"])
    return lambda value: not check(value)


def _enum(schema: JsonSchema) -> Check:
    options = frozenset(schema["enum"])
    if not all(isinstance(option, str) or is_integer(option) for option in options):
        raise ValueError("options are texts or integers")

    def check(value: Any) -> bool:
        if isinstance(value, str):
            return value in options or sample(value) in options or is_opaque(value)
        return (is_number(value) and value in options) or is_opaque(value)

    return check


def _pattern(schema: JsonSchema) -> Check:
    pattern, longest = schema["pattern"], schema.get("maxLength")
    return lambda value: has_form(value, pattern, longest)


def _least_length(schema: JsonSchema) -> Check:
    least = schema["minLength"]
    return lambda value: not isinstance(value, str) or is_opaque(value) or len(str(sample(value))) >= least


def _most_length(schema: JsonSchema) -> Check:
    most = schema["maxLength"]
    return lambda value: not isinstance(value, str) or is_opaque(value) or len(str(sample(value))) <= most


def _least(schema: JsonSchema) -> Check:
    least = schema["minimum"]
    return lambda value: not is_number(value) or value >= least or is_opaque(value)


def _most(schema: JsonSchema) -> Check:
    most = schema["maximum"]
    return lambda value: not is_number(value) or value <= most


def _items(schema: JsonSchema) -> Check:
    check = compiled(schema["items"])
    return lambda value: not isinstance(value, list) or all(map(check, value))


def _least_items(schema: JsonSchema) -> Check:
    least = schema["minItems"]
    return lambda value: not isinstance(value, list) or len(value) >= least or is_opaque(value)


def _most_items(schema: JsonSchema) -> Check:
    most = schema["maxItems"]
    return lambda value: not isinstance(value, list) or len(value) <= most


def _unique_items(schema: JsonSchema) -> Check:
    if schema["uniqueItems"] is not True:
        raise ValueError("`uniqueItems` is true or absent")
    return lambda value: not isinstance(value, list) or len(set(map(_identity, value))) == len(value)


def _identity(value: Any) -> Hashable:
    """Equal for what JSON Schema calls equal: ``true`` is not 1, and the order of keys does not matter."""
    match value:
        case bool():
            return bool, value
        case dict():
            return frozenset((key, _identity(item)) for key, item in value.items())
        case list():
            return tuple(map(_identity, value))
        case _:
            known: Hashable = value
            return known


def _properties(schema: JsonSchema) -> Check:
    """``properties`` together with ``additionalProperties``, which applies to all other keys."""
    known = {name: compiled(below) for name, below in schema.get("properties", {}).items()}
    other = _others(schema)

    def check(value: Any) -> bool:
        if isinstance(value, dict):
            for name, item in value.items():
                if not known.get(name, other)(item):
                    return False
        return True

    return check


def _others(schema: JsonSchema) -> Check:
    others = schema.get("additionalProperties", True)
    return compiled(others) if isinstance(others, dict) else lambda _: bool(others)


def _only_others(schema: JsonSchema) -> Check:
    return _all([]) if "properties" in schema else _properties(schema)


def _required(schema: JsonSchema) -> Check:
    names = frozenset(schema["required"])

    def check(value: Any) -> bool:
        return not isinstance(value, dict) or names <= value.keys()

    return check


def _property_names(schema: JsonSchema) -> Check:
    check = compiled(schema["propertyNames"])
    return lambda value: not isinstance(value, dict) or all(map(check, value))


def _least_properties(schema: JsonSchema) -> Check:
    least = schema["minProperties"]
    return lambda value: not isinstance(value, dict) or len(value) >= least


_SAYING_NOTHING = frozenset({"title", "description", "default", "examples"})
_CHECKS: Mapping[str, Callable[[JsonSchema], Check]] = {
    "type": _type,
    "$ref": _reference,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _only_others,
    "propertyNames": _property_names,
    "minProperties": _least_properties,
    "items": _items,
    "minItems": _least_items,
    "maxItems": _most_items,
    "uniqueItems": _unique_items,
    "enum": _enum,
    "pattern": _pattern,
    "minLength": _least_length,
    "maxLength": _most_length,
    "minimum": _least,
    "maximum": _most,
    "anyOf": _any_of,
    "allOf": _all_of,
    "not": _not,
}
