"""Does the host's NVIDIA driver run the container's CUDA?

A container whose CUDA is too new for the driver dies without a log line. What is known comes from AWS's
AMI table, NVIDIA's release notes and reports, so all of it is advice.
"""

import re
from collections.abc import Iterator

from inferstack.catalog.instances import InstanceType
from inferstack.catalog.triton_container import Release
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.parts.triton_image import triton_release
from inferstack.spec.parts.walk import (
    PlacedContainer,
    component_variants,
    components,
    containers,
    hosting,
    hosts,
    models,
)
from inferstack.spec.rules.base import Finding, warning
from inferstack.spec.rules.images import tag_of

_DRIVERS = "https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html"
Cuda = tuple[int, int]

# CUDA inside Triton's images, from NVIDIA's support matrix.
_TRITON_CUDA: dict[Release, Cuda] = {
    (23, 12): (12, 3),
    (24, 1): (12, 3),
    (24, 3): (12, 4),
    (24, 5): (12, 4),
    (24, 9): (12, 6),
    (25, 4): (12, 9),
    (25, 9): (13, 0),
    (26, 3): (13, 2),
    (26, 5): (13, 2),
}
_WITHOUT_CUDA = "-cpu"
# CUDA that belongs to the driver of each AMI, as the API documents it.
_AMI_CUDA: dict[str, Cuda] = {
    "al2-ami-sagemaker-inference-gpu-2": (12, 2),
    "al2-ami-sagemaker-inference-gpu-2-1": (12, 2),
    "al2-ami-sagemaker-inference-gpu-3-1": (12, 4),
    "al2023-ami-sagemaker-inference-gpu-4-1": (13, 0),
}
_ADVISED = {12: "al2-ami-sagemaker-inference-gpu-3-1", 13: "al2023-ami-sagemaker-inference-gpu-4-1"}
# CUDA of the default driver, by instance family. Of families that are not listed nothing is known.
_DEFAULT_CUDA: dict[str, Cuda] = {
    **dict.fromkeys(("p2", "p3", "p4d", "p4de", "g4dn", "g5"), (11, 4)),
    **dict.fromkeys(("p5", "g6"), (12, 2)),
    **dict.fromkeys(("p5e", "p5en"), (12, 4)),
}
# Up to here NVIDIA's compatibility libraries in the image bridge the gap to the oldest driver.
_LAST_BRIDGED: Cuda = (12, 4)


@warning("IS270", "The host's NVIDIA driver is new enough for the CUDA of the image.", _DRIVERS, ModelSpec)
def driver_runs_the_image(spec: ModelSpec) -> Iterator[Finding]:
    """Without `inference_ami_version` the default driver of the instance family counts."""
    for placed in containers(spec):
        cuda = image_cuda(placed)
        if cuda is None:
            continue
        for variant in _variants_of(spec, placed):
            unfit = [host for host in hosts(variant) if host.gpus and not _runs(variant, host, cuda)]
            for host in unfit[:1]:
                yield _too_old(placed, cuda, variant, host)


@warning(
    "IS271",
    "The host's NVIDIA driver is not of a later generation than the CUDA of the image.",
    "user reports",
    ModelSpec,
    about="inference_ami_version",
)
def driver_is_not_too_new(spec: ModelSpec) -> Iterator[Finding]:
    """Reported: images with CUDA 12.9 never come up on the AMI for CUDA 13."""
    for placed in containers(spec):
        cuda = image_cuda(placed)
        for variant in _variants_of(spec, placed):
            ami = _AMI_CUDA.get(variant.inference_ami_version or "")
            if cuda is not None and ami is not None and ami[0] > cuda[0]:
                name = variant.inference_ami_version
                message = f"the image has CUDA {_text(cuda)}, and {name} is for CUDA {_text(ami)}"
                fix = f"write `inference_ami_version: {_ADVISED[12]}`"
                yield Finding((*placed.path, "image"), message, fix)


def image_cuda(placed: PlacedContainer) -> Cuda | None:
    """The CUDA of an image, from Triton's table or from a tag such as ``…-cu128``; None if unknown."""
    tag = next((it for it in (tag_of(placed, name) for name in placed.instance_types) if it is not None), "")
    release = triton_release(placed.image)
    if release is not None:
        return None if tag.endswith(_WITHOUT_CUDA) else _TRITON_CUDA.get(release)
    tagged = re.search(r"-cu(\d\d)(\d)\b", tag)
    return tagged and (int(tagged[1]), int(tagged[2]))


def _variants_of(spec: ModelSpec, placed: PlacedContainer) -> Iterator[Variant]:
    for path, name, _ in models(spec):
        if placed.path == path:
            yield from hosting(spec, name)
    for path, _, component in components(spec):
        if placed.path[: len(path)] == path:
            yield from component_variants(spec, component)


def _driver_cuda(variant: Variant, host: InstanceType) -> Cuda | None:
    ami = variant.inference_ami_version
    return _DEFAULT_CUDA.get(host.family) if ami is None else _AMI_CUDA.get(ami)


def _runs(variant: Variant, host: InstanceType, cuda: Cuda) -> bool:
    """A driver runs every CUDA of its own generation, from 12 on."""
    driver = _driver_cuda(variant, host)
    if driver is None or driver[0] >= cuda[0]:
        return True
    return cuda <= _LAST_BRIDGED and variant.inference_ami_version is None


def _too_old(placed: PlacedContainer, cuda: Cuda, variant: Variant, host: InstanceType) -> Finding:
    ami, driver = variant.inference_ami_version, _driver_cuda(variant, host)
    which = f"the default driver of {host.name}" if ami is None else f"the driver of {ami}"
    message = f"the image has CUDA {_text(cuda)}, and {which} is for CUDA {_text(driver or cuda)}"
    advised = _ADVISED.get(cuda[0], _ADVISED[13])
    return Finding(
        (*placed.path, "image"), message, f"write `inference_ami_version: {advised}` in the variant"
    )


def _text(cuda: Cuda) -> str:
    return f"{cuda[0]}.{cuda[1]}"
