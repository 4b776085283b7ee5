"""Archives that were made elsewhere, as commands look at them: what of a spec one is for, what it holds, and
what is wrong with it.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from inferstack.check.load import LoadedSpec
from inferstack.check.triton_models import triton_contexts
from inferstack.cli.choice import Choice, block_of_archive, blocks_of
from inferstack.cli.terminal import Refusal, bar
from inferstack.facts.triton import PlacedTriton, default_model, may_be_triton, undeclared
from inferstack.facts.walk import containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Place, Problem, SpecPath, in_file_order
from inferstack.source.document import Document
from inferstack.triton.archive.inspection import Inspection, inspect_archive
from inferstack.triton.model import Repository, only_model
from inferstack.triton.rules import Context, repository_problems


def block_for(archive: Path, spec: ModelSpec, choice: Choice) -> PlacedTriton:
    """The repository of a spec that an archive is for, even if the spec declares none.

    Raises:
        Refusal: when it may be that of several components or models, or nothing there runs Triton.
    """
    blocks = blocks_of(spec, choice)
    if blocks:
        return block_of_archive(spec, archive, blocks, choice)
    if not any(may_be_triton(placed.image) for placed in containers(spec)):
        raise Refusal("the spec does not run Triton, and only Triton's archives can be checked")
    return undeclared(spec)


def inspected(archive: Path, *, multi_model: bool) -> Inspection:
    """An archive's contents, read as a container loads it: as one of many, or as the only one."""
    try:
        size = archive.stat().st_size
    except OSError:
        # Reading it will say what is wrong.
        size = 0
    with bar(archive.name, size) as progress:
        return inspect_archive(archive, progress, multi_model=multi_model)


def problems_of(
    inspection: Inspection, loaded: LoadedSpec | None, block: PlacedTriton | None
) -> Iterator[Problem]:
    """What is wrong with an archive's form and with its models; ``block`` is the repository it is for."""
    yield from inspection.problems
    if inspection.repository is None:
        return

    def locate(_: SpecPath) -> FilePlace:
        return FilePlace(inspection.archive.as_posix())

    repository = as_deployed(inspection.repository, block)
    contexts = [Context()]
    if loaded is not None and block is not None:
        contexts = list(triton_contexts(loaded.spec, block))
    ignored = frozenset() if loaded is None else frozenset(loaded.spec.ignored_codes)
    problems: dict[Problem, None] = {}
    for context in contexts:
        problems.update(dict.fromkeys(repository_problems(repository, locate, context, ignored)))
    yield from in_file_order(problems)


def as_deployed(repository: Repository, block: PlacedTriton | None) -> Repository:
    """A repository with the default model that the spec chooses; without a spec, the likely one."""
    if block is None or repository.multi_model:
        return repository
    chosen = default_model(block.block)
    return replace(repository, default_model=only_model(repository.models) if chosen is None else chosen)


def file_place(document: Document, place: Place) -> FilePlace:
    """Where something is written: in the spec's file, unless it names another one."""
    return place if isinstance(place, FilePlace) else document.place(place)
