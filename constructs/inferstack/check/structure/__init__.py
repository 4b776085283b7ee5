"""Checks the structure of a spec against the JSON Schema of the format, and says how to fix it.

    data -> validator -> errors of `jsonschema` -> report -> problems with a position, a message and a fix

``validator`` is `jsonschema` with the few meanings that differ for specs; it decides whether data is right
and finds everything that is not. ``report`` turns each error into a problem: ``keys`` for a key that is
unknown or missing, ``wrong_types`` for a value of the wrong type, ``values`` for a value that is not allowed,
with AWS's ``patterns`` in words. ``words_of_aws`` is their table of keys that AWS's tools have another name
for, ``other_names`` of those that a spec expresses in another way than by a key.

The codes stand here, where all of these modules can import them.
"""

from inferstack.problems.codes import CodeTable

_RESOURCES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SageMaker.html"

STRUCTURE_CODES = CodeTable()
"""The codes of all problems with the structure."""
_error = STRUCTURE_CODES.error

UNKNOWN_KEY = _error("IS101", "The block does not have this key.", _RESOURCES)
MISSING_KEY = _error("IS102", "The block is missing a key that it needs.", _RESOURCES)
WRONG_TYPE = _error(
    "IS103", "The value has the wrong type. YAML decides the type: quote what must be a string.", _RESOURCES
)
NOT_AN_OPTION = _error("IS104", "The value is not one that AWS or Triton accepts.", _RESOURCES)
WRONG_FORM = _error("IS105", "The text does not have the format that AWS requires.", _RESOURCES)
OUT_OF_RANGE = _error("IS106", "The number is outside the range that AWS allows.", _RESOURCES)
WRONG_LENGTH = _error("IS107", "The text is too short or too long.", _RESOURCES)
WRONG_COUNT = _error(
    "IS108", "The list or mapping has too few or too many entries, or the same entry twice.", _RESOURCES
)
EXCLUSIVE_KEYS = _error("IS109", "The block has keys that cannot be used together.", _RESOURCES)
