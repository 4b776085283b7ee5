"""The spec files that the paths of a command line stand for."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from inferstack.spec.check_files import spec_files
from inferstack.spec.problem import Problem, SpecError


def add_paths(command: argparse.ArgumentParser) -> None:
    """Spec files and folders of such, as many as there are."""
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        default=[Path("model_specs")],
        help="spec files, or folders whose *.yaml and *.yml files are meant (default: model_specs)",
    )


def files_of(paths: Iterable[Path]) -> tuple[list[Path], list[Problem]]:
    """The files that paths stand for, each once, and what is wrong with the folders among them."""
    files: dict[Path, Path] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            for file in spec_files(path):
                files.setdefault(file.absolute(), file)
        except SpecError as error:
            problems += error.problems
    return list(files.values()), problems
