"""``inferstack package SPEC``: the archives that a spec declares."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from inferstack.cli.progress import bar
from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.cli.termination import termination_interrupts
from inferstack.spec.check import LoadedSpec
from inferstack.spec.document import Document
from inferstack.spec.parts.triton_blocks import triton_blocks
from inferstack.triton.archive.description import described
from inferstack.triton.archive.packing import Packed, pack
from inferstack.triton.archive.plan import Plan, plan_archives
from inferstack.triton.model import FilePlace, Place
from inferstack.triton.repository.of_spec import repositories_of


def make(loaded: LoadedSpec, spec: Path, out: Path, allowed: Iterable[Path]) -> int:
    """Packs what a spec declares into ``out``; its files come from its folder, or from those allowed.

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
    """Whether a spec declares no archive; if so, standard error is told."""
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
    """Where something is written: in the file of the spec, unless it is in another one."""
    return place if isinstance(place, FilePlace) else FilePlace(document.file, *document.position(place))


def _refuse_own_output(plans: Iterable[Plan], out: Path) -> None:
    """An archive that packs an archive of the last run would grow with each run, and never be the same."""
    targets = {(out / plan.archive).resolve() for plan in plans}
    for plan in plans:
        for file in plan.local_files:
            if file.path.resolve() in targets:
                raise Refusal(f"{file.path} would be packed into itself; choose another folder with --out")


def _pack(plan: Plan, target: Path) -> Packed:
    with bar(target.name, plan.unpacked_size) as progress:
        made = pack(plan, target, progress)
    contents = [(entry.name, None if entry.is_folder else entry.size) for entry in plan.entries]
    print(described(made, contents, plan.left_out), end="", flush=True)
    return made
