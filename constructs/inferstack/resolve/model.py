"""AWS::SageMaker::Model. It never gets a name: a named model cannot be replaced."""

from inferstack.resolve.convert import properties
from inferstack.resolve.environment import container_environment
from inferstack.resolve.execution_role import role_arn
from inferstack.resolve.image import image_uri
from inferstack.resolve.resource import Resource, Resources, Value, get_att, pascal, present
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import Container, Model
from inferstack.spec.parts.walk import PlacedContainer, containers, models
from inferstack.spec.problem import SpecPath

# The fields of a model without `containers` that are not those of its only container.
_NOT_THE_CONTAINERS = frozenset(Model.__struct_fields__) - frozenset(Container.__struct_fields__)


def model_id(name: str | None) -> str:
    """Logical id of the only model, or of the one under this name."""
    return "Model" if name is None else f"Model{pascal(name)}"


def model_name(name: str | None) -> Value:
    """The name that AWS gives to the model."""
    return get_att(model_id(name), "ModelName")


def resolve_models(spec: ModelSpec, region: str | None) -> Resources:
    """Every model of the spec."""
    placed = {container.path: container for container in containers(spec)}
    return {
        model_id(name): Resource("AWS::SageMaker::Model", _model(spec, path, model, placed, region), path)
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
