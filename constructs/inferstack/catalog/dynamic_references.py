"""CloudFormation's dynamic references, `{{resolve:service:…}}`, which are filled in after its functions.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
"""

from collections.abc import Mapping

BEGINNING = r"\{\{resolve:"
"""How every reference begins."""
# A function may fill in part of a reference before that.
_HELD = r"\$\{[^{}]*\}"
REFERENCE = rf"{BEGINNING}(?:{_HELD}|[^{{}}])*\}}\}}"
"""A pattern for any reference, whatever it refers to."""
_NAME = rf"(?:{_HELD}|[^:{{}}\s])+"
_PART = rf"(?:{_HELD}|[^:{{}}])*"
FORMS: Mapping[str, str] = {
    "secretsmanager": (
        rf"(?:arn(?::{_PART}){{5}}:{_NAME}|{_NAME})(?::(?:SecretString)?(?::{_PART}){{0,3}})?"
    ),
    "ssm": rf"(?:{_HELD}|[A-Za-z0-9_.\-/])+(?::(?:{_HELD}|[0-9])+)?",
}
"""For each service that works in every resource: what follows its name in a reference."""
AS_WRITTEN: Mapping[str, str] = {
    "secretsmanager": "{{resolve:secretsmanager:NAME:SecretString:KEY}}",
    "ssm": "{{resolve:ssm:NAME}}",
}
"""A whole reference for each of these services."""
