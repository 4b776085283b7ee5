"""``inferstack rehearse SPEC``: what is behind the command."""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from inferstack.cli.package_check import as_deployed, inspected, problems_of
from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.cli.termination import termination_interrupts
from inferstack.resolve.environment import container_environment
from inferstack.spec.blocks.kinds import ModelSpec, MultiModelSpec
from inferstack.spec.check import LoadedSpec
from inferstack.spec.problem import Severity, SpecError
from inferstack.spec.triton_image import is_triton
from inferstack.spec.walk import containers
from inferstack.triton.model import FilePlace, Place
from inferstack.triton.rehearsal import (
    ArchiveOutcome,
    Rehearsal,
    RehearsalRefused,
    rehearse,
    report,
    summary,
)
from inferstack.triton.repository import repositories_of, triton_block


def run(loaded: LoadedSpec, options: argparse.Namespace) -> int:
    """Rehearses a spec and prints what came of it. 1 when an archive is not served as declared.

    Raises:
        SpecError: with all that is wrong with the archives, or keeps them from being packed; then no server
            is started.
        Refusal: when this machine cannot do it.
    """
    if triton_block(loaded.spec) is None and not options.archive:
        tell(f"{options.spec}: nothing to rehearse: the spec has no `triton` block")
        return 0
    rehearsal = rehearsal_of(loaded, options.spec, python=options.python, seconds=options.timeout)
    rehearsal = replace(rehearsal, allowed=(*rehearsal.allowed, *options.allow), log=options.log)
    if options.archive:
        rehearsal = _of_archives(rehearsal, loaded, options)
    try:
        with termination_interrupts():
            found = _told(rehearse(rehearsal))
    except RehearsalRefused as refused:
        raise Refusal(str(refused)) from None
    tell(summary(found))
    return int(not all(outcome.good for outcome in found))


def rehearsal_of(loaded: LoadedSpec, file: Path, *, python: Path, seconds: float) -> Rehearsal:
    """The rehearsal of a spec that was read from ``file``; see :class:`Rehearsal` for the rest."""

    def locate(place: Place) -> FilePlace:
        if isinstance(place, FilePlace):
            return place
        at = loaded.document.position(place)
        return FilePlace(loaded.document.file, at.line, at.column)

    repositories = repositories_of(loaded.spec, file.parent)
    return Rehearsal(repositories, _environment(loaded.spec), (file.parent,), locate, python, seconds)


def _of_archives(rehearsal: Rehearsal, loaded: LoadedSpec, options: argparse.Namespace) -> Rehearsal:
    """The rehearsal of archives that are there, as the endpoint of the spec would load them."""
    if len(options.archive) > 1 and not isinstance(loaded.spec, MultiModelSpec):
        options.wrong_usage("only a multi-model endpoint has several archives")
    found = [inspected(archive, loaded) for archive in options.archive]
    problems = [problem for one in found for problem in problems_of(one, loaded)]
    wrong = [problem for problem in problems if problem.severity is Severity.ERROR]
    if wrong:
        raise SpecError(wrong)
    repositories = [as_deployed(one.repository, loaded) for one in found if one.repository is not None]
    return replace(rehearsal, repositories=repositories, archives=options.archive)


def _environment(spec: ModelSpec) -> dict[str, str]:
    """The environment of the first container with AWS's Triton, else of the first, as it will be deployed."""
    placed = sorted(containers(spec), key=lambda one: not is_triton(one.image))
    return (container_environment(spec, placed[0]) or {}) if placed else {}


def _told(outcomes: Iterable[ArchiveOutcome]) -> list[ArchiveOutcome]:
    """The outcomes, each printed as soon as it is there."""
    found: list[ArchiveOutcome] = []
    for outcome in outcomes:
        found.append(outcome)
        print(report(outcome), end="", flush=True)
    return found
