"""The models of `triton` blocks, which `inferstack.triton` knows how to check.

Only this module and the comparison of locks call Triton's package. It is a plain call and not a
hook for others to fill, so no entry point of the library can forget to fill it.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from inferstack.catalog import instances
from inferstack.check.lock.destinations import vouched
from inferstack.check.lock.file import LockedArchive
from inferstack.facts.kinds import hosts_components
from inferstack.facts.triton import PlacedTriton, triton_blocks, triton_release
from inferstack.facts.walk import PlacedContainer, runs_of
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Problem, SpecPath, first_of
from inferstack.source.document import Document
from inferstack.triton.repositories import repositories_at
from inferstack.triton.rules import Context, repository_problems


def triton_problems(
    spec: ModelSpec,
    document: Document,
    ignored: frozenset[str],
    uploaded: Mapping[str, LockedArchive] = MappingProxyType({}),
) -> Iterator[Problem]:
    """Everything wrong with the models of a spec's ``triton`` blocks, in any container that may load them.

    ``uploaded`` are archives by name: files that are in one need not be on this machine.
    """
    found: dict[Problem, None] = {}
    for placed in triton_blocks(spec):
        found.update(dict.fromkeys(_problems_of(spec, placed, document, ignored, uploaded)))
    # A repository may have thousands of files, and each of them a problem.
    yield from first_of(list(found), FilePlace(document.file))


def _problems_of(
    spec: ModelSpec,
    placed: PlacedTriton,
    document: Document,
    ignored: frozenset[str],
    uploaded: Mapping[str, LockedArchive],
) -> Iterator[Problem]:
    contexts = list(triton_contexts(spec, placed))
    for repository in repositories_at(placed, Path(document.file).parent):
        for context in contexts:
            yield from repository_problems(vouched(repository, uploaded), document.place, context, ignored)


def triton_contexts(spec: ModelSpec, placed: PlacedTriton) -> Iterator[Context]:
    """What is known of each container that loads a repository, or only of those that show their release."""
    certain = [it for it in placed.loaders if triton_release(it.image) is not None]
    for one in certain or placed.loaders:
        path = (*one.path, "environment")
        yield Context(triton_release(one.image), _gpus(spec, one), one.environment, path)
    if not placed.loaders:
        yield Context()


def _gpus(spec: ModelSpec, placed: PlacedContainer) -> tuple[int, ...]:
    """The GPUs that the container may see, for each instance type; empty where that is unknown."""
    if hosts_components(spec):
        return tuple(_reserved_gpus(spec, placed.path))
    found = []
    # A spec that is wrong there has no instance types, so the GPUs are unknown, too.
    with suppress(AttributeError):
        found = [instances.find(name) for name in placed.instance_types]
    return tuple(it.gpus for it in found if it is not None)


def _reserved_gpus(spec: ModelSpec, container: SpecPath) -> Iterator[int]:
    """The GPUs that components reserve for it; one that gives no number may or may not get a GPU."""
    for run in runs_of(spec, container):
        needs = run.specification.compute_resource_requirements
        devices = None if needs is None else needs.number_of_accelerator_devices_required
        if devices is not None:
            yield int(devices)
