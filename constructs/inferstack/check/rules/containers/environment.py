"""Environment variables of the containers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.catalog import cloudformation, instances
from inferstack.check.rules.base import AWS, CONTAINER_PAGE, error, warning
from inferstack.facts.walk import PlacedContainer, containers, models, runs
from inferstack.format.inference_component import ComponentContainer
from inferstack.format.kinds import ModelSpec, PipelineSpec
from inferstack.format.model import Container
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque, sample

_REF = f"{AWS}/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-ref.html"
_LMI = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/deployment_guide/configurations.html"
# The API's documentation limits the whole map, which no schema can.
_MOST_BYTES = 32 * 1024
_GPUS_OF_ONE_MODEL = ("OPTION_TENSOR_PARALLEL_DEGREE", "SM_NUM_GPUS", "SM_VLLM_TENSOR_PARALLEL_SIZE")


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


@warning("IS273", _LMI)
def model_is_split_over_gpus_that_are_there(spec: ModelSpec) -> Iterator[Problem]:
    """A model should not be split over more GPUs than its container has.

    With more, the server exits when it starts, after downloading the model.
    """
    for placed in containers(spec):
        for name in _GPUS_OF_ONE_MODEL:
            value = placed.environment.get(name, "")
            if not (value.isascii() and value.isdecimal()):
                continue
            for what, there in _gpus(spec, placed):
                if int(value) > there:
                    message = (
                        f"`{name}` is {value[:20]}, but {what} {there:g} {'GPU' if there == 1 else 'GPUs'}"
                    )
                    fix = f'write "{there:g}" or less, or give the model more GPUs'
                    yield Problem((*placed.path, "environment", name), message, fix)
                    break


def _gpus(spec: ModelSpec, placed: PlacedContainer) -> Iterator[tuple[str, int | float]]:
    """What may run the container, as text, and its number of GPUs; nothing if a known type has none."""
    hosts = [(name, instances.find(name)) for name in placed.instance_types]
    known = [(f"{name} has", host.gpus) for name, host in hosts if host is not None]
    if not all(gpus for _, gpus in known):
        return
    yield from known
    for run in runs(spec):
        needs = run.specification.compute_resource_requirements
        reserved = None if needs is None else needs.number_of_accelerator_devices_required
        if run.container == placed.path and reserved is not None:
            yield f"the component `{run.name}` reserves", reserved
