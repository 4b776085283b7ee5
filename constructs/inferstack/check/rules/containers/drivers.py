"""Do the host's NVIDIA driver, its GPU and the container's CUDA go together?

A container whose CUDA is too new for the driver dies without a log line. What is known comes from AWS's AMI
table, NVIDIA's release notes, recorded runs and reports, so all of these are warnings.
"""

from collections.abc import Iterator, Sequence

from inferstack.catalog.instances import (
    AMI_DRIVERS,
    COMPUTE_CAPABILITIES,
    CUDA_13_AMI,
    CUDA_13_AMI_FAMILIES,
    DEFAULT_DRIVERS,
    NEWEST_AL2_AMI,
    OLDEST_BRANCHES,
    Capability,
    Cuda,
    Driver,
    InstanceType,
    runs_code_for,
)
from inferstack.check.rules.base import GUIDE, warning
from inferstack.facts.amis import (
    LAST_OF_ANY_DRIVER,
    GpuImage,
    ami_of,
    default_ami,
    gpu_hosts,
    gpu_images,
    images_on,
)
from inferstack.facts.walk import every_variant
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant
from inferstack.problems import Problem

_DRIVERS = f"{GUIDE}/inference-gpu-drivers.html"
_REPORT = "https://github.com/aws/deep-learning-containers/pull/6187"
_GPUS = "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html"
_SGLANG = "https://github.com/aws/deep-learning-containers/blob/main/docs/sglang/changelog.md"
_PROPOSED_AMIS = (NEWEST_AL2_AMI, CUDA_13_AMI)


@warning("IS270", _DRIVERS)
def driver_runs_the_image(spec: ModelSpec) -> Iterator[Problem]:
    """The host's NVIDIA driver should be new enough for the CUDA of the image.

    Without `inference_ami_version`, the default driver of the instance family counts. Nothing is said of
    images with a label by which SageMaker is seen to choose the driver: LMI's and TensorRT-LLM's.
    """
    for image in gpu_images(spec):
        ami = ami_of(spec, image.variant)
        for host in image.hosts:
            driver = _driver(ami, host)
            if image.cuda is not None and driver is not None and not _runs(driver, ami, image):
                which = f"the default driver of {host.name}" if ami is None else f"the driver of {ami}"
                message = (
                    f"the image has CUDA {_text(image.cuda)}, but {which} is for CUDA {_text(driver.cuda)}"
                )
                yield Problem((*image.placed.path, "image"), message, _fix(spec, image.variant))
                break


@warning("IS271", _REPORT)
def driver_is_not_too_new(spec: ModelSpec) -> Iterator[Problem]:
    """An image with CUDA 12 that is known not to start on the AMI for CUDA 13 should use an older AMI.

    Reported for a few images: the endpoint never comes up, and there is no log. Other images run.
    """
    for image in gpu_images(spec):
        ami = ami_of(spec, image.variant)
        if image.cuda is not None and image.hosts and not _starts_on(ami, image):
            message = f"this image has CUDA {_text(image.cuda)} and is known not to start on {ami}"
            yield Problem((*image.placed.path, "image"), message, _fix(spec, image.variant))


@warning("IS272", _GPUS)
def driver_knows_the_gpu(spec: ModelSpec) -> Iterator[Problem]:
    """The driver of `inference_ami_version` should not be too old for the host's GPU.

    Without it, the instance type gets a default driver that knows its GPU.
    """
    for path, variant in every_variant(spec):
        ami = variant.inference_ami_version
        host = next((it for it in gpu_hosts(variant) if not _knows(ami, it)), None)
        if ami is not None and host is not None:
            branch, oldest = AMI_DRIVERS[ami].branch, OLDEST_BRANCHES[host.gpu_name or ""]
            message = f"{ami} has driver {branch}, but the GPU of {host.name} needs {oldest} or newer"
            yield Problem((*path, "inference_ami_version"), message, _fix(spec, variant))


@warning("IS370", _SGLANG)
def image_has_code_for_the_gpu(spec: ModelSpec) -> Iterator[Problem]:
    """An image should be built for the GPU of the host.

    AWS builds some images for the newest generations of GPUs only. On others, the server ends.
    """
    for image in gpu_images(spec):
        for host in image.hosts:
            capability = COMPUTE_CAPABILITIES.get(host.gpu_name or "")
            if capability is None or not image.built_for:
                continue
            if not any(runs_code_for(capability, it) for it in image.built_for):
                built = ", ".join(map(_text, image.built_for))
                has = f"{host.name} has {_text(capability)}"
                message = f"this image is built for GPUs of compute capability {built}, but {has}"
                fix = "use `framework: sglang`, which is built for all, or an instance type of ml.p5 or ml.p6"
                yield Problem((*image.placed.path, "image"), message, fix)
                break


# ---------------------------------------------------------------- what goes together


def _driver(ami: str | None, host: InstanceType) -> Driver | None:
    return DEFAULT_DRIVERS.get(host.family) if ami is None else AMI_DRIVERS.get(ami)


def _runs(driver: Driver, ami: str | None, image: GpuImage) -> bool:
    """Whether a driver runs it, alone or with NVIDIA's libraries, which the default AMIs enable and elsewhere
    the image must. What has a label is verified for the oldest driver that SageMaker may choose.
    """
    if image.cuda is None or driver.runs(image.cuda) or image.is_labelled:
        return True
    brings_libraries = image.brings_libraries or (ami is None and image.cuda <= LAST_OF_ANY_DRIVER)
    return brings_libraries and driver.bridges(image.cuda)


def _starts_on(ami: str | None, image: GpuImage) -> bool:
    driver = AMI_DRIVERS.get(ami or "")
    too_new = driver is not None and image.cuda is not None and driver.cuda[0] > image.cuda[0]
    return image.starts_on_cuda_13 or not too_new


def _knows(ami: str | None, host: InstanceType) -> bool:
    driver = AMI_DRIVERS.get(ami or "")
    return driver is None or driver.branch >= OLDEST_BRANCHES.get(host.gpu_name or "", 0)


# ---------------------------------------------------------------- what to do


def _fix(spec: ModelSpec, variant: Variant) -> str:
    """Proposes an AMI that causes none of the warnings above, whatever else the variant runs."""
    images = images_on(spec, variant)
    generation = max((it.cuda[0] for it in images if it.cuda is not None), default=0)
    nearest = sorted(_PROPOSED_AMIS, key=lambda ami: abs(AMI_DRIVERS[ami].cuda[0] - generation))
    for ami in nearest:
        if _fits(ami, variant, images):
            return f"write `inference_ami_version: {ami}` in the variant{_as_the_sdk(ami, variant)}"
    default = default_ami(spec, variant)
    without = None if default is None else default.value
    if variant.inference_ami_version is not None and _fits(without, variant, images):
        return "remove `inference_ami_version`: the default driver is made for the instance type"
    return "use builds of the images for another CUDA, or another instance type"


def _as_the_sdk(ami: str, variant: Variant) -> str:
    is_set = ami == CUDA_13_AMI and all(it.family in CUDA_13_AMI_FAMILIES for it in gpu_hosts(variant))
    return ", which AWS's SDK sets for images with CUDA 13" if is_set else ""


def _fits(ami: str | None, variant: Variant, images: Sequence[GpuImage]) -> bool:
    known = all(_knows(ami, host) for host in gpu_hosts(variant))
    return known and all(_starts_on(ami, image) and _runs_everywhere(ami, image) for image in images)


def _runs_everywhere(ami: str | None, image: GpuImage) -> bool:
    drivers = (_driver(ami, host) for host in image.hosts)
    return all(driver is None or _runs(driver, ami, image) for driver in drivers)


def _text(version: Cuda | Capability) -> str:
    return f"{version[0]}.{version[1]}"
