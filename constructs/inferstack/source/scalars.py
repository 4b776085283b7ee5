"""What YAML scalars and tags mean: the core schema of YAML 1.2.

YAML 1.1, which PyYAML implements, turns ``on`` into true, ``1:30`` into 90 and ``2026-01-01`` into a date.
YAML 1.2 has none of these traps. https://yaml.org/spec/1.2.2/#103-core-schema
"""

import math
import re
from typing import NamedTuple

Scalar = str | int | float | bool | None

CORE_TAG = "tag:yaml.org,2002:"

_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_HEX_OR_OCTAL = r"0x[0-9a-fA-F]+|0o[0-7]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NOT_FINITE = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_TAGGED_TYPES: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}

# A number with more digits fits no 64-bit integer, and Python refuses to parse very long ones at all.
_MOST_DIGITS = 19
_LARGEST = 2**63 - 1


class UnfitScalarError(ValueError):
    """A scalar without a valid value. ``args`` are a message and a fix."""


def plain_scalar(text: str) -> Scalar:
    """The value of a scalar without quotes and without a tag.

    Raises:
        UnfitScalarError: for a number that 64 bits cannot hold.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _DECIMAL.fullmatch(text):
        return _decimal(text)
    if re.fullmatch(_HEX_OR_OCTAL, text):
        return _in_range(int(text, 0))
    if re.fullmatch(_FLOAT, text):
        return _float(text)
    if re.fullmatch(_NOT_FINITE, text):
        return float(text.replace(".", ""))
    return text


def tagged_scalar(tag: str, text: str) -> Scalar:
    """The value of a scalar with a tag of the core schema, such as ``int`` for ``!!int``.

    Raises:
        UnfitScalarError: when the text does not have the tag's type.
    """
    if tag == "str":
        return text
    value = plain_scalar(text)
    if tag == "float" and type(value) is int:
        return float(value)
    if type(value) is not _TAGGED_TYPES[tag]:
        message = f"the value does not fit its tag `!!{tag}`"
        raise UnfitScalarError(message, "remove the tag or change the value")
    return value


def is_scalar_tag(tag: str) -> bool:
    """Whether :func:`tagged_scalar` knows a tag."""
    return tag == "str" or tag in _TAGGED_TYPES


def _decimal(text: str) -> int:
    if len(text.lstrip("+-").lstrip("0")) > _MOST_DIGITS:
        raise _too_large()
    return _in_range(int(text.lstrip("+-").lstrip("0") or "0") * (-1 if text[0] == "-" else 1))


def _in_range(number: int) -> int:
    if not -_LARGEST - 1 <= number <= _LARGEST:
        raise _too_large()
    return number


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _too_large()
    return number


def _too_large() -> UnfitScalarError:
    return UnfitScalarError(
        "the number is too large: integers have at most 64 bits, other numbers are below 1.8e308",
        "if it is text, quote it",
    )


# ---------------------------------------------------------------- which tags a spec may use

COLLECTION_TAGS = {CORE_TAG + "map": "a mapping", CORE_TAG + "seq": "a list"}
"""Tags that are allowed on a mapping or list, since they only say what it is anyway."""

_LONGEST = 60


class _Advice(NamedTuple):
    tag: str
    fix: str


_ADVICE = (
    _Advice(
        "!(Ref|Sub|Join|Fn::.*)",
        "write pseudo parameters as `${AWS::AccountId}` or `${AWS::Region}` inside a text,"
        " and look up other values with `{{resolve:ssm:/name}}` in quotes",
    ),
    _Advice(
        "!(GetAtt|ImportValue|Select|Split|FindInMap|If|Condition|Base64|Cidr|GetAZs|Transform)",
        "a spec holds plain data, not CloudFormation functions: write the value itself,"
        ' or look it up with "{{resolve:ssm:/name}}"',
    ),
    _Advice("!!python/.*", "a spec holds plain data only: write the value itself"),
    _Advice("!!(timestamp|binary|merge|value|yaml)", "remove the tag; the value is then text"),
    _Advice("!!(set|omap|pairs)", "write a list or a mapping without a tag"),
    _Advice(".*", "remove the tag; if `!` belongs to the text, quote the text"),
)


def tag_name(tag: str) -> str:
    """A tag as people write it: ``!!str``, not its long form."""
    short = f"!!{tag.removeprefix(CORE_TAG)}" if tag.startswith(CORE_TAG) else tag
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def tag_fix(tag: str) -> str:
    """What to do about a tag that a spec may not use."""
    name = tag_name(tag)
    return next(advice.fix for advice in _ADVICE if re.fullmatch(advice.tag, name, re.DOTALL))
