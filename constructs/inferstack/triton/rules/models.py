"""What a model's configuration says besides its tensors: backend, batches, queues, cache, instances."""

from collections.abc import Iterator
from typing import Any

from inferstack.catalog.triton_container import further_arguments, with_argument
from inferstack.problems import Problem
from inferstack.problems.words import counted, did_you_mean_then, listed
from inferstack.triton.backends import BACKENDS, ENSEMBLE, PLATFORMS, meant_backend
from inferstack.triton.model import Repository, TritonModel, enum_name
from inferstack.triton.rules.base import CONFIG_UTILS, DOCUMENTATION, Context, at, each, error, warning

_BACKENDS = (
    "https://github.com/triton-inference-server/backend"
    "#where-can-i-find-all-the-backends-that-are-available-for-triton"
)
_OPTIMIZATION = f"{DOCUMENTATION}/optimization.md"
_CACHE = f"{DOCUMENTATION}/response_cache.md"


@error("IS920", CONFIG_UTILS)
def backend_is_known(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A model must name its backend or a platform that Triton knows.

    A platform is a word for one of Triton's own backends; any other backend is named as such.
    """
    config = model.config
    if model.is_ensemble or model.backend or not model.complete:
        return
    if config.platform:
        message = f'"{config.platform}" is not a valid platform'
        known = [*PLATFORMS, ENSEMBLE]
        rest = f"name the `backend` instead, or one of {listed(known)}"
        yield Problem(at(model, "platform"), message, did_you_mean_then(config.platform, known, rest))
    else:
        message = f"{model.name} has neither `backend` nor `platform`"
        yield Problem(at(model), message, "add `backend`, for example `backend: python`")


@warning("IS968", CONFIG_UTILS)
def backend_is_not_guessed(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The backend should be named in a model's configuration, not by the end of its name.

    If nothing else names it, Triton takes what follows the first dot of the name, even a version number.
    """
    chosen = model.chosen
    if model.is_ensemble or not chosen.by_name or not model.complete:
        return
    brought = (f"model.{chosen.backend}", f"libtriton_{chosen.backend}.so")
    if not any(path.endswith(f"/{file}") for file in brought for path in model.files):
        message = f"{model.name} has no `backend`, so Triton takes `{chosen.backend}` from its name"
        fix = f"add `backend`, such as `backend: python`, or `backend: {chosen.backend}` if that is intended"
        yield Problem(at(model), message, fix)


@error("IS921", CONFIG_UTILS)
def backend_fits_platform(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The backend and platform of a model must belong together.

    Backends that are not Triton's own may have any platform.
    """
    config = model.config
    backend = BACKENDS.get(config.backend)
    if config.platform == ENSEMBLE and config.backend:
        yield Problem(at(model, "backend"), "an ensemble cannot have a backend", "remove `backend`")
    elif backend is not None and backend.platforms and config.platform not in ("", *backend.platforms):
        message = f'platform "{config.platform}" does not belong to backend "{config.backend}"'
        fix = f"remove `platform`, or write {listed(list(backend.platforms))}"
        yield Problem(at(model, "platform"), message, fix)


@error("IS922", CONFIG_UTILS)
def batch_size_is_not_negative(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`max_batch_size` must be zero or more.

    Zero means that the model does not batch.
    """
    if model.config.max_batch_size < 0:
        message = f"`max_batch_size` of {model.name} is {model.config.max_batch_size}"
        yield Problem(at(model, "max_batch_size"), message, "write 0 for a model that does not batch")


@error("IS923", CONFIG_UTILS)
def preferred_sizes_fit(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Preferred batch sizes must be between 1 and `max_batch_size`.

    So a model without batches (`max_batch_size: 0`) can have none.
    """
    most = model.config.max_batch_size
    for path in (("dynamic_batching",), ("sequence_batching", "oldest")):
        batcher: Any = model.config
        for step in path:
            batcher = getattr(batcher, step)
        for index, size in enumerate(batcher.preferred_batch_size):
            if size < 1 or size > most:
                message = f"a preferred batch size of {model.name} is {size}, but `max_batch_size` is {most}"
                place = at(model, *path, "preferred_batch_size", index)
                yield Problem(place, message, f"allowed: 1 to {most}" if most > 0 else "set `max_batch_size`")


@error("IS924", CONFIG_UTILS)
def priorities_exist(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Priorities of a queue must be between 1 and `priority_levels`.

    If there are levels, one of them is the default.
    """
    batcher = model.config.dynamic_batching
    levels = batcher.priority_levels
    if levels == 0:
        return
    if not 1 <= batcher.default_priority_level <= levels:
        given = batcher.default_priority_level
        message = f"`default_priority_level` is {given}, but `priority_levels` is {levels}"
        place = at(model, "dynamic_batching", "default_priority_level")
        yield Problem(place, message, f"allowed: 1 to {levels}")
    for level in sorted(batcher.priority_queue_policy):
        if not 1 <= level <= levels:
            place = at(model, "dynamic_batching", "priority_queue_policy", str(level))
            yield Problem(place, f"there is no priority {level}", f"allowed: 1 to {levels}")


@error("IS925", CONFIG_UTILS)
def order_can_be_kept(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`preserve_ordering` needs a single priority and no delayed requests.

    Both would let a later request overtake an earlier one.
    """
    batcher = model.config.dynamic_batching
    if not batcher.preserve_ordering:
        return
    if batcher.priority_levels > 1:
        message = f"`preserve_ordering` cannot be used with {batcher.priority_levels} priorities"
        place = at(model, "dynamic_batching", "priority_levels")
        yield Problem(place, message, "remove one of the two")
    policies: list[tuple[tuple[str, ...], Any]] = [(("default_queue_policy",), batcher.default_queue_policy)]
    queues = batcher.priority_queue_policy
    policies += [(("priority_queue_policy", str(level)), queues[level]) for level in sorted(queues)]
    for path, policy in policies:
        if policy.default_timeout_microseconds and enum_name(policy, "timeout_action") == "DELAY":
            place = at(model, "dynamic_batching", *path, "timeout_action")
            fix = "write `timeout_action: REJECT`, or remove `preserve_ordering`"
            yield Problem(place, "`preserve_ordering` cannot be used with `timeout_action: DELAY`", fix)


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
        most = config.max_batch_size
        message = f"{model.name} can take {most} requests at once, but gets them one at a time"
        fix = "add `dynamic_batching: {}`, perhaps with `max_queue_delay_microseconds`"
        yield Problem(at(model, "max_batch_size"), message, fix)


@error("IS926", CONFIG_UTILS)
def cache_fits_the_model(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The response cache is only for models that answer once and keep no state.

    Sequences and decoupled models cannot use it.
    """
    config = model.config
    if not config.response_cache.enable:
        return
    sequences, decoupled = config.HasField("sequence_batching"), config.model_transaction_policy.decoupled
    for what, found in ("`sequence_batching`", sequences), ("a decoupled model", decoupled):
        if found:
            message = f"`response_cache` cannot be used with {what}"
            yield Problem(at(model, "response_cache"), message, "remove `response_cache`")


@warning("IS927", _CACHE)
def server_has_a_cache(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A model's response cache has no effect without a cache in the server.

    Triton loads the model all the same, and caches nothing.
    """
    arguments = " ".join(further_arguments(context.environment, context.release))
    if model.config.response_cache.enable and "--cache-config" not in arguments:
        message = f"`response_cache` of {model.name} has no effect because the server has no cache"
        cache = with_argument("--cache-config=local,size=104857600", context.release)
        fix = f"set {cache} (bytes) in the container's environment"
        yield Problem(at(model, "response_cache"), message, fix)


@error("IS928", CONFIG_UTILS)
def metrics_are_complete(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A change to a metric must name the metric and its buckets.

    Only histograms can be changed.
    """
    for path, control in each(model, "model_metrics", "metric_control"):
        there = {
            "metric_identifier.family": control.metric_identifier.family,
            "histogram_options.buckets": control.histogram_options.buckets,
        }
        lacks = [name for name, value in there.items() if not value]
        if lacks:
            yield Problem(
                at(model, *path), f"the metric is missing {listed(lacks, last='and')}", "add what is missing"
            )


@warning("IS929", _BACKENDS)
def backend_is_no_slip(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A custom backend should not be named almost like one of Triton's.

    An image, or the model's folder, may have a backend that no list knows; a typo looks the same.
    """
    name = model.config.backend
    brings_it = model.config.runtime or any(path.endswith(f"libtriton_{name}.so") for path in model.files)
    meant = None if brings_it else meant_backend(name)
    if meant is not None:
        message = f'"{name}" is not a backend of Triton, so {model.name} loads only if the image has it'
        fix = f"did you mean `{meant}`? if it is a custom backend, ignore IS929"
        yield Problem(at(model, "backend"), message, fix)


# ---------------------------------------------------------------- Where the copies of a model run


@error("IS930", CONFIG_UTILS)
def only_gpu_groups_name_gpus(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Only instance groups on GPUs can name GPUs.

    `KIND_CPU` uses none, and with `KIND_MODEL` the model chooses itself.
    """
    for path, group in each(model, "instance_group"):
        kind = enum_name(group, "kind")
        if kind in ("KIND_CPU", "KIND_MODEL") and group.gpus:
            place = at(model, *path, "gpus")
            yield Problem(place, f"`gpus` cannot be used with `{kind}`", "remove `gpus`, or write `KIND_GPU`")


@error("IS931", CONFIG_UTILS)
def gpus_exist(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Instance groups on GPUs need an instance type with those GPUs.

    Triton does not load a model for a missing GPU, not even one that could do without.
    """
    if not context.gpus:
        return
    fewest = min(context.gpus)
    for path, group in each(model, "instance_group"):
        kind = enum_name(group, "kind")
        missing = [number for number in group.gpus if not 0 <= number < fewest]
        if kind == "KIND_GPU" and fewest == 0:
            place = at(model, *path, "kind")
            fix = "choose an instance type with a GPU, or write `KIND_AUTO`, which uses one if it is there"
            yield Problem(place, f"{model.name} needs a GPU, but its container has none", fix)
        elif kind in ("KIND_GPU", "KIND_AUTO") and missing:
            place = at(model, *path, "gpus")
            has = f"{counted(fewest, 'GPU')}, numbered from 0" if fewest else "no GPU"
            names = listed(missing, last="and", quote="")
            message = f"the container has {has}, but {model.name} names GPU {names}"
            instead = "to use all there are" if fewest else "or choose an instance type with GPUs"
            yield Problem(place, message, f"remove `gpus`, {instead}")


@error("IS932", CONFIG_UTILS)
def profiles_are_numbers(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Profiles are only for TensorRT models, and must be numbers.

    Optimization profiles are counted from 0; the field holds the numbers as texts.
    """
    tensorrt = model.config.platform == "tensorrt_plan" or model.config.backend == "tensorrt"
    for path, group in each(model, "instance_group"):
        for number, profile in enumerate(group.profile):
            place = at(model, *path, "profile", number)
            if not tensorrt:
                message = f"{model.name} is not a TensorRT model and cannot have profiles"
                yield Problem(place, message, "remove it")
            elif not profile.isdecimal():
                yield Problem(place, f'"{profile}" is not a valid profile', 'write its number in quotes: "0"')


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


@warning("IS986", "user reports")
def no_pinned_gpus(repository: Repository, context: Context) -> Iterator[Problem]:
    """Instance groups of a multi-model endpoint should not name GPUs.

    Models come and go, and Triton has to find out where one fits.
    """
    if not repository.multi_model:
        return
    for model in repository.models:
        for path, group in each(model, "instance_group"):
            if group.gpus:
                message = f"{model.name} in {repository.archive} is bound to GPU {list(group.gpus)}"
                yield Problem(at(model, *path, "gpus"), message, "remove `gpus`")
