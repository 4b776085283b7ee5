"""Whether a measurement on this machine tells what an instance does, or only how configurations compare."""

import os
from collections.abc import Iterable, Iterator

from inferstack.catalog import instances
from inferstack.triton.rehearsal.layout import LocalConfig

_ON_CPU = "its instances run on the CPU"


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def only_ratios(
    instance_types: Iterable[str], models: Iterable[tuple[str, LocalConfig]], here: int
) -> Iterator[str]:
    """Why numbers of this machine, with ``here`` processors, are none of the instances; nothing if they are
    close. ``models`` are those that were measured, by name.
    """
    types = list(dict.fromkeys(instance_types))
    if len(types) != 1:
        yield "the spec does not name one instance type for it"
    for name in types:
        yield from _differs(name, here)
    for name, local in models:
        if local.run_by is not None:
            yield f"`{name}` is run by {local.run_by} instead of Triton's backend, which is faster"
        if _ON_CPU in local.changes:
            yield f"`{name}` asks for a GPU, and ran on the CPU"


def _differs(name: str, here: int) -> Iterator[str]:
    known = instances.find(name)
    if known is None:
        yield f"nothing is known about {name}"
    elif known.accelerator_devices:
        yield f"{name} has accelerators, and this was a CPU"
    elif known.vcpus != here:
        yield f"{name} has {known.vcpus} processors, and this machine {here}"
