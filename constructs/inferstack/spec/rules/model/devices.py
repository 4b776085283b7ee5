"""GPUs that a server in a container is told to use."""

from collections.abc import Iterator

from inferstack.catalog import instances
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import PlacedContainer, containers, runs
from inferstack.spec.rules.base import Finding, warning

_LMI = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/deployment_guide/configurations.html"
_GPUS_OF_ONE_MODEL = ("OPTION_TENSOR_PARALLEL_DEGREE", "SM_NUM_GPUS", "SM_VLLM_TENSOR_PARALLEL_SIZE")


@warning(
    "IS273",
    "A model should not be split over more GPUs than its container has.",
    _LMI,
    ModelSpec,
    about="environment",
)
def model_is_split_over_gpus_that_are_there(spec: ModelSpec) -> Iterator[Finding]:
    """With more, the server exits when it starts, after downloading the model."""
    for placed in containers(spec):
        for name in _GPUS_OF_ONE_MODEL:
            said = placed.environment.get(name, "")
            if not (said.isascii() and said.isdecimal()):
                continue
            for what, there in _gpus(spec, placed):
                if int(said) > there:
                    message = (
                        f"`{name}` is {said[:20]}, but {what} {there:g} {'GPU' if there == 1 else 'GPUs'}"
                    )
                    fix = f'write "{there:g}" or less, or give the model more GPUs'
                    yield Finding((*placed.path, "environment", name), message, fix)
                    break


def _gpus(spec: ModelSpec, placed: PlacedContainer) -> Iterator[tuple[str, int | float]]:
    """Whatever may run the container, in words, and its number of GPUs; nothing if a known type has none."""
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
