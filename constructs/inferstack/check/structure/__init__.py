"""Checks the structure of a spec against the JSON Schema, quickly if it is right.

Nearly all specs that are checked are right, so :mod:`inferstack.check.structure.decide` first decides whether
this one is. Only if it is not, `jsonschema` is imported (which takes longer than using it) to find out what
is wrong, and :mod:`inferstack.check.structure.report` puts that into words.
"""

from inferstack.check.structure.decide import fits
from inferstack.format.schema import kind_definitions, names_no_key
from inferstack.problems import Problem
from inferstack.problems.codes import by_code, error
from inferstack.problems.words import choose, describe, listed, slip_of
from inferstack.source.document import Document

UNKNOWN_KEY = "IS101"
MISSING_KEY = "IS102"
WRONG_TYPE = "IS103"
NOT_AN_OPTION = "IS104"
WRONG_FORM = "IS105"
OUT_OF_RANGE = "IS106"
WRONG_LENGTH = "IS107"
WRONG_COUNT = "IS108"
EXCLUSIVE_KEYS = "IS109"

_KIND = "kind"
_OF_A_TEMPLATE = frozenset({"AWSTemplateFormatVersion", "Resources"})
_FROM_A_TEMPLATE = (
    "write a spec, from which `inferstack render` makes such a template; docs/migrating.md lists its keys"
)
_RESOURCES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SageMaker.html"

STRUCTURE_CODES = by_code(
    error(UNKNOWN_KEY, "The block does not have this key.", _RESOURCES),
    error(MISSING_KEY, "The block is missing a key that it needs.", _RESOURCES),
    error(
        WRONG_TYPE,
        "The value has the wrong type. YAML decides the type: quote what must be a string.",
        _RESOURCES,
    ),
    error(NOT_AN_OPTION, "The value is not one that AWS or Triton accepts.", _RESOURCES),
    error(WRONG_FORM, "The text does not have the format that AWS requires.", _RESOURCES),
    error(OUT_OF_RANGE, "The number is outside the range that AWS allows.", _RESOURCES),
    error(WRONG_LENGTH, "The text is too short or too long.", _RESOURCES),
    error(
        WRONG_COUNT,
        "The list or mapping has too few or too many entries, or the same entry twice.",
        _RESOURCES,
    ),
    error(EXCLUSIVE_KEYS, "The block has keys that cannot be used together.", _RESOURCES),
)
"""The codes of all problems with the structure."""


def structure_problems(document: Document) -> list[Problem]:
    """Everything in a document (at one stage) that the schema forbids."""
    kind = document.data.get(_KIND)
    definition = kind_definitions().get(kind) if isinstance(kind, str) else None
    if definition is None:
        return [_kind_problem(document)]
    idle = names_no_key(definition, document.nulls.idle)
    if fits(definition, document.data) and not idle:
        return []
    from inferstack.check.structure.report import removed_in_vain, reported  # noqa: PLC0415 - brings jsonschema

    return [*reported(document, definition), *removed_in_vain(document, idle)]


def of_meant_kind(document: Document) -> Document | None:
    """The document without the slip in the value of `kind`, or in the key itself; None if there is no slip.

    Mere likeness to a kind is not enough: problems reported for the wrong kind would mislead.
    """
    found, kinds = document.data, list(kind_definitions())
    key = _KIND if _KIND in found else slip_of(_KIND, list(found))
    meant = None if key is None else slip_of(str(found[key]), kinds)
    if key is None or meant is None or found.get(_KIND) == meant:
        return None
    return document.rewritten(key, _KIND, meant)


def _kind_to_write(found: object, kinds: list[str]) -> str:
    from inferstack.check.structure.other_names import OTHER_KINDS  # noqa: PLC0415 - most specs are right

    word = str(found).lower().replace("_", "-").replace(" ", "-").removesuffix("-endpoint")
    return OTHER_KINDS.get(word) or choose(found, kinds)


def _kind_problem(document: Document) -> Problem:
    kinds = list(kind_definitions())
    if _KIND in document.data:
        found = document.data[_KIND]
        message = f"{describe(found)} is not a valid kind"
        return document.problem((_KIND,), NOT_AN_OPTION, message, _kind_to_write(found, kinds))
    if document.data.keys() & _OF_A_TEMPLATE:
        message = "this is a CloudFormation template, not a spec"
        return document.problem((), MISSING_KEY, message, _FROM_A_TEMPLATE)
    slip = slip_of(_KIND, list(document.data))
    message = "the spec is missing `kind`"
    if slip is None:
        return document.problem((), MISSING_KEY, message, f"add `kind:` with {listed(kinds)}")
    meant = slip_of(str(document.data[slip]), kinds)
    written = f"`kind:` with {listed(kinds)}" if meant is None else f"`kind: {meant}`"
    fix = f"instead of `{slip}` write {written}"
    return document.problem((slip,), MISSING_KEY, message, fix, key=True)
