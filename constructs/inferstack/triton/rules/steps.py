"""The steps of an ensemble, compared with the models that they call."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from inferstack.facts.once import found_once
from inferstack.problems import Problem
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.triton.model import FieldPath, Repository, TritonModel, enum_name, loaded_versions
from inferstack.triton.rules.base import MANAGER, SOURCE, Context, at, each, error
from inferstack.triton.rules.ensembles import STEP, Maker, as_made
from inferstack.triton.rules.model_files import graphs
from inferstack.triton.rules.tensors import tensors

_ENSEMBLE = f"{SOURCE}/ensemble_scheduler/ensemble_utils.cc"
_LATEST = -1


class _Call(msgspec.Struct, frozen=True):
    """A step with its path, the ensemble that has it, and the model that it calls."""

    ensemble: TritonModel
    path: FieldPath
    step: Any
    member: TritonModel

    def at(self, *path: str | int) -> Any:
        return at(self.ensemble, *self.path, *path)


@found_once
def _calls(repository: Repository) -> Iterator[_Call]:
    for model in repository.models:
        yield from _calls_of(model, repository)


def _calls_of(ensemble: TritonModel, repository: Repository) -> Iterator[_Call]:
    for path, step in each(ensemble, *STEP):
        member = repository.model(step.model_name)
        if member is not None:
            yield _Call(ensemble, path, step, member)


@error("IS958", MANAGER)
def versions_are_loaded(repository: Repository, context: Context) -> Iterator[Problem]:
    """A step must call a version that is loaded; -1 is the latest.

    A step that names no version calls version 0, which hardly ever exists.
    """
    for call in _calls(repository):
        version, name = call.step.model_version, call.member.name
        loaded = loaded_versions(call.member.config, call.member.versions)
        if version != _LATEST and str(version) not in loaded:
            message = f"the step calls version {version} of {name}, which is not loaded"
            if version == 0:
                message = f"the step names no version of {name}, which Triton reads as version 0"
            others = f", or {'one of ' * (len(loaded) > 1)}{listed(loaded)}" if loaded else ""
            fix = f"write `model_version: -1` for the latest{others}"
            yield Problem(call.at("model_version"), message, fix)


@error("IS959", _ENSEMBLE)
def batches_fit(repository: Repository, context: Context) -> Iterator[Problem]:
    """The models of an ensemble must take batches as large as the ensemble's.

    A model that does not batch at all may be among them.
    """
    for call in _calls(repository):
        mine, theirs = call.ensemble.config.max_batch_size, call.member.config.max_batch_size
        if call.member.complete and 0 < theirs < mine:
            message = f"{call.ensemble.name} takes batches of {mine}, but {call.member.name} only of {theirs}"
            yield Problem(at(call.ensemble, "max_batch_size"), message, f"write at most {theirs}")


@error("IS960", _ENSEMBLE)
def maps_fit_the_model(repository: Repository, context: Context) -> Iterator[Problem]:
    """A step must map every input of its model, and nothing that the model does not have.

    Optional inputs and any outputs may be left out.
    """
    for call in _calls(repository):
        for field, key in (("input", "input_map"), ("output", "output_map")):
            own = getattr(call.member.config, field)
            # A map may mean a tensor without a name, which IS935 reports.
            named = all(tensor.name for tensor in own)
            declared = {tensor.name: tensor for tensor in own} if named else {}
            mapped = getattr(call.step, key)
            for name in sorted(mapped) if declared else ():
                if name not in declared:
                    yield _unknown(call, field, key, name, list(declared))
            missing = [name for name, tensor in declared.items() if name not in mapped and field == "input"]
            missing = [name for name in missing if not declared[name].optional]
            if missing and mapped:
                message = f"the step does not feed {listed(missing, last='and')} of {call.member.name}"
                yield Problem(call.at(key), message, "map it to a tensor of the ensemble")


def _unknown(call: _Call, field: str, key: str, name: str, declared: list[str]) -> Problem:
    message = f"{call.member.name} has no {field} `{name}`"
    fix = did_you_mean_then(name, declared, f"allowed: {listed(declared)}")
    for path, graph in graphs(call.member):
        if name in (graph.inputs if field == "input" else graph.outputs):
            # Then the other side is wrong.
            fix = f"{path} has it: declare it in {call.member.name}"
    return Problem(call.at(key, name), message, fix)


class _End(msgspec.Struct, frozen=True):
    """One model's view of an ensemble's tensor: which model, what it declares, and where they are joined."""

    owner: str
    batching: bool
    kind: str
    dims: tuple[int, ...]
    path: FieldPath

    @property
    def full(self) -> tuple[int, ...]:
        """The dimensions with the batch in front."""
        return (-1, *self.dims) if self.batching else self.dims


def _own_ends(model: TritonModel) -> Iterator[tuple[str, _End]]:
    """The ensemble's inputs and outputs; for them the shapes after `reshape` count."""
    batching = model.config.max_batch_size > 0
    for path, tensor in tensors(model):
        dims = tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims
        kind = enum_name(tensor, "data_type")
        yield tensor.name, _End(model.name, batching, kind, tuple(dims), path)


def _step_ends(model: TritonModel, repository: Repository) -> Iterator[tuple[str, _End]]:
    """Inputs and outputs of the steps' models; for them `dims` count, whatever `reshape` says."""
    for call in _calls_of(model, repository):
        config = call.member.config
        for field, key in (("input", "input_map"), ("output", "output_map")):
            for tensor in getattr(config, field):
                if tensor.name in getattr(call.step, key):
                    path = (*call.path, key, tensor.name)
                    kind, batching = enum_name(tensor, "data_type"), config.max_batch_size > 0
                    end = _End(call.member.name, batching, kind, tuple(tensor.dims), path)
                    yield getattr(call.step, key)[tensor.name], end


@found_once
def _joints(repository: Repository) -> Iterator[tuple[TritonModel, str, _End, _End]]:
    """Each end of a tensor together with the end that decides what the tensor is: the first one."""
    for model in repository.models:
        first: dict[str, _End] = {}
        ends = [*_own_ends(model), *_step_ends(model, repository)]
        for name, end in ends if model.config.ensemble_scheduling.step else ():
            # What a backend fills in by itself is not known here.
            if end.kind != "TYPE_INVALID" and end.dims and first.setdefault(name, end) is not end:
                yield model, name, first[name], end


@error("IS961", _ENSEMBLE)
def types_are_equal(repository: Repository, context: Context) -> Iterator[Problem]:
    """Tensors that are joined in an ensemble must have the same data type.

    Triton converts nothing.
    """
    for model, name, one, other in _joints(repository):
        if one.kind != other.kind:
            message = f"`{name}` is {one.kind} for {one.owner}, but {other.kind} for {other.owner}"
            fix = "convert it in a step between them, or correct one"
            yield Problem(at(model, *other.path), message, fix)


@error("IS962", _ENSEMBLE)
def shapes_are_equal(repository: Repository, context: Context) -> Iterator[Problem]:
    """Tensors that are joined in an ensemble must have the same shape; -1 fits any size.

    Compared without the batch dimension, or with it for models that do not batch.
    """
    for model, name, one, other in _joints(repository):
        if not _fit(one.dims, other.dims) and not _fit(one.full, other.full):
            mine, theirs = list(one.dims), list(other.dims)
            message = f"`{name}` is {mine} for {one.owner}, but {theirs} for {other.owner}"
            fix = "make the shapes equal, or let a step between them change one"
            yield Problem(at(model, *other.path), message, fix)


def _fit(one: Sequence[int], other: Sequence[int]) -> bool:
    return len(one) == len(other) and all(a == b or -1 in (a, b) for a, b in zip(one, other, strict=True))


@error("IS963", "observed on Triton 2.51")
def batches_reach_every_model(repository: Repository, context: Context) -> Iterator[Problem]:
    """An ensemble that batches cannot have models with fixed shapes that do not batch.

    Triton loads such an ensemble, since shapes are equal without the batch, but refuses every request.
    """
    for model, name, one, other in _joints(repository):
        differ = one.batching != other.batching and not _fit(one.full, other.full)
        if differ and model.config.max_batch_size > 0 and _fit(one.dims, other.dims):
            lone = other if one.batching else one
            message = f"`{name}` comes in batches, but {lone.owner} does not batch"
            fix = f"set `max_batch_size` of {lone.owner}, or give it a first dimension of -1 for the batch"
            yield Problem(at(model, *other.path), message, fix)


@error("IS964", _ENSEMBLE)
def one_decoupled_origin(repository: Repository, context: Context) -> Iterator[Problem]:
    """The inputs of a step can come from at most one decoupled model.

    Two models that may answer any number of times cannot be joined answer by answer.
    """
    for model in repository.models:
        origins: dict[str, str] = {tensor.name: "" for tensor in model.config.input}
        calls = [call for call in _calls_of(model, repository) if call.step.input_map]
        makers = [Maker(it, it.step.input_map.values(), it.step.output_map.values()) for it in calls]
        for call in as_made(makers, list(origins)):
            yield from _joined(call, origins)
        found = sorted({origins[tensor.name] for tensor in model.config.output if tensor.name in origins})
        if len(found) > 1:
            message = f"the outputs of {model.name} come from {_origins(found)}"
            yield Problem(at(model, "output"), message, "take all outputs from one decoupled model")


def _origins(found: list[str]) -> str:
    return listed([name or "the request" for name in found], last="and", quote="")


def _joined(call: _Call, origins: dict[str, str]) -> Iterator[Problem]:
    """Finds inputs of several origins, and adds what the step writes to ``origins``."""
    found = sorted({origins[tensor] for tensor in call.step.input_map.values()})
    if len(found) > 1:
        message = f"the inputs of {call.member.name} come from {_origins(found)}"
        yield Problem(call.at("input_map"), message, "take all inputs of a step from one decoupled model")
    decoupled = call.member.config.model_transaction_policy.decoupled
    origin = f"{call.member.name} (step {int(call.path[-1]) + 1})" if decoupled else found[0]
    origins |= dict.fromkeys(call.step.output_map.values(), origin)
