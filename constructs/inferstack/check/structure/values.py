"""Messages on a value of the right type: what was found, and what is allowed."""

import re
from collections.abc import Callable

from inferstack.check.structure import (
    NOT_AN_OPTION,
    OUT_OF_RANGE,
    WRONG_COUNT,
    WRONG_FORM,
    WRONG_LENGTH,
    WRONG_TYPE,
)
from inferstack.check.structure.keys import NOT_YET, is_api_only_value
from inferstack.check.structure.patterns import PATTERNS_OF_NAMES, pattern_of, what_fits
from inferstack.check.structure.validator import Error
from inferstack.check.structure.wrong_types import bounds_in_words, wrong_type
from inferstack.problems import Fix
from inferstack.problems.words import ask, choose, describe, span


def _enum(name: str, error: Error) -> tuple[str, str]:
    message = f"{name} cannot be {describe(error.instance)}"
    if is_api_only_value(name.strip("`"), error.instance):
        message = f"{message}: {NOT_YET}"
    found, options = error.instance, error.validator_value
    # The prefix of instance types is the same for all of them, so many people leave it out.
    whole = f"ml.{found}"
    fix = choose(found, options)
    return message, Fix(fix, found, whole) if whole in options else fix


def _arn_for_a_name(name: str, error: Error) -> tuple[str, str] | None:
    """Message and fix for an ARN if AWS wants only the name at its end."""
    pattern, found = pattern_of(error.schema), error.instance
    if pattern not in PATTERNS_OF_NAMES or not isinstance(found, str) or not found.startswith("arn:"):
        return None
    alone = re.split("[:/]", found)[-1]
    said = f"{name} is an ARN" if found in name else f"{name} is an ARN: {describe(found)}"
    return said, Fix(f"write only the name: {alone}", found, alone) if alone else "write only the name"


# Not the placeholder itself, which has been replaced by now, or is reported where no stage was chosen.
_LIKE_A_STAGE = re.compile(r"\$\{(?!stage\})(?i:stage)\}|\$(?i:stage)\b|(?<!\$)\{ ?stage ?\}")


def _pattern(name: str, error: Error) -> tuple[str, str]:
    fix = f"write {what_fits(error.schema)}"
    if like := _LIKE_A_STAGE.search(str(error.instance)):
        fix = Fix(f"{ask(['${stage}'])} {fix}", like[0], "${stage}")
    wrong = (f"{name} has the wrong format: {describe(error.instance)}", fix)
    return _arn_for_a_name(name, error) or wrong


def _bounds(name: str, error: Error) -> tuple[str, str]:
    return (
        f"{name} is out of range: {error.instance}",
        f"allowed: {bounds_in_words(error.schema, error.instance)}",
    )


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
    return f"{name} has the same entry twice", "remove the second one"


SAYINGS: dict[str, tuple[str, Callable[[str, Error], tuple[str, str]]]] = {
    "type": (WRONG_TYPE, wrong_type),
    "enum": (NOT_AN_OPTION, _enum),
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
"""By the JSON Schema keyword that a value breaks: the code, and the function for its message and fix."""
