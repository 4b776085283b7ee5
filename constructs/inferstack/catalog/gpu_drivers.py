"""NVIDIA's drivers on SageMaker's hosts: which CUDA they run, and which GPUs they know.

Drivers of families and AMIs are those of
https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

Cuda = tuple[int, int]


class Driver(msgspec.Struct, frozen=True):
    """A branch of NVIDIA's drivers and the CUDA that came with it. From 12 on it runs all of a generation.

    ``bridged`` is the last CUDA of a later generation that runs on it where the image brings NVIDIA's
    compatibility libraries (cuda-compat). NVIDIA keeps them for some branches only, which its images name in
    NVIDIA_REQUIRE_CUDA; what is here has been seen on SageMaker, too.
    """

    branch: int
    cuda: Cuda
    bridged: Cuda = (0, 0)
    bridged_on: Mapping[str, Cuda] = MappingProxyType({})
    """Where it is another one on a GPU, by the GPU's name."""

    def runs(self, cuda: Cuda) -> bool:
        """Whether it runs a CUDA by itself."""
        return self.cuda[0] >= cuda[0]

    def bridges(self, cuda: Cuda, gpu_name: str | None) -> bool:
        """Whether it is known to run a CUDA with the compatibility libraries."""
        return cuda <= self.bridged_on.get(gpu_name or "", self.bridged)


# CUDA 12.8 on ml.g5: notebooks of aws-samples/sagemaker-genai-hosting-examples with their outputs, such as
# 01-models/Qwen/Qwen3-30B-A3B/Qwen3-30B-A3B-LMI.ipynb. From 12.9 on, NVIDIA's libraries leave the branch out.
# On ml.g4dn images with 12.x have been seen not to start: docker/whisperx/Dockerfile.amzn2023 of
# aws/deep-learning-containers (12.8) and https://github.com/aws/sagemaker-python-sdk/pull/6141
_R470 = Driver(470, (11, 4), bridged=(12, 8), bridged_on=MappingProxyType({"t4": (12, 4)}))
# NVIDIA's libraries for CUDA 13 take this branch, too; of a run on SageMaker nothing is known.
_R535 = Driver(535, (12, 2))
# 01-models/google/embeddinggemma of the same notebooks. From 13.2 on, NVIDIA's libraries leave it out.
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
"""What `inference_ami_version` brings."""

DEFAULT_DRIVERS: Mapping[str, Driver] = MappingProxyType(
    {
        **dict.fromkeys(("p2", "p3", "p4d", "p4de", "g4dn", "g5"), _R470),
        **dict.fromkeys(("p5", "g6"), _R535),
        **dict.fromkeys(("p5e", "p5en"), _R550),
    }
)
"""What a family has without `inference_ami_version`. Of families that are not here nothing is known."""

_BLACKWELL = 570
OLDEST_BRANCHES: Mapping[str, int] = MappingProxyType(
    {
        "b200": _BLACKWELL,
        "b300": _BLACKWELL,
        "rtx-pro-4500": _BLACKWELL,
        "rtx-pro-server-6000": 575,
    }
)
"""The first branch that knows a GPU, by the GPU's name: of the B200 570.133.20, of RTX PRO 6000 575.57.08; no
Blackwell is known to an older one than the B200. Of GPUs that are not here no driver above is known to be too
old. https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html
"""
