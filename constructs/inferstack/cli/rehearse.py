"""``inferstack rehearse``: Triton models served on this machine before they are deployed."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from inferstack.catalog.triton_container import Release
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.archives import as_deployed, block_for, file_place, inspected, problems_of
from inferstack.cli.arguments import positive_number
from inferstack.cli.choice import ALL, Choice, blocks_of, chosen_by
from inferstack.cli.terminal import Refusal, bar, tell, termination_interrupts
from inferstack.facts.triton import PlacedTriton, is_triton, triton_blocks, triton_release
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, Severity, SpecError, SpecPath
from inferstack.resolve.model import container_environment
from inferstack.triton.model import Repository
from inferstack.triton.rehearsal import ArchiveOutcome, Rehearsal, RehearsalRefused, rehearse, report, summary
from inferstack.triton.repositories import repositories_at

_SECONDS = 120.0


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack rehearse``."""
    add = command.add_argument
    add("spec", metavar="SPEC", type=Path, help="spec file")
    add("--stage", help="choose this stage of the spec")
    timeout = f"seconds to wait for the start, for loading, and for each answer (default: {_SECONDS:g})"
    add("--timeout", metavar="S", type=positive_number, default=_SECONDS, help=timeout)
    python = "interpreter with nvidia-pytriton and what the models import (default: this one)"
    add("--python", metavar="FILE", type=Path, default=Path(sys.executable), help=python)
    allow = "also allow files from this folder, besides the spec's own"
    add("--allow", metavar="DIR", type=Path, action="append", default=[], help=allow)
    archive = (
        "rehearse this existing archive instead of packing one; can be repeated for a multi-model endpoint"
    )
    add("--archive", metavar="FILE", type=Path, action="append", default=[], help=archive)
    component = "rehearse only this inference component; with --archive: the archive is for it"
    add("--component", metavar="NAME", help=component)
    model = "rehearse only this entry of `models`; with --archive: the archive is for it"
    add("--model", metavar="NAME", help=model)
    add("--log", metavar="FILE", type=Path, help="write Triton's whole log here")
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Serve a spec's Triton models on this machine, as the hosting container would, and ask each of them."""
    # The lock is ignored: what is rehearsed is what will be uploaded, not what was.
    loaded = load_spec(options.spec, stage=options.stage, locked=False)
    chosen = list(_chosen(loaded, options))
    if not chosen:
        tell(f"{options.spec}: nothing to rehearse: the spec has no `triton` block")
        return 0
    rehearsals = [
        replace(it, allowed=(*it.allowed, *options.allow), log=options.log, watch=bar) for it in chosen
    ]
    if options.log is not None:
        options.log.write_bytes(b"")
    try:
        with termination_interrupts():
            outcomes = [outcome for one in rehearsals for outcome in _printed(rehearse(one))]
    except RehearsalRefused as refused:
        raise Refusal(str(refused)) from None
    tell(summary(outcomes, _releases(loaded.spec)))
    return int(not all(outcome.good for outcome in outcomes))


def rehearsals_of(
    loaded: LoadedSpec, file: Path, *, python: Path, seconds: float, choice: Choice = ALL
) -> Iterator[Rehearsal]:
    """The rehearsals of a spec that was read from ``file``: of the endpoint, or of each repository.

    See :class:`Rehearsal` for the rest.
    """
    for placed in blocks_of(loaded.spec, choice):
        yield from rehearsals_at(placed, loaded, file, python, seconds)


def _chosen(loaded: LoadedSpec, options: argparse.Namespace) -> Iterator[Rehearsal]:
    """What to rehearse: existing archives, or what the spec declares."""
    python, seconds = options.python, options.timeout
    if not options.archive:
        yield from rehearsals_of(
            loaded, options.spec, python=python, seconds=seconds, choice=chosen_by(options)
        )
        return
    for given in _given(loaded, options):
        for one in rehearsals_at(given.placed, loaded, options.spec, python, seconds):
            yield replace(one, repositories=given.repositories, archives=given.archives)


class _Given(msgspec.Struct, frozen=True):
    """Existing archives for a repository of the spec, and what is in them as its containers would load it."""

    placed: PlacedTriton
    archives: list[Path]
    repositories: list[Repository]


def _given(loaded: LoadedSpec, options: argparse.Namespace) -> list[_Given]:
    meant: dict[SpecPath, tuple[PlacedTriton, list[Path]]] = {}
    for archive in options.archive:
        placed = block_for(archive, loaded.spec, chosen_by(options))
        meant.setdefault(placed.path, (placed, []))[1].append(archive)
    if any(len(archives) > 1 and not placed.multi_model for placed, archives in meant.values()):
        options.wrong_usage("only a multi-model endpoint has several archives")
    given: list[_Given] = []
    wrong: list[Problem] = []
    for placed, archives in meant.values():
        inspections = [inspected(one, multi_model=placed.multi_model) for one in archives]
        problems = (problem for one in inspections for problem in problems_of(one, loaded, placed))
        wrong += (problem for problem in problems if problem.severity is Severity.ERROR)
        inside = [one.repository for one in inspections if one.repository is not None]
        given.append(_Given(placed, archives, [as_deployed(repository, placed) for repository in inside]))
    if wrong:
        raise SpecError(wrong)
    return given


def rehearsals_at(
    placed: PlacedTriton, loaded: LoadedSpec, file: Path, python: Path, seconds: float
) -> Iterator[Rehearsal]:
    """The rehearsals of one repository: one for each environment that loads it."""
    locate = partial(file_place, loaded.document)
    repositories = repositories_at(placed, file.parent)
    for environment in _environments(loaded.spec, placed):
        yield Rehearsal(repositories, environment, (file.parent,), locate, python, seconds)


def _releases(spec: ModelSpec) -> Iterator[Release]:
    """The releases of Triton that the spec deploys, as far as its images show."""
    for placed in triton_blocks(spec):
        for loader in placed.loaders:
            release = triton_release(loader.image)
            if release is not None:
                yield release


def _environments(spec: ModelSpec, placed: PlacedTriton) -> list[dict[str, str]]:
    """The different environments of the containers that load a repository and certainly run Triton, as
    deployed; if none certainly does, that of the first one that may.
    """
    certain = [it for it in placed.loaders if is_triton(it.image)]
    environments: list[dict[str, str]] = []
    for one in certain or placed.loaders[:1]:
        environment = container_environment(spec, one) or {}
        if environment not in environments:
            environments.append(environment)
    return environments or [{}]


def _printed(outcomes: Iterable[ArchiveOutcome]) -> Iterator[ArchiveOutcome]:
    """The outcomes, each printed as soon as it is known."""
    for outcome in outcomes:
        print(report(outcome), end="", flush=True)
        yield outcome
