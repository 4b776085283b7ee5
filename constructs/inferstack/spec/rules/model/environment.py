"""Environment variables of the containers, and tags."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.catalog import cloudformation
from inferstack.spec.blocks.alarms import Alarms
from inferstack.spec.blocks.inference_component import ComponentContainer
from inferstack.spec.blocks.kinds import InferenceComponentsSpec, ModelSpec, PipelineSpec
from inferstack.spec.blocks.model import Container
from inferstack.spec.parts.scaling import scaled_parts, steps_of
from inferstack.spec.parts.walk import PlacedContainer, containers, models
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import CONTAINER_PAGE, Finding, error
from inferstack.spec.texts.placeholders import is_opaque, sample

_REF = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-ref.html"
_TAGS = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Tag.html"
_ROLE_TAGS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html"
_CLOUDFORMATION_TAGS = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html"
)
# The API's documentation limits the whole map, which no schema can.
_MOST_BYTES = 32 * 1024


class _Variable(msgspec.Struct, frozen=True):
    path: SpecPath
    key: str
    value: str
    bounds: Mapping[str, Any]


def _bounds(placed: PlacedContainer) -> Mapping[str, Any]:
    """CloudFormation's limits for a container's environment; a component's differ from a model's."""
    shape = ("AWS::SageMaker::Model", "ContainerDefinition")
    if isinstance(placed.container, ComponentContainer):
        shape = ("AWS::SageMaker::InferenceComponent", "InferenceComponentContainerSpecification")
    return cloudformation.shape(*shape)["environment"].schema


def _variables(spec: ModelSpec) -> Iterator[_Variable]:
    for placed in containers(spec):
        for key, value in placed.environment.items():
            yield _Variable((*placed.path, "environment", key), key, value, _bounds(placed))


@error(
    "IS210",
    "Names of environment variables must consist of letters, digits and underscores.",
    CONTAINER_PAGE,
    ModelSpec,
    about="environment",
)
def variable_names(spec: ModelSpec) -> Iterator[Finding]:
    """The pattern is CloudFormation's."""
    for variable in _variables(spec):
        names = variable.bounds["propertyNames"]
        fits = re.fullmatch(names["pattern"], variable.key) is not None
        if not fits or len(variable.key) > names.get("maxLength", len(variable.key)):
            message = f'"{variable.key[:60]}" is not a valid environment variable name'
            yield Finding(variable.path, message, _how_to_name(variable.key))


def _how_to_name(key: str) -> str:
    """CloudFormation's pattern requires a second character for a component, but not for a model."""
    if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", key) is None:
        return "use letters, digits and underscores, and do not begin with a digit"
    return "in a component, use two characters or more" if len(key) == 1 else "write at most 1024 characters"


@error(
    "IS211",
    "The value of an environment variable cannot be longer than SageMaker allows.",
    CONTAINER_PAGE,
    ModelSpec,
    about="environment",
)
def variable_values(spec: ModelSpec) -> Iterator[Finding]:
    """The bound is CloudFormation's."""
    for variable in _variables(spec):
        most = variable.bounds["additionalProperties"]["maxLength"]
        if not is_opaque(variable.value) and len(str(sample(variable.value))) > most:
            message = f"`{variable.key}` has {len(variable.value)} characters"
            yield Finding(
                variable.path,
                message,
                f"at most {most} are allowed: put long values into a file of the model",
            )


@error(
    "IS212",
    "The names and values of a container's environment must fit into 32 KB together.",
    CONTAINER_PAGE,
    ModelSpec,
    about="environment",
)
def environment_size(spec: ModelSpec) -> Iterator[Finding]:
    """Counted in bytes, as the API does."""
    for placed in containers(spec):
        size = _bytes(placed.container)
        if size > _MOST_BYTES:
            message = f"the environment has {size} bytes"
            yield Finding(
                (*placed.path, "environment"),
                message,
                f"at most {_MOST_BYTES} are allowed, names and values together",
            )


def _bytes(container: Container | ComponentContainer) -> int:
    pairs = (container.environment or {}).items()
    return sum(len((key + value).encode("utf-8", "surrogatepass")) for key, value in pairs)


@error(
    "IS276",
    "The environments of a pipeline's containers must fit into 32 KB together.",
    CONTAINER_PAGE,
    PipelineSpec,
    about="environment",
)
def environments_size(spec: PipelineSpec) -> Iterator[Finding]:
    """IS212 reports a container whose environment is too large by itself."""
    for path, _, model in models(spec):
        sizes = [_bytes(container) for container in model.containers or ()]
        if sum(sizes) > _MOST_BYTES >= max(sizes):
            message = f"the environments of {len(sizes)} containers have {sum(sizes)} bytes together"
            fix = f"at most {_MOST_BYTES} are allowed, names and values together"
            fix = f"{fix}: put long values into files of the models"
            yield Finding((*path, "containers"), message, fix)


@error(
    "IS213",
    "A container cannot have more environment variables than SageMaker allows.",
    CONTAINER_PAGE,
    ModelSpec,
    about="environment",
)
def environment_count(spec: ModelSpec) -> Iterator[Finding]:
    """A component's container may have far fewer than a model's."""
    for placed in containers(spec):
        count, most = len(placed.environment), _bounds(placed)["maxProperties"]
        if count > most:
            message = f"the environment has {count} variables"
            yield Finding((*placed.path, "environment"), message, f"at most {most} are allowed here")


@error("IS220", "A resource cannot have more tags than AWS allows.", _TAGS, ModelSpec, about="tags")
def not_too_many_tags(spec: ModelSpec) -> Iterator[Finding]:
    """The bound is CloudFormation's."""
    count, most = (
        len(spec.tags or {}),
        cloudformation.shape("AWS::SageMaker::Model")["tags"].schema["maxItems"],
    )
    if count > most:
        yield Finding(("tags",), f"the spec has {count} tags", f"at most {most} are allowed")


@error(
    "IS221",
    "The key of a tag cannot begin with `aws:`, which is reserved for AWS.",
    _TAGS,
    ModelSpec,
    about="tags",
)
def no_reserved_tags(spec: ModelSpec) -> Iterator[Finding]:
    """In upper or lower case, as AWS ignores case there."""
    for key in spec.tags or {}:
        if key.lower().startswith("aws:"):
            yield Finding(
                ("tags", key),
                f"the key `{key}` is reserved for AWS",
                "choose a key that does not begin with `aws:`",
            )


@error(
    "IS222",
    "Keys and values of tags can have only characters that AWS allows.",
    _TAGS,
    ModelSpec,
    about="tags",
)
def tag_characters(spec: ModelSpec) -> Iterator[Finding]:
    """The pattern is CloudFormation's."""
    tag = cloudformation.shape("AWS::SageMaker::Model", "Tag")
    for key, value in (spec.tags or {}).items():
        for name, text in (("key", key), ("value", value)):
            # Most tags hold words, and compiling the pattern takes as long as checking two specs.
            if _is_word(text) or is_opaque(text):
                continue
            if not _is_tag_text(str(sample(text)), tag[name].schema["pattern"]):
                message = f'the {name} "{text[:60]}" has characters that are not allowed in a tag'
                yield Finding(("tags", key), message, "use letters, digits, spaces and _ . : / = + - @")


def _is_tag_text(text: str, pattern: str) -> bool:
    """Whether AWS's pattern allows it, which has Unicode's categories of letters, numbers and separators.

    Python's patterns have no categories, so ours is more lenient: beyond ASCII, and with line breaks.
    """
    import unicodedata  # noqa: PLC0415 - most tags are words

    plain = "".join("a" if unicodedata.category(char)[0] in "LNZ" else char for char in text)
    return plain.isascii() and plain.isprintable() and re.fullmatch(pattern, plain) is not None


def _is_word(text: str) -> bool:
    return text.replace("-", "").isalnum()


@error(
    "IS223",
    "Keys of tags must differ in more than case where inferstack creates the role.",
    _ROLE_TAGS,
    ModelSpec,
    about="tags",
)
def tag_keys_differ(spec: ModelSpec) -> Iterator[Finding]:
    """IAM ignores case when it compares keys; the other services do not."""
    if isinstance(spec.execution_role, str):
        return
    first: dict[str, str] = {}
    for key in spec.tags or {}:
        if key.casefold() in first:
            message = f"`{key}` and `{first[key.casefold()]}` are the same key to IAM, which tags the role"
            yield Finding(("tags", key), message, "keep one of them, or name a role in `execution_role`")
        first.setdefault(key.casefold(), key)


@error(
    "IS224",
    "A tag cannot be empty where a resource type requires a value.",
    _CLOUDFORMATION_TAGS,
    ModelSpec,
    about="tags",
)
def tags_have_values(spec: ModelSpec) -> Iterator[Finding]:
    """The bound is CloudFormation's."""
    strict = [
        type_name
        for type_name in _types_strict_about_tags(spec)
        if cloudformation.shape(type_name, "Tag")["value"].schema.get("minLength", 0) > 0
    ]
    for key, value in (spec.tags or {}).items():
        if strict and not value:
            message = f"the tag `{key}` is empty, but {strict[0]} accepts no empty value"
            yield Finding(("tags", key), message, 'write a value such as "-", or remove the tag')


def _types_strict_about_tags(spec: ModelSpec) -> Iterator[str]:
    """The optional types that this spec needs, of those that are strict about tags."""
    if isinstance(spec, InferenceComponentsSpec):
        yield "AWS::SageMaker::InferenceComponent"
    has_alarms = spec.alarms is not False
    if has_alarms and isinstance(spec.alarms, Alarms):
        has_alarms = spec.alarms.defaults or bool(spec.alarms.rules)
    if has_alarms or any(True for scaled in scaled_parts(spec) for _ in steps_of(scaled)):
        yield "AWS::CloudWatch::Alarm"
    if spec.dashboard is not False:
        yield "AWS::CloudWatch::Dashboard"


@error(
    "IS217",
    "An `environment` cannot look like a CloudFormation function.",
    _REF,
    ModelSpec,
    about="environment",
)
def environment_is_no_function(spec: ModelSpec) -> Iterator[Finding]:
    """A mapping whose only key is `Ref` is a reference, wherever it is in a template."""
    for placed in containers(spec):
        if set(placed.environment) == {"Ref"}:
            message = "`Ref` as the only variable would be read as a CloudFormation reference"
            yield Finding((*placed.path, "environment"), message, "rename the variable, or add another one")
