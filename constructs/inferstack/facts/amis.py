"""The images that run on GPUs, and the AMI of the instances, which brings the driver.

A container whose CUDA is too new for the driver dies without a log line. Which driver an instance has without
an AMI of the spec's is documented for some families; for an image with a label, SageMaker chooses by that.
https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from inferstack.catalog.image_contents import ImageContents
from inferstack.catalog.instances import (
    CUDA_12_AMI_FAMILIES,
    CUDA_13_AMI_FAMILIES,
    NEWEST_AL2_AMI_FAMILIES,
    Capability,
    Cuda,
    InstanceType,
)
from inferstack.facts.engines import contents_of, is_of_aws, name_of
from inferstack.facts.once import answered_once, found_once
from inferstack.facts.walk import (
    PlacedContainer,
    component_variants,
    containers,
    hosting,
    hosts,
    instance_types,
)
from inferstack.format.defaults import AMI_FOR_CUDA_12, AMI_FOR_CUDA_13, Default
from inferstack.format.kinds import ModelSpec
from inferstack.format.variant import Variant

_TAGGED = re.compile(r"-cu(\d\d)(\d)\b")
# Images with CUDA 12 that AWS's own tests found not to start on the AMI for CUDA 13: Ray Serve's and
# WhisperX's (test/whisperx/sagemaker of aws/deep-learning-containers). Another starts: LMI's with CUDA 12.9,
# in 01-models/NVIDIA/Nemotron-3-Super-120B-A12B of aws-samples/sagemaker-genai-hosting-examples.
_NOT_ON_CUDA_13 = frozenset({"ray", "whisperx"})
# Its entry point looks for the compatibility libraries in a shell of its own; the server does not find them.
_ENABLE_NO_LIBRARIES = frozenset({"sglang"})
LAST_OF_ANY_DRIVER: Cuda = (12, 4)
"""The newest CUDA that is seen to run on the default driver of every family."""


class GpuImage(msgspec.Struct, frozen=True):
    """An image with CUDA, and the hosts of a variant that run it and have GPUs.

    ``cuda``: None if it is not known. ``brings_libraries``: AWS's own images bring NVIDIA's compatibility
    libraries and enable them. ``is_labelled``: SageMaker chooses the driver by a label of the image.
    ``built_for``: the GPUs that it has code for, where it leaves some out.
    https://docs.aws.amazon.com/sagemaker/latest/dg/container-nvidia-compliance.html
    """

    placed: PlacedContainer
    variant: Variant
    hosts: tuple[InstanceType, ...]
    cuda: Cuda | None
    brings_libraries: bool
    is_labelled: bool
    starts_on_cuda_13: bool
    built_for: tuple[Capability, ...]


@found_once
def gpu_images(spec: ModelSpec) -> Iterator[GpuImage]:
    """Every image on instances with GPUs, with each variant that runs it; adapters have none."""
    for placed in containers(spec):
        if placed.is_of_adapter:
            continue
        inside = contents_of(placed)
        for variant in _variants_of(spec, placed):
            yield GpuImage(
                placed=placed,
                variant=variant,
                hosts=tuple(it for it in gpu_hosts(variant) if it.name in placed.instance_types),
                cuda=_tagged(placed) if inside is None or inside.cuda is None else inside.cuda,
                brings_libraries=is_of_aws(placed) and not _is(inside, _ENABLE_NO_LIBRARIES),
                is_labelled=inside is not None and inside.is_labelled,
                starts_on_cuda_13=not _is(inside, _NOT_ON_CUDA_13),
                built_for=() if inside is None else inside.built_for,
            )


def gpu_hosts(variant: Variant) -> Iterator[InstanceType]:
    """The instance types of a variant that have NVIDIA's GPUs."""
    return (host for host in hosts(variant) if host.gpus)


def _is(inside: ImageContents | None, engines: frozenset[str]) -> bool:
    return inside is not None and inside.engine in engines


def _tagged(placed: PlacedContainer) -> Cuda | None:
    """The CUDA of an image that no table has, from a tag such as ``…-cu128``."""
    name = name_of(placed)
    found = None if name is None else _TAGGED.search(name[1])
    return found and (int(found[1]), int(found[2]))


def _variants_of(spec: ModelSpec, placed: PlacedContainer) -> tuple[Variant, ...]:
    if placed.run is not None:
        return component_variants(spec, placed.run.component)
    return hosting(spec, placed.model)


@answered_once
def _by_variant(spec: ModelSpec) -> Mapping[int, Sequence[GpuImage]]:
    """By the identity of the variant: many are equal."""
    found: dict[int, list[GpuImage]] = {}
    for image in gpu_images(spec):
        found.setdefault(id(image.variant), []).append(image)
    return found


def images_on(spec: ModelSpec, variant: Variant) -> Sequence[GpuImage]:
    """What of :func:`gpu_images` a variant runs."""
    return _by_variant(spec).get(id(variant), ())


# ---------------------------------------------------------------- the AMI


def ami_of(spec: ModelSpec, variant: Variant) -> str | None:
    """The AMI of a variant: the spec's, or the default; None for that of its instance type."""
    if variant.inference_ami_version is not None:
        return variant.inference_ami_version
    found = default_ami(spec, variant)
    return None if found is None else found.value


def default_ami(spec: ModelSpec, variant: Variant) -> Default[str] | None:
    """The AMI that inferstack chooses for a variant without one.

    Only where the CUDA of all its images is known, and on families that the AMI is documented for.
    """
    images = images_on(spec, variant)
    families = {name.split(".")[1] for name in instance_types(variant) if name.count(".") == 2}
    known = [it.cuda for it in images if it.cuda is not None]
    if len(known) < len(images) or not known or not families:
        return None
    if max(known) >= (13, 0):
        fits = families <= CUDA_13_AMI_FAMILIES and all(it.starts_on_cuda_13 for it in images)
        return AMI_FOR_CUDA_13 if fits else None
    needed = families & CUDA_12_AMI_FAMILIES and any(_needs_cuda_12_ami(it) for it in images)
    return AMI_FOR_CUDA_12 if needed and families <= NEWEST_AL2_AMI_FAMILIES else None


def _needs_cuda_12_ami(image: GpuImage) -> bool:
    return image.cuda is not None and image.cuda > LAST_OF_ANY_DRIVER and not image.is_labelled
