"""What `jsonschema` finds wrong with a spec, in words that help.

`jsonschema` finds it; this module says it: where it stands, what was found, what is allowed, the nearest
valid name, and the fix.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from inferstack.catalog import metrics
from inferstack.spec.document import Document
from inferstack.spec.placeholders import OR_PLACEHOLDER, is_opaque, sample
from inferstack.spec.problem import Problem, SpecPath
from inferstack.spec.quantity import INSTEAD_OF_A_TARGET, is_time
from inferstack.spec.schema import shipped_schema
from inferstack.spec.structure import (
    EXCLUSIVE_KEYS,
    MISSING_KEY,
    NOT_AN_OPTION,
    OUT_OF_RANGE,
    UNKNOWN_KEY,
    WRONG_COUNT,
    WRONG_FORM,
    WRONG_LENGTH,
    WRONG_TYPE,
)
from inferstack.spec.structure.api_only import NOT_YET, is_api_only_key, is_api_only_value
from inferstack.spec.structure.keywords import has_form, is_integer, is_number
from inferstack.spec.structure.misplaced import (
    INSTEAD,
    blocks_without_names,
    homes,
    homes_in_kind,
    how_to_name,
    kinds_having,
    resolved,
)
from inferstack.spec.structure.other_names import said_otherwise
from inferstack.spec.words import (
    PATTERNS_OF_NAMES,
    WHAT_A_PATTERN_MEANS,
    choose,
    describe,
    listed,
    nearest,
    span,
    type_name,
)

# jsonschema's ValidationError. Its stub says of every attribute that it may be unset; on an error that
# comes from iterating none is.
Error = Any


def reported(document: Document, definition: str) -> list[Problem]:
    """Everything in a document that a definition of the schema forbids; nothing if it fits."""
    errors = list(_validator(definition).iter_errors(document.data))
    wrong = {error.absolute_path[0] for error in errors if error.absolute_path}
    nameless = blocks_without_names(document.data, definition, wrong)
    of_blocks = [_without_a_name(document, key, found, definition) for key, found in nameless.items()]
    others = (error for error in errors if next(iter(error.absolute_path), None) not in nameless)
    return [*of_blocks, *(problem for error in others for problem in _problems(document, error))]


def _problem(
    document: Document, path: SpecPath, code: str, message: str, fix: str, *, key: bool = False
) -> Problem:
    position = document.position(path, key=key)
    return Problem(document.file, position.line, position.column, code, message, fix, path=path)


def _without_a_name(document: Document, key: str, found: list[str], definition: str) -> Problem:
    what = key.replace("_", " ")
    message = f"`{key}` holds {what} by name, and here stand the keys of one: {listed(found, last='and')}"
    return _problem(document, (key,), UNKNOWN_KEY, message, how_to_name(key, definition), key=True)


# ---------------------------------------------------------------- the validator


def _unless_opaque(keyword: str) -> Callable[..., Iterator[ValidationError]]:
    """A text that is known only at deployment passes; pseudo parameters stand for a sample."""
    check = Draft202012Validator.VALIDATORS[keyword]

    def validate(
        validator: Any, value: object, instance: object, schema: dict[str, Any]
    ) -> Iterator[ValidationError]:
        if not is_opaque(instance):
            yield from check(validator, value, sample(instance), schema) or ()

    return validate


def _pattern_fits(
    _: Any, pattern: str, instance: object, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if not has_form(instance, pattern, schema.get("maxLength")):
        yield ValidationError("pattern")


# Not `type`: what is known only at deployment has its type already.
_KEYWORDS = ("enum", "minLength", "maxLength", "minimum", "maximum", "minItems")
_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    validators={**{word: _unless_opaque(word) for word in _KEYWORDS}, "pattern": _pattern_fits},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, instance: is_integer(instance),
            "number": lambda _, instance: is_number(instance),
        }
    ),
)


@cache
def _validator(definition: str) -> Any:
    return _Validator({"$ref": f"#/$defs/{definition}", "$defs": shipped_schema()["$defs"]})


# ---------------------------------------------------------------- errors into words


def _problems(document: Document, error: Error) -> Iterable[Problem]:
    path = tuple(error.absolute_path)
    if "propertyNames" in list(error.absolute_schema_path)[-2:-1]:
        return _bad_name(document, path, error)
    if _is_said_of_the_options(error):
        return ()
    match str(error.validator):
        case "additionalProperties" | "required" | "anyOf" | "propertyNames" | "not" as keyword:
            return _SEVERAL[keyword](document, path, error)
        case keyword:
            code, say = _ONE[keyword]
            message, fix = say(_name(path), error)
            return [_problem(document, path, code, message, _fix_by_neighbours(document, path, error) or fix)]


def _is_said_of_the_options(error: Error) -> bool:
    """Whether what is allowed is said of the same value, so that its type need not be: quotes would not help.

    Of a number that could stand for one of a deployment it is not.
    """
    is_option = error.validator_value == "string" and "enum" in error.schema
    return error.validator == "type" and is_option and not is_opaque(error.instance)


def _fix_by_neighbours(document: Document, path: SpecPath, error: Error) -> str:
    """What the keys beside a value tell about how to mend it, if they do."""
    block: Any = document.data
    for part in path[:-1]:
        block = block[part]
    match error.validator, path[-1:]:
        case "type", ("target_value",):
            found = metrics.find(str(block.get("metric")))
            return INSTEAD_OF_A_TARGET if any(map(is_time, found)) else ""
        case "minimum", (str() as key,) if key.startswith("max_"):
            low_key, found = f"min_{key.removeprefix('max_')}", error.instance
            reversed_ = is_integer(block.get(low_key)) and block[low_key] > found >= 0
            return f"swap them: `{low_key}: {found}` and `{key}: {block[low_key]}`" if reversed_ else ""
        case _:
            return ""


def _name(path: SpecPath) -> str:
    """The key that a value belongs to, in backquotes."""
    keys = [part for part in path if isinstance(part, str)]
    entry = "an entry of " if path and isinstance(path[-1], int) else ""
    return f"{entry}`{keys[-1]}`" if keys else "the spec"


def _unknown_keys(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    known, title = list(error.schema["properties"]), error.schema.get("title", "")
    for key in error.instance:
        if key not in known:
            where = f"`{path[-1]}`" if path and isinstance(path[-1], str) else "this block"
            message = f"unknown key `{key}` in {where if path else 'the spec'}"
            if is_api_only_key(title, key):
                message = f"`{key}` cannot be deployed: {NOT_YET}"
            fix = _instead_of(document, path, key, error.schema)
            yield _problem(document, (*path, key), UNKNOWN_KEY, message, fix, key=True)


def _instead_of(document: Document, path: SpecPath, key: str, block: dict[str, Any]) -> str:
    known, title = list(block["properties"]), block.get("title", "")
    if is_api_only_key(title, key):
        return "remove it"
    return said_otherwise(key, title, known) or _where_it_belongs(document, path, key, block)


def _where_it_belongs(document: Document, path: SpecPath, key: str, block: dict[str, Any]) -> str:
    kind = str(document.data.get("kind"))
    others = () if path else kinds_having(key)
    if others:
        kinds = listed([f"kind: {it}" for it in others])
        return f"it is for {kinds}: change `kind`, or {INSTEAD.get(key, 'remove it')}"
    known = list(block["properties"])
    home = homes(block).get(key) or (homes_in_kind(kind).get(key) if nearest(key, known) is None else None)
    stands_there = home is not None and home.rpartition(".")[2] == next(iter(path[-1:]), None)
    return choose(key, known) if home is None or stands_there else f"write it under `{home}`"


def _missing_key(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    missing = error.message.split("'")[1]
    if _stands_there_misspelt(document, path, missing, error):
        return
    text = error.schema.get("properties", {}).get(missing, {}).get("description", "")
    fix = f"add `{missing}`" + (f": {text.split('. ')[0].rstrip('.')}" if text else "")
    yield _problem(document, path, MISSING_KEY, f"{_name(path)} lacks `{missing}`", fix)


def _stands_there_misspelt(document: Document, path: SpecPath, missing: str, error: Error) -> bool:
    """Whether what is reported of an unknown key says that it is to be this one: one mistake, one problem."""
    said = (f"did you mean `{missing}`? ", f"it is called `{missing}` here")
    known = error.schema["properties"]
    unknown = (key for key in error.instance if key not in known)
    return any(_instead_of(document, path, key, error.schema).startswith(said) for key in unknown)


def _no_branch_fits(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    """Reports from the branch whose type the value has; if none has, from the choice as a whole."""
    branches = error.validator_value
    fitting = [i for i, branch in enumerate(branches) if _accepts_type(branch, error.instance)]
    if not fitting:
        wanted = listed([_branch_type(branch) for branch in branches], quote="")
        message = f"{_name(path)} must be {wanted}, found {describe(error.instance)}"
        ways = (_as_wanted(resolved(branch), error.instance) for branch in branches)
        yield _problem(document, path, WRONG_TYPE, message, next(filter(None, ways), ""))
    for inner in error.context or ():
        if inner.schema_path[0] == next(iter(fitting), None):
            yield from _problems(document, inner)


def _bad_name(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    for inner in error.context or [error]:
        name = str(error.instance)
        code, say = _ONE[str(inner.validator)]
        yield _problem(document, (*path, name), code, *say(f"the name `{name}`", inner), key=True)


def _exclusive_keys(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    if not isinstance(error.instance, dict):
        return  # JSON Schema's `required` holds for all that is no mapping; the wrong type is reported.
    pairs = error.validator_value.get("anyOf", [error.validator_value])
    keys = list(dict.fromkeys(key for pair in pairs for key in pair["required"] if key in error.instance))
    message = f"{listed(keys, last='and')} exclude one another in {_name(path)}"
    yield _problem(document, path, EXCLUSIVE_KEYS, message, "keep one of them")


_SEVERAL: dict[str, Callable[[Document, SpecPath, Error], Iterator[Problem]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "anyOf": _no_branch_fits,
    "propertyNames": _bad_name,
    "not": _exclusive_keys,
}


def _branch_type(branch: dict[str, Any]) -> str:
    return type_name(resolved(branch)["type"])


def _accepts_type(branch: dict[str, Any], instance: object) -> bool:
    return bool(_Validator({"type": resolved(branch)["type"]}).is_valid(instance))


def _as_wanted(branch: dict[str, Any], found: object) -> str:
    """How a value of none of the types becomes this one. In quotes it would be one, but mean nothing."""
    if branch["type"] == "object":
        return _keys_to_write(branch, found)
    return "" if branch["type"] == "string" else _retype(branch["type"], found)


def _type(name: str, error: Error) -> tuple[str, str]:
    wanted, found = error.validator_value, error.instance
    fix = _keys_to_write(error.schema, found) if wanted == "object" else _retype(wanted, found)
    return f"{name} must be {type_name(wanted)}, found {describe(found)}", fix


def _keys_to_write(block: dict[str, Any], found: object) -> str:
    """How a mapping is written where there is none."""
    if isinstance(found, list) and found and (home := _home_of_list(block, found[0])):
        return home
    keys = list(block.get("properties", {}))
    fix = f"write keys under it: {listed(keys, quote='')}" if keys else "write `key: value`, one a line"
    bare = found is None or found is True
    return f"{fix}; or `{{}}` for defaults alone" if bare and not block.get("required") else fix


def _home_of_list(block: dict[str, Any], entry: object) -> str:
    """Where a list of such entries can stand in a block that was given the list itself, if anywhere."""
    named = block.get("additionalProperties")
    if isinstance(named, dict) and isinstance(entry, dict) and _accepts_type(named, entry):
        return "write each under its name, without a list: `NAME:`, and its keys below"
    lists = [key for key, value in block.get("properties", {}).items() if _takes_a_list_of(value, entry)]
    return f"write the list under {listed(lists)}" if lists else ""


def _takes_a_list_of(value: dict[str, Any], entry: object) -> bool:
    branches = map(resolved, value.get("anyOf", [value]))
    return any("items" in branch and _accepts_type(branch["items"], entry) for branch in branches)


_NUMERAL = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
# As many digits as a float surely takes.
_FRACTION = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}")
_QUANTITY = re.compile(rf"{_NUMERAL.pattern}\s*(%|[a-zA-Z]+)")
_YAML_1_1_BOOLEANS = {"yes", "no", "on", "off", "y", "n"}


def _retype(wanted: str | list[str], found: object) -> str:
    """How a value gets the type that is wanted."""
    match wanted, found:
        case _, None:
            return "give it a value, or remove the key"
        case "string", bool():
            return f'quote it: "{str(found).lower()}" (check that YAML did not change the text)'
        case "string", int() | float():
            return "put quotes around it, as it stands in the file: YAML took it for a number"
        case "integer", float() if abs(found) < math.inf:
            return _whole(found)
        case "integer", str() if _FRACTION.fullmatch(found):
            return _whole(float(found))
        case "integer" | "number", str() if _NUMERAL.fullmatch(found):
            return f"write it without quotes: {found}"
        case "integer" | "number", str() if _QUANTITY.fullmatch(found):
            return "write a number without a unit"
        case "boolean", str() if found.lower() in ("true", "false"):
            return f"write it without quotes: {found.lower()}"
        case "boolean", str() if found.lower() in _YAML_1_1_BOOLEANS:
            return "write true or false: in YAML 1.2 other words are strings"
        case "array", _:
            return "write a list: [a, b] or one `- item` a line"
        case _:
            return ""


def _whole(number: float) -> str:
    below, above = math.floor(number), math.ceil(number)
    return f"write {below}" if below == above else f"write a whole number such as {below} or {above}"


def _enum(name: str, error: Error) -> tuple[str, str]:
    message = f"{name} cannot be {describe(error.instance)}"
    if is_api_only_value(name.strip("`"), error.instance):
        message = f"{message}: {NOT_YET}"
    return message, choose(error.instance, error.validator_value)


def _arn_for_a_name(name: str, error: Error) -> tuple[str, str] | None:
    """Of an ARN where AWS wants the name that stands at its end."""
    pattern, found = _form(error), error.instance
    if pattern not in PATTERNS_OF_NAMES or not isinstance(found, str) or not found.startswith("arn:"):
        return None
    alone = re.split("[:/]", found)[-1]
    said = f"{name} is an ARN" if found in name else f"{name} is an ARN: {describe(found)}"
    return said, f"write the name alone{f': {alone}' if alone else ''}"


def _form(error: Error) -> str:
    return str(error.schema.get("pattern", "")).removesuffix(OR_PLACEHOLDER)


def _pattern(name: str, error: Error) -> tuple[str, str]:
    pattern = _form(error)
    meaning = WHAT_A_PATTERN_MEANS.get(pattern, f"text that matches {pattern}")
    wrong = (f"{name} has the wrong form: {describe(error.instance)}", f"write {meaning}")
    return _arn_for_a_name(name, error) or wrong


def _bounds(name: str, error: Error) -> tuple[str, str]:
    low, high = error.schema.get("minimum"), error.schema.get("maximum")
    return f"{name} is out of range: {error.instance}", f"allowed: {span(low, high)}"


def _length(name: str, error: Error) -> tuple[str, str]:
    low, high = error.schema.get("minLength"), error.schema.get("maxLength")
    wrong = (f"{name} has {len(error.instance)} characters", f"allowed: {span(low, high)} characters")
    return _arn_for_a_name(name, error) or wrong


def _count(name: str, error: Error) -> tuple[str, str]:
    words = (
        ("minItems", "maxItems") if isinstance(error.instance, list) else ("minProperties", "maxProperties")
    )
    low, high = (error.schema.get(word) for word in words)
    return f"{name} has {len(error.instance)} entries", f"allowed: {span(low, high)}"


def _twice(name: str, _: Error) -> tuple[str, str]:
    return f"{name} has an entry twice", "remove the second one"


def _const(name: str, error: Error) -> tuple[str, str]:
    return f"{name} cannot be {describe(error.instance)}", f"write {error.validator_value}"


_ONE: dict[str, tuple[str, Callable[[str, Error], tuple[str, str]]]] = {
    "type": (WRONG_TYPE, _type),
    "enum": (NOT_AN_OPTION, _enum),
    "const": (NOT_AN_OPTION, _const),
    "pattern": (WRONG_FORM, _pattern),
    "minimum": (OUT_OF_RANGE, _bounds),
    "maximum": (OUT_OF_RANGE, _bounds),
    "minLength": (WRONG_LENGTH, _length),
    "maxLength": (WRONG_LENGTH, _length),
    "minItems": (WRONG_COUNT, _count),
    "maxItems": (WRONG_COUNT, _count),
    "minProperties": (WRONG_COUNT, _count),
    "uniqueItems": (WRONG_COUNT, _twice),
}
