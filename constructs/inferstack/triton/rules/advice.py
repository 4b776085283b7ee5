"""Advice on speed."""

from collections.abc import Iterator

from inferstack.triton.backends import BACKENDS
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rules.base import (
    MODEL_CONFIGURATION,
    Context,
    Finding,
    at,
    model_warning,
    warning,
)
from inferstack.triton.rules.pytorch import is_torchscript

_PYTORCH = "https://github.com/triton-inference-server/pytorch_backend#readme"
_OPTIMIZATION = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/optimization.md"
_YES = frozenset({"true", "on", "1"})


def _parameter(model: TritonModel, name: str) -> str | None:
    parameters = model.config.parameters
    return str(parameters[name].string_value).lower() if name in parameters else None


@model_warning("IS980", "A PyTorch model should run in inference mode.", _PYTORCH)
def inference_mode_is_on(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Inference mode is the default from 23.06 on; only a model that computes gradients needs it off."""
    value = _parameter(model, "INFERENCE_MODE") if is_torchscript(model) else "true"
    if value in ("false", "off", "0"):
        message = f"{model.name} records gradients, which costs time and memory"
        yield Finding(at(model, "parameters", "INFERENCE_MODE"), message, "write `INFERENCE_MODE: true`")
    elif value is None and context.before((23, 6)):
        message = f"{model.name} records gradients by default in this image"
        yield Finding(at(model, "parameters"), message, "add `INFERENCE_MODE: true` to `parameters`")


@model_warning(
    "IS981", "The CUDA cache should not be cleaned after each request.", _PYTORCH, about="parameters"
)
def cache_is_kept(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Cleaning helps if memory is short where several models share a GPU, and slows down every request."""
    if is_torchscript(model) and _parameter(model, "ENABLE_CACHE_CLEANING") in _YES:
        message = f"{model.name} cleans the CUDA cache after each request, which slows it down"
        fix = "remove it, or ignore IS981 if the GPU runs out of memory without it"
        yield Finding(at(model, "parameters", "ENABLE_CACHE_CLEANING"), message, fix)


@model_warning("IS982", "Instances that share weights should not keep state.", _PYTORCH, about="parameters")
def shared_weights_keep_no_state(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Otherwise one sequence would see what another one left."""
    shared = _parameter(model, "ENABLE_WEIGHT_SHARING") in _YES
    if is_torchscript(model) and shared and model.config.HasField("sequence_batching"):
        message = f"{model.name} keeps state between requests, but its instances share their weights"
        yield Finding(
            at(model, "parameters", "ENABLE_WEIGHT_SHARING"), message, "remove `ENABLE_WEIGHT_SHARING`"
        )


@model_warning("IS983", "On a GPU, a model that can batch should join waiting requests.", _OPTIMIZATION)
def requests_are_joined(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Without a scheduler each request runs by itself, whatever `max_batch_size` allows."""
    config = model.config
    scheduled = config.WhichOneof("scheduling_choice") is not None
    if not context.on_gpu or model.is_ensemble or scheduled or config.max_batch_size < 2:
        return
    if model.backend != "python":
        message = (
            f"{model.name} can take {config.max_batch_size} requests at once, but gets them one at a time"
        )
        fix = "add `dynamic_batching: {}`, perhaps with `max_queue_delay_microseconds`"
        yield Finding(at(model, "max_batch_size"), message, fix)


@warning(
    "IS984",
    "On a GPU, the number of a model's instances should be chosen, not left to the default.",
    _OPTIMIZATION,
)
def instances_are_chosen(repository: Repository, context: Context) -> Iterator[Finding]:
    """By default there is one per GPU. Two hide the transfer of data behind computation; on a multi-model
    endpoint it is better to save the memory."""
    if not context.on_gpu or repository.multi_model:
        return
    for model in repository.models:
        config, backend = model.config, BACKENDS.get(model.backend)
        on_gpus = backend is not None and backend.uses_gpus
        if on_gpus and not config.instance_group and not model.is_ensemble:
            message = f"{model.name} has no `instance_group`, so one instance runs on each GPU"
            fix = "try `instance_group: [{kind: KIND_GPU, count: 2}]`, and keep the count that performs best"
            yield Finding(at(model), message, fix)


@model_warning(
    "IS985", "A TorchScript model should be warmed up before it counts as ready.", MODEL_CONFIGURATION
)
def torchscript_is_warmed_up(model: TritonModel, context: Context) -> Iterator[Finding]:
    """PyTorch optimizes during the first requests, which therefore take far longer."""
    disabled = _parameter(model, "DISABLE_OPTIMIZED_EXECUTION") in _YES
    if is_torchscript(model) and not disabled and not model.config.model_warmup and model.complete:
        message = f"the first requests to {model.name} wait for PyTorch to optimize it"
        fix = "add `model_warmup` with a real request, or `DISABLE_OPTIMIZED_EXECUTION: true` to `parameters`"
        yield Finding(at(model), message, fix)


@warning(
    "IS986",
    "Instance groups of a multi-model endpoint should not name GPUs.",
    "user reports",
    about="instance_group",
)
def no_pinned_gpus(repository: Repository, context: Context) -> Iterator[Finding]:
    """Models come and go, and Triton has to find out where one fits."""
    if not repository.multi_model:
        return
    for model in repository.models:
        for index, group in enumerate(model.config.instance_group):
            if group.gpus:
                message = f"{model.name} in {repository.archive} is bound to GPU {list(group.gpus)}"
                yield Finding(at(model, "instance_group", index, "gpus"), message, "remove `gpus`")
