"""Parts of a text that only the deployment knows.

``${AWS::Region}`` and its like become ``Fn::Sub``; ``${import:…}``, ``${ssm:…}`` and ``${parameter:…}`` stand
for what exists elsewhere (:mod:`inferstack.texts.elsewhere`); ``{{resolve:…}}`` is CloudFormation's dynamic
reference; CDK tokens stand for attributes of other constructs when a spec is made in Python.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
"""

import math
import re
from collections.abc import Callable

from inferstack.catalog.cloudformation import BEGINNING, REFERENCE

PSEUDO_PARAMETERS = {
    "AWS::AccountId": "111122223333",
    "AWS::Region": "us-east-1",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
"""Pseudo parameters that a text may contain, each with a sample of its value."""

SOURCES = ("import", "ssm", "parameter")
"""Where a value may come from: an export of another stack, the Parameter Store, or the person who deploys."""
_SOURCE = f"(?:{'|'.join(SOURCES)})"

OR_PLACEHOLDER = rf"|\$\{{(AWS::[A-Za-z]+|stage|({'|'.join(SOURCES)}):[^}}]+)\}}|{BEGINNING}"
"""Added to each pattern in the schema for editors, which do not know what a placeholder becomes."""

PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
DYNAMIC_REFERENCE = REFERENCE
"""A reference that CloudFormation fills in after its functions, so no function can take it apart."""
ATOM = rf"(?:\$\{{[^{{}}]*\}}|{DYNAMIC_REFERENCE})"
"""A part of a text that stands for something else as a whole: separators inside it belong to it."""
_CDK_TOKEN = r"Token\[[^\[\]{}]*\]"
_HELD = rf"(?:{_CDK_TOKEN}|{_SOURCE}:[^{{}}]*)"
TOKEN = rf"\$\{{{_HELD}\}}"
"""A part of a text that a function yields: a CDK token, or a value that exists elsewhere."""
LIST_TOKEN = rf"#\{{{_HELD}\}}"
"""The only entry of a list whose content only the deployment knows."""
_ANY_TOKEN = re.compile(rf"[$#]\{{{_CDK_TOKEN}\}}")
# CDK's value for a look-up that is not in cdk.context.json yet: the CLI looks it up after the app has run.
_NOT_LOOKED_UP = "dummy-value-for-"
_SUBNETS_NOT_LOOKED_UP = frozenset({"p-12345", "p-67890", "s-12345", "s-67890"})
_OPAQUE = re.compile(rf"[$#]\{{(?:Token\[|{_SOURCE}:)|{BEGINNING}")
# A number that stands for a CDK token is further below zero than any real value.
_TOKEN_NUMBER = -1e280


def is_opaque(value: object) -> bool:
    """True for a value that cannot be checked before deployment."""
    match value:
        case str():
            # A quick test first: most texts have no brace.
            return ("{" in value and _OPAQUE.search(value) is not None) or awaits_look_up(value)
        case int() | float():
            return -math.inf < value < _TOKEN_NUMBER
        case [str() as only]:
            return is_list_token(only)
        case _:
            return False


def awaits_look_up(text: str) -> bool:
    """True for a text that CDK has yet to look up; the app then runs once more with the result."""
    return _NOT_LOOKED_UP in text or text in _SUBNETS_NOT_LOOKED_UP


def is_list_token(text: str) -> bool:
    """True for the text that stands in place of a list's entries."""
    return re.fullmatch(LIST_TOKEN, text) is not None


def tokens(text: str) -> list[str]:
    """The CDK tokens in a text."""
    return _ANY_TOKEN.findall(text)


def without_tokens(text: str, instead: Callable[[str], str]) -> str:
    """The text with each CDK token replaced."""
    return _ANY_TOKEN.sub(lambda found: instead(found[0]), text)


def has_pseudo_parameter(text: str) -> bool:
    """Whether a text contains ``${AWS::…}``."""
    return not PSEUDO_PARAMETERS.keys().isdisjoint(PLACEHOLDER.findall(text))


def without_pseudo_parameters(text: str) -> str:
    """The text with each ``${AWS::…}`` replaced by its last word."""
    return re.sub(r"\$\{AWS::(\w+)\}", r"\1", text)


def is_settled(text: str) -> bool:
    """Whether the whole text is known before the deployment."""
    return not (is_opaque(text) or has_pseudo_parameter(text))


def sample(value: object) -> object:
    """A text as it may look once deployed; anything else unchanged."""
    if not isinstance(value, str) or "${" not in value:
        return value
    return PLACEHOLDER.sub(lambda found: PSEUDO_PARAMETERS.get(found[1], found[0]), value)
