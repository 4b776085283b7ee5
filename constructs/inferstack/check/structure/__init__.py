"""Checks the structure of a spec against the JSON Schema of the format, and says how to mend it.

    data -> validator -> errors of `jsonschema` -> report -> problems with a position, a message and a fix

``validator`` is `jsonschema` with the few meanings that differ for specs; it decides whether data is right
and finds everything that is not. ``report`` turns each error into a problem: ``keys`` for a key that is
unknown or missing, ``wrong_types`` for a value of the wrong type, ``values`` for a value that is not allowed.
``other_names`` is their table of keys that other tools use for what a spec says in its own way.

The codes stand here, where all of these modules can import them.
"""

from inferstack.problems.codes import by_code, error

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
