"""The states that a sequence batcher keeps between the requests of a sequence.

Triton reads them in ``SequenceBatchScheduler::GenerateInitialStateData``.
"""

from collections.abc import Iterator
from typing import Any

from inferstack.spec.problem.words import listed
from inferstack.triton.declared import fits
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.rules.base import SOURCE, Context, Finding, at, model_error, model_warning
from inferstack.triton.rules.data_files import too_short

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


@model_error("IS934", "A state must have an input, a data type and valid sizes.", _BATCHER, about=_ABOUT)
def states_are_complete(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Triton loads one without them, but the first request of a sequence ends the model, or the server."""
    for index, state in _states(model):
        there = {"input_name": state.input_name, "data_type": enum_name(state, "data_type") != _UNTYPED}
        lacks = [key for key, found in there.items() if not found]
        if lacks:
            message = f"a state of {model.name} is missing {listed(lacks, last='and')}"
            fix = "add it: the state comes to the model as an input of this name and type"
            yield Finding(at(model, *_path(index)), message, fix)
        for number, size in enumerate(state.dims):
            if size < _ANY:
                message = f"a dimension of a state of {model.name} is {size}"
                place = at(model, *_path(index, "dims", number))
                yield Finding(place, message, "write a size, or -1 for any")


@model_warning("IS965", "Each state should have an input and an output of its own.", _BATCHER, about=_ABOUT)
def states_are_apart(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Triton does not check; without an output the state stays what it is at the start of the sequence."""
    seen = set[tuple[str, str]]()
    for index, state in _states(model):
        if not state.output_name:
            message = f"nothing writes the state `{state.input_name}` of {model.name}"
            yield Finding(at(model, *_path(index)), message, "add `output_name`")
        for key in ("input_name", "output_name"):
            name = getattr(state, key)
            if name and (key, name) in seen:
                place = at(model, *_path(index, key))
                yield Finding(place, f"two states have the {key} `{name}`", "give one of them another")
            seen.add((key, name))


@model_error(
    "IS966", "A state can have only one initial value, which must fit the state.", _BATCHER, about=_ABOUT
)
def initial_states_fit(model: TritonModel, context: Context) -> Iterator[Finding]:
    """It has a name, the type of the state, data, and no size that is left open."""
    seen = set[str]()
    for index, state in _states(model):
        for initial in state.initial_state[:1]:
            path = _path(index, "initial_state", 0)
            yield from _initial(model, path, state, initial)
            if state.input_name and state.input_name in seen:
                message = f"two states with an initial value have the input `{state.input_name}`"
                yield Finding(at(model, *path), message, "give one of them another `input_name`")
            seen.add(state.input_name)
        if len(state.initial_state) > 1:
            message = f"the state `{state.input_name}` has {len(state.initial_state)} initial values"
            place = at(model, *_path(index, "initial_state", 1))
            yield Finding(place, message, "keep one: every sequence starts with it")


def _initial(model: TritonModel, path: tuple[str | int, ...], state: Any, initial: Any) -> Iterator[Finding]:
    what = f"the initial value of the state `{state.input_name}`"
    if not initial.name:
        yield Finding(at(model, *path), f"{what} has no name", "add `name`, for messages about it")
    if initial.WhichOneof("state_data") is None:
        fix = "write `zero_data: true`, or `data_file` with a file in the folder `initial_state`"
        yield Finding(at(model, *path), f"{what} has no data", fix)
    kind, found = enum_name(state, "data_type"), enum_name(initial, "data_type")
    if found != kind:
        message = f"{what} is {found}, but the state is {kind}"
        yield Finding(at(model, *path, "data_type"), message, f"write `data_type: {kind}`")
    if _ANY in initial.dims:
        message = f"{what} has dimensions {list(initial.dims)}"
        yield Finding(at(model, *path, "dims"), message, "write a size for each")
    elif not fits(initial.dims, state.dims):
        message = f"{what} has dimensions {list(initial.dims)}, but the state has {list(state.dims)}"
        yield Finding(at(model, *path, "dims"), message, "write those of the state, with a size for each -1")
    short = too_short(model, f"initial_state/{initial.data_file}", initial)
    if short is not None:
        yield Finding(at(model, *path, "data_file"), f"`{initial.data_file}` {short}", "write a longer file")
