"""What the image's Triton does not support yet, and values that it cannot receive."""

import re
from collections.abc import Iterator
from typing import Any

from inferstack.catalog.triton_container import (
    GENERATING,
    GENERATING_SINCE,
    INFERENCE_TYPE,
    INFERENCE_TYPES,
    OVERRIDE_PING_MODE,
    PING_MODE,
    PING_MODES,
    Release,
)
from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.model import FieldPath, Repository, TritonModel, enum_name, is_map, is_repeated
from inferstack.triton.rules.base import CONTAINER, Context, at, error

_PROTO = "https://github.com/triton-inference-server/common/blob/main/protobuf/model_config.proto"
_PYTORCH = "https://github.com/triton-inference-server/pytorch_backend#readme"

FIRST_RELEASE: dict[str, Release] = {
    "ModelInstanceGroup.secondary_devices": (21, 6),
    "ModelInstanceGroup.passive": (21, 6),
    "ModelInstanceGroup.host_policy": (21, 6),
    "ModelConfig.response_cache": (21, 10),
    "ModelSequenceBatching.state": (21, 11),
    "State.initial_state": (22, 1),
    "ModelInput.optional": (22, 1),
    "ModelWarmup.count": (22, 7),
    "Step.model_namespace": (23, 3),
    "StrategyOldest.preserve_ordering": (23, 8),
    "ModelSequenceBatching.iterative_sequence": (23, 11),
    "State.use_same_buffer_for_input_output": (23, 11),
    "State.use_growable_memory": (23, 11),
    "ModelConfig.runtime": (24, 1),
    "ModelInput.is_non_linear_format_io": (24, 8),
    "ModelOutput.is_non_linear_format_io": (24, 8),
    "ModelConfig.model_metrics": (24, 11),
    "ModelEnsembling.max_inflight_requests": (25, 11),
}
"""Fields by message, and the release that has them first; all others were there in 21.05."""
FIRST_RELEASE_OF_VALUES: dict[str, Release] = {
    "BATCH_ITEM_SHAPE": (22, 3),
    "BATCH_ITEM_SHAPE_FLATTEN": (22, 3),
    "TYPE_BF16": (22, 5),
}
"""Values of enums, and the release that has them first; no two enums have a value of the same name."""
_NEWEST = max(*FIRST_RELEASE.values(), *FIRST_RELEASE_OF_VALUES.values())
_AOT_INDUCTOR, _AOT_INDUCTOR_SINCE = "torch_aoti", (26, 3)
_LEFT_OPEN = r"\$\{(AWS::\w+|Token\[)"


def _text(release: Release) -> str:
    return f"{release[0]:02}.{release[1]:02}"


@error("IS970", _PROTO)
def fields_are_known(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Every field of a configuration must be known to the image's Triton.

    An unknown field makes Triton refuse the whole file.
    """
    release = context.release
    if release is None or release >= _NEWEST:
        return
    for path, shown, since in _late(model.config, release):
        message = f"`{shown}` needs Triton {_text(since)} or newer, but the image has {_text(release)}"
        yield Problem(at(model, *path), message, "remove it, or choose a newer image")


def _late(config: Any, release: Release) -> Iterator[tuple[FieldPath, str, Release]]:
    """What is newer than a release: where it is, its name, and the release that first had it."""
    for path, message in messages(config):
        for field, _ in message.ListFields():
            first = {field.name: FIRST_RELEASE.get(f"{message.DESCRIPTOR.name}.{field.name}")}
            if field.enum_type is not None:
                value = enum_name(message, field.name)
                first[value] = FIRST_RELEASE_OF_VALUES.get(value)
            for name, since in first.items():
                if since is not None and release < since:
                    yield (*path, field.name), name, since


def messages(message: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """A message and those in it at any depth, each after its path."""
    yield path, message
    for field, value in message.ListFields():
        here = (*path, field.name)
        if field.message_type is None:
            continue
        if not is_map(field):
            several = is_repeated(field)
            inner = [((*here, at), it) for at, it in enumerate(value)] if several else [(here, value)]
        elif _maps_to_messages(field):
            inner = [((*here, str(key)), value[key]) for key in sorted(value)]
        else:
            inner = []
        for below, found in inner:
            yield from messages(found, below)


def _maps_to_messages(field: Any) -> bool:
    return field.message_type.fields_by_name["value"].message_type is not None


@error("IS971", _PYTORCH)
def platform_is_known(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The platform of a model must be known to the image's Triton.

    The platform of models that are compiled ahead of time came late.
    """
    if model.config.platform == _AOT_INDUCTOR and context.before(_AOT_INDUCTOR_SINCE):
        since = _text(_AOT_INDUCTOR_SINCE)
        message = f"`{_AOT_INDUCTOR}` needs Triton {since} or newer, but the image is older"
        fix = "choose a newer image, or save the model as TorchScript (`pytorch_libtorch`)"
        yield Problem(at(model, "platform"), message, fix)


@error("IS972", CONTAINER)
def inference_type_is_known(repository: Repository, context: Context) -> Iterator[Problem]:
    """The kind of inference that the environment asks for must be one that the container knows.

    Older containers ignore the variable and answer as before.
    """
    found = context.environment.get(INFERENCE_TYPE)
    if found is None or not context.environment_path:
        return
    place = context.variable(INFERENCE_TYPE)
    if not found:
        # To the start script an empty value is as good as none; newer servers take it for an inference type.
        if context.release is not None and not context.before(GENERATING_SINCE):
            message = f"{INFERENCE_TYPE} is empty, so the container answers no requests"
            yield Problem(place, message, f"remove it, or write one of {listed(INFERENCE_TYPES)}")
    elif found not in INFERENCE_TYPES:
        message = f'"{found}" is not a valid kind of inference'
        yield Problem(place, message, f"allowed: {listed(INFERENCE_TYPES)}")
    elif context.before(GENERATING_SINCE) and found in GENERATING:
        message = f'"{found}" needs Triton {_text(GENERATING_SINCE)} or newer, but the image is older'
        yield Problem(place, message, "choose a newer image, or remove the variable")


@error("IS973", CONTAINER)
def ping_mode_is_known(repository: Repository, context: Context) -> Iterator[Problem]:
    """The health check of the container must be `live` or `ready`.

    Live: the server runs. Ready: all its models are loaded as well.
    """
    for name in (PING_MODE, OVERRIDE_PING_MODE) if context.environment_path else ():
        found = context.value(name)
        if found not in (None, *PING_MODES):
            yield Problem(context.variable(name), f'{name} is "{found}"', f"allowed: {listed(PING_MODES)}")


@error("IS974", "inferstack's spec format")
def nothing_is_left_open(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A configuration cannot have values that are known only at deployment.

    It is packed into an archive before account and region are known.
    """
    # The bytes of a message contain its texts as they are, and searching them takes a twentieth of the time.
    if model.folder is not None or b"${" not in model.config.SerializeToString():
        return
    for path, text in _texts(model.config):
        found = re.search(_LEFT_OPEN, text)
        if found is not None:
            message = f'"{text[:60]}" has a placeholder, which the archive would keep as it is'
            yield Problem(at(model, *path), message, "write the value itself, or use `${stage}`")


def _texts(config: Any) -> Iterator[tuple[FieldPath, str]]:
    """Path and value of every text in a configuration."""
    for path, message in messages(config):
        for field, value in message.ListFields():
            here = (*path, field.name)
            if is_map(field):
                keys = () if _maps_to_messages(field) else sorted(value)
                yield from (((*here, str(key)), value[key]) for key in keys)
            elif field.type == field.TYPE_STRING and is_repeated(field):
                yield from (((*here, index), text) for index, text in enumerate(value))
            elif field.type == field.TYPE_STRING:
                yield here, value
