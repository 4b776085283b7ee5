"""Advice on speed, and where the copies of a model run."""

from collections.abc import Iterator

from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.backends import BACKENDS
from inferstack.triton.model import Repository, TritonModel, enum_name
from inferstack.triton.rules.base import (
    MODEL_CONFIGURATION,
    SOURCE,
    Context,
    at,
    error,
    warning,
)
from inferstack.triton.rules.pytorch import is_torchscript

# ---------------------------------------------------------------- Advice on speed


_PYTORCH = "https://github.com/triton-inference-server/pytorch_backend#readme"
_OPTIMIZATION = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/optimization.md"
_YES = frozenset({"true", "on", "1"})


def _parameter(model: TritonModel, name: str) -> str | None:
    parameters = model.config.parameters
    return str(parameters[name].string_value).lower() if name in parameters else None


@warning("IS980", _PYTORCH)
def inference_mode_is_on(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A PyTorch model should run in inference mode.

    Inference mode is the default from 23.06 on; only a model that computes gradients needs it off.
    """
    value = _parameter(model, "INFERENCE_MODE") if is_torchscript(model) else "true"
    if value in ("false", "off", "0"):
        message = f"{model.name} records gradients, which costs time and memory"
        yield Problem(at(model, "parameters", "INFERENCE_MODE"), message, "write `INFERENCE_MODE: true`")
    elif value is None and context.before((23, 6)):
        message = f"{model.name} records gradients by default in this image"
        yield Problem(at(model, "parameters"), message, "add `INFERENCE_MODE: true` to `parameters`")


@warning("IS981", _PYTORCH)
def cache_is_kept(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The CUDA cache should not be cleaned after each request.

    Cleaning helps if memory is short where several models share a GPU, and slows down every request.
    """
    if is_torchscript(model) and _parameter(model, "ENABLE_CACHE_CLEANING") in _YES:
        message = f"{model.name} cleans the CUDA cache after each request, which slows it down"
        fix = "remove it, or ignore IS981 if the GPU runs out of memory without it"
        yield Problem(at(model, "parameters", "ENABLE_CACHE_CLEANING"), message, fix)


@warning("IS982", _PYTORCH)
def shared_weights_keep_no_state(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Instances that share weights should not keep state.

    Otherwise one sequence would see what another one left.
    """
    shared = _parameter(model, "ENABLE_WEIGHT_SHARING") in _YES
    if is_torchscript(model) and shared and model.config.HasField("sequence_batching"):
        message = f"{model.name} keeps state between requests, but its instances share their weights"
        yield Problem(
            at(model, "parameters", "ENABLE_WEIGHT_SHARING"), message, "remove `ENABLE_WEIGHT_SHARING`"
        )


@warning("IS983", _OPTIMIZATION)
def requests_are_joined(model: TritonModel, context: Context) -> Iterator[Problem]:
    """On a GPU, a model that can batch should join waiting requests.

    Without a scheduler each request runs by itself, whatever `max_batch_size` allows.
    """
    config = model.config
    scheduled = config.WhichOneof("scheduling_choice") is not None
    if not context.on_gpu or model.is_ensemble or scheduled or config.max_batch_size < 2:
        return
    if model.backend != "python":
        message = (
            f"{model.name} can take {config.max_batch_size} requests at once, but gets them one at a time"
        )
        fix = "add `dynamic_batching: {}`, perhaps with `max_queue_delay_microseconds`"
        yield Problem(at(model, "max_batch_size"), message, fix)


@warning("IS984", _OPTIMIZATION)
def instances_are_chosen(repository: Repository, context: Context) -> Iterator[Problem]:
    """On a GPU, the number of a model's instances should be chosen, not left to the default.

    By default there is one per GPU. Two hide the transfer of data behind computation; on a multi-model
    endpoint it is better to save the memory.
    """
    if not context.on_gpu or repository.multi_model:
        return
    for model in repository.models:
        config, backend = model.config, BACKENDS.get(model.backend)
        on_gpus = backend is not None and backend.uses_gpus
        if on_gpus and not config.instance_group and not model.is_ensemble:
            message = f"{model.name} has no `instance_group`, so one instance runs on each GPU"
            fix = "try `instance_group: [{kind: KIND_GPU, count: 2}]`, and keep the count that performs best"
            yield Problem(at(model), message, fix)


@warning("IS985", MODEL_CONFIGURATION)
def torchscript_is_warmed_up(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A TorchScript model should be warmed up before it counts as ready.

    PyTorch optimizes during the first requests, which therefore take far longer.
    """
    disabled = _parameter(model, "DISABLE_OPTIMIZED_EXECUTION") in _YES
    if is_torchscript(model) and not disabled and not model.config.model_warmup and model.complete:
        message = f"the first requests to {model.name} wait for PyTorch to optimize it"
        fix = "add `model_warmup` with a real request, or `DISABLE_OPTIMIZED_EXECUTION: true` to `parameters`"
        yield Problem(at(model), message, fix)


@warning("IS986", "user reports")
def no_pinned_gpus(repository: Repository, context: Context) -> Iterator[Problem]:
    """Instance groups of a multi-model endpoint should not name GPUs.

    Models come and go, and Triton has to find out where one fits.
    """
    if not repository.multi_model:
        return
    for model in repository.models:
        for index, group in enumerate(model.config.instance_group):
            if group.gpus:
                message = f"{model.name} in {repository.archive} is bound to GPU {list(group.gpus)}"
                yield Problem(at(model, "instance_group", index, "gpus"), message, "remove `gpus`")


# ---------------------------------------------------------------- Where the copies of a model run


_CONFIG = f"{SOURCE}/model_config_utils.cc"
_TENSORRT = "tensorrt_plan"


@error("IS930", _CONFIG)
def only_gpu_groups_name_gpus(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Only instance groups on GPUs can name GPUs.

    `KIND_CPU` uses none, and with `KIND_MODEL` the model chooses itself.
    """
    for index, group in enumerate(model.config.instance_group):
        kind = enum_name(group, "kind")
        if kind in ("KIND_CPU", "KIND_MODEL") and group.gpus:
            place = at(model, "instance_group", index, "gpus")
            yield Problem(place, f"`gpus` cannot be used with `{kind}`", "remove `gpus`, or write `KIND_GPU`")


@error("IS931", _CONFIG)
def gpus_exist(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Instance groups on GPUs need an instance type with those GPUs.

    Triton does not load a model for a GPU that is missing, not even one that could do without.
    """
    if not context.gpus:
        return
    fewest = min(context.gpus)
    for index, group in enumerate(model.config.instance_group):
        kind = enum_name(group, "kind")
        missing = [number for number in group.gpus if not 0 <= number < fewest]
        if kind == "KIND_GPU" and fewest == 0:
            place = at(model, "instance_group", index, "kind")
            fix = "choose an instance type with a GPU, or write `KIND_AUTO`, which uses one if it is there"
            yield Problem(place, f"{model.name} needs a GPU, but its container has none", fix)
        elif kind in ("KIND_GPU", "KIND_AUTO") and missing:
            place = at(model, "instance_group", index, "gpus")
            has = f"{fewest} GPU{'s' * (fewest > 1)}, numbered from 0" if fewest else "no GPU"
            message = (
                f"the container has {has}, but {model.name} names GPU {listed(missing, last='and', quote='')}"
            )
            instead = "to use all there are" if fewest else "or choose an instance type with GPUs"
            yield Problem(place, message, f"remove `gpus`, {instead}")


@error("IS932", _CONFIG)
def profiles_are_numbers(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Profiles are only for TensorRT models, and must be numbers.

    Optimization profiles are counted from 0; the field holds the numbers as texts.
    """
    tensorrt = model.config.platform == _TENSORRT or model.config.backend == "tensorrt"
    for index, group in enumerate(model.config.instance_group):
        for number, profile in enumerate(group.profile):
            place = at(model, "instance_group", index, "profile", number)
            if not tensorrt:
                yield Problem(
                    place, f"{model.name} is not a TensorRT model and cannot have profiles", "remove it"
                )
            elif not profile.isdecimal():
                yield Problem(place, f'"{profile}" is not a valid profile', 'write its number in quotes: "0"')
