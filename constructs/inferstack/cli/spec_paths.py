"""Which specs a command line means, and where they are to be deployed."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from inferstack.catalog import regions
from inferstack.check.files import USUAL_FOLDER, spec_files
from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import NO_FILE
from inferstack.problems.words import did_you_mean

_DEFAULT = Path(USUAL_FOLDER)


def add_paths(command: argparse.ArgumentParser) -> None:
    """Adds the argument for any number of spec files, and of folders with such."""
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        default=[_DEFAULT],
        help=f"spec files, or folders whose *.yaml and *.yml files are meant (default: {_DEFAULT})",
    )


def add_region(command: argparse.ArgumentParser) -> None:
    """Adds the option for the region of specs that name none."""
    command.add_argument("--region", type=_region, help="region of the stack, for a spec that names none")


def _region(name: str) -> str:
    try:
        regions.partition(name)
    except LookupError as error:
        hint = did_you_mean(name, regions.names(), "write one like us-east-1")
        raise argparse.ArgumentTypeError(f"{error}; {hint}") from None
    return name


def files_of(paths: Iterable[Path]) -> tuple[list[Path], list[Problem]]:
    """The files that paths stand for, each once, and what is wrong with the folders among them."""
    files: dict[Path, Path] = {}
    problems: list[Problem] = []
    # Asked once: `Path.absolute` would ask the system for each file.
    here = Path.cwd()
    for path in paths:
        if path == _DEFAULT and not path.exists():
            problems.append(_no_default())
            continue
        try:
            for file in spec_files(path):
                files.setdefault(here / file, file)
        except SpecError as error:
            problems += error.problems
    return list(files.values()), problems


def _no_default() -> Problem:
    """The default folder is not there. Probably no path was given, so that no other file is suggested."""
    message = f"there is no folder `{_DEFAULT}` here, which is meant unless another path is given"
    return Problem(FilePlace(str(_DEFAULT)), message, "name a spec file, or a folder of them", NO_FILE)
