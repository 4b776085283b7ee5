"""``inferstack rehearse``."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.resolve.environment import container_environment
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.check import LoadedSpec, load_spec
from inferstack.spec.problem import SpecError
from inferstack.spec.report import text
from inferstack.spec.triton_image import is_triton
from inferstack.spec.walk import containers
from inferstack.triton.model import FilePlace, Place
from inferstack.triton.rehearsal import (
    ArchiveOutcome,
    Rehearsal,
    RehearsalRefused,
    rehearse as outcomes_of,
    report,
    summary,
)
from inferstack.triton.repository import repositories_of

_SECONDS = 120.0


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What can be written after ``inferstack rehearse``."""
    command.add_argument("spec", metavar="SPEC", type=Path, help="spec file")
    command.add_argument("--stage", help="choose this stage of the spec")
    command.add_argument(
        "--timeout",
        metavar="S",
        type=_seconds,
        default=_SECONDS,
        help=f"longest wait in seconds for a start, for loading, and for each answer (default: {_SECONDS:g})",
    )
    command.add_argument(
        "--python",
        metavar="FILE",
        type=Path,
        default=Path(sys.executable),
        help="interpreter with nvidia-pytriton and with what the models import (default: this one)",
    )
    command.add_argument(
        "--allow",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="files may come from here, too; else only from the folder of the spec",
    )
    command.add_argument("--log", metavar="FILE", type=Path, help="write Triton's whole log here")
    command.set_defaults(run=rehearse)


def rehearse(options: argparse.Namespace) -> int:
    """Serve a spec's Triton models on this machine, as the hosting container would, and ask each of them."""
    try:
        loaded = load_spec(options.spec, stage=options.stage)
        rehearsal = rehearsal_of(loaded, options.spec, python=options.python, seconds=options.timeout)
        found = _told(replace(rehearsal, allowed=(*rehearsal.allowed, *options.allow), log=options.log))
    except SpecError as error:
        tell(text(error.problems).rstrip("\n"))
        return 1
    except RehearsalRefused as refused:
        raise Refusal(str(refused)) from None
    tell(summary(found))
    return int(not all(outcome.good for outcome in found))


def rehearsal_of(loaded: LoadedSpec, file: Path, *, python: Path, seconds: float) -> Rehearsal:
    """The rehearsal of a spec that was read from ``file``; see :class:`Rehearsal` for the rest.

    Raises:
        Refusal: when the spec declares no models.
    """
    repositories = repositories_of(loaded.spec, file.parent)
    if not repositories:
        raise Refusal(f"{file} declares no Triton models (`triton`), so there is nothing to rehearse")

    def locate(place: Place) -> FilePlace:
        if isinstance(place, FilePlace):
            return place
        at = loaded.document.position(place)
        return FilePlace(loaded.document.file, at.line, at.column)

    return Rehearsal(repositories, _environment(loaded.spec), (file.parent,), locate, python, seconds)


def _environment(spec: ModelSpec) -> dict[str, str]:
    """The environment of the first container with Triton in it, as it will be deployed."""
    for placed in containers(spec):
        if is_triton(placed.image):
            return container_environment(spec, placed) or {}
    return {}


def _told(rehearsal: Rehearsal) -> list[ArchiveOutcome]:
    """The outcomes, each printed as soon as it is there."""
    found: list[ArchiveOutcome] = []
    for outcome in outcomes_of(rehearsal):
        found.append(outcome)
        print(report(outcome), end="", flush=True)
    return found


def _seconds(written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{written} is no number of seconds above 0")
    return seconds
