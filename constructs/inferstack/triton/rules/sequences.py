"""Sequences, their controls and states, and the requests that warm a model up."""

import math
import struct
from collections.abc import Iterator
from typing import Any

from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.model import FieldPath, TritonModel, enum_name
from inferstack.triton.protocol import BF16, FORMATS, data_type, fits
from inferstack.triton.repository_files import pointer_in
from inferstack.triton.rules.base import (
    CONFIG_UTILS,
    SOURCE,
    Context,
    again,
    at,
    each,
    error,
    lacking,
    warning,
)

_BATCHER = f"{SOURCE}/sequence_batch_scheduler/sequence_batch_scheduler.cc"
_INSTANCE = f"{SOURCE}/backend_model_instance.cc"
_CONTROL_INPUT = ("sequence_batching", "control_input")
_STATE = ("sequence_batching", "state")
_ANY = -1
_VALUES = ("int32_false_true", "fp32_false_true", "bool_false_true")
_CORRELATION = "CONTROL_SEQUENCE_CORRID"
_CORRELATION_TYPES = ("TYPE_UINT64", "TYPE_INT64", "TYPE_UINT32", "TYPE_INT32", "TYPE_STRING")
_SIZES = {**{name: struct.calcsize(f"<{form}") for name, form in FORMATS.items()}, BF16: 2}
"""Bytes of a value, by the protocol's name of its type."""


# ---------------------------------------------------------------- Controls


def _controls(model: TritonModel) -> Iterator[tuple[FieldPath, str, Any]]:
    """Path, kind and message of every control of a sequence batcher."""
    for path, tensor in each(model, *_CONTROL_INPUT):
        for number, control in enumerate(tensor.control):
            yield (*path, "control", number), enum_name(control, "kind"), control


@error("IS946", CONFIG_UTILS)
def control_tensors_are_distinct(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Control tensors of sequences must have different names and different controls.

    Start, end, readiness and the sequence's (correlation) id each have one tensor at most.
    """
    tensors = [(at(model, *path), tensor.name) for path, tensor in each(model, *_CONTROL_INPUT)]
    fix = "give each control tensor a name of its own"
    for place, name in tensors:
        if not name:
            yield Problem(place, "a control has no name", fix)
    for place, name in again(tensors):
        yield Problem(place, f"two control tensors have the name `{name}`", fix)
    for path, kind in again((path, kind) for path, kind, _ in _controls(model)):
        yield Problem(at(model, *path), f"more than one tensor has {kind}", "remove one of them")


@error("IS947", CONFIG_UTILS)
def control_values_are_pairs(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A control of sequences must have values for false and true, in one type.

    The control for the sequence's (correlation) id has a data type instead.
    """
    for path, kind, control in _controls(model):
        given = [name for name in _VALUES if len(getattr(control, name))]
        if kind == _CORRELATION:
            found = enum_name(control, "data_type")
            if given:
                message = f"{kind} cannot have `{given[0]}`"
                yield Problem(at(model, *path, given[0]), message, "write `data_type`")
            elif found not in _CORRELATION_TYPES:
                place = at(model, *path, "data_type")
                yield Problem(place, f"{kind} is {found}", f"allowed: {listed(_CORRELATION_TYPES)}")
        elif len(given) != 1:
            found = listed(given, last="and") or "no values"
            yield Problem(at(model, *path), f"{kind} has {found}", f"write one of {listed(_VALUES)}")
        elif len(getattr(control, given[0])) != 2:
            message = f"`{given[0]}` must have two values"
            yield Problem(at(model, *path, given[0]), message, "write [false, true], for example [0, 1]")


@error("IS948", CONFIG_UTILS)
def slot_utilization_is_a_share(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`minimum_slot_utilization` must be between 0 and 1.

    It is the share of slots that a batch must fill before it runs.
    """
    share = model.config.sequence_batching.direct.minimum_slot_utilization
    if not 0 <= share <= 1:
        place = at(model, "sequence_batching", "direct", "minimum_slot_utilization")
        shown = f"{share:g}" if math.isfinite(share) else "not a number that its field can hold"
        yield Problem(place, f"`minimum_slot_utilization` is {shown}", "write a number from 0 to 1")


# ---------------------------------------------------------------- States
#
# What a sequence batcher keeps between the requests of a sequence; Triton reads it in
# ``SequenceBatchScheduler::GenerateInitialStateData``.


@error("IS934", _BATCHER)
def states_are_complete(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A state must have an input, a data type and valid sizes.

    Triton loads one without them, but the first request of a sequence ends the model, or the server.
    """
    for path, state in each(model, *_STATE):
        lacks = lacking(state, "input_name", "data_type")
        if lacks:
            message = f"a state of {model.name} is missing {listed(lacks, last='and')}"
            fix = "add it: the state comes to the model as an input of this name and type"
            yield Problem(at(model, *path), message, fix)
        for number, size in enumerate(state.dims):
            if size < _ANY:
                message = f"a dimension of a state of {model.name} is {size}"
                yield Problem(at(model, *path, "dims", number), message, "write a size, or -1 for any")


@warning("IS965", _BATCHER)
def states_are_apart(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Each state should have an input and an output of its own.

    Triton does not check; without an output the state stays what it is at the start of the sequence.
    """
    for path, state in each(model, *_STATE):
        if not state.output_name:
            message = f"nothing writes the state `{state.input_name}` of {model.name}"
            yield Problem(at(model, *path), message, "add `output_name`")
    for key in ("input_name", "output_name"):
        for path, name in again((path, getattr(state, key)) for path, state in each(model, *_STATE)):
            message = f"two states have the {key} `{name}`"
            yield Problem(at(model, *path, key), message, "give one of them another")


@error("IS966", _BATCHER)
def initial_states_fit(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A state can have only one initial value, which must fit the state.

    It has a name, the type of the state, data, and a size in each dimension.
    """
    begun = [(path, state) for path, state in each(model, *_STATE) if state.initial_state]
    for path, state in begun:
        yield from _initial(model, (*path, "initial_state", 0), state, state.initial_state[0])
        if len(state.initial_state) > 1:
            message = f"the state `{state.input_name}` has {len(state.initial_state)} initial values"
            place = at(model, *path, "initial_state", 1)
            yield Problem(place, message, "keep one: every sequence starts with it")
    for path, name in again((path, state.input_name) for path, state in begun):
        message = f"two states with an initial value have the input `{name}`"
        place = at(model, *path, "initial_state", 0)
        yield Problem(place, message, "give one of them another `input_name`")


def _initial(model: TritonModel, path: FieldPath, state: Any, initial: Any) -> Iterator[Problem]:
    what = f"the initial value of the state `{state.input_name}`"
    if not initial.name:
        yield Problem(at(model, *path), f"{what} has no name", "add `name`, for messages about it")
    if initial.WhichOneof("state_data") is None:
        fix = "write `zero_data: true`, or `data_file` with a file in the folder `initial_state`"
        yield Problem(at(model, *path), f"{what} has no data", fix)
    kind, found = enum_name(state, "data_type"), enum_name(initial, "data_type")
    if found != kind:
        message = f"{what} is {found}, but the state is {kind}"
        yield Problem(at(model, *path, "data_type"), message, f"write `data_type: {kind}`")
    if _ANY in initial.dims:
        message = f"{what} has dimensions {list(initial.dims)}"
        yield Problem(at(model, *path, "dims"), message, "write a size for each")
    elif not fits(initial.dims, state.dims):
        message = f"{what} has dimensions {list(initial.dims)}, but the state has {list(state.dims)}"
        yield Problem(at(model, *path, "dims"), message, "write those of the state, with a size for each -1")
    short = too_short(model, f"initial_state/{initial.data_file}", initial)
    if short is not None:
        yield Problem(at(model, *path, "data_file"), f"`{initial.data_file}` {short}", "write a longer file")


# ---------------------------------------------------------------- Warm-up
#
# Triton really runs these requests, so that a sample which does not fit keeps the model from loading.


@error("IS949", _INSTANCE)
def samples_fit(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Samples for warm-up must fit the model's inputs.

    A sample has all inputs, with their types, data for each, and a size in each dimension.
    """
    for path, sample in each(model, "model_warmup"):
        # Triton skips samples without a batch size.
        if sample.batch_size:
            yield from _batch(model, path, sample)
            yield from _inputs(model, (*path, "inputs"), sample)
            for name, tensor in sorted(sample.inputs.items()):
                yield from _tensor(model, (*path, "inputs", name), name, tensor)


def _batch(model: TritonModel, path: FieldPath, sample: Any) -> Iterator[Problem]:
    most = max(model.config.max_batch_size, 1)
    if sample.batch_size > most:
        message = f"a sample of {model.name} has batch size {sample.batch_size}, but may have at most {most}"
        yield Problem(at(model, *path, "batch_size"), message, f"allowed: 1 to {most}")


def _inputs(model: TritonModel, path: FieldPath, sample: Any) -> Iterator[Problem]:
    declared = {tensor.name: tensor for tensor in model.config.input}
    if not declared:
        return
    missing = [name for name, tensor in declared.items() if not tensor.optional and name not in sample.inputs]
    if missing:
        message = f"a sample of {model.name} is missing {listed(missing, last='and')}"
        yield Problem(at(model, *path), message, "give every input a value")
    batcher = model.config.sequence_batching
    given = {it.name for it in batcher.control_input} | {it.input_name for it in batcher.state}
    for name in sorted(sample.inputs):
        if name not in declared and name not in given:
            message = f"{model.name} has no input `{name}`"
            yield Problem(at(model, *path, name), message, f"allowed: {listed(list(declared))}")


def _tensor(model: TritonModel, path: FieldPath, name: str, tensor: Any) -> Iterator[Problem]:
    if any(size < 1 for size in tensor.dims):
        message = f"the sample for `{name}` has dimensions {list(tensor.dims)}"
        yield Problem(at(model, *path, "dims"), message, "write the sizes of one real request")
    if tensor.WhichOneof("input_data_type") is None:
        fix = "write `zero_data: true`, `random_data: true` or `input_data_file`"
        yield Problem(at(model, *path), f"the sample for `{name}` has no data", fix)
    for declared in model.config.input:
        if declared.name == name:
            yield from _against(model, path, declared, tensor)
    yield from _file(model, path, tensor)


def _against(model: TritonModel, path: FieldPath, declared: Any, tensor: Any) -> Iterator[Problem]:
    wanted, found = enum_name(declared, "data_type"), enum_name(tensor, "data_type")
    if wanted not in ("TYPE_INVALID", found):
        message = f"the sample for `{declared.name}` is {found}, but the input is {wanted}"
        yield Problem(at(model, *path, "data_type"), message, f"write `data_type: {wanted}`")
    # Dimensions that no request has are reported already.
    if declared.dims and not fits(tensor.dims, declared.dims) and all(size > 0 for size in tensor.dims):
        message = f"the sample for `{declared.name}` has dimensions {list(tensor.dims)}"
        place = at(model, *path, "dims")
        yield Problem(place, message, f"the input has {list(declared.dims)}, without the batch dimension")


def _file(model: TritonModel, path: FieldPath, tensor: Any) -> Iterator[Problem]:
    """A data file on this machine must be large enough; if it is missing, another rule says so."""
    short = too_short(model, f"warmup/{tensor.input_data_file}", tensor)
    if short is not None:
        message = f"`{tensor.input_data_file}` {short}"
        yield Problem(at(model, *path, "input_data_file"), message, "write a longer file, or smaller `dims`")


def too_short(model: TritonModel, path: str, tensor: Any) -> str | None:
    """How a file in a model's folder is too short for its tensor; None if it is long enough, is missing, or
    holds texts, which can have any length.
    """
    local = model.files.get(path)
    size = _SIZES.get(data_type(tensor))
    if local is None or size is None or not local.is_file():
        return None
    pointer = pointer_in(local)
    has = local.stat().st_size if pointer is None else pointer.size
    needed = math.prod(tensor.dims) * size
    return f"has {has} bytes, and {needed} are needed" if has < needed else None
