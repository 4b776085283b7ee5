"""Values of tensors that a model starts with: the states of sequences, and requests for its warmup."""

import math
import struct
from collections.abc import Iterator
from typing import Any

from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.protocol import BF16, FORMATS, data_type, fits
from inferstack.triton.repository_files import pointer_in
from inferstack.triton.rules.base import SOURCE, Context, at, error, warning

# ---------------------------------------------------------------- Files with the values of one tensor


_SIZES = {**{name: struct.calcsize(f"<{form}") for name, form in FORMATS.items()}, BF16: 2}
"""Bytes of a value, by the protocol's name of its type."""


def too_short(model: TritonModel, path: str, tensor: Any) -> str | None:
    """How a file in a model's folder is too short for its tensor, in words; None where it suffices, is not
    here, or holds texts, which have any length.
    """
    local = model.files.get(path)
    size = _SIZES.get(data_type(tensor))
    if local is None or size is None or not local.is_file():
        return None
    pointer = pointer_in(local)
    has = local.stat().st_size if pointer is None else pointer.size
    needed = math.prod(tensor.dims) * size
    return f"has {has} bytes, and {needed} are needed" if has < needed else None


# ----------------------------------------------------------------
# The states that a sequence batcher keeps between the requests of a sequence.
#
# Triton reads them in ``SequenceBatchScheduler::GenerateInitialStateData``.


_BATCHER = f"{SOURCE}/sequence_batch_scheduler/sequence_batch_scheduler.cc"
_ABOUT = "sequence_batching"
_UNTYPED = "TYPE_INVALID"
_ANY = -1
State = tuple[int, Any]
"""A state with its index."""


def _states(model: TritonModel) -> Iterator[State]:
    yield from enumerate(model.config.sequence_batching.state)


def _path(index: int, *path: str | int) -> tuple[str | int, ...]:
    return ("sequence_batching", "state", index, *path)


@error("IS934", _BATCHER)
def states_are_complete(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A state must have an input, a data type and valid sizes.

    Triton loads one without them, but the first request of a sequence ends the model, or the server.
    """
    for index, state in _states(model):
        there = {"input_name": state.input_name, "data_type": enum_name(state, "data_type") != _UNTYPED}
        lacks = [key for key, found in there.items() if not found]
        if lacks:
            message = f"a state of {model.name} is missing {listed(lacks, last='and')}"
            fix = "add it: the state comes to the model as an input of this name and type"
            yield Problem(at(model, *_path(index)), message, fix)
        for number, size in enumerate(state.dims):
            if size < _ANY:
                message = f"a dimension of a state of {model.name} is {size}"
                place = at(model, *_path(index, "dims", number))
                yield Problem(place, message, "write a size, or -1 for any")


@warning("IS965", _BATCHER)
def states_are_apart(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Each state should have an input and an output of its own.

    Triton does not check; without an output the state stays what it is at the start of the sequence.
    """
    seen = set[tuple[str, str]]()
    for index, state in _states(model):
        if not state.output_name:
            message = f"nothing writes the state `{state.input_name}` of {model.name}"
            yield Problem(at(model, *_path(index)), message, "add `output_name`")
        for key in ("input_name", "output_name"):
            name = getattr(state, key)
            if name and (key, name) in seen:
                place = at(model, *_path(index, key))
                yield Problem(place, f"two states have the {key} `{name}`", "give one of them another")
            seen.add((key, name))


@error("IS966", _BATCHER)
def initial_states_fit(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A state can have only one initial value, which must fit the state.

    It has a name, the type of the state, data, and no size that is left open.
    """
    seen = set[str]()
    for index, state in _states(model):
        for initial in state.initial_state[:1]:
            path = _path(index, "initial_state", 0)
            yield from _initial(model, path, state, initial)
            if state.input_name and state.input_name in seen:
                message = f"two states with an initial value have the input `{state.input_name}`"
                yield Problem(at(model, *path), message, "give one of them another `input_name`")
            seen.add(state.input_name)
        if len(state.initial_state) > 1:
            message = f"the state `{state.input_name}` has {len(state.initial_state)} initial values"
            place = at(model, *_path(index, "initial_state", 1))
            yield Problem(place, message, "keep one: every sequence starts with it")


def _initial(model: TritonModel, path: tuple[str | int, ...], state: Any, initial: Any) -> Iterator[Problem]:
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


# ----------------------------------------------------------------
# Requests that a model is tried with before it counts as loaded.
#
# Triton really runs them, so that a sample which does not fit keeps the model from loading.


_INSTANCE = f"{SOURCE}/backend_model_instance.cc"


@error("IS949", _INSTANCE)
def samples_fit(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Samples for warm-up must fit the model's inputs.

    A sample has all inputs, with their types, data for each, and no dimension that is left open.
    """
    for index, sample in enumerate(model.config.model_warmup):
        # Triton skips samples without a batch size.
        if sample.batch_size:
            yield from _batch(model, index, sample)
            yield from _inputs(model, index, sample)
            for name, tensor in sorted(sample.inputs.items()):
                yield from _tensor(model, ("model_warmup", index, "inputs", name), name, tensor)


def _batch(model: TritonModel, index: int, sample: Any) -> Iterator[Problem]:
    most = max(model.config.max_batch_size, 1)
    if sample.batch_size > most:
        message = f"a sample of {model.name} has batch size {sample.batch_size}, but may have at most {most}"
        yield Problem(at(model, "model_warmup", index, "batch_size"), message, f"allowed: 1 to {most}")


def _controls(model: TritonModel) -> set[str]:
    batcher = model.config.sequence_batching
    return {it.name for it in batcher.control_input} | {it.input_name for it in batcher.state}


def _inputs(model: TritonModel, index: int, sample: Any) -> Iterator[Problem]:
    declared = {tensor.name: tensor for tensor in model.config.input}
    if not declared:
        return
    missing = [name for name, tensor in declared.items() if not tensor.optional and name not in sample.inputs]
    if missing:
        message = f"a sample of {model.name} is missing {listed(missing, last='and')}"
        yield Problem(at(model, "model_warmup", index, "inputs"), message, "give every input a value")
    for name in sorted(sample.inputs):
        if name not in declared and name not in _controls(model):
            place = at(model, "model_warmup", index, "inputs", name)
            yield Problem(place, f"{model.name} has no input `{name}`", f"allowed: {listed(list(declared))}")


def _tensor(model: TritonModel, path: tuple[str | int, ...], name: str, tensor: Any) -> Iterator[Problem]:
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


def _against(
    model: TritonModel, path: tuple[str | int, ...], declared: Any, tensor: Any
) -> Iterator[Problem]:
    wanted, found = enum_name(declared, "data_type"), enum_name(tensor, "data_type")
    if wanted not in ("TYPE_INVALID", found):
        message = f"the sample for `{declared.name}` is {found}, but the input is {wanted}"
        yield Problem(at(model, *path, "data_type"), message, f"write `data_type: {wanted}`")
    # Dimensions that no request has are reported already.
    if declared.dims and not fits(tensor.dims, declared.dims) and all(size > 0 for size in tensor.dims):
        message = f"the sample for `{declared.name}` has dimensions {list(tensor.dims)}"
        place = at(model, *path, "dims")
        yield Problem(place, message, f"the input has {list(declared.dims)}, without the batch dimension")


def _file(model: TritonModel, path: tuple[str | int, ...], tensor: Any) -> Iterator[Problem]:
    """A data file that is here must be large enough; if it is missing, another rule says so."""
    short = too_short(model, f"warmup/{tensor.input_data_file}", tensor)
    if short is not None:
        message = f"`{tensor.input_data_file}` {short}"
        yield Problem(at(model, *path, "input_data_file"), message, "write a longer file, or smaller `dims`")
