"""Parts of a text that only the deployment knows.

``${AWS::Region}`` and its like become ``Fn::Sub``; ``{{resolve:…}}`` is CloudFormation's dynamic
reference; CDK tokens stand for attributes of other constructs when a spec is made in Python.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
"""

import math
import re
from collections.abc import Callable

from inferstack.catalog.dynamic_references import BEGINNING, REFERENCE

PSEUDO_PARAMETERS = {
    "AWS::AccountId": "111122223333",
    "AWS::Region": "us-east-1",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
"""Pseudo parameters that a text may hold, with a sample of what they become."""

OR_PLACEHOLDER = rf"|\$\{{(AWS::[A-Za-z]+|stage)\}}|{BEGINNING}"
"""What the schema adds to each pattern for editors, which do not know what a placeholder becomes."""

PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
DYNAMIC_REFERENCE = REFERENCE
"""A reference that CloudFormation fills in when functions are done: none can take it apart."""
ATOM = rf"(?:\$\{{[^{{}}]*\}}|{DYNAMIC_REFERENCE})"
"""A part of a text that stands for something else as a whole: what separates parts elsewhere is its own."""
TOKEN = r"\$\{Token\[[^\[\]{}]*\]\}"
LIST_TOKEN = r"#\{Token\[[^\[\]{}]*\]\}"
"""The only entry of a list that only the deployment knows."""
_ANY_TOKEN = re.compile(f"{TOKEN}|{LIST_TOKEN}")
# Most texts do not have it, and that is known sooner.
_INSIDE_TOKEN = "{Token["
# CDK's value of a look-up whose answer is not in cdk.context.json yet: the CLI asks when the app is through.
_NOT_LOOKED_UP = "dummy-value-for-"
_OPAQUE = re.compile(rf"\$\{{Token\[|#\{{Token\[|{BEGINNING}")
_OUTER_COLON = re.compile(r":(?![^{}]*\})")
# A number that stands for a CDK token is so far below zero that no real value is.
_TOKEN_NUMBER = -1e280


def is_opaque(value: object) -> bool:
    """True for a value that cannot be checked before deployment."""
    match value:
        case str():
            # Most texts have no brace, and that is known sooner.
            return ("{" in value and _OPAQUE.search(value) is not None) or _NOT_LOOKED_UP in value
        case int() | float():
            return -math.inf < value < _TOKEN_NUMBER
        case [str() as only]:
            return is_list_token(only)
        case _:
            return False


def awaits_look_up(text: str) -> bool:
    """True for a text that CDK is still to look up; such an app is made once more when that is done."""
    return _NOT_LOOKED_UP in text


def is_list_token(text: str) -> bool:
    """True for the text that CDK has in the place of a list's entries."""
    return re.fullmatch(LIST_TOKEN, text) is not None


def tokens(text: str) -> list[str]:
    """The CDK tokens in a text."""
    return _ANY_TOKEN.findall(text) if _INSIDE_TOKEN in text else []


def without_tokens(text: str, instead: Callable[[str], str]) -> str:
    """The text with something else for each CDK token."""
    return _ANY_TOKEN.sub(lambda found: instead(found[0]), text) if _INSIDE_TOKEN in text else text


def has_pseudo_parameter(text: str) -> bool:
    """Whether a text holds ``${AWS::…}``."""
    # Most texts have none, and that is known sooner.
    return "${" in text and not PSEUDO_PARAMETERS.keys().isdisjoint(PLACEHOLDER.findall(text))


def without_pseudo_parameters(text: str) -> str:
    """The text with the last word of each ``${AWS::…}`` in its place."""
    return re.sub(r"\$\{AWS::(\w+)\}", r"\1", text) if "${" in text else text


def is_settled(text: str) -> bool:
    """Whether a text is known before the deployment, as a whole."""
    return not (is_opaque(text) or has_pseudo_parameter(text))


def sample(value: object) -> object:
    """The text as it may be once deployed; anything else as it is."""
    if not isinstance(value, str) or "${" not in value:
        return value
    return PLACEHOLDER.sub(lambda found: PSEUDO_PARAMETERS.get(found[1], found[0]), value)


def arn_fields(arn: str) -> list[str]:
    """What an ARN has between its colons; a placeholder has colons of its own and stays whole."""
    return _OUTER_COLON.split(arn)
