"""Tags of all resources of the stack."""

import re
from collections.abc import Iterator

from inferstack.catalog import cloudformation
from inferstack.check.rules.base import error
from inferstack.facts.kinds import hosts_components
from inferstack.facts.scaling import scaled_parts, steps_of
from inferstack.format.alarms import Alarms
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem
from inferstack.texts.placeholders import is_opaque, sample

_TAGS = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Tag.html"
_ROLE_TAGS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html"
_CLOUDFORMATION_TAGS = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html"
)


@error("IS220", _TAGS)
def not_too_many_tags(spec: ModelSpec) -> Iterator[Problem]:
    """A resource cannot have more tags than AWS allows.

    The bound is CloudFormation's.
    """
    count = len(spec.tags or {})
    most = cloudformation.shape("AWS::SageMaker::Model")["tags"].schema["maxItems"]
    if count > most:
        yield Problem(("tags",), f"the spec has {count} tags", f"at most {most} are allowed")


@error("IS221", _TAGS)
def no_reserved_tags(spec: ModelSpec) -> Iterator[Problem]:
    """The key of a tag cannot begin with `aws:`, which is reserved for AWS.

    In upper or lower case, as AWS ignores case there.
    """
    for key in spec.tags or {}:
        if key.lower().startswith("aws:"):
            yield Problem(
                ("tags", key),
                f"the key `{key}` is reserved for AWS",
                "choose a key that does not begin with `aws:`",
                of_key=True,
            )


@error("IS222", _TAGS)
def tag_characters(spec: ModelSpec) -> Iterator[Problem]:
    """Keys and values of tags can have only characters that AWS allows.

    The pattern is CloudFormation's.
    """
    tag = cloudformation.shape("AWS::SageMaker::Model", "Tag")
    for key, value in (spec.tags or {}).items():
        for name, text in (("key", key), ("value", value)):
            # Most tags hold words, and compiling the pattern takes as long as checking two specs.
            if _is_word(text) or is_opaque(text):
                continue
            if not _is_tag_text(str(sample(text)), tag[name].schema["pattern"]):
                message = f'the {name} "{text[:60]}" has characters that are not allowed in a tag'
                fix = "use letters, digits, spaces and _ . : / = + - @"
                yield Problem(("tags", key), message, fix, of_key=name == "key")


def _is_tag_text(text: str, pattern: str) -> bool:
    """Whether AWS's pattern allows it, which has Unicode's categories of letters, numbers and separators.

    Python's patterns have no categories, so ours is more lenient: beyond ASCII, and with line breaks.
    """
    import unicodedata  # noqa: PLC0415 - most tags are words

    plain = "".join("a" if unicodedata.category(char)[0] in "LNZ" else char for char in text)
    return plain.isascii() and plain.isprintable() and re.fullmatch(pattern, plain) is not None


def _is_word(text: str) -> bool:
    return text.replace("-", "").isalnum()


@error("IS223", _ROLE_TAGS)
def tag_keys_differ(spec: ModelSpec) -> Iterator[Problem]:
    """Keys of tags must differ in more than case where inferstack creates the role.

    IAM ignores case when it compares keys; the other services do not.
    """
    if isinstance(spec.execution_role, str):
        return
    first: dict[str, str] = {}
    for key in spec.tags or {}:
        if key.casefold() in first:
            message = f"`{key}` and `{first[key.casefold()]}` are the same key to IAM, which tags the role"
            fix = "keep one of them, or name a role in `execution_role`"
            yield Problem(("tags", key), message, fix, of_key=True)
        first.setdefault(key.casefold(), key)


@error("IS224", _CLOUDFORMATION_TAGS)
def tags_have_values(spec: ModelSpec) -> Iterator[Problem]:
    """A tag cannot be empty where a resource type requires a value.

    The bound is CloudFormation's.
    """
    strict = [
        type_name
        for type_name in _types_strict_about_tags(spec)
        if cloudformation.shape(type_name, "Tag")["value"].schema.get("minLength", 0) > 0
    ]
    for key, value in (spec.tags or {}).items():
        if strict and not value:
            message = f"the tag `{key}` is empty, but {strict[0]} accepts no empty value"
            yield Problem(("tags", key), message, 'write a value such as "-", or remove the tag')


def _types_strict_about_tags(spec: ModelSpec) -> Iterator[str]:
    """The optional types that this spec needs, of those that are strict about tags."""
    if hosts_components(spec):
        yield "AWS::SageMaker::InferenceComponent"
    has_alarms = spec.alarms is not False
    if has_alarms and isinstance(spec.alarms, Alarms):
        has_alarms = spec.alarms.defaults or bool(spec.alarms.rules)
    if has_alarms or any(True for scaled in scaled_parts(spec) for _ in steps_of(scaled)):
        yield "AWS::CloudWatch::Alarm"
    if spec.dashboard is not False:
        yield "AWS::CloudWatch::Dashboard"
