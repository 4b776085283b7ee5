"""Pseudo parameters and dynamic references that CloudFormation would not fill in."""

import re
from collections.abc import Iterator

from inferstack.catalog.dynamic_references import AS_WRITTEN, FORMS, REFERENCE
from inferstack.spec.document import Document
from inferstack.spec.document.scalars import texts_with
from inferstack.spec.problem import Problem
from inferstack.spec.problem.codes import by_code, error
from inferstack.spec.problem.words import choose, did_you_mean_then, listed
from inferstack.spec.texts.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS

UNKNOWN_PLACEHOLDER = "IS110"
NOT_RESOLVED = "IS216"
_PSEUDO = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html"
_PAGE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"
REFERENCE_CODES = by_code(
    error(
        UNKNOWN_PLACEHOLDER,
        "A text has a `${AWS::…}` that CloudFormation does not know, or one about the stack itself.",
        _PSEUDO,
    ),
    error(
        NOT_RESOLVED,
        "A dynamic reference must name a value in `secretsmanager` or `ssm`: CloudFormation resolves"
        " `ssm-secure` for a few resource types only, none of them SageMaker's.",
        _PAGE,
    ),
)

# CloudFormation knows these, too, and a spec cannot hold them.
_OTHER_PSEUDO_PARAMETERS = frozenset(
    f"AWS::{name}" for name in ("NoValue", "NotificationARNs", "StackId", "StackName")
)
_REFERENCE = re.compile(REFERENCE)
# This leaves out `{{ resolve }}`, which a prompt template may contain.
_BEGINNING = re.compile(r"\{\{\s*resolve\s*:|\{\{resolve\}\}", re.IGNORECASE)
_INSTEAD = f"write '{AS_WRITTEN['secretsmanager']}'"


def placeholder_problems(document: Document) -> Iterator[Problem]:
    """Every `${AWS::…}` in a document that is not a pseudo parameter, or not one for specs."""
    known = list(PSEUDO_PARAMETERS)
    for path, text in document.placeholders:
        for name in PLACEHOLDER.findall(text):
            if name.startswith("AWS::") and name not in known:
                message = f"`${{{name}}}` is not a CloudFormation pseudo parameter"
                if name in _OTHER_PSEUDO_PARAMETERS:
                    message = f"a spec cannot use `${{{name}}}`"
                fix = did_you_mean_then(name, known, f"allowed: {listed(known)}")
                yield document.problem(path, UNKNOWN_PLACEHOLDER, message, fix)


def reference_problems(document: Document) -> Iterator[Problem]:
    """Every reference in a document that makes the deployment fail, or that CloudFormation would not fill in.

    Messages repeat nothing else of the text: it may be a secret.
    """
    for path, text in texts_with("{{", document.data) if document.may_have_references else ():
        for message, fix in _faults(text):
            yield document.problem(path, NOT_RESOLVED, message, fix)


def _faults(text: str) -> Iterator[tuple[str, str]]:
    for found in _BEGINNING.finditer(text):
        whole = _REFERENCE.match(text, found.start())
        if whole is None:
            message = "CloudFormation does not recognize this dynamic reference"
            yield message, f"{_INSTEAD} or '{AS_WRITTEN['ssm']}', without spaces"
            continue
        service, _, rest = whole[0].removeprefix("{{resolve:").removesuffix("}}").partition(":")
        if service == "ssm-secure":
            yield "CloudFormation does not resolve `ssm-secure` in these resources", _INSTEAD
        elif service not in FORMS:
            yield (
                f'"{service[:60]}" is not a valid service for a dynamic reference',
                choose(service, tuple(FORMS)),
            )
        elif re.fullmatch(FORMS[service], rest) is None:
            message = f"a dynamic reference to `{service}` names nothing, or has the wrong format"
            yield message, f"write '{AS_WRITTEN[service]}'"
