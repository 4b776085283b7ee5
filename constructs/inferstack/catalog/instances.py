"""Instance types that can host a model, with their hardware.

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

# The types for which AWS documents multi-model endpoints on GPU; each has one GPU. See
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
    """One instance type: memory in MiB, local disk in GB (0: none); names of missing devices are None."""

    name: str
    vcpus: int
    memory_mib: int
    gpus: int
    gpu_memory_mib_each: int
    gpu_name: str | None
    accelerators: int
    accelerator_name: str | None
    local_nvme_gb: int

    @property
    def family(self) -> str:
        """The part between the dots: ``g5`` of ``ml.g5.xlarge``."""
        return self.name.split(".")[1]

    @property
    def accelerator_devices(self) -> int:
        """Number of GPUs or Neuron devices, which is what an inference component's requirement counts."""
        return self.gpus if self.gpus else self.accelerators

    def devices(self, device: Device | None) -> int:
        """How many devices a metric sums over on this type; 1 for None, a metric that is no such sum."""
        match device:
            case "gpu":
                return self.gpus
            case "vcpu":
                return self.vcpus
            case None:
                return 1

    @property
    def has_local_nvme(self) -> bool:
        """Whether models are stored on the instance's own disk; then no volume size may be given."""
        return self.local_nvme_gb > 0


def find(name: str) -> InstanceType | None:
    """The instance type with this name (``ml.g5.xlarge``), or None if its facts are not known."""
    return _instance_type(name) if name in _table().lines else None


def names() -> tuple[str, ...]:
    """Every instance type whose facts are known, in the table's order."""
    return tuple(_table().lines)


class _Table(msgspec.Struct, frozen=True):
    """The lines of the table, by the name that each begins with."""

    header: str
    lines: Mapping[str, str]


@cache
def _table() -> _Table:
    header, *lines = text("instance-types.csv").splitlines()
    return _Table(header, {line.partition(",")[0]: line for line in lines})


# Parsed one by one: all of them would take as long as a whole spec, which uses only a few.
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
        accelerators=_count(row["accelerators"]),
        accelerator_name=row["accelerator_name"] or None,
        local_nvme_gb=_count(row["local_nvme_gb"]),
    )


def _count(cell: str) -> int:
    return int(cell) if cell else 0
