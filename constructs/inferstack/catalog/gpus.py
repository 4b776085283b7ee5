"""The memory of a GPU as PyTorch sees it, which is less than EC2 says: the driver keeps some for itself.

The numbers are those that logs of servers show, between the least and the most that was seen; where none was
found, they follow from what `nvidia-smi` shows. An engine takes its share of this number.
"""

import csv
from collections.abc import Mapping
from functools import cache

import msgspec

from inferstack.catalog import text
from inferstack.catalog.instances import InstanceType


class GpuMemory(msgspec.Struct, frozen=True):
    """What one GPU has, in GiB."""

    least: float
    most: float


def gpu_memory(host: InstanceType) -> GpuMemory | None:
    """The memory of each GPU of an instance type; None if it has none, or is not known."""
    return _table().get((host.gpu_name, host.gpu_memory_mib_each))


@cache
def _table() -> Mapping[tuple[str | None, int], GpuMemory]:
    rows = csv.DictReader(text("gpus.csv").splitlines())
    return {
        (row["gpu_name"], int(row["memory_mib"])): GpuMemory(float(row["least_gib"]), float(row["most_gib"]))
        for row in rows
    }
