"""AWS::SageMaker::Model. It never gets a name: a named model cannot be replaced."""

from inferstack.catalog.resource_types import MODEL_TYPE
from inferstack.catalog.triton_container import DEFAULT_MODEL
from inferstack.facts.triton import default_model, is_triton, loaded_by
from inferstack.facts.walk import PlacedContainer, containers, model_path, models
from inferstack.format.defaults import TRITON_ENVIRONMENT, TRITON_MULTI_MODEL_ENVIRONMENT
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import Container, Model
from inferstack.problems import SpecPath
from inferstack.resolve.convert import properties
from inferstack.resolve.execution_role import role_arn
from inferstack.resolve.images import image_uri
from inferstack.resolve.resource import Resource, Resources, Value, get_att, pascal, present

# ---------------------------------------------------------------- environment variables

# What Triton's container reads:
# https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve


def container_environment(spec: ModelSpec, placed: PlacedContainer) -> dict[str, str] | None:
    """The container's environment, or None when there is nothing in it."""
    return {**_triton_environment(spec, placed), **placed.environment} or None


def _triton_environment(spec: ModelSpec, placed: PlacedContainer) -> dict[str, str]:
    block = loaded_by(spec, placed)
    if block is None and not is_triton(placed.image):
        return {}
    environment = dict(TRITON_ENVIRONMENT.value)
    if placed.takes_prefix:
        environment |= TRITON_MULTI_MODEL_ENVIRONMENT.value
    default = None if block is None else default_model(block)
    if default is not None:
        environment[DEFAULT_MODEL] = default
    return environment


# ---------------------------------------------------------------- the models

# The fields of a model without `containers` that are not those of its only container.
_NOT_THE_CONTAINERS = frozenset(Model.__struct_fields__) - frozenset(Container.__struct_fields__)


def model_id(name: str | None) -> str:
    """Logical id of the only model, or of the one with this name."""
    return "Model" if name is None else f"Model{pascal(name)}"


def model_name(spec: ModelSpec, name: str | None) -> Value:
    """The name of the only model, or of the one that a variant or component names.

    A reference where the stack makes the model, since AWS then chooses its name; else the name in the spec.
    """
    existing = name is not None and model_path(spec, name) is None
    return name if existing else get_att(model_id(name), "ModelName")


def resolve_models(spec: ModelSpec, region: str | None) -> Resources:
    """Every model of the spec."""
    placed = {container.path: container for container in containers(spec)}
    return {
        model_id(name): Resource(MODEL_TYPE, _model(spec, path, model, placed, region), path, tags=model.tags)
        for path, name, model in models(spec)
    }


def _model(
    spec: ModelSpec,
    path: SpecPath,
    model: Model,
    placed: dict[SpecPath, PlacedContainer],
    region: str | None,
) -> dict[str, Value]:
    own = properties(model, leave_out=frozenset({*Container.__struct_fields__, "containers"}))
    made = [
        _container(spec, container, region) for at, container in placed.items() if at[: len(path)] == path
    ]
    return present(
        ExecutionRoleArn=role_arn(spec.execution_role),
        PrimaryContainer=made[0] if model.containers is None else None,
        Containers=None if model.containers is None else made,
        **own,
    )


def _container(spec: ModelSpec, placed: PlacedContainer, region: str | None) -> Value:
    rest = properties(placed.container, leave_out=_NOT_THE_CONTAINERS | {"image", "environment"})
    return (
        present(
            Image=image_uri(placed, region),
            Mode="MultiModel" if placed.takes_prefix else None,
            Environment=container_environment(spec, placed),
        )
        | rest
    )
