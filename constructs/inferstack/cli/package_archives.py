"""Packs the archives that a spec declares, and inspects archives that were made elsewhere."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from inferstack.check.load import LoadedSpec
from inferstack.check.triton_models import triton_contexts
from inferstack.cli.choice import Choice, block_of_archive, blocks_of
from inferstack.cli.report import counted, tally, text
from inferstack.cli.terminal import Refusal, bar, tell, termination_interrupts
from inferstack.facts.triton import PlacedTriton, default_model, may_be_triton, triton_blocks, undeclared
from inferstack.facts.walk import containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Place, Problem, Severity, SpecPath, in_file_order, printable
from inferstack.source.document import Document
from inferstack.triton.archive.inspection import Inspection, inspect_archive
from inferstack.triton.archive.packing import Packed, pack, unpacked_size
from inferstack.triton.archive.plan import LeftOut, Plan, plan_archives
from inferstack.triton.archive.reading import FOLDER
from inferstack.triton.model import Repository, only_model
from inferstack.triton.repositories import repositories_of
from inferstack.triton.rules import Context, repository_problems

# ---------------------------------------------------------------- Archives that a spec declares


def make(loaded: LoadedSpec, spec: Path, out: Path, allowed: Iterable[Path]) -> int:
    """Packs what a spec declares into ``out``; its files come from its folder, or from the allowed ones.

    Raises:
        SpecError: with every file that cannot be packed; then nothing is written.
    """
    if has_nothing_to_pack(loaded, spec):
        return 0
    plans = plans_for(loaded, spec, out, allowed)
    with termination_interrupts():
        for _ in packed(plans, out):
            pass
    return 0


def has_nothing_to_pack(loaded: LoadedSpec, spec: Path) -> bool:
    """Whether a spec declares no archive; if so, says so on standard error."""
    if any(triton_blocks(loaded.spec)):
        return False
    tell(f"{spec}: nothing to package: the spec has no `triton` block")
    return True


def plans_for(loaded: LoadedSpec, spec: Path, out: Path, allowed: Iterable[Path]) -> tuple[Plan, ...]:
    """The archives of a spec that are to be written to ``out``, with every file looked at.

    Raises:
        SpecError: with every file that cannot be packed.
        Refusal: when an archive would be packed into itself.
    """
    plans = _plans(loaded, spec.parent, allowed)
    _refuse_own_output(plans, out)
    return plans


def packed(plans: Iterable[Plan], out: Path) -> Iterator[Packed]:
    """Packs one archive after the other and describes each on standard output."""
    for plan in plans:
        yield _pack(plan, out / plan.archive)


def _plans(loaded: LoadedSpec, base: Path, allowed: Iterable[Path]) -> tuple[Plan, ...]:
    locate = partial(file_place, loaded.document)
    return plan_archives(repositories_of(loaded.spec, base), (base, *allowed), locate)


def file_place(document: Document, place: Place) -> FilePlace:
    """Where something is written: in the spec's file, unless it names another one."""
    return place if isinstance(place, FilePlace) else FilePlace(document.file, *document.position(place))


def _refuse_own_output(plans: Iterable[Plan], out: Path) -> None:
    """Refuses to pack an archive of the last run: the new one would grow with each run."""
    targets = {(out / plan.archive).resolve() for plan in plans}
    for plan in plans:
        for file in plan.local_files:
            if file.path.resolve() in targets:
                raise Refusal(f"{file.path} would be packed into itself; choose another folder with --out")


def _pack(plan: Plan, target: Path) -> Packed:
    with bar(target.name, unpacked_size(plan)) as progress:
        made = pack(plan, target, progress)
    contents = [(entry.name, None if entry.is_folder else entry.size) for entry in plan.entries]
    print(described(made, contents, plan.left_out), end="", flush=True)
    return made


# ---------------------------------------------------------------- Archives that somebody else made


def check(archives: Iterable[Path], loaded: LoadedSpec | None, choice: Choice, *, multi_model: bool) -> int:
    """Inspects archives without unpacking them; prints their contents and what is wrong with them.

    With a spec, an archive is judged as the spec's endpoint would load it, or as the chosen component or
    model would (or the one that its path names); without a spec, as ``multi_model`` says.

    Raises:
        Refusal: before any archive is read, if it is not clear what one is for.
    """
    found: list[list[Problem]] = []
    meant = [(it, None if loaded is None else block_for(it, loaded.spec, choice)) for it in archives]
    for archive, placed in meant:
        inspection = inspected(archive, multi_model=multi_model if placed is None else placed.multi_model)
        problems = problems_of(inspection, loaded, placed)
        print(_description(inspection), text(problems, sys.stdout), sep="", end="", flush=True)
        found.append(problems)
    tell(_summary(found))
    return int(any(problem.severity is Severity.ERROR for problems in found for problem in problems))


def _summary(found: Sequence[Sequence[Problem]]) -> str:
    """The last line, which counts the problems."""
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
        raise Refusal("the spec does not run Triton, and only Triton's archives can be checked")
    return undeclared(spec)


def inspected(archive: Path, *, multi_model: bool) -> Inspection:
    """An archive's contents, read as a container loads it: as one of many, or as the only one."""
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


# ---------------------------------------------------------------- An archive in words


_MOST_SHOWN = 100
_UNITS = ("bytes", "kB", "MB", "GB", "TB")

Content = tuple[str, int | None]
"""A path and its size in bytes, None for a folder."""


def described(packed: Packed, contents: Sequence[Content], left_out: Iterable[LeftOut] = ()) -> str:
    """The lines that describe an archive, each with its line break. Only empty folders are shown."""
    lines = [
        str(packed.path),
        f"  size     {_whole_size(packed.size)}",
        f"  sha256   {packed.file_sha256}",
        f"  content  {packed.tar_sha256}",
        "           (sha256 of the tar inside, whatever its compression)",
        *_inside(contents),
        *(f"  left out {left.name} ({left.reason})" for left in left_out),
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _inside(contents: Sequence[Content]) -> list[str]:
    full = _full_folders(name for name, _ in contents)
    shown = [(name, size) for name, size in contents if size is not None or name not in full]
    sizes = [_shown_size(size) for _, size in shown[:_MOST_SHOWN]]
    width = max(map(len, sizes), default=0)
    lines = [f"    {size:>{width}}  {name}" for size, (name, _) in zip(sizes, shown, strict=False)]
    more = len(shown) - _MOST_SHOWN
    return ["  holds", *lines, *([f"    and {more} more"] if more > 0 else [])]


def _whole_size(size: int) -> str:
    exact, rounded = f"{size} bytes", _in_units(size)
    return exact if exact == rounded else f"{exact} ({rounded})"


def _shown_size(size: int | None) -> str:
    return "empty folder" if size is None else _in_units(size)


def _full_folders(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _in_units(size: int) -> str:
    """Bytes as a person reads them: ``1.5 GB``, in powers of 1000."""
    value, unit = float(size), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"
