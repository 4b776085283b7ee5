"""Tensors computed from whole batches, and batches of sequences."""

import math
from collections.abc import Iterator
from typing import Any

from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.rules.base import SOURCE, Context, at, error

_CONFIG = f"{SOURCE}/model_config_utils.cc"
_VALUES = ("int32_false_true", "fp32_false_true", "bool_false_true")
_CORRELATION = "CONTROL_SEQUENCE_CORRID"
_CORRELATION_TYPES = ("TYPE_UINT64", "TYPE_INT64", "TYPE_UINT32", "TYPE_INT32", "TYPE_STRING")


@error("IS944", _CONFIG)
def batch_inputs_have_a_source(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A `batch_input` or `batch_output` must have one `source_input`, an input of the model.

    Such inputs are numbers: TYPE_INT32 or TYPE_FP32.
    """
    names = {tensor.name for tensor in model.config.input}
    for field in ("batch_input", "batch_output"):
        for index, computed in enumerate(getattr(model.config, field)):
            unknown = [name for name in computed.source_input if name not in names]
            if len(computed.source_input) != 1 or unknown:
                found = listed(list(computed.source_input), last="and") or "none"
                message = f"`source_input` is {found}, but must be one input of {model.name}"
                fix = f"allowed: {listed(sorted(names))}"
                yield Problem(at(model, field, index, "source_input"), message, fix)
    for index, computed in enumerate(model.config.batch_input):
        if enum_name(computed, "data_type") not in ("TYPE_INT32", "TYPE_FP32"):
            message = f"`data_type` of a batch input is {enum_name(computed, 'data_type')}"
            place = at(model, "batch_input", index, "data_type")
            yield Problem(place, message, "allowed: `TYPE_INT32` or `TYPE_FP32`")


@error("IS945", _CONFIG)
def batch_outputs_have_targets(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The targets of a `batch_output` must be outputs of the model, each named once.

    Each target is an output of the model.
    """
    names = {tensor.name for tensor in model.config.output}
    for index, computed in enumerate(model.config.batch_output):
        seen = set[str]()
        for number, target in enumerate(computed.target_name):
            if target not in names or target in seen:
                what = "is named twice" if target in seen else f"is not an output of {model.name}"
                place = at(model, "batch_output", index, "target_name", number)
                yield Problem(place, f"`{target}` {what}", f"allowed, once each: {listed(sorted(names))}")
            seen.add(target)


def _controls(model: TritonModel) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """Path, kind and message of every control of a sequence batcher."""
    for index, tensor in enumerate(model.config.sequence_batching.control_input):
        for number, control in enumerate(tensor.control):
            path = ("sequence_batching", "control_input", index, "control", number)
            yield path, enum_name(control, "kind"), control


@error("IS946", _CONFIG)
def control_tensors_are_distinct(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Control tensors of sequences must have different names and different controls.

    Start, end, readiness and the sequence's (correlation) id each have one tensor at most.
    """
    seen = set[str]()
    for index, tensor in enumerate(model.config.sequence_batching.control_input):
        if not tensor.name or tensor.name in seen:
            message = (
                f"two control tensors have the name `{tensor.name}`"
                if tensor.name
                else "a control has no name"
            )
            place = at(model, "sequence_batching", "control_input", index)
            yield Problem(place, message, "give each control tensor a name of its own")
        seen.add(tensor.name)
    kinds = set[str]()
    for path, kind, _ in _controls(model):
        if kind in kinds:
            yield Problem(at(model, *path), f"more than one tensor has {kind}", "remove one of them")
        kinds.add(kind)


@error("IS947", _CONFIG)
def control_values_are_pairs(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A control of sequences must have values for false and true, in one type.

    The control for the sequence's (correlation) id has a data type instead.
    """
    for path, kind, control in _controls(model):
        given = [name for name in _VALUES if len(getattr(control, name))]
        if kind == _CORRELATION:
            found = enum_name(control, "data_type")
            if given:
                yield Problem(
                    at(model, *path, given[0]), f"{kind} cannot have `{given[0]}`", "write `data_type`"
                )
            elif found not in _CORRELATION_TYPES:
                place = at(model, *path, "data_type")
                yield Problem(place, f"{kind} is {found}", f"allowed: {listed(_CORRELATION_TYPES)}")
        elif len(given) != 1:
            found = listed(given, last="and") or "no values"
            yield Problem(at(model, *path), f"{kind} has {found}", f"write one of {listed(_VALUES)}")
        elif len(getattr(control, given[0])) != 2:
            place = at(model, *path, given[0])
            yield Problem(
                place, f"`{given[0]}` must have two values", "write [false, true], for example [0, 1]"
            )


@error("IS948", _CONFIG)
def slot_utilization_is_a_share(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`minimum_slot_utilization` must be between 0 and 1.

    It is the share of slots that a batch must fill before it runs.
    """
    share = model.config.sequence_batching.direct.minimum_slot_utilization
    if not 0 <= share <= 1:
        place = at(model, "sequence_batching", "direct", "minimum_slot_utilization")
        shown = f"{share:g}" if math.isfinite(share) else "not a number that its field can hold"
        yield Problem(place, f"`minimum_slot_utilization` is {shown}", "write a number from 0 to 1")
