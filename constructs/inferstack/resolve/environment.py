"""Environment variables that follow from the spec. A value of the user's own wins.

What Triton's container reads: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
"""

from inferstack.defaults import TRITON_ENVIRONMENT, TRITON_MULTI_MODEL_ENVIRONMENT
from inferstack.spec.blocks.kinds import InferenceComponentsSpec, ModelBackedSpec, ModelSpec, MultiModelSpec
from inferstack.spec.triton_image import is_triton
from inferstack.spec.walk import PlacedContainer

_DEFAULT_MODEL = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"


def container_environment(spec: ModelSpec, placed: PlacedContainer) -> dict[str, str] | None:
    """The container's environment, or None when there is nothing in it."""
    own = placed.container.environment
    implied = _triton_environment(spec) if is_triton(placed.image) else {}
    return {**implied, **({} if own is None else own)} or None


def _triton_environment(spec: ModelSpec) -> dict[str, str]:
    environment = dict(TRITON_ENVIRONMENT.value)
    if isinstance(spec, MultiModelSpec):
        environment |= TRITON_MULTI_MODEL_ENVIRONMENT.value
    triton = spec.triton if isinstance(spec, ModelBackedSpec | InferenceComponentsSpec) else None
    if triton is not None and triton.default_model is not None:
        environment[_DEFAULT_MODEL] = triton.default_model
    return environment
