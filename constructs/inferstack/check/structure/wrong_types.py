"""Messages on a value of the wrong type: what was found, and how to write it in the right type.

There may be a mapping where a list belongs or vice versa, a number may be in quotes or have a unit, YAML may
have read a text as something else, and a CDK token may be of another type.
"""

import math
import re
from fractions import Fraction
from typing import Any

from inferstack.check.structure.other_names import INSTEAD_OF_FUNCTIONS, NAMED_BY, is_intrinsic
from inferstack.check.structure.patterns import what_fits
from inferstack.check.structure.validator import Error, accepts_type, has_form
from inferstack.facts.quantity import MICROSECONDS_IN, TIME_WORDS
from inferstack.format.schema import LIST_OR_ELSEWHERE, JsonSchema, resolved
from inferstack.problems import Fix
from inferstack.problems.words import chosen, describe, listed, nearest, span, type_name
from inferstack.source.scalars import plain_scalar
from inferstack.texts.placeholders import is_opaque, tokens


def wrong_type(name: str, error: Error) -> tuple[str, str]:
    """Message and fix for an error of the keyword `type`; ``name`` is the value's key as messages show it."""
    wanted, found = error.validator_value, error.instance
    wanted = "array" if wanted == LIST_OR_ELSEWHERE else wanted
    message = f"{name} must be {type_name(wanted)}, found {describe(found)}"
    if wanted == "object":
        return message, _keys_to_write(error.schema, found)
    return message, _retype(wanted, error.schema, found, key_of(error))


def as_wanted(branch: JsonSchema, found: object, key: str) -> str:
    """How a value that fits no branch of a choice becomes one of this branch. Empty for a text: in quotes the
    value would be one, but mean nothing.
    """
    if branch["type"] == "object":
        return _keys_to_write(branch, found)
    in_quotes = branch["type"] == "string" and not isinstance(found, dict)
    return "" if in_quotes else _retype(branch["type"], branch, found, key)


def key_of(error: Error) -> str:
    """The innermost key that the wrong value belongs to."""
    return next((step for step in reversed(error.absolute_path) if isinstance(step, str)), "")


_TOKENS = {
    "string": "pass a CDK token as text: `value_as_string` or `cdk.Token.as_string(…)`",
    "integer": "pass a CDK token as a number: `value_as_number` or `cdk.Token.as_number(…)`",
    "number": "pass a CDK token as a number: `value_as_number` or `cdk.Token.as_number(…)`",
    "array": "pass a CDK token as a list: `value_as_list` or `cdk.Token.as_list(…)`",
    "boolean": "write true or false: a CDK token cannot be either",
}
_YAML_1_1_BOOLEANS = {
    **dict.fromkeys(("yes", "on", "y"), True),
    **dict.fromkeys(("no", "off", "n"), False),
}


def _retype(wanted: str | list[str], schema: JsonSchema, found: object, key: str) -> str:
    """How to give a value the wanted type, within the schema's bounds if it is a number."""
    match wanted, found:
        case str(), _ if is_opaque(found) and wanted in _TOKENS:
            as_entry = wanted == "array" and isinstance(found, str) and not tokens(found)
            return f"write it as an entry: [{found}]" if as_entry else _TOKENS[wanted]
        case _, None:
            return "give it a value, or remove the key"
        case _, dict() if is_intrinsic(*found):
            return INSTEAD_OF_FUNCTIONS
        case "string", bool():
            said = f'quote it: "{str(found).lower()}" (and check that YAML did not change the text)'
            return Fix(said, found, str(found))
        case "string", int() | float():
            said = "put quotes around it, just as it is written: without them it is a number"
            return Fix(said, found, str(found))
        case "integer" | "number", _:
            return _as_number(wanted == "integer", schema, found, key)
        case "boolean", str() if found.lower() in ("true", "false"):
            return Fix(f"write it without quotes: {found.lower()}", found, found.lower() == "true")
        case "boolean", str() if found.lower() in _YAML_1_1_BOOLEANS:
            said = "write true or false: in YAML 1.2 other words are strings"
            return Fix(said, found, _YAML_1_1_BOOLEANS[found.lower()])
        case "array", _:
            return _as_list(schema, found)
        case _:
            return ""


def _as_list(schema: JsonSchema, found: object) -> str:
    match found:
        case dict() if found and _names_and_values(schema):
            return f"write a list: {_by_name_and_value(found)}"
        case dict() if found and (how := _as_blocks(schema, found)):
            return how
        case str() if (form := _form_of_entries(schema)) and not has_form(found, *form):
            return f"write a list; each entry is {what_fits(resolved(schema['items']))}"
        case str() if entry := _as_entry(schema, found):
            return _applied(f"write it as an entry: [{_shown(entry)}]", found, entry, [entry])
        case _:
            return "write a list: [a, b] or one `- item` per line"


# What YAML reads as the same text in brackets, and is no longer than an ARN.
_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_./:@+=*-]{0,127}(?<!:)")


def _form_of_entries(schema: JsonSchema) -> tuple[str, int | None] | None:
    """The pattern that the texts of a list must have, and their length; None if any text will do."""
    items = resolved(schema.get("items", {}))
    return (items["pattern"], items.get("maxLength")) if "pattern" in items else None


def _as_entry(schema: JsonSchema, found: str) -> str | dict[str, str]:
    """A text as the only entry of the list that it should be; empty if it is not one."""
    items = resolved(schema.get("items", {}))
    if not _BARE.fullmatch(found):
        return ""
    if items.get("type") == "string":
        return found
    return _with_key(items, found) if len(items.get("properties", ())) == 1 else ""


def _shown(value: str | dict[str, str]) -> str:
    if isinstance(value, str):
        return value
    return f"{{{', '.join(f'{key}: {it}' for key, it in value.items())}}}"


def _applied(said: str, found: str, value: str | dict[str, str], instead: object) -> str:
    """What is said, with its edit if the value holds what was found, and not what is most like it."""
    held = value.values() if isinstance(value, dict) else (value,)
    return Fix(said, found, instead) if found in held else said


_SHOWN = 3
"""Entries of a list that are written out; its reader knows how to go on."""


def _names_and_values(schema: JsonSchema) -> bool:
    """Whether the list is one of names with values, such as dimensions, where a mapping belongs."""
    return set(resolved(schema.get("items", {})).get("properties", ())) == {"name", "value"}


def _as_blocks(schema: JsonSchema, found: dict[str, Any]) -> str:
    """How to write a mapping as the list of blocks that it should be; empty if it holds no such blocks."""
    block = resolved(schema.get("items", {}))
    keys = block.get("properties", {})
    first = next(iter(found))
    if first in keys:
        return f"write a list: `- {first}: …`, and the other keys below `{first}`"
    name = NAMED_BY.get(block.get("title", ""))
    if name in keys and all(isinstance(value, dict) for value in found.values()):
        return f"write a list: `- {name}: {first}` and its keys below `{name}`, one item for each"
    return ""


def _by_name_and_value(found: dict[str, Any]) -> str:
    written = [f"{{name: {describe(name)}, value: {describe(value)}}}" for name, value in found.items()]
    return f"[{', '.join(written[:_SHOWN])}{', …' if len(written) > _SHOWN else ''}]"


# ---------------------------------------------------------------- mappings


def _keys_to_write(block: JsonSchema, found: object) -> str:
    """How to write a mapping instead of what was found."""
    if isinstance(found, list) and found and (home := _home_of_list(block, found[0])):
        return home
    keys = list(block.get("properties", {}))
    if "actions" in keys and isinstance(found, str) and found.startswith("arn:"):
        return Fix(f"write `{{actions: [{found}]}}`", found, {"actions": [found]})
    if isinstance(found, str) and (value := _with_key(block, found)):
        return _applied(f"write `{_shown(value)}`", found, value, value)
    fix = f"write keys under it: {_names(block)}" if keys else "write `key: value`, one per line"
    bare = found is None or found is True
    needs_a_key = block.get("required") or block.get("title") in _EMPTY_IN_VAIN
    return f"{fix}; or `{{}}` for defaults alone" if bare and not needs_a_key else fix


def _names(block: JsonSchema) -> str:
    """The keys of a block: those that it needs, and the others."""
    needed = list(block.get("required", ()))
    others = listed([key for key in block["properties"] if key not in needed], quote="")
    return ", also ".join(filter(None, (listed(needed, last="and", quote=""), others)))


def _with_key(block: JsonSchema, found: str) -> dict[str, str]:
    """A text as the value of the one key of a block that it must belong to; empty if there is none."""
    keys = block.get("properties", {})
    only = next(iter(keys)) if len(keys) == 1 else None
    name = NAMED_BY.get(block.get("title", ""), only)
    if name is None or name not in keys:
        return {}
    options = resolved(keys[name]).get("enum", [found])
    return {name: nearest(found, options) or "…"}


# The schema requires no key of these, because each can be written in several ways; a rule requires one of
# them.
_EMPTY_IN_VAIN = frozenset(
    {
        "Variant",
        "Model",
        "NamedModel",
        "PipelineContainer",
        "ComponentSpecification",
        "ComponentContainer",
        "ComputeResourceRequirements",
        "RoutingConfig",
        "Triton",
    }
)


def _home_of_list(block: JsonSchema, entry: object) -> str:
    """Where such a list belongs in a block that was itself written as the list; empty if nowhere."""
    named = block.get("additionalProperties")
    if isinstance(named, dict) and isinstance(entry, dict) and accepts_type(named, entry):
        return "write each under its name, without a list: `NAME:`, and its keys below"
    properties = block.get("properties", {})
    if isinstance(entry, dict) and properties.keys() & entry.keys():
        return "it is one block: write its keys under it, without a list"
    lists = [key for key, value in properties.items() if _takes_a_list_of(value, entry)]
    return f"write the list under {listed(lists)}" if lists else ""


def _takes_a_list_of(value: JsonSchema, entry: object) -> bool:
    branches = map(resolved, value.get("anyOf", [value]))
    return any("items" in branch and accepts_type(branch["items"], entry) for branch in branches)


# ---------------------------------------------------------------- numbers

_LONGEST_NUMERAL = 18
_NUMERAL = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
# Few enough digits for the number to be safely within a float's range.
_FRACTION = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}")
_QUANTITY = re.compile(rf"{_NUMERAL.pattern}\s*(%|[a-zA-Zµ].*)")


def _as_number(is_whole: bool, schema: JsonSchema, found: object, key: str) -> str:
    match found:
        case bool():
            return "write a number"
        case float() if not math.isfinite(found):
            return "write a finite number"
        case float() if is_whole:
            return _whole(found, found, schema)
        case str() if is_whole and _FRACTION.fullmatch(found):
            return _whole(found, float(found), schema)
        case str() if _NUMERAL.fullmatch(found):
            said = f"write it without quotes: {found}"
            return Fix(said, found, plain_scalar(found)) if len(found) <= _LONGEST_NUMERAL else said
        case str() if _QUANTITY.fullmatch(found):
            return _without_unit(key, found)
        case _:
            return ""


def _whole(found: str | float, number: float, schema: JsonSchema) -> str:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    near = [it for it in dict.fromkeys((math.floor(number), math.ceil(number))) if low <= it <= high]
    if not near:
        return f"write a whole number: {bounds_in_words(schema, number)}"
    if len(near) > 1:
        return f"write a whole number such as {near[0]} or {near[1]}"
    return Fix(f"write {near[0]}", found, near[0]) if near[0] == number else f"write {near[0]}"


def bounds_in_words(schema: JsonSchema, found: float) -> str:
    """The bounds in words. Where a value is too low, an upper bound that is only the type's is left out."""
    low, high = schema.get("minimum"), schema.get("maximum")
    is_too_low = low is not None and chosen(low) is not None and found < low
    return span(low, chosen(high) if is_too_low else high)


# ---------------------------------------------------------------- numbers with a unit

# AWS's keys have their unit in the name (`memory_size_in_mb`) or always the same one (`period`), so that
# the number alone is the value.
_TIMES = {
    **{word: MICROSECONDS_IN[unit] for word, unit in TIME_WORDS.items()},
    **dict.fromkeys(("h", "hour", "hours"), 60 * MICROSECONDS_IN["min"]),
}
# SageMaker's megabytes are 2 ** 20 bytes, whatever they are called.
_SIZES = {
    **dict.fromkeys(("mb", "mib", "m"), 1),
    **dict.fromkeys(("gb", "gib", "g"), 1024),
    **dict.fromkeys(("tb", "tib", "t"), 1024**2),
}
_ALWAYS_SECONDS = ("period", "cooldown")
_COUNTS_OF_PERIODS = ("evaluation_periods", "datapoints_to_alarm")
_FORM = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([a-zA-Zµ]+)")


def _without_unit(key: str, text: str) -> str:
    """What to write for a key instead of a number with a unit."""
    last = key.rpartition("_")[2]
    unit = "seconds" if last in _ALWAYS_SECONDS else last
    table = next((it for it in (_TIMES, _SIZES) if unit in it), None)
    if key in _COUNTS_OF_PERIODS:
        return "write a number of periods, not a time"
    if table is None:
        return "write a number without a unit"
    found = _FORM.fullmatch(text.strip())
    word = unit.upper() if table is _SIZES else unit
    if found is None or found[2].lower() not in table:
        return f"write a number of {word}, without a unit"
    number = Fraction(found[1]) * table[found[2].lower()] / table[unit]
    if number.denominator > 1:
        return f"write a whole number of {word}"
    return Fix(f"write {number} (in {word})", text, int(number))
