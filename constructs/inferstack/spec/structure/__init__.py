"""Is the spec built right? The JSON Schema's answer, quick where it is yes.

Nearly all specs that are looked at are right, so :mod:`inferstack.spec.structure.decide` says first whether
this one is. Only where it is not, `jsonschema` is imported to find what is wrong, which takes it longer to be
imported than to look, and :mod:`inferstack.spec.structure.report` puts that into words.
"""

from inferstack.spec.document import Document
from inferstack.spec.problem import Problem, SpecPath
from inferstack.spec.problem.codes import by_code, error
from inferstack.spec.problem.words import choose, describe, listed, slip_of
from inferstack.spec.schema import kind_definitions
from inferstack.spec.structure.decide import fits
from inferstack.spec.structure.known_keys import names_no_key

UNKNOWN_KEY = "IS101"
MISSING_KEY = "IS102"
WRONG_TYPE = "IS103"
NOT_AN_OPTION = "IS104"
WRONG_FORM = "IS105"
OUT_OF_RANGE = "IS106"
WRONG_LENGTH = "IS107"
WRONG_COUNT = "IS108"
EXCLUSIVE_KEYS = "IS109"

_RESOURCES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SageMaker.html"

STRUCTURE_CODES = by_code(
    error(UNKNOWN_KEY, "The block has no such key.", _RESOURCES),
    error(MISSING_KEY, "The block lacks a key that it needs.", _RESOURCES),
    error(
        WRONG_TYPE,
        "The value has the wrong type. YAML decides the type: quote what must be a string.",
        _RESOURCES,
    ),
    error(NOT_AN_OPTION, "The value is not one of those that AWS or Triton knows.", _RESOURCES),
    error(WRONG_FORM, "The text does not have the form that AWS asks for.", _RESOURCES),
    error(OUT_OF_RANGE, "The number is outside AWS's bounds.", _RESOURCES),
    error(WRONG_LENGTH, "The text is too short or too long.", _RESOURCES),
    error(WRONG_COUNT, "The list or mapping has too few or too many entries, or one twice.", _RESOURCES),
    error(EXCLUSIVE_KEYS, "Keys that exclude one another stand in the same block.", _RESOURCES),
)
"""Every problem with the structure."""


def structure_problems(document: Document) -> list[Problem]:
    """Everything in a document (of one stage) that the schema forbids."""
    kind = document.data.get("kind")
    definition = kind_definitions().get(kind) if isinstance(kind, str) else None
    if definition is None:
        return [_kind_problem(document)]
    idle = names_no_key(definition, document.nulls.idle)
    if fits(definition, document.data) and not idle:
        return []
    from inferstack.spec.structure.report import removed_in_vain, reported  # noqa: PLC0415 - brings jsonschema

    return [*reported(document, definition), *removed_in_vain(document, idle)]


def _kind_problem(document: Document) -> Problem:
    kinds = list(kind_definitions())
    path: SpecPath
    if "kind" not in document.data:
        path, code, message = (), MISSING_KEY, "the spec lacks `kind`"
        slip = slip_of("kind", list(document.data))
        fix = f"{'add' if slip is None else f'instead of `{slip}` write'} `kind:` with {listed(kinds)}"
    else:
        found = document.data["kind"]
        path, code, message = ("kind",), NOT_AN_OPTION, f"{describe(found)} is no kind"
        fix = choose(found, kinds)
    at = document.position(path)
    return Problem(document.file, *at, code, message, fix, path=path)
