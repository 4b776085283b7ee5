"""`jsonschema`'s validator, extended so that it accepts values that only the deployment knows."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from inferstack.check.structure.keywords import has_form, is_integer, is_number
from inferstack.format.schema import resolved, shipped_schema
from inferstack.texts.placeholders import is_opaque, sample

# jsonschema's ValidationError. According to its type stub, every attribute may be unset; on errors that
# `iter_errors` returns, none is.
Error = Any


def _unless_opaque(keyword: str) -> Callable[..., Iterator[ValidationError]]:
    """The keyword's check, except that values only known at deployment pass; a sample replaces pseudo
    parameters.
    """
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


def _others_fit(
    validator: Any, others: object, instance: object, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    """In the order of the data: `jsonschema` takes these keys from a set, so in another order in each run."""
    if isinstance(instance, dict) and isinstance(others, dict):
        known = schema.get("properties", {})
        for key in (it for it in instance if it not in known):
            yield from validator.descend(instance[key], others, path=key)
        return
    yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, others, instance, schema)


# Without `type`: a value that is only known at deployment has its type already.
_KEYWORDS = ("enum", "minLength", "maxLength", "minimum", "maximum", "minItems")
_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    validators={
        **{word: _unless_opaque(word) for word in _KEYWORDS},
        "pattern": _pattern_fits,
        "additionalProperties": _others_fit,
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
    return _Validator({"$ref": f"#/$defs/{definition}", "$defs": shipped_schema()["$defs"]})


def accepts_type(branch: dict[str, Any], instance: object) -> bool:
    """Whether a value has the type of one branch of an `anyOf`; the branch may itself be an `anyOf`."""
    found = resolved(branch)
    if "anyOf" in found:
        return any(accepts_type(inner, instance) for inner in found["anyOf"])
    return bool(_Validator({"type": found["type"]}).is_valid(instance))
