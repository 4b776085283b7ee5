"""Instance types that can host a model, with what is in them.

The facts are EC2's (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html);
an ``ml.`` type has the processors, memory and disks of the EC2 type of the same name.
"""

import csv
from collections.abc import Mapping
from functools import cache
from typing import Literal

import msgspec

from inferstack.catalog._data import text

Device = Literal["gpu", "vcpu"]

# The types on which AWS documents multi-model endpoints on GPU: one GPU each. See
# https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-support.html
MULTI_MODEL_GPU_TYPES = frozenset(
    f"ml.{family}.{size}"
    for family, sizes in {
        "g4dn": ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"),
        "g5": ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"),
        "p2": ("xlarge",),
        "p3": ("2xlarge",),
    }.items()
    for size in sizes
)


class InstanceType(msgspec.Struct, frozen=True):
    """One instance type: memory in MiB, local disk in GB (0: none), None for the name of no device."""

    name: str
    vcpus: int
    memory_mib: int
    gpus: int
    gpu_memory_mib_each: int
    gpu_name: str | None
    gpu_manufacturer: str | None
    accelerators: int
    accelerator_name: str | None
    local_nvme_gb: int

    @property
    def family(self) -> str:
        """The part between the dots: ``g5`` of ``ml.g5.xlarge``."""
        return self.name.split(".")[1]

    @property
    def accelerator_devices(self) -> int:
        """GPUs or Neuron devices: what an inference component's accelerator requirement counts."""
        return self.gpus if self.gpus else self.accelerators

    def devices(self, device: Device | None) -> int:
        """How many of these it has, so that a metric of each may sum over; 1 for a metric of none."""
        match device:
            case "gpu":
                return self.gpus
            case "vcpu":
                return self.vcpus
            case None:
                return 1

    @property
    def has_local_nvme(self) -> bool:
        """Whether models are stored on the instance's own disk, so that no volume size may be given."""
        return self.local_nvme_gb > 0


def find(name: str) -> InstanceType | None:
    """The instance type of this name (``ml.g5.xlarge``), or None if its facts are not known."""
    return _instance_type(name) if name in _table().lines else None


def names() -> tuple[str, ...]:
    """Every instance type whose facts are known, in the table's order."""
    return tuple(_table().lines)


class _Table(msgspec.Struct, frozen=True):
    """The lines of the table by the name that they begin with."""

    header: str
    lines: Mapping[str, str]


@cache
def _table() -> _Table:
    header, *lines = text("instance-types.csv").splitlines()
    return _Table(header, {line.partition(",")[0]: line for line in lines})


# One by one: all of them take as long as a spec, which has a few.
@cache
def _instance_type(name: str) -> InstanceType:
    (row,) = csv.DictReader([_table().header, _table().lines[name]])
    return InstanceType(
        name=row["instance_type"],
        vcpus=int(row["vcpus"]),
        memory_mib=int(row["memory_mib"]),
        gpus=_count(row["gpus"]),
        gpu_memory_mib_each=_count(row["gpu_memory_mib_each"]),
        gpu_name=row["gpu_name"] or None,
        gpu_manufacturer=row["gpu_manufacturer"] or None,
        accelerators=_count(row["accelerators"]),
        accelerator_name=row["accelerator_name"] or None,
        local_nvme_gb=_count(row["local_nvme_gb"]),
    )


def _count(cell: str) -> int:
    return int(cell) if cell else 0
