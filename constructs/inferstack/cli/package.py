"""``inferstack package``: model archives, made or looked into.

What is wrong goes to standard error while packing, where it stops the work, and to standard output with
``--check``, where it is the result. A spec without a ``triton`` block has nothing to pack, and that is no
mistake: whoever packs all specs of a folder has some of those.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from inferstack.cli.streams import tell
from inferstack.spec.check import LoadedSpec, load_spec
from inferstack.spec.problem import Problem, SpecError
from inferstack.spec.report import text

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
    upload = "put the archives where the spec wants them in S3, and write what is there into SPEC's lock"
    add("--upload", action="store_true", help=upload)
    component = "with --check: the archives are for this inference component of SPEC"
    add("--component", metavar="NAME", help=component)
    multi = "with --check and no SPEC: the archives are for a multi-model endpoint"
    add("--multi-model", action="store_true", help=multi)
    command.set_defaults(wrong_usage=command.error)


def package(options: argparse.Namespace) -> int:
    """Pack the model archives that a spec declares, or look into archives that there are."""
    if options.spec is None and options.check is None:
        options.wrong_usage("name a SPEC to pack, or archives with --check")
    if options.upload and options.check is not None:
        options.wrong_usage("--upload packs SPEC itself and takes no archives of --check")
    if options.component is not None and None in (options.spec, options.check):
        options.wrong_usage("--component goes with SPEC and --check")
    try:
        # A lock says what was packed before.
        loaded = None if options.spec is None else load_spec(options.spec, stage=options.stage, locked=False)
        if options.check is not None:
            return _check(options, loaded)
        return 0 if loaded is None else _make(options, loaded)
    except SpecError as error:
        _tell_all(error.problems)
        return 1


def _check(options: argparse.Namespace, loaded: LoadedSpec | None) -> int:
    from inferstack.cli.package_check import check  # noqa: PLC0415 - brings protobuf

    return check(options.check, loaded, options.component, multi_model=options.multi_model)


def _make(options: argparse.Namespace, loaded: LoadedSpec) -> int:
    from inferstack.cli.package_make import make  # noqa: PLC0415 - brings protobuf
    from inferstack.cli.package_upload import make_and_upload  # noqa: PLC0415 - brings protobuf

    _tell_all(loaded.warnings)
    out = _OUT / options.spec.stem if options.out is None else options.out
    work = make_and_upload if options.upload else make
    return work(loaded, options.spec, out, options.allow)


def _tell_all(problems: Sequence[Problem]) -> None:
    if problems:
        tell(text(problems).rstrip("\n"))
