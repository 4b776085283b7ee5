"""Which of a spec's model repositories is meant, where inference components have their own."""

from collections.abc import Iterable
from pathlib import Path

from inferstack.cli.refusal import Refusal
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.triton_blocks import PlacedTriton, triton_blocks
from inferstack.spec.parts.walk import components, model_path, runs, runs_of
from inferstack.spec.problem.words import choose, listed


def blocks_of(spec: ModelSpec, component: str | None) -> list[PlacedTriton]:
    """The model repositories of a spec; with the name of an inference component, those that it loads.

    Raises:
        Refusal: when the spec has no such component.
    """
    known = [name for _, name, _ in components(spec)]
    if component is None:
        return list(triton_blocks(spec))
    if component not in known:
        hint = _instead(spec, component, known)
        raise Refusal(f"there is no inference component `{component}`; {hint}")
    return [block for block in triton_blocks(spec) if component in loading(spec, block)]


def _instead(spec: ModelSpec, name: str, known: list[str]) -> str:
    """What to write where no component is called so."""
    path = model_path(spec, name)
    if not known:
        return "the spec has none at all"
    if path is None:
        return choose(name, known)
    running = list(dict.fromkeys(run.name for run in runs_of(spec, path)))
    return f"it is a model, run by {listed(running, last='and') if running else 'no component'}"


def only_component(spec: ModelSpec) -> str | None:
    """The inference component that loads whatever is loaded; None if there are several, or none."""
    found = {name for block in triton_blocks(spec) for name in loading(spec, block)}
    return found.pop() if len(found) == 1 else None


def loading(spec: ModelSpec, block: PlacedTriton) -> list[str]:
    """Names of the inference components that load a repository."""
    loaders = {it.path for it in block.loaders}
    return list(dict.fromkeys(run.name for run in runs(spec) if run.container in loaders))


def only_block(
    spec: ModelSpec, blocks: Iterable[PlacedTriton], what: str, component: str | None = None
) -> PlacedTriton:
    """The one that is left, of all or of those that a component loads.

    Raises:
        Refusal: when there are several, so that one must be named.
    """
    first, *more = blocks
    if not more:
        return first
    names = list(dict.fromkeys(name for block in (first, *more) for name in loading(spec, block)))
    if component is None and len(names) > 1:
        raise Refusal(f"{what} may be for any of several components; add --component: {listed(names)}")
    archives = listed([block.archive for block in (first, *more)])
    raise Refusal(f"{what} may be any of {archives}; keep it in such a folder")


def block_of_archive(
    spec: ModelSpec, archive: Path, blocks: list[PlacedTriton], component: str | None
) -> PlacedTriton:
    """The repository that an archive is meant for, by the path that `package` would give it, or by its name.
    ``blocks`` are all, or those that a component loads.

    Raises:
        Refusal: when it may be for several.
    """
    path = archive.as_posix()
    by_path = [it for it in blocks if f"/{path}".endswith(f"/{it.archive}")]
    by_name = [it for it in blocks if Path(it.archive).name == archive.name]
    # The folder of a model may end like that of a component: the longest path is the one that was meant.
    meant = sorted(by_path, key=lambda it: len(it.archive))[-1:]
    found = meant or (by_name if len(by_name) == 1 else blocks)
    return only_block(spec, found, path, component)
