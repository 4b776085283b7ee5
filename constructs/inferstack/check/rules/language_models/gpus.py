"""The GPUs that an engine uses: as many as there are, and able to do what it is told."""

from collections.abc import Iterator

from inferstack.catalog import instances
from inferstack.catalog.instances import COMPUTE_CAPABILITIES, Capability, InstanceType
from inferstack.check.rules.base import warning
from inferstack.check.rules.language_models.judged import Judged, judged
from inferstack.engines.engine import RUN_VLLM
from inferstack.engines.gpus import BFLOAT16, BFLOAT16_WORDS, GpusUsed, gpus_used, least_capability
from inferstack.engines.settings import setting, variable_for
from inferstack.facts.walk import PlacedContainer, containers, runs_of
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed

_PARALLEL = "https://docs.vllm.ai/en/latest/serving/parallelism_scaling/"
_QUANTIZATION = "https://docs.vllm.ai/en/latest/features/quantization/"


@warning("IS273", _PARALLEL)
def model_is_split_over_gpus_that_are_there(spec: ModelSpec) -> Iterator[Problem]:
    """A model should not be split over more GPUs than its container has.

    With more, the server exits when it starts, after downloading the model.
    """
    for placed in containers(spec):
        used = gpus_used(placed)
        if used is None or not used.said:
            continue
        for what, there in (*_of_hosts(placed), *_reserved(placed)) if _of_hosts(placed) else ():
            if used.total > there:
                message = f"{_product(used)}, but {what} {_counted(there)}"
                less = " or less" if there > 1 else ""
                fix = f'write "{there:g}"' if len(used.said) == 1 else f"make them {there:g}"
                yield Problem(used.said[0].path, message, f"{fix}{less}, or give the model more GPUs")
                break


@warning("IS371", _PARALLEL)
def no_gpu_is_left_idle(spec: ModelSpec) -> Iterator[Problem]:
    """A model should use all GPUs that its container has.

    vLLM and SGLang use one, unless they are told to split the model or to run it several times. LMI and TGI
    use all.
    """
    for it in judged(spec):
        used = gpus_used(it.placed)
        if used is None or not used.leaves_others_idle:
            continue
        for what, there in _reserved(it.placed) or _of_hosts(it.placed):
            if used.total < there:
                message = f"{it.title} uses {_counted(used.total)}, but {what} {there:g}"
                yield Problem(_where(it, used), message, _use_all(it, used, int(there)))
                break


def most_gpus(placed: PlacedContainer) -> int:
    """The most GPUs that a container may have, by what it runs on or reserves; 0 if none is known."""
    return int(max((there for _, there in _reserved(placed) or _of_hosts(placed)), default=0))


def _where(it: Judged, used: GpusUsed) -> SpecPath:
    return used.said[0].path if used.said else (*it.placed.path, "image")


def _use_all(it: Judged, used: GpusUsed, there: int) -> str:
    split, copies = (
        variable_for(it.running.name, what) for what in ("tensor_parallel_size", "data_parallel_size")
    )
    several = (
        f', or `{copies}: "{there // used.total}"` to run it several times' if not there % used.total else ""
    )
    return f'write `{split}: "{there}"` to split the model{several}, or give it fewer GPUs'


def _product(used: GpusUsed) -> str:
    if len(used.said) == 1:
        return f"`{used.said[0].name}` is {used.said[0].value[:20]}"
    return f"{listed([it.name for it in used.said])} make {used.total}"


def _counted(gpus: float) -> str:
    return f"{gpus:g} {'GPU' if gpus == 1 else 'GPUs'}"


_Gpus = tuple[str, float]
"""What may run a container, as text, and its number of GPUs."""


def _of_hosts(placed: PlacedContainer) -> list[_Gpus]:
    """The instance types that are known; nothing if one of them has no GPU."""
    known = [it for it in map(instances.find, placed.instance_types) if it is not None]
    return [(f"{it.name} has", it.gpus) for it in known] if all(it.gpus for it in known) else []


def _reserved(placed: PlacedContainer) -> list[_Gpus]:
    """The components that run the container and say how many they reserve."""
    needs = [
        (run.name, run.specification.compute_resource_requirements)
        for run in runs_of(placed.spec, placed.path)
    ]
    found = [(name, it.number_of_accelerator_devices_required) for name, it in needs if it is not None]
    return [(f"the component `{name}` reserves", number) for name, number in found if number is not None]


@warning("IS372", _QUANTIZATION)
def gpu_computes_in_the_type(spec: ModelSpec) -> Iterator[Problem]:
    """A GPU should be able to compute in the `dtype` that vLLM is told to use.

    bfloat16 needs compute capability 8.0, and the T4 of ml.g4dn has 7.5: the server exits when it starts.
    Where nothing is said, vLLM from 0.9 and SGLang take float16 on such a GPU for a model that asks for
    bfloat16, and say so in the log; TGI takes float16 anyway.
    """
    for it in judged(spec):
        said = setting(it.placed, "dtype") if it.running.name in RUN_VLLM else None
        host = (
            None if said is None or said.value.lower() not in BFLOAT16_WORDS else _lesser(it.placed, BFLOAT16)
        )
        if said is not None and host is not None:
            message = f"`{said.name}` is {said.value}, which needs {_capability(BFLOAT16)}, but {_has(host)}"
            yield Problem(said.path, message, "write `float16`, or choose an instance type with a newer GPU")


@warning("IS373", _QUANTIZATION)
def gpu_computes_with_the_quantization(spec: ModelSpec) -> Iterator[Problem]:
    """A GPU should be able to compute with the quantization that vLLM or SGLang is told to use.

    Each has a least compute capability, below which the server exits when it starts.
    """
    for it in judged(spec):
        said = setting(it.placed, "quantization")
        least = None if said is None else least_capability(it.running.name, said.value)
        host = None if least is None else _lesser(it.placed, least)
        if said is not None and least is not None and host is not None:
            message = f"`{said.name}` is {said.value}, which needs {_capability(least)}, but {_has(host)}"
            yield Problem(
                said.path, message, "use weights in another format, or an instance type with a newer GPU"
            )


def _lesser(placed: PlacedContainer, least: Capability) -> InstanceType | None:
    """The first instance type whose GPU can do less."""
    hosts = (instances.find(name) for name in placed.instance_types)
    return next(
        (it for it in hosts if it is not None and _of(it) is not None and (_of(it) or least) < least), None
    )


def _of(host: InstanceType) -> Capability | None:
    return COMPUTE_CAPABILITIES.get(host.gpu_name or "")


def _capability(capability: Capability) -> str:
    return f"compute capability {capability[0]}.{capability[1]}"


def _has(host: InstanceType) -> str:
    found = _of(host)
    return f"{host.name} has {'none' if found is None else f'{found[0]}.{found[1]}'}"
