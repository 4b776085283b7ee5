"""Environment variables of the containers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.catalog import cloudformation
from inferstack.check.rules.base import AWS, CONTAINER_PAGE, error
from inferstack.facts.walk import PlacedContainer, containers, models
from inferstack.format.inference_component import ComponentContainer
from inferstack.format.kinds import ModelSpec, PipelineSpec
from inferstack.format.model import Container
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque, sample

_REF = f"{AWS}/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-ref.html"
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


@error("IS210", CONTAINER_PAGE)
def variable_names(spec: ModelSpec) -> Iterator[Problem]:
    """Names of environment variables must consist of letters, digits and underscores.

    The pattern is CloudFormation's.
    """
    for variable in _variables(spec):
        names = variable.bounds["propertyNames"]
        fits = re.fullmatch(names["pattern"], variable.key) is not None
        if not fits or len(variable.key) > names.get("maxLength", len(variable.key)):
            message = f'"{variable.key[:60]}" is not a valid environment variable name'
            yield Problem(variable.path, message, _how_to_name(variable.key), of_key=True)


def _how_to_name(key: str) -> str:
    """CloudFormation's pattern requires a second character for a component, but not for a model."""
    if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", key) is None:
        return "use letters, digits and underscores, and do not begin with a digit"
    return "in a component, use two characters or more" if len(key) == 1 else "write at most 1024 characters"


@error("IS211", CONTAINER_PAGE)
def variable_values(spec: ModelSpec) -> Iterator[Problem]:
    """The value of an environment variable cannot be longer than SageMaker allows.

    The bound is CloudFormation's.
    """
    for variable in _variables(spec):
        most = variable.bounds["additionalProperties"]["maxLength"]
        if not is_opaque(variable.value) and len(str(sample(variable.value))) > most:
            message = f"`{variable.key}` has {len(variable.value)} characters"
            fix = f"at most {most} are allowed: put long values into a file of the model"
            yield Problem(variable.path, message, fix)


@error("IS212", CONTAINER_PAGE)
def environment_size(spec: ModelSpec) -> Iterator[Problem]:
    """The names and values of a container's environment must fit into 32 KB together.

    The API counts bytes.
    """
    for placed in containers(spec):
        size = _bytes(placed.container)
        if size > _MOST_BYTES:
            message = f"the environment has {size} bytes"
            fix = f"at most {_MOST_BYTES} are allowed, names and values together"
            yield Problem((*placed.path, "environment"), message, fix)


def _bytes(container: Container | ComponentContainer) -> int:
    pairs = (container.environment or {}).items()
    return sum(len((key + value).encode("utf-8", "surrogatepass")) for key, value in pairs)


@error("IS276", CONTAINER_PAGE)
def environments_size(spec: PipelineSpec) -> Iterator[Problem]:
    """The environments of a pipeline's containers must fit into 32 KB together.

    SageMaker counts all containers of a model. IS212 reports one whose environment is too large by itself.
    """
    for path, _, model in models(spec):
        sizes = [_bytes(container) for container in model.containers or ()]
        if sum(sizes) > _MOST_BYTES >= max(sizes):
            message = f"the environments of {len(sizes)} containers have {sum(sizes)} bytes together"
            fix = f"at most {_MOST_BYTES} are allowed, names and values together"
            fix = f"{fix}: put long values into files of the models"
            yield Problem((*path, "containers"), message, fix)


@error("IS213", CONTAINER_PAGE)
def environment_count(spec: ModelSpec) -> Iterator[Problem]:
    """A container cannot have more environment variables than SageMaker allows.

    A component's container may have far fewer than a model's.
    """
    for placed in containers(spec):
        count, most = len(placed.environment), _bounds(placed)["maxProperties"]
        if count > most:
            message = f"the environment has {count} variables"
            yield Problem((*placed.path, "environment"), message, f"at most {most} are allowed here")


@error("IS217", _REF)
def environment_is_no_function(spec: ModelSpec) -> Iterator[Problem]:
    """An `environment` cannot look like a CloudFormation function.

    A mapping whose only key is `Ref` is a reference, wherever it is in a template.
    """
    for placed in containers(spec):
        if set(placed.environment) == {"Ref"}:
            message = "`Ref` as the only variable would be read as a CloudFormation reference"
            yield Problem((*placed.path, "environment"), message, "rename the variable, or add another one")
