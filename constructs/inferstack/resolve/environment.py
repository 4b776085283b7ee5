"""Environment variables that follow from the spec. A value of the user's own wins.

What Triton's container reads: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
"""

from inferstack.catalog.triton_container import DEFAULT_MODEL
from inferstack.defaults import TRITON_ENVIRONMENT, TRITON_MULTI_MODEL_ENVIRONMENT
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.triton_blocks import default_model, loaded_by
from inferstack.spec.parts.triton_image import is_triton
from inferstack.spec.parts.walk import PlacedContainer


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
