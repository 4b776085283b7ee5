"""`jsonschema`'s validator, with the meanings of JSON Schema's keywords that differ for specs.

Values that only the deployment knows, such as CDK's tokens, pass where their content would be checked;
numbers are those of CloudFormation; patterns are AWS's.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from inferstack.format.schema import LIST_OR_ELSEWHERE, JsonSchema, resolved, shipped_schema
from inferstack.problems import MOST_FOUND
from inferstack.texts.placeholders import OR_PLACEHOLDER, is_opaque, sample

# jsonschema's ValidationError. According to its type stub, every attribute may be unset; on errors that
# `iter_errors` returns, none is.
Error = Any

_LONGEST_TO_MATCH = 4096
_TYPE = Draft202012Validator.VALIDATORS["type"]


def is_integer(value: object) -> bool:
    """Whether a value is an integer: unlike in JSON Schema, 2.0 is not, as for CloudFormation."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a value is a number: infinity and NaN are not, since CloudFormation does not have them."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def has_form(value: object, pattern: str, longest: int | None) -> bool:
    """Whether a text matches, from the pattern's beginning to its end. Anything that is not text passes.

    Some of AWS's patterns take quadratic time, so a text longer than ``longest`` is not matched: its length
    is reported instead. If ``longest`` is not given, a very long text does not have the form.
    """
    if not isinstance(value, str) or is_opaque(value):
        return True
    if len(value) > (_LONGEST_TO_MATCH if longest is None else longest):
        return longest is not None
    return _whole(pattern).search(str(sample(value))) is not None


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    # Python's `$` also matches before a final line break, and AWS would refuse such a text.
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern.removesuffix(OR_PLACEHOLDER)))


def _unless_opaque(keyword: str) -> Callable[..., Iterator[ValidationError]]:
    """The keyword's check, except that values only known at deployment pass; a sample replaces pseudo
    parameters.
    """
    check = Draft202012Validator.VALIDATORS[keyword]

    def validate(
        validator: Any, value: object, instance: object, schema: JsonSchema
    ) -> Iterator[ValidationError]:
        if not is_opaque(instance):
            yield from check(validator, value, sample(instance), schema) or ()

    return validate


def _type_fits(
    validator: Any, wanted: str | list[str], instance: object, schema: JsonSchema
) -> Iterator[ValidationError]:
    """A text for a list has become one when a document is read."""
    wanted = "array" if wanted == LIST_OR_ELSEWHERE else wanted
    yield from _TYPE(validator, wanted, instance, schema) or ()


def _pattern_fits(_: Any, pattern: str, instance: object, schema: JsonSchema) -> Iterator[ValidationError]:
    if schema.get("type") != LIST_OR_ELSEWHERE and not has_form(instance, pattern, schema.get("maxLength")):
        yield ValidationError("pattern")


def _others_fit(
    validator: Any, others: object, instance: object, schema: JsonSchema
) -> Iterator[ValidationError]:
    """Checks additional keys in the order of the data: `jsonschema` takes them in random order."""
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    keys = [key for key in instance if key not in known]
    if isinstance(others, dict):
        for key in keys:
            yield from validator.descend(instance[key], others, path=key)
    elif keys and not others:
        yield ValidationError("additionalProperties")


def _some_fit(
    validator: Any, branches: list[JsonSchema], instance: object, _schema: JsonSchema
) -> Iterator[ValidationError]:
    """Looks for no more errors of a branch than are reported: `jsonschema` keeps all of them in memory."""
    found = list[ValidationError]()
    for index, branch in enumerate(branches):
        errors = validator.descend(instance, branch, schema_path=index)
        of_branch = list(islice(errors, MOST_FOUND + 1))
        if not of_branch:
            return
        found += of_branch
    yield ValidationError("anyOf", context=found)


def _definition_fits(
    validator: Any, _reference: str, instance: object, schema: JsonSchema
) -> Iterator[ValidationError]:
    """Looks references up by name: all are to definitions of the shipped schema, none is a URL to resolve."""
    yield from validator.descend(instance, resolved(schema))


def _all_differ(
    _validator: Any, is_wanted: bool, instance: object, _schema: JsonSchema
) -> Iterator[ValidationError]:
    """Checks uniqueness in linear time: `jsonschema` compares each block of a list with all others."""
    if is_wanted and isinstance(instance, list) and len(set(map(_identity, instance))) < len(instance):
        yield ValidationError("uniqueItems")


def _identity(value: Any) -> Hashable:
    """A key, equal for values that JSON Schema calls equal: true is not 1, the order of keys is free."""
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


# Without `type`: a value that is only known at deployment has its type already.
_KEYWORDS = ("enum", "minLength", "maxLength", "minimum", "maximum", "minItems")
SpecValidator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    validators={
        **{word: _unless_opaque(word) for word in _KEYWORDS},
        "$ref": _definition_fits,
        "anyOf": _some_fit,
        "type": _type_fits,
        "pattern": _pattern_fits,
        "additionalProperties": _others_fit,
        "uniqueItems": _all_differ,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, instance: is_integer(instance),
            "number": lambda _, instance: is_number(instance),
        }
    ),
)


@cache
def validator(definition: str) -> Any:
    """The validator for a definition of the shipped schema."""
    return SpecValidator(shipped_schema()["$defs"][definition])


def accepts_type(branch: JsonSchema, instance: object) -> bool:
    """Whether a value has the type of one branch of an `anyOf`; the branch may itself be an `anyOf`."""
    found = resolved(branch)
    if "anyOf" in found:
        return any(accepts_type(inner, instance) for inner in found["anyOf"])
    return bool(SpecValidator({"type": found["type"]}).is_valid(instance))
