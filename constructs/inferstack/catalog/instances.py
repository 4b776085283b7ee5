"""Instance types that can host a model: their hardware, and the NVIDIA drivers of their hosts.

The facts are EC2's; an ``ml.`` type has the processors, memory and disks of the EC2 type of the same name.
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
Which CUDA versions the drivers of instance families and AMIs run:
https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html
"""

import csv
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

import msgspec

from inferstack.catalog import text

# ---------------------------------------------------------------- hardware

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
        """Number of GPUs or Neuron devices: what an inference component's requirement counts."""
        return self.gpus if self.gpus else self.accelerators

    def devices(self, device: Device | None) -> int:
        """How many devices a metric sums over on this type; 1 for a metric that is not a sum (None)."""
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
    """The lines of the table, by the name at their beginning."""

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


# ---------------------------------------------------------------- GPUs

Capability = tuple[int, int]

COMPUTE_CAPABILITIES: Mapping[str, Capability] = MappingProxyType(
    {
        "k80": (3, 7),
        "v100": (7, 0),
        "t4": (7, 5),
        "a100": (8, 0),
        "a10g": (8, 6),
        "l4": (8, 9),
        "l40s": (8, 9),
        "h100": (9, 0),
        "h200": (9, 0),
        "b200": (10, 0),
        "b300": (10, 3),
        "rtx-pro-4500": (12, 0),
        "rtx-pro-server-6000": (12, 0),
    }
)
"""What a GPU can compute, by its name. https://developer.nvidia.com/cuda-gpus"""


def runs_code_for(capability: Capability, built_for: Capability) -> bool:
    """Whether a GPU runs what is compiled for a capability: of the same generation, and not a newer one."""
    return built_for[0] == capability[0] and built_for[1] <= capability[1]


# ---------------------------------------------------------------- drivers

Cuda = tuple[int, int]


class Driver(msgspec.Struct, frozen=True):
    """A branch of NVIDIA's drivers, and the CUDA version that came with it.

    From CUDA 12 on, a driver runs every CUDA of the same major version.

    ``bridged`` is the newest CUDA of a later major version that runs on it if the image contains NVIDIA's
    compatibility libraries (cuda-compat). NVIDIA maintains them for some branches only, which its images name
    in NVIDIA_REQUIRE_CUDA; what is listed here has also been seen to work on SageMaker.
    """

    branch: int
    cuda: Cuda
    bridged: Cuda = (0, 0)

    def runs(self, cuda: Cuda) -> bool:
        """Whether it runs a CUDA version without compatibility libraries."""
        return self.cuda[0] >= cuda[0]

    def bridges(self, cuda: Cuda) -> bool:
        """Whether it is known to run a CUDA version with the compatibility libraries."""
        return cuda <= self.bridged


# Newer CUDA is seen on it in images of LMI only, whose label makes SageMaker choose another driver.
_R470 = Driver(470, (11, 4), bridged=(12, 4))
# NVIDIA's libraries for CUDA 13 support this branch, too, but no run on SageMaker is known.
_R535 = Driver(535, (12, 2))
# CUDA 13.0: 01-models/google/embeddinggemma of aws-samples/sagemaker-genai-hosting-examples. From 13.2 on,
# NVIDIA's libraries omit it.
_R550 = Driver(550, (12, 4), bridged=(13, 0))
_R580 = Driver(580, (13, 0))

NEWEST_AL2_AMI = "al2-ami-sagemaker-inference-gpu-3-1"
CUDA_13_AMI = "al2023-ami-sagemaker-inference-gpu-4-1"
AMI_DRIVERS: Mapping[str, Driver] = MappingProxyType(
    {
        "al2-ami-sagemaker-inference-gpu-2": _R535,
        "al2-ami-sagemaker-inference-gpu-2-1": _R535,
        NEWEST_AL2_AMI: _R550,
        CUDA_13_AMI: _R580,
    }
)
"""The driver of each `inference_ami_version`."""

DEFAULT_DRIVERS: Mapping[str, Driver] = MappingProxyType(
    {
        **dict.fromkeys(("p2", "p3", "p4d", "p4de", "g4dn", "g5"), _R470),
        **dict.fromkeys(("p5", "g6"), _R535),
        **dict.fromkeys(("p5e", "p5en"), _R550),
    }
)
"""The driver of an instance family without `inference_ami_version`. Other families are not known."""

# What AWS's SDK sets CUDA_13_AMI for, "allowlist only instance families documented for the GPU 4.1 AMI":
# sagemaker/serve/model_builder_servers.py in its package sagemaker-serve 1.27.0.
CUDA_13_AMI_FAMILIES = frozenset({"g4dn", "g5", "g6", "g6e", "p4d", "p4de", "p5", "p5e", "p5en"})
# Whose default driver is too old for CUDA 12.5 to 12.9, and those that NEWEST_AL2_AMI serves as well.
CUDA_12_AMI_FAMILIES = frozenset({"g4dn", "g5", "p4d", "p4de"})
NEWEST_AL2_AMI_FAMILIES = CUDA_12_AMI_FAMILIES | {"g6", "p5"}

_BLACKWELL = 570
OLDEST_BRANCHES: Mapping[str, int] = MappingProxyType(
    {
        "b200": _BLACKWELL,
        "b300": _BLACKWELL,
        "rtx-pro-4500": 595,
        "rtx-pro-server-6000": 575,
    }
)
"""The oldest branch that supports a GPU, by the GPU's name: since 570.133.20 for the B200, 575.57.08 for the
RTX PRO 6000, 595 for the RTX PRO 4500 (https://github.com/NVIDIA/aicr/issues/2743); no Blackwell GPU is known
to be supported by an older branch than the B200. For GPUs that are not here, none of the drivers above is
known to be too old.
https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html
"""
