"""``inferstack package --check``: archives that somebody else made."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from inferstack.cli.progress import bar
from inferstack.spec.blocks.kinds import Ignore, ModelSpec, MultiModelSpec
from inferstack.spec.check import LoadedSpec
from inferstack.spec.problem import Problem, Severity, SpecPath
from inferstack.spec.report import text
from inferstack.spec.rules.triton_models import _contexts
from inferstack.triton.archive.contents import Kind
from inferstack.triton.archive.description import described
from inferstack.triton.archive.inspection import Inspection, inspect_archive
from inferstack.triton.archive.tar_reading import FOLDER
from inferstack.triton.check import repository_problems
from inferstack.triton.model import FilePlace
from inferstack.triton.repository import triton_block
from inferstack.triton.rules import Context


def check(archives: Iterable[Path], loaded: LoadedSpec | None, *, multi_model: bool) -> int:
    """Looks into archives without unpacking them; prints what is in them and what is wrong with it.

    With a spec they are judged as its endpoint loads them, else as one of the kind does that is asked for.
    """
    failed = False
    for archive in archives:
        inspection = _inspected(archive, loaded, multi_model=multi_model)
        problems = [*inspection.problems, *_model_problems(inspection, loaded)]
        print(_description(inspection), text(problems), sep="", end="", flush=True)
        failed |= any(problem.severity is Severity.ERROR for problem in problems)
    return int(failed)


def _inspected(archive: Path, loaded: LoadedSpec | None, *, multi_model: bool) -> Inspection:
    many = multi_model if loaded is None else isinstance(loaded.spec, MultiModelSpec)
    kind: Kind = "multi-model" if many else "single"
    block = None if loaded is None else triton_block(loaded.spec)
    with bar(archive.name, _size(archive)) as progress:
        return inspect_archive(archive, kind, None if block is None else block.default_model, progress)


def _size(archive: Path) -> int:
    try:
        return archive.stat().st_size
    except OSError:
        # Reading it will say what is wrong.
        return 0


def _model_problems(inspection: Inspection, loaded: LoadedSpec | None) -> Iterator[Problem]:
    repository = inspection.repository
    if repository is None:
        return

    def locate(_: SpecPath) -> FilePlace:
        return FilePlace(inspection.archive.as_posix())

    contexts = [Context()] if loaded is None else list(_contexts(loaded.spec))
    ignored = frozenset() if loaded is None else _ignored(loaded.spec)
    found: dict[Problem, None] = {}
    for context in contexts:
        found.update(dict.fromkeys(repository_problems(repository, locate, context, ignored)))
    yield from found


def _ignored(spec: ModelSpec) -> frozenset[str]:
    return frozenset(entry.code if isinstance(entry, Ignore) else entry for entry in spec.ignore)


def _description(inspection: Inspection) -> str:
    if inspection.packed is None:
        return ""
    return described(
        inspection.packed,
        [(member.name, None if member.kind == FOLDER else member.size) for member in inspection.members],
    )
