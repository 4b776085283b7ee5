"""``inferstack package``: model archives, made or looked into.

What is wrong goes to standard error while packing, where it stops the work, and to standard output with
``--check``, where it is the result. A spec without a ``triton`` block has nothing to pack, and that is no
mistake: whoever packs all specs of a folder has some of those.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from inferstack.cli.package_check import check
from inferstack.cli.progress import bar
from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.cli.termination import termination_interrupts
from inferstack.spec.check import LoadedSpec, load_spec
from inferstack.spec.problem import Problem, SpecError
from inferstack.spec.report import text
from inferstack.triton.archive.description import described
from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import Plan, plan_archives
from inferstack.triton.model import FilePlace, Place
from inferstack.triton.repository import repositories_of, triton_block

_OUT = Path("packages")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What can be written after ``inferstack package``."""
    add = command.add_argument
    add("spec", metavar="SPEC", nargs="?", type=Path, help="spec file")
    add("--stage", help="choose this stage of the spec")
    out = f"folder for the archives (default: {_OUT}/NAME, NAME from the spec file)"
    add("--out", metavar="DIR", type=Path, help=out)
    allow = "files may come from this folder, too, and not only from that of the spec; can be repeated"
    add("--allow", metavar="DIR", type=Path, action="append", default=[], help=allow)
    archives = "pack nothing, look into these archives; with SPEC as its endpoint would load them"
    add("--check", metavar="ARCHIVE", nargs="+", type=Path, help=archives)
    multi = "with --check and no SPEC: the archives are for a multi-model endpoint"
    add("--multi-model", action="store_true", help=multi)
    command.set_defaults(run=package, wrong_usage=command.error)


def package(options: argparse.Namespace) -> int:
    """Pack the model archives that a spec declares, or look into archives that there are."""
    if options.spec is None and options.check is None:
        options.wrong_usage("name a SPEC to pack, or archives with --check")
    try:
        loaded = None if options.spec is None else load_spec(options.spec, stage=options.stage)
        if options.check is not None:
            return check(options.check, loaded, multi_model=options.multi_model)
        return 0 if loaded is None else _package(loaded, options)
    except SpecError as error:
        _tell_all(error.problems)
        return 1


def _package(loaded: LoadedSpec, options: argparse.Namespace) -> int:
    _tell_all(loaded.warnings)
    if triton_block(loaded.spec) is None:
        tell(f"{options.spec}: nothing to package: the spec has no `triton` block")
        return 0
    plans = _plans(loaded, options.spec.parent, options.allow)
    out = _OUT / options.spec.stem if options.out is None else options.out
    _refuse_own_output(plans, out)
    with termination_interrupts():
        for plan in plans:
            _pack(plan, out / plan.archive)
    return 0


def _plans(loaded: LoadedSpec, base: Path, allowed: Iterable[Path]) -> tuple[Plan, ...]:
    def locate(place: Place) -> FilePlace:
        if isinstance(place, FilePlace):
            return place
        at = loaded.document.position(place)
        return FilePlace(loaded.document.file, at.line, at.column)

    return plan_archives(repositories_of(loaded.spec, base), (base, *allowed), locate)


def _refuse_own_output(plans: Iterable[Plan], out: Path) -> None:
    """An archive among the files of another would make the next one larger, and never the same."""
    targets = {(out / plan.archive).resolve() for plan in plans}
    for plan in plans:
        for file in plan.local_files:
            if file.path.resolve() in targets:
                raise Refusal(
                    f"{file.path} would be packed into an archive; choose another folder with --out"
                )


def _pack(plan: Plan, target: Path) -> None:
    with bar(target.name, plan.unpacked_size) as progress:
        packed = pack(plan, target, progress)
    contents = [(entry.name, None if entry.is_folder else entry.size) for entry in plan.entries]
    print(described(packed, contents, plan.left_out), end="", flush=True)


def _tell_all(problems: Sequence[Problem]) -> None:
    if problems:
        tell(text(problems).rstrip("\n"))
