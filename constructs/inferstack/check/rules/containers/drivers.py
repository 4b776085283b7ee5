"""Do the host's NVIDIA driver, its GPU and the container's CUDA go together?

A container whose CUDA is too new for the driver dies without a log line. What is known comes from AWS's AMI
table, NVIDIA's release notes, recorded runs and reports, so all of these are warnings.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from inferstack.catalog.images import is_in_aws_registry, name_in_registry
from inferstack.catalog.instances import (
    AMI_DRIVERS,
    CUDA_13_AMI,
    DEFAULT_DRIVERS,
    NEWEST_AL2_AMI,
    OLDEST_BRANCHES,
    Cuda,
    Driver,
    InstanceType,
)
from inferstack.catalog.triton_container import Release
from inferstack.check.rules.base import GUIDE, warning
from inferstack.check.rules.containers.images import tag_of
from inferstack.facts.once import found_once
from inferstack.facts.triton import WrittenImage, triton_release
from inferstack.facts.walk import (
    PlacedContainer,
    component_variants,
    components,
    containers,
    every_variant,
    hosting,
    hosts,
    models,
)
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import FrameworkImage
from inferstack.format.variant import Variant
from inferstack.problems import Problem

_DRIVERS = f"{GUIDE}/inference-gpu-drivers.html"
_REPORT = "https://github.com/aws/deep-learning-containers/pull/6187"
_GPUS = "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html"

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
_TAGGED = re.compile(r"-cu(\d\d)(\d)\b")
# Ray Serve's image has no CUDA in its tag (.github/config/image/ray/sagemaker-gpu.yml).
_RAY = re.compile(r"(?:^|/)ray:serve-ml.*-cuda\b")
_RAY_CUDA = (12, 9)
# Images with CUDA 12 that AWS's own tests found not to start on the AMI for CUDA 13: Ray Serve's and
# WhisperX's (test/whisperx/sagemaker of the same repository). Another one starts: LMI's with CUDA 12.9, in
# the notebook of 01-models/NVIDIA/Nemotron-3-Super-120B-A12B of aws-samples/sagemaker-genai-hosting-examples.
_NOT_ON_CUDA_13 = re.compile(r"(?:^|/)(?:ray|whisperx):")
# Beyond this, images that are not AWS's may lack the compatibility libraries, or what enables them.
_LAST_BRIDGED_BY_ALL: Cuda = (12, 4)
_PROPOSED_AMIS = (NEWEST_AL2_AMI, CUDA_13_AMI)


class _Running(msgspec.Struct, frozen=True):
    """An image whose CUDA is known, and the hosts of a variant that run it and have GPUs.

    ``is_of_aws``: AWS's own images bring NVIDIA's libraries and enable them.
    https://docs.aws.amazon.com/sagemaker/latest/dg/container-nvidia-compliance.html
    """

    cuda: Cuda
    hosts: tuple[InstanceType, ...]
    is_of_aws: bool
    starts_on_cuda_13: bool


@warning("IS270", _DRIVERS)
def driver_runs_the_image(spec: ModelSpec) -> Iterator[Problem]:
    """The host's NVIDIA driver should be new enough for the CUDA of the image.

    Without `inference_ami_version`, the default driver of the instance family counts.
    """
    for placed, image, variant in _on_variants(spec):
        ami = variant.inference_ami_version
        for host in image.hosts:
            driver = _driver(ami, host)
            if driver is not None and not _runs(driver, ami, host, image):
                which = f"the default driver of {host.name}" if ami is None else f"the driver of {ami}"
                has, runs = _text(image.cuda), _text(driver.cuda)
                message = f"the image has CUDA {has}, but {which} is for CUDA {runs}"
                yield Problem((*placed.path, "image"), message, _fix(spec, variant))
                break


@warning("IS271", _REPORT)
def driver_is_not_too_new(spec: ModelSpec) -> Iterator[Problem]:
    """An image with CUDA 12 that is known not to start on the AMI for CUDA 13 should use an older AMI.

    Reported for a few images: the endpoint never comes up, and there is no log. Other images run.
    """
    for placed, image, variant in _on_variants(spec):
        ami = variant.inference_ami_version
        if image.hosts and not _starts_on(ami, image):
            message = f"this image has CUDA {_text(image.cuda)} and is known not to start on {ami}"
            yield Problem((*placed.path, "image"), message, _fix(spec, variant))


@warning("IS272", _GPUS)
def driver_knows_the_gpu(spec: ModelSpec) -> Iterator[Problem]:
    """The driver of `inference_ami_version` should not be too old for the host's GPU.

    Without it, the instance type gets a default driver that knows its GPU.
    """
    for path, variant in every_variant(spec):
        ami = variant.inference_ami_version
        host = next((it for it in _gpu_hosts(variant) if not _knows(ami, it)), None)
        if ami is not None and host is not None:
            branch, oldest = AMI_DRIVERS[ami].branch, OLDEST_BRANCHES[host.gpu_name or ""]
            message = f"{ami} has driver {branch}, but the GPU of {host.name} needs {oldest} or newer"
            yield Problem((*path, "inference_ami_version"), message, _fix(spec, variant))


def _image_cuda(placed: PlacedContainer) -> Cuda | None:
    """The CUDA of an image, from Triton's table or from a tag such as ``…-cu128``; None if unknown."""
    tag = next((it for it in (tag_of(placed, name) for name in placed.instance_types) if it is not None), "")
    release = triton_release(placed.image)
    if release is not None:
        return None if tag.endswith(_WITHOUT_CUDA) else _TRITON_CUDA.get(release)
    if _named(_RAY, placed.image):
        return _RAY_CUDA
    tagged = _TAGGED.search(tag)
    return tagged and (int(tagged[1]), int(tagged[2]))


def _named(pattern: re.Pattern[str], image: WrittenImage) -> bool:
    return isinstance(image, str) and pattern.search(name_in_registry(image)) is not None


# ---------------------------------------------------------------- what runs where


@found_once
def _on_variants(spec: ModelSpec) -> Iterator[tuple[PlacedContainer, _Running, Variant]]:
    """Every image whose CUDA is known, with each variant that runs it."""
    for placed in containers(spec):
        cuda = _image_cuda(placed)
        if cuda is None:
            continue
        for variant in _variants_of(spec, placed):
            here = tuple(it for it in _gpu_hosts(variant) if it.name in placed.instance_types)
            starts = not _named(_NOT_ON_CUDA_13, placed.image)
            yield placed, _Running(cuda, here, _is_of_aws(placed.image), starts), variant


def _is_of_aws(image: WrittenImage) -> bool:
    return isinstance(image, FrameworkImage) or (isinstance(image, str) and is_in_aws_registry(image))


def _variants_of(spec: ModelSpec, placed: PlacedContainer) -> Iterator[Variant]:
    for path, name, _ in models(spec):
        if placed.path[: len(path)] == path:
            yield from hosting(spec, name)
    for path, _, component in components(spec):
        if placed.path[: len(path)] == path:
            yield from component_variants(spec, component)


def _gpu_hosts(variant: Variant) -> Iterator[InstanceType]:
    return (host for host in hosts(variant) if host.gpus)


# ---------------------------------------------------------------- what goes together


def _driver(ami: str | None, host: InstanceType) -> Driver | None:
    return DEFAULT_DRIVERS.get(host.family) if ami is None else AMI_DRIVERS.get(ami)


def _runs(driver: Driver, ami: str | None, host: InstanceType, image: _Running) -> bool:
    """Whether a driver runs it, alone or with NVIDIA's libraries, which the default AMIs enable and elsewhere
    the image must.
    """
    if driver.runs(image.cuda):
        return True
    brings_libraries = image.is_of_aws or (ami is None and image.cuda <= _LAST_BRIDGED_BY_ALL)
    return brings_libraries and driver.bridges(image.cuda, host.gpu_name)


def _starts_on(ami: str | None, image: _Running) -> bool:
    driver = AMI_DRIVERS.get(ami or "")
    too_new = driver is not None and driver.cuda[0] > image.cuda[0]
    return image.starts_on_cuda_13 or not too_new


def _knows(ami: str | None, host: InstanceType) -> bool:
    driver = AMI_DRIVERS.get(ami or "")
    return driver is None or driver.branch >= OLDEST_BRANCHES.get(host.gpu_name or "", 0)


# ---------------------------------------------------------------- what to do


def _fix(spec: ModelSpec, variant: Variant) -> str:
    """Proposes an AMI that causes none of the warnings above, whatever else the variant runs."""
    images = [image for _, image, it in _on_variants(spec) if it is variant]
    generation = max((image.cuda[0] for image in images), default=0)
    nearest = sorted(_PROPOSED_AMIS, key=lambda ami: abs(AMI_DRIVERS[ami].cuda[0] - generation))
    for ami in nearest:
        if _fits(ami, variant, images):
            return f"write `inference_ami_version: {ami}` in the variant"
    if variant.inference_ami_version is not None and _fits(None, variant, images):
        return "remove `inference_ami_version`: the default driver is made for the instance type"
    return "use builds of the images for another CUDA, or another instance type"


def _fits(ami: str | None, variant: Variant, images: Sequence[_Running]) -> bool:
    known = all(_knows(ami, host) for host in _gpu_hosts(variant))
    return known and all(_starts_on(ami, image) and _runs_everywhere(ami, image) for image in images)


def _runs_everywhere(ami: str | None, image: _Running) -> bool:
    drivers = ((host, _driver(ami, host)) for host in image.hosts)
    return all(driver is None or _runs(driver, ami, host, image) for host, driver in drivers)


def _text(cuda: Cuda) -> str:
    return f"{cuda[0]}.{cuda[1]}"
