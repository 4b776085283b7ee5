"""Chooses one of a spec's model repositories or containers, where there are several.

With inference components, it is chosen by a component that loads it, otherwise by a model under `models`.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

import msgspec

from inferstack.check.load import LoadedSpec, load_spec, load_unruled
from inferstack.check.rules.language_models.model_files import OF_MODELS
from inferstack.cli.terminal import Refusal, tell
from inferstack.facts.triton import PlacedTriton, triton_blocks
from inferstack.facts.walk import (
    PlacedContainer,
    bases_of_adapters,
    components,
    containers,
    model_path,
    runs,
    runs_of,
)
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Severity, SpecError, printable
from inferstack.problems.words import choose, counted, listed


class Choice(msgspec.Struct, frozen=True):
    """What the command line chooses: an inference component, a model, or nothing."""

    component: str | None = None
    model: str | None = None

    @property
    def name(self) -> str | None:
        """Name of the chosen component or model."""
        return self.model if self.component is None else self.component


ALL = Choice()


def chosen_by(options: argparse.Namespace) -> Choice:
    """The choice that the options ``--component`` and ``--model`` make."""
    return Choice(options.component, options.model)


def blocks_of(spec: ModelSpec, choice: Choice) -> list[PlacedTriton]:
    """The model repositories of a spec: all, or those that the chosen component or model loads.

    Raises:
        Refusal: when the spec has no such component or model.
    """
    _require(spec, choice)
    if choice.name is None:
        return list(triton_blocks(spec))
    return [block for block in triton_blocks(spec) if choice.name in loading(spec, block)]


def containers_of(spec: ModelSpec, choice: Choice) -> list[PlacedContainer]:
    """The containers that the chosen component runs, or that belong to the chosen model; an adapter is in
    those of its base. All of the spec's if nothing is chosen.

    Raises:
        Refusal: when the spec has no such component or model.
    """
    _require(spec, choice)
    if choice.component is None:
        return [it for it in containers(spec) if choice.model in (None, it.model)]
    name = bases_of_adapters(spec).get(choice.component, choice.component)
    running = [run.container for run in runs(spec) if run.name == name]
    return [it for it in containers(spec) if it.path in running]


def _require(spec: ModelSpec, choice: Choice) -> None:
    if choice.component is not None:
        _require_component(spec, choice.component)
    if choice.model is not None:
        _require_model(spec, choice.model)


def _require_component(spec: ModelSpec, name: str) -> None:
    known = [it for _, it, _ in components(spec)]
    if name not in known:
        raise Refusal(f"there is no inference component `{name}`; {_instead(spec, name, known)}")


def _instead(spec: ModelSpec, name: str, known: list[str]) -> str:
    """What to write where no component has this name."""
    path = model_path(spec, name)
    if not known:
        return "the spec has no components" if path is None else f"it is a model: write --model {name}"
    return choose(name, known) if path is None else f"it is a model, {_run_by(spec, name)}"


def _require_model(spec: ModelSpec, name: str) -> None:
    known = list(spec.models or {})
    if name not in known:
        instead = choose(name, known) if known else "the spec has no `models`"
        raise Refusal(f"there is no model `{name}`; {instead}")
    if components(spec):
        raise Refusal(f"--model `{name}`: choose by --component, since the model is {_run_by(spec, name)}")


def _run_by(spec: ModelSpec, model: str) -> str:
    running = list(dict.fromkeys(run.name for run in runs_of(spec, ("models", model))))
    return f"run by {listed(running, last='and') if running else 'no component'}"


def only_one(spec: ModelSpec) -> Choice:
    """The only component or model that loads anything; :data:`ALL` if there are several, or none."""
    found = {name for block in triton_blocks(spec) for name in loading(spec, block)}
    if len(found) != 1:
        return ALL
    return Choice(component=found.pop()) if components(spec) else Choice(model=found.pop())


def load_to_look_at(path: Path, *, stage: str | None, region: str | None = None) -> LoadedSpec:
    """A spec of which a command needs the models only: what else is wrong is said, and no hindrance.

    Raises:
        SpecError: with what is wrong with its structure, its models or their files.
    """
    try:
        return load_spec(path, stage=stage, region=region)
    except SpecError as error:
        loaded = load_unruled(path, stage=stage, region=region)
        errors = [it for it in error.problems if it.severity is Severity.ERROR]
        # That a model is too large is no mistake of its files, and what `fit` is asked about.
        others = [it for it in errors if it.code not in OF_MODELS]
        of_models = [it for it in others if it.file != loaded.document.file or _FILES & {*it.path}]
        if of_models:
            raise SpecError(of_models) from None
        found = counted(len(errors), "error")
        tell(printable(f"{path}: {found} elsewhere in it, which `inferstack validate` shows"))
        return loaded


_FILES = frozenset({"triton", "model_config"})


def loading(spec: ModelSpec, block: PlacedTriton) -> list[str]:
    """Names of the inference components that load a repository, or of the models in a spec without
    components.
    """
    loaders = [it.path for it in block.loaders]
    if not components(spec):
        return [str(path[1]) for path in loaders if path[0] == "models"]
    return list(dict.fromkeys(run.name for run in runs(spec) if run.container in loaders))


def only_block(
    spec: ModelSpec, blocks: Iterable[PlacedTriton], what: str, choice: Choice = ALL
) -> PlacedTriton:
    """The only one of these repositories: all of the spec's, or those that ``choice`` loads.

    Raises:
        Refusal: when there are several, so that one must be named.
    """
    first, *more = blocks
    if not more:
        return first
    names = list(dict.fromkeys(name for block in (first, *more) for name in loading(spec, block)))
    if choice.name is None and len(names) > 1:
        of = "component" if components(spec) else "model"
        raise Refusal(f"{what} could be for any of several {of}s; add --{of}: {listed(names)}")
    archives = listed([block.archive for block in (first, *more)])
    raise Refusal(f"{what} could be any of {archives}; put it into the matching folder")


def block_of_archive(
    spec: ModelSpec, archive: Path, blocks: list[PlacedTriton], choice: Choice
) -> PlacedTriton:
    """The repository that an archive is for, judging by the path that `package` gives it, or by its name.
    ``blocks`` are all repositories, or those that ``choice`` loads.

    Raises:
        Refusal: when it may be for several.
    """
    path = archive.as_posix()
    by_path = [it for it in blocks if f"/{path}".endswith(f"/{it.archive}")]
    by_name = [it for it in blocks if Path(it.archive).name == archive.name]
    # The folder of a model may end like that of a component: the longest path is the one that was meant.
    meant = sorted(by_path, key=lambda it: len(it.archive))[-1:]
    fitting = meant or (by_name if len(by_name) == 1 else blocks)
    return only_block(spec, fitting, path, choice)
