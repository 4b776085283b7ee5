"""``inferstack package --check``: archives that somebody else made."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from inferstack.cli.progress import bar
from inferstack.spec.blocks.kinds import Ignore, ModelSpec, MultiModelSpec
from inferstack.spec.check import LoadedSpec
from inferstack.spec.problem import Problem, Severity, SpecPath
from inferstack.spec.report import text
from inferstack.spec.rules.triton_models import triton_contexts
from inferstack.triton.archive.contents import Kind
from inferstack.triton.archive.description import described
from inferstack.triton.archive.inspection import Inspection, inspect_archive
from inferstack.triton.archive.tar_reading import FOLDER
from inferstack.triton.check import repository_problems
from inferstack.triton.model import FilePlace, Repository
from inferstack.triton.repository import triton_block
from inferstack.triton.rules import Context


def check(archives: Iterable[Path], loaded: LoadedSpec | None, *, multi_model: bool) -> int:
    """Looks into archives without unpacking them; prints what is in them and what is wrong with it.

    With a spec they are judged as its endpoint loads them, else as one of the kind does that is asked for.
    """
    failed = False
    for archive in archives:
        inspection = inspected(archive, loaded, multi_model=multi_model)
        problems = problems_of(inspection, loaded)
        print(_description(inspection), text(problems), sep="", end="", flush=True)
        failed |= any(problem.severity is Severity.ERROR for problem in problems)
    return int(failed)


def inspected(archive: Path, loaded: LoadedSpec | None, *, multi_model: bool = False) -> Inspection:
    """What is in an archive, read as the endpoint of a spec loads it, else one of the kind asked for."""
    many = multi_model if loaded is None else isinstance(loaded.spec, MultiModelSpec)
    kind: Kind = "multi-model" if many else "single"
    with bar(archive.name, _size(archive)) as progress:
        return inspect_archive(archive, kind, progress)


def _size(archive: Path) -> int:
    try:
        return archive.stat().st_size
    except OSError:
        # Reading it will say what is wrong.
        return 0


def problems_of(inspection: Inspection, loaded: LoadedSpec | None) -> list[Problem]:
    """What is wrong with an archive's form and with the models in it."""
    return [*inspection.problems, *_model_problems(inspection, loaded)]


def _model_problems(inspection: Inspection, loaded: LoadedSpec | None) -> Iterator[Problem]:
    if inspection.repository is None:
        return
    repository = as_deployed(inspection.repository, loaded)

    def locate(_: SpecPath) -> FilePlace:
        return FilePlace(inspection.archive.as_posix())

    contexts = [Context()] if loaded is None else list(triton_contexts(loaded.spec))
    ignored = frozenset() if loaded is None else _ignored(loaded.spec)
    found: dict[Problem, None] = {}
    for context in contexts:
        found.update(dict.fromkeys(repository_problems(repository, locate, context, ignored)))
    yield from found


def as_deployed(repository: Repository, loaded: LoadedSpec | None) -> Repository:
    """A repository with the default model that the spec chooses; without a spec, the likely one."""
    if loaded is None or repository.kind == "multi-model":
        return repository
    block = triton_block(loaded.spec)
    chosen = None if block is None else block.default_model
    only = repository.models[0].name if len(repository.models) == 1 else None
    return replace(repository, default_model=only if chosen is None else chosen)


def _ignored(spec: ModelSpec) -> frozenset[str]:
    return frozenset(entry.code if isinstance(entry, Ignore) else entry for entry in spec.ignore)


def _description(inspection: Inspection) -> str:
    if inspection.packed is None:
        return ""
    return described(
        inspection.packed,
        [(member.name, None if member.kind == FOLDER else member.size) for member in inspection.members],
    )
