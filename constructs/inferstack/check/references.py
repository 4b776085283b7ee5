"""Placeholders, dynamic references and CDK tokens in places where no deployment can fill them in."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from inferstack.catalog.cloudformation import AS_WRITTEN, FORMS, REFERENCE
from inferstack.problems import Problem, Severity, SpecPath
from inferstack.problems.codes import CodeTable
from inferstack.problems.words import choose, did_you_mean_then, listed, slip_of
from inferstack.source.document import Document
from inferstack.texts.placeholders import (
    PLACEHOLDER,
    PSEUDO_PARAMETERS,
    SOURCES,
    is_list_token,
    is_opaque,
    tokens,
)

# ---------------------------------------------------------------- pseudo parameters and dynamic references

_PSEUDO = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html"
_PAGE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"
REFERENCE_CODES = CodeTable()

UNKNOWN_PLACEHOLDER = REFERENCE_CODES.error(
    "IS110",
    "A text has a `${AWS::…}` that CloudFormation does not know, or one about the stack itself.",
    _PSEUDO,
)
LITERAL_PLACEHOLDER = REFERENCE_CODES.warning("IS115", "A text has a `${…}` that nothing fills in.")
NOT_RESOLVED = REFERENCE_CODES.error(
    "IS216",
    "A dynamic reference must name a value in `secretsmanager` or `ssm`: CloudFormation resolves"
    " `ssm-secure` for a few resource types only, none of them SageMaker's.",
    _PAGE,
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
    for path, text in document.texts_with("${"):
        for name in PLACEHOLDER.findall(text):
            if name.startswith("AWS::") and name not in known:
                message = f"`${{{name}}}` is not a CloudFormation pseudo parameter"
                if name in _OTHER_PSEUDO_PARAMETERS:
                    message = f"a spec cannot use `${{{name}}}`"
                fix = did_you_mean_then(name, known, f"allowed: {listed(known)}")
                yield document.problem(path, UNKNOWN_PLACEHOLDER, message, fix)


# IAM's variables, which a policy may have, have a colon or are a single mark.
_WORD = re.compile(r"\$\{[A-Za-z_]\w*\}|\$stage\b")
_SOURCE = re.compile(r"\$\{([\w-]+):(?!:)[^{}]*\}")


def literal_placeholders(document: Document) -> Iterator[Problem]:
    """Every `${…}` in a document that looks like one to be filled in and stays as it is."""
    known = [f"${{{name}}}" for name in ("stage", *PSEUDO_PARAMETERS)]
    for path, text in document.texts_with("$"):
        for name in dict.fromkeys(_WORD.findall(text)):
            if name not in known:
                fix = did_you_mean_then(name, known, f"what is filled in: {listed(known)}")
                yield _stays(document, path, name, fix)
        for found in _SOURCE.finditer(text):
            meant = None if found[1] in SOURCES else slip_of(found[1], SOURCES)
            if meant is not None:
                yield _stays(document, path, found[0], f"did you mean `${{{meant}:…}}`?")


def _stays(document: Document, path: SpecPath, name: str, fix: str) -> Problem:
    message = f"nothing fills in `{name}`: it stays in the text as it is"
    found = document.problem(path, LITERAL_PLACEHOLDER, message, fix)
    return msgspec.structs.replace(found, severity=Severity.WARNING)


def reference_problems(document: Document) -> Iterator[Problem]:
    """Every reference in a document that makes the deployment fail, or that CloudFormation would not fill in.

    Messages repeat nothing else of the text: it may be a secret.
    """
    for path, text in document.texts_with("{{"):
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


# ---------------------------------------------------------------- CDK tokens, in data made in Python

_TOKENS = "https://docs.aws.amazon.com/cdk/v2/guide/tokens.html"
TOKEN_CODES = CodeTable()

NEEDED_BEFORE = TOKEN_CODES.error(
    "IS112",
    "A CDK token is used where the value must be known before deployment, as it decides what is made.",
    _TOKENS,
)
LIST_AMONG_OTHERS = TOKEN_CODES.error(
    "IS113", "A CDK list token is used as one entry of a list, not as the whole list.", _TOKENS
)

_CHOOSES = "it chooses the image"
_OF_AN_IMAGE: dict[tuple[str, ...], str] = dict.fromkeys(
    (("image", it) for it in ("framework", "version", "py_version", "base_framework_version")), _CHOOSES
)
_BY_NAME = {
    "instance_type": "it chooses images and the alarms on GPUs",
    "model_cache_setting": "it decides which alarms there are",
    "repository_access_mode": "it decides whether the role pulls the image",
    "alarm_rule": "the alarms that it names are looked up in the spec",
    "metric": "it chooses namespace, dimensions and unit",
    "statistic": "CloudFormation has a property for simple ones and one for others",
}
# The keys under these are names that users choose, and one of them may be `triton`.
_NAMED = frozenset({"inference_components", "models"})
# Inside this block, `statistic` is CloudFormation's own property, which may be a token.
_OWN_WORDS = "customized_metric_specification"
_AT_THE_TOP = {
    "description": "CloudFormation accepts no function in a stack's description",
    "objective": "no deployment reads it",
    "load_test": "no deployment reads it",
    "ai_workload_config": "no deployment reads it",
    "ai_benchmark_job": "no deployment reads it",
    "ai_recommendation_job": "no deployment reads it",
    "ignore": "no deployment reads it",
    "parameters": "CloudFormation accepts no function in the declaration of a parameter",
}
_LEAST = (("autoscaling", "min_capacity"), ("scalable_target_action", "min_capacity"))
_WITH_A_UNIT = ("threshold", "metric_interval_lower_bound", "metric_interval_upper_bound")
# In the template the policy comes first in this list of its alarm.
_WITH_THE_POLICY = ("step_policies", "actions")
# And the role that the stack makes is in this one of the policy.
_WITH_THE_ROLE = ("invokers", "roles")
# The user chooses the keys of these blocks. They become keys of the template, which cannot be functions.
_KEYS_STAY = frozenset({"environment", "tags", "condition"})


def token_problems(document: Document) -> Iterator[Problem]:
    """Every token in a document at a place that no deployment could fill in."""
    for path, value in document.scalars:
        if not is_opaque(value):
            continue
        if isinstance(value, str) and is_list_token(value) and not _is_whole(document, path):
            message = f"{_name(path)} has, as one of its texts, a list known only at deployment"
            fix = "pass the token as the whole list, or select an entry: `cdk.Fn.select(0, …)`"
            yield document.problem(path, LIST_AMONG_OTHERS, message, fix)
        elif _is_token(value) and (reason := _reason(document.data, path, value)):
            message = f"{_name(path)} is known only at deployment, but {reason}"
            yield document.problem(path, NEEDED_BEFORE, message, "write the value itself")
    for path, key in _keys((), document.data):
        if tokens(key):
            message = f"a key of {_name(path)} is known only at deployment"
            fix = "write the key itself; a token can be its value"
            yield document.problem((*path, key), NEEDED_BEFORE, message, fix)


def _keys(path: SpecPath, value: Any) -> Iterator[tuple[SpecPath, str]]:
    match value:
        case dict():
            stay = not _KEYS_STAY.isdisjoint(path)
            for key, item in value.items():
                if stay:
                    yield path, key
                yield from _keys((*path, key), item)
        case list():
            for index, item in enumerate(value):
                yield from _keys((*path, index), item)


def _reason(data: dict[str, Any], path: SpecPath, value: object) -> str | None:
    """Why a value must be known before the deployment; None if it need not be."""
    if _OWN_WORDS in path:
        return None
    if is_in_triton(path):
        return "the files of a repository are packed before that"
    if path[-2:] in _LEAST and _may_be_none(data, path):
        return "at 0, an alarm must start the first one"
    if path[-1] in _WITH_A_UNIT and isinstance(value, str):
        return "a text has a unit; a number needs none"
    texts = [step for step in path if isinstance(step, str)]
    return _AT_THE_TOP.get(str(path[0])) or _BY_NAME.get(texts[-1]) or _OF_AN_IMAGE.get(tuple(texts[-2:]))


def _may_be_none(data: dict[str, Any], path: SpecPath) -> bool:
    """Whether the scaled variant or component may scale to zero."""
    config = data.get("endpoint_config")
    return path[0] == "inference_components" or (
        isinstance(config, dict) and "async_inference_config" in config
    )


def is_in_triton(path: SpecPath) -> bool:
    """Whether a path leads into a block `triton`."""
    around = zip(("", *path), path, strict=False)
    return any(step == "triton" and above not in _NAMED for above, step in around)


def _is_whole(document: Document, path: SpecPath) -> bool:
    """Whether a value is the only entry of a list."""
    if path[-4:-3] + path[-2:-1] == _WITH_THE_POLICY or path[:2] == _WITH_THE_ROLE:
        return False
    around: Any = document.data
    for step in path[:-1]:
        around = around[step]
    return isinstance(around, list) and len(around) == 1


def _is_token(value: object) -> bool:
    return bool(tokens(value)) if isinstance(value, str) else is_opaque(value)


def _name(path: SpecPath) -> str:
    return f"`{next(step for step in reversed(path) if isinstance(step, str))}`"
