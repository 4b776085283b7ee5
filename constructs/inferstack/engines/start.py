"""How long a copy of a model may take to start, from the bytes of its weights."""

from collections.abc import Iterator

import msgspec

from inferstack.facts.kinds import hosts_components
from inferstack.facts.walk import PlacedContainer, every_variant, hosting, runs_of
from inferstack.problems import SpecPath

DOWNLOAD, HEALTH_CHECK = (
    "model_data_download_timeout_in_seconds",
    "container_startup_health_check_timeout_in_seconds",
)
"""The limits for the start of a copy. If the engine downloads the weights itself, the second is for both."""
# From S3, from the hub, and from a disk to several GPUs; what logs show lies between 100 and 500 MB a second.
_BYTES_A_SECOND, _MOST_BYTES_A_SECOND = 100_000_000, 500_000_000
_SHORTEST, LONGEST = 600, 3600
"""Seconds; SageMaker waits no longer than the second."""


def seconds_to_read(weight_bytes: int) -> int:
    """How long it takes at the lowest rate."""
    return -(-weight_bytes // _BYTES_A_SECOND)


def minutes_to_read(weight_bytes: int) -> tuple[int, int]:
    """How many minutes a copy needs for it at the highest rate and at the lowest."""
    least, most = (-(-weight_bytes // (60 * it)) for it in (_MOST_BYTES_A_SECOND, _BYTES_A_SECOND))
    return least, most


def start_timeout(weight_bytes: int) -> int:
    """A limit that leaves room: twice that long, in whole minutes, and no less than ten."""
    minutes = -(-2 * weight_bytes // (60 * _BYTES_A_SECOND))
    return min(LONGEST, max(_SHORTEST, 60 * minutes))


def start_limits(placed: PlacedContainer) -> Iterator[tuple[SpecPath, msgspec.Struct | None]]:
    """The blocks with the limits for the start of a container, with their paths; None for one not written."""
    for run in runs_of(placed.spec, placed.path):
        yield (*run.path, "startup_parameters"), run.specification.startup_parameters
    if not hosts_components(placed.spec):
        hosts = hosting(placed.spec, placed.model)
        yield from ((path, it) for path, it in every_variant(placed.spec) if any(it is one for one in hosts))
