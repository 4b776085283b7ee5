"""IS270 to IS279: does the host's NVIDIA driver run the container's CUDA?

A container whose CUDA is too new for the driver dies without a log line. What is known comes from AWS's
AMI table, NVIDIA's release notes and reports, so all of it is advice.
"""

import re
from collections.abc import Iterator

from inferstack.catalog.instances import InstanceType
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import FrameworkImage
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.rules.base import Finding, warning
from inferstack.spec.rules.walk import (
    PlacedContainer,
    component_variants,
    components,
    containers,
    hosts,
    models,
    variants,
)

_DRIVERS = "https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html"
Cuda = tuple[int, int]

# CUDA inside Triton's images, from NVIDIA's support matrix.
_TRITON_CUDA: dict[str, Cuda] = {
    "23.12": (12, 3),
    "24.01": (12, 3),
    "24.03": (12, 4),
    "24.05": (12, 4),
    "24.09": (12, 6),
    "25.04": (12, 9),
    "25.09": (13, 0),
    "26.03": (13, 2),
    "26.05": (13, 2),
}
_TRITON_NAMES = frozenset({"triton", "sagemaker-tritonserver"})
# CUDA that belongs to the driver of each AMI, as the API documents it.
_AMI_CUDA: dict[str, Cuda] = {
    "al2-ami-sagemaker-inference-gpu-2": (12, 2),
    "al2-ami-sagemaker-inference-gpu-2-1": (12, 2),
    "al2-ami-sagemaker-inference-gpu-3-1": (12, 4),
    "al2023-ami-sagemaker-inference-gpu-4-1": (13, 0),
}
_ADVISED = {12: "al2-ami-sagemaker-inference-gpu-3-1", 13: "al2023-ami-sagemaker-inference-gpu-4-1"}
# Families whose default host has driver 470; all newer ones have 535 or later, of CUDA 12's generation.
_DRIVER_470 = frozenset({"g4dn", "g5", "p3", "p3dn", "p4d", "p4de", "p2"})
# Up to here images carry NVIDIA's compatibility libraries for driver 470.
_LAST_FOR_470: Cuda = (12, 4)


@warning("IS270", "The host's NVIDIA driver is new enough for the CUDA of the image.", _DRIVERS, ModelSpec)
def driver_runs_the_image(spec: ModelSpec) -> Iterator[Finding]:
    """Without `inference_ami_version` the default driver of the instance family counts."""
    for placed in containers(spec):
        cuda = image_cuda(placed)
        for variant in _variants_of(spec, placed) if cuda is not None else ():
            host = next(
                (host for host in hosts(variant) if host.gpus and not _runs(variant, host, cuda)), None
            )
            if host is not None and cuda is not None:
                yield _too_old(placed, cuda, variant, host)


@warning(
    "IS271",
    "The host's NVIDIA driver is not of a later generation than the CUDA of the image.",
    "user reports",
    ModelSpec,
)
def driver_is_not_too_new(spec: ModelSpec) -> Iterator[Finding]:
    """Reported: images with CUDA 12.9 never come up on the AMI for CUDA 13."""
    for placed in containers(spec):
        cuda = image_cuda(placed)
        for variant in _variants_of(spec, placed):
            ami = _AMI_CUDA.get(variant.inference_ami_version or "")
            if cuda is not None and ami is not None and ami[0] > cuda[0]:
                message = f"the image has CUDA {_text(cuda)}, and {variant.inference_ami_version} is for CUDA {_text(ami)}"
                yield Finding(
                    (*placed.path, "image"), message, f"write `inference_ami_version: {_ADVISED[12]}`"
                )


def image_cuda(placed: PlacedContainer) -> Cuda | None:
    """The CUDA version of an image, from the table or from a tag such as ``…-cu128``; None if unknown."""
    match placed.image:
        case FrameworkImage(framework=name, version=version) if name in _TRITON_NAMES:
            return _TRITON_CUDA.get(version)
        case str() as uri:
            return _cuda_of_uri(uri)
        case _:
            return None


def _cuda_of_uri(uri: str) -> Cuda | None:
    triton = re.search(r"sagemaker-tritonserver:(\d\d\.\d\d)-py3$", uri)
    if triton is not None:
        return _TRITON_CUDA.get(triton[1])
    tagged = re.search(r"[-.]cu(\d\d)(\d)\b", uri)
    return None if tagged is None else (int(tagged[1]), int(tagged[2]))


def _variants_of(spec: ModelSpec, placed: PlacedContainer) -> Iterator[Variant]:
    for path, name, _ in models(spec):
        if placed.path == path:
            yield from (it for _, it in variants(spec) if name is None or it.model_name == name)
    for path, _, component in components(spec):
        if placed.path[: len(path)] == path:
            yield from component_variants(spec, component)


def _runs(variant: Variant, host: InstanceType, cuda: Cuda | None) -> bool:
    """CUDA runs on any driver of its own generation from 12 on; driver 470 is of CUDA 11's."""
    if cuda is None or cuda[0] < 12:
        return True
    ami = variant.inference_ami_version
    if ami is not None:
        return ami not in _AMI_CUDA or _AMI_CUDA[ami][0] >= cuda[0]
    return cuda <= _LAST_FOR_470 if host.family in _DRIVER_470 else cuda[0] == 12


def _too_old(placed: PlacedContainer, cuda: Cuda, variant: Variant, host: InstanceType) -> Finding:
    ami = variant.inference_ami_version
    driver = f"the default driver of {host.name}" if ami is None else f"the driver of {ami}"
    message = f"the image has CUDA {_text(cuda)}, which {driver} does not run"
    advised = _ADVISED.get(cuda[0], _ADVISED[13])
    return Finding(
        (*placed.path, "image"), message, f"write `inference_ami_version: {advised}` in the variant"
    )


def _text(cuda: Cuda) -> str:
    return f"{cuda[0]}.{cuda[1]}"
