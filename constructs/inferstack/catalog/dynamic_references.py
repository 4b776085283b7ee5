"""CloudFormation's dynamic references: `{{resolve:service:…}}`, filled in when functions are done.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
"""

from collections.abc import Mapping

BEGINNING = r"\{\{resolve:"
"""How each begins."""
# A function may fill in a part of one before.
_HELD = r"\$\{[^{}]*\}"
REFERENCE = rf"{BEGINNING}(?:{_HELD}|[^{{}}])*\}}\}}"
"""One, whatever it refers to."""
_NAME = rf"(?:{_HELD}|[^:{{}}\s])+"
_PART = rf"(?:{_HELD}|[^:{{}}])*"
FORMS: Mapping[str, str] = {
    "secretsmanager": (
        rf"(?:arn(?::{_PART}){{5}}:{_NAME}|{_NAME})(?::(?:SecretString)?(?::{_PART}){{0,3}})?"
    ),
    "ssm": rf"(?:{_HELD}|[A-Za-z0-9_.\-/])+(?::(?:{_HELD}|[0-9])+)?",
}
"""What stands behind the name of each service that every resource takes."""
AS_WRITTEN: Mapping[str, str] = {
    "secretsmanager": "{{resolve:secretsmanager:NAME:SecretString:KEY}}",
    "ssm": "{{resolve:ssm:NAME}}",
}
"""A reference to each."""
