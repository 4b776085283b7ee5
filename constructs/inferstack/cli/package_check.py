"""``inferstack package --check``: archives that somebody else made."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from inferstack.cli.choice import Choice, block_of_archive, blocks_of
from inferstack.cli.progress import bar
from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.check import LoadedSpec
from inferstack.spec.parts.triton_blocks import PlacedTriton, default_model, undeclared
from inferstack.spec.parts.triton_image import may_be_triton
from inferstack.spec.parts.walk import containers
from inferstack.spec.problem import Problem, Severity, SpecPath, in_file_order
from inferstack.spec.report import text
from inferstack.spec.report.words import counted, tally
from inferstack.spec.rules.triton.models import triton_contexts
from inferstack.triton.archive.description import described
from inferstack.triton.archive.inspection import Inspection, inspect_archive
from inferstack.triton.archive.tar_reading import FOLDER
from inferstack.triton.check import repository_problems
from inferstack.triton.model import FilePlace, Repository, only_model
from inferstack.triton.rules import Context


def check(archives: Iterable[Path], loaded: LoadedSpec | None, choice: Choice, *, multi_model: bool) -> int:
    """Inspects archives without unpacking them; prints what is in them and what is wrong with it.

    With a spec, an archive is judged as the spec's endpoint would load it, or as the component or model would
    that is chosen or that its path tells; without a spec, as ``multi_model`` says.

    Raises:
        Refusal: before any is read, when it is not clear what an archive is for.
    """
    found: list[list[Problem]] = []
    meant = [(it, None if loaded is None else block_for(it, loaded.spec, choice)) for it in archives]
    for archive, placed in meant:
        inspection = inspected(archive, multi_model=multi_model if placed is None else placed.multi_model)
        problems = problems_of(inspection, loaded, placed)
        print(_description(inspection), text(problems), sep="", end="", flush=True)
        found.append(problems)
    tell(_summary(found))
    return int(any(problem.severity is Severity.ERROR for problems in found for problem in problems))


def _summary(found: Sequence[Sequence[Problem]]) -> str:
    """The last line, on the problems of each archive."""
    archives = counted(len(found), "archive")
    wrong = [problems for problems in found if problems]
    return f"{tally([*chain(*wrong)])} in {len(wrong)} of {archives}" if wrong else f"{archives}: no problems"


def block_for(archive: Path, spec: ModelSpec, choice: Choice) -> PlacedTriton:
    """The repository of a spec that an archive is for, even if the spec declares none.

    Raises:
        Refusal: when it may be that of several components or models, or nothing there runs Triton.
    """
    blocks = blocks_of(spec, choice)
    if blocks:
        return block_of_archive(spec, archive, blocks, choice)
    if not any(may_be_triton(placed.image) for placed in containers(spec)):
        raise Refusal("the spec runs no Triton, and nothing is known about archives for other images")
    return undeclared(spec)


def inspected(archive: Path, *, multi_model: bool) -> Inspection:
    """What is in an archive, read as a container loads it among many, or as the only one."""
    with bar(archive.name, _size(archive)) as progress:
        return inspect_archive(archive, progress, multi_model=multi_model)


def _size(archive: Path) -> int:
    try:
        return archive.stat().st_size
    except OSError:
        # Reading it will say what is wrong.
        return 0


def problems_of(
    inspection: Inspection, loaded: LoadedSpec | None, placed: PlacedTriton | None
) -> list[Problem]:
    """What is wrong with an archive's form and with its models; ``placed`` is the repository it is for."""
    return [*inspection.problems, *_model_problems(inspection, loaded, placed)]


def _model_problems(
    inspection: Inspection, loaded: LoadedSpec | None, placed: PlacedTriton | None
) -> Iterator[Problem]:
    if inspection.repository is None:
        return
    repository = as_deployed(inspection.repository, placed)

    def locate(_: SpecPath) -> FilePlace:
        return FilePlace(inspection.archive.as_posix())

    contexts = [Context()]
    if loaded is not None and placed is not None:
        contexts = list(triton_contexts(loaded.spec, placed))
    ignored = frozenset() if loaded is None else frozenset(loaded.spec.ignored_codes)
    found: dict[Problem, None] = {}
    for context in contexts:
        found.update(dict.fromkeys(repository_problems(repository, locate, context, ignored)))
    yield from in_file_order(found)


def as_deployed(repository: Repository, placed: PlacedTriton | None) -> Repository:
    """A repository with the default model that the spec chooses; without a spec, the likely one."""
    if placed is None or repository.multi_model:
        return repository
    chosen = default_model(placed.block)
    return replace(repository, default_model=only_model(repository.models) if chosen is None else chosen)


def _description(inspection: Inspection) -> str:
    if inspection.packed is None:
        return ""
    return described(
        inspection.packed,
        [(member.name, None if member.kind == FOLDER else member.size) for member in inspection.members],
    )
