"""An ensemble by itself: its steps, and how tensors flow between them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from inferstack.facts.once import answered_once
from inferstack.problems import Problem
from inferstack.problems.words import did_you_mean, did_you_mean_then, listed, nearest
from inferstack.texts.s3_urls import ARCHIVE_SUFFIX
from inferstack.triton.backends import ENSEMBLE
from inferstack.triton.model import FieldPath, Repository, TritonModel
from inferstack.triton.rules.base import CONFIG_UTILS, MANAGER, Context, at, each, error, lacking

T = TypeVar("T")

SCHEDULING = "ensemble_scheduling"
STEP = (SCHEDULING, "step")


@error("IS950", CONFIG_UTILS)
def platform_and_steps_go_together(model: TritonModel, context: Context) -> Iterator[Problem]:
    """`platform: ensemble` needs `ensemble_scheduling`, and vice versa.

    The one says what the model is, the other what it does.
    """
    if model.config.platform == ENSEMBLE and not model.has_steps:
        fix = "add `ensemble_scheduling` with its steps"
        yield Problem(at(model, "platform"), f"{model.name} is an ensemble without steps", fix)
    elif model.has_steps and model.config.platform != ENSEMBLE:
        found = f'platform "{model.config.platform}"' if model.config.platform else "no platform"
        message = f"{model.name} has `ensemble_scheduling` and {found}"
        yield Problem(at(model, SCHEDULING), message, f"write `platform: {ENSEMBLE}`")


@error("IS951", CONFIG_UTILS)
def ensembles_only_schedule(model: TritonModel, context: Context) -> Iterator[Problem]:
    """An ensemble cannot have instances, optimization or warm-up of its own.

    They belong to the models of its steps.
    """
    for name in ("instance_group", "optimization", "model_warmup") if model.has_steps else ():
        value = getattr(model.config, name)
        if model.config.HasField(name) if name == "optimization" else len(value):
            message = f"`{name}` cannot be used with the ensemble {model.name}"
            yield Problem(at(model, name), message, "move it to a model in one of its steps")


@error("IS952", CONFIG_UTILS)
def steps_are_complete(model: TritonModel, context: Context) -> Iterator[Problem]:
    """An ensemble must have steps, each with a model and maps of its inputs and outputs.

    Outputs of a model that nothing needs may be left out, but not all of them.
    """
    if not model.has_steps:
        return
    if not model.config.ensemble_scheduling.step:
        yield Problem(at(model, SCHEDULING), f"{model.name} has no steps", "add `step`")
    for path, step in each(model, *STEP):
        lacks = lacking(step, "model_name", "input_map", "output_map")
        if lacks:
            message = f"a step of {model.name} is missing {listed(lacks, last='and')}"
            fix = "add it; maps go from the model's names to the ensemble's"
            yield Problem(at(model, *path), message, fix)


class _Tensor(msgspec.Struct):
    """A tensor of an ensemble: what writes it, what it is made from, where it is first named."""

    place: FieldPath
    written_by: list[FieldPath] = msgspec.field(default_factory=list)
    made_from: list[str] = msgspec.field(default_factory=list)
    used: bool = False
    ready: bool = False


@answered_once
def _flow(model: TritonModel) -> dict[str, _Tensor]:
    """The tensors that steps name; those that can be made from the ensemble's inputs are marked ``ready``."""
    tensors: dict[str, _Tensor] = {}
    for path, step in each(model, *STEP):
        for name, tensor in sorted(step.input_map.items()):
            found = tensors.setdefault(tensor, _Tensor((*path, "input_map", name)))
            found.used = found.used or bool(step.output_map)
        for name, tensor in sorted(step.output_map.items()):
            written = (*path, "output_map", name)
            found = tensors.setdefault(tensor, _Tensor(written))
            found.written_by.append(written)
            found.made_from += step.input_map.values()
    for tensor in model.config.input:
        if tensor.name in tensors:
            tensors[tensor.name].ready = True
    makers = [Maker(it, it.made_from, [name]) for name, it in tensors.items()]
    for made in as_made(makers, [name for name, it in tensors.items() if it.ready]):
        made.ready = True
    return tensors


class Maker(NamedTuple, Generic[T]):
    """Something that makes tensors of others, by their names."""

    what: T
    of: Collection[str]
    makes: Collection[str]


def as_made(makers: Sequence[Maker[T]], there: Iterable[str]) -> Iterator[T]:
    """What can make its tensors of those that are there or that others have made, in that order.

    It looks at each tensor once, however long a chain is.
    """
    lacking = [set(it.of) for it in makers]
    takers: dict[str, list[int]] = {}
    for index, names in enumerate(lacking):
        for name in names:
            takers.setdefault(name, []).append(index)
    waiting = list(dict.fromkeys(there))
    for name in waiting:
        for index in takers.pop(name, ()):
            lacking[index].discard(name)
            if not lacking[index]:
                yield makers[index].what
                waiting += makers[index].makes


@error("IS953", CONFIG_UTILS)
def tensors_are_written_once(model: TritonModel, context: Context) -> Iterator[Problem]:
    """A tensor of an ensemble can be written only once.

    It is written by one output of one step.
    """
    for name, tensor in _flow(model).items():
        for path in tensor.written_by[1:]:
            message = f"`{name}` is written a second time"
            yield Problem(at(model, *path), message, "give the tensor of one step another name")


@error("IS954", CONFIG_UTILS)
def inputs_are_used_and_outputs_written(model: TritonModel, context: Context) -> Iterator[Problem]:
    """The inputs of an ensemble must be used, and its outputs written.

    An output is written if everything it is made from can be made from the inputs, without a cycle.
    """
    if not model.config.ensemble_scheduling.step:
        return
    tensors = _flow(model)
    for path, tensor in each(model, "input"):
        if tensor.name and tensor.name not in tensors:
            message = f"no step of {model.name} uses the input `{tensor.name}`"
            fix = _meant(tensor.name, tensors, "use it in a step")
            yield Problem(at(model, *path, "name"), message, fix)
    for path, tensor in each(model, "output"):
        found = tensors.get(tensor.name)
        if tensor.name and (found is None or not found.ready):
            yield Problem(at(model, *path, "name"), *_why_not_written(model, tensor.name, tensors))


def _why_not_written(model: TritonModel, name: str, tensors: dict[str, _Tensor]) -> tuple[str, str]:
    """What keeps an output from being written, and how to fix it."""
    fix = _meant(name, tensors, "write it in a step")
    if name not in tensors or not tensors[name].made_from:
        return f"no step of {model.name} writes the output `{name}`", fix
    loose = _loose_end(name, tensors)
    hangs = f"the output `{name}` depends on `{loose}`"
    if tensors[loose].written_by:
        return f"{hangs}, which is made from itself", "break the cycle of steps"
    return f"{hangs}, which nothing writes", fix


def _meant(name: str, tensors: dict[str, _Tensor], otherwise: str) -> str:
    question = did_you_mean(name, [tensor for tensor in tensors if tensor != name])
    return f"{otherwise}; {question}" if question else otherwise


def _loose_end(name: str, tensors: dict[str, _Tensor]) -> str:
    """The tensor that keeps another from being ready: one that nothing makes, or one in a cycle."""
    seen = {name}
    while True:
        waits = (it for it in tensors[name].made_from if not tensors[it].ready and it not in seen)
        if (source := next(waits, None)) is None:
            return name
        name = source
        seen.add(name)


@error("IS955", CONFIG_UTILS)
def inner_tensors_are_connected(model: TritonModel, context: Context) -> Iterator[Problem]:
    """Every tensor between the steps of an ensemble must be written and used.

    An output of a model that nothing needs has to be left out of the map.
    """
    outputs = {tensor.name for tensor in model.config.output}
    tensors = _flow(model)
    for name, tensor in tensors.items():
        if name in outputs or (tensor.ready and tensor.used):
            continue
        if not tensor.used:
            message, fix = f"nothing uses `{name}`", _how_to_use(name, _unwritten(model, tensors))
        elif not tensor.written_by:
            message, fix = f"nothing writes `{name}`", _meant(name, tensors, "write it in a step")
        elif tensors[_loose_end(name, tensors)].written_by:
            message, fix = f"`{name}` is made from itself by way of other steps", "break the cycle of steps"
        else:
            # It waits for another tensor, which is reported itself.
            continue
        yield Problem(at(model, *tensor.place), message, fix)


def _unwritten(model: TritonModel, tensors: dict[str, _Tensor]) -> list[str]:
    """Names that maps and outputs use but nothing writes: each may be a misspelling of another."""
    given = {name for name, tensor in tensors.items() if tensor.written_by}
    given |= {tensor.name for tensor in model.config.input}
    used = [*tensors, *(tensor.name for tensor in model.config.output)]
    return [name for name in dict.fromkeys(used) if name not in given]


def _how_to_use(name: str, unwritten: list[str]) -> str:
    # If one of the two is a slip, removing the other leaves nothing that writes the tensor.
    meant = nearest(name, unwritten)
    if meant is None:
        return "remove it from the map, or use it"
    return f"write one name for it and `{meant}`, if they are the same tensor"


@error("IS956", MANAGER)
def step_models_exist(repository: Repository, context: Context) -> Iterator[Problem]:
    """The models of an ensemble's steps must be in its archive.

    Each has a folder of its own next to the ensemble's.
    """
    names = [model.name for model in repository.models]
    for model in repository.models:
        for path, step in each(model, *STEP):
            if step.model_name and step.model_name not in names:
                message = f'{repository.archive} has no model "{step.model_name}"'
                place = at(model, *path, "model_name")
                others = [name for name in names if name != model.name]
                allowed = f"allowed: {listed(others)}" if others else _how_to_add(repository, model)
                yield Problem(place, message, did_you_mean_then(step.model_name, others, allowed))


def _how_to_add(repository: Repository, model: TritonModel) -> str:
    """How to get the models of an ensemble into its archive, where it is alone."""
    if model.folder is None:
        return "declare it next to the ensemble"
    folder = model.folder.parent / repository.archive.removesuffix(ARCHIVE_SUFFIX)
    if folder != model.folder:
        return "put its folder next to the ensemble's"
    return f"put the ensemble into {folder.as_posix()}/{model.name}, with the models of its steps next to it"


@error("IS957", MANAGER)
def no_circle_of_ensembles(repository: Repository, context: Context) -> Iterator[Problem]:
    """Ensembles cannot call one another in a cycle.

    An ensemble cannot call itself either.
    """
    for model in repository.models:
        for path, step in each(model, *STEP):
            if model.name in reached(repository, step.model_name):
                message = f"{model.name} calls {step.model_name}, which leads back to {model.name}"
                yield Problem(at(model, *path, "model_name"), message, "break the cycle")


def reached(repository: Repository, start: str) -> set[str]:
    """Names of a model and of those that its steps call, at any depth, as far as they exist."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        model = repository.model(name)
        if model is not None and name not in found:
            found.add(name)
            waiting += [step.model_name for step in model.config.ensemble_scheduling.step]
    return found
