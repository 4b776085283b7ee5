"""NVIDIA's drivers on SageMaker's hosts: which CUDA versions they run, and which GPUs they support.

The drivers of instance families and AMIs are from
https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

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
    bridged_on: Mapping[str, Cuda] = MappingProxyType({})
    """GPUs for which that version is a different one, by the GPU's name."""

    def runs(self, cuda: Cuda) -> bool:
        """Whether it runs a CUDA version without compatibility libraries."""
        return self.cuda[0] >= cuda[0]

    def bridges(self, cuda: Cuda, gpu_name: str | None) -> bool:
        """Whether it is known to run a CUDA version with the compatibility libraries."""
        return cuda <= self.bridged_on.get(gpu_name or "", self.bridged)


# CUDA 12.8 on ml.g5: notebooks in aws-samples/sagemaker-genai-hosting-examples show it in their outputs, such
# as 01-models/Qwen/Qwen3-30B-A3B/Qwen3-30B-A3B-LMI.ipynb. From 12.9 on, NVIDIA's libraries omit this branch.
# On ml.g4dn, images with 12.x have been seen not to start: docker/whisperx/Dockerfile.amzn2023 in
# aws/deep-learning-containers (12.8) and https://github.com/aws/sagemaker-python-sdk/pull/6141
_R470 = Driver(470, (11, 4), bridged=(12, 8), bridged_on=MappingProxyType({"t4": (12, 4)}))
# NVIDIA's libraries for CUDA 13 support this branch, too, but no run on SageMaker is known.
_R535 = Driver(535, (12, 2))
# CUDA 13.0: 01-models/google/embeddinggemma in the same notebooks. From 13.2 on, NVIDIA's libraries omit it.
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

_BLACKWELL = 570
OLDEST_BRANCHES: Mapping[str, int] = MappingProxyType(
    {
        "b200": _BLACKWELL,
        "b300": _BLACKWELL,
        "rtx-pro-4500": _BLACKWELL,
        "rtx-pro-server-6000": 575,
    }
)
"""The oldest branch that supports a GPU, by the GPU's name: since 570.133.20 for the B200, 575.57.08 for the
RTX PRO 6000; no Blackwell GPU is known to be supported by an older branch than the B200. For GPUs that are
not here, none of the drivers above is known to be too old.
https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html
"""
