"""The container image: its URI for the stack's region, and the repository to pull it from.

A framework's images are in an AWS account that differs between regions. Where the stack's region is known,
the URI is plain text; where it is not, a Mapping of the template finds the account at deployment.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/mappings-section-structure.html
"""

import re
from functools import lru_cache

import msgspec

from inferstack.catalog import images
from inferstack.resolve.locations import ecr_repository_arn
from inferstack.resolve.resource import Value, pascal
from inferstack.spec.blocks.model import FrameworkImage
from inferstack.spec.parts.walk import PlacedContainer

_ACCOUNT = "Account"


class ImageReference(msgspec.Struct, frozen=True):
    """An image as the template names it."""

    uri: Value
    repository_arn: Value | None
    """None where the image is not in Amazon ECR."""
    mapping: tuple[str, dict[str, dict[str, str]]] | None = None
    """Name and content of the Mapping that ``uri`` and ``repository_arn`` look the account up in."""


def image_uri(placed: PlacedContainer, region: str | None) -> Value | None:
    """URI of the container's image, or None where a model package brings it."""
    image = placed_image(placed, region)
    return None if image is None else image.uri


def placed_image(placed: PlacedContainer, region: str | None) -> ImageReference | None:
    """The container's image in a region (None: in any), for the processor of the first instance type that it
    runs on.
    """
    return None if placed.image is None else _image(placed.image, region, next(iter(placed.hosts), None))


# The role, the model and the mappings ask for the image of each container, and specs have images in common.
@lru_cache(maxsize=64)
def _image(image: str | FrameworkImage, region: str | None, instance_type: str | None) -> ImageReference:
    if isinstance(image, str):
        return ImageReference(image, ecr_repository_arn(image))
    found = images.find(
        image.framework,
        image.version,
        instance_type,
        py_version=image.py_version,
        base_framework_version=image.base_framework_version,
    )
    if region is None:
        return _in_any_region(image, found, instance_type)
    uri = found.uri(region)
    return ImageReference(uri, ecr_repository_arn(uri))


def _in_any_region(
    image: FrameworkImage, found: images.PublishedImage, instance_type: str | None
) -> ImageReference:
    name = "ImageAccounts" + re.sub(r"[^A-Za-z0-9]", "", pascal(f"{image.framework}-{image.version}"))
    # An endpoint may have one version's images for both processors, which are not in the same regions.
    if instance_type is not None and images.architecture(instance_type) == "arm64":
        name += "Arm64"
    account = {_ACCOUNT: {"Fn::FindInMap": [name, {"Ref": "AWS::Region"}, _ACCOUNT]}}
    uri = f"${{{_ACCOUNT}}}.dkr.ecr.${{AWS::Region}}.${{AWS::URLSuffix}}/{found.repository}:{found.tag}"
    arn = f"arn:${{AWS::Partition}}:ecr:${{AWS::Region}}:${{{_ACCOUNT}}}:repository/{found.repository}"
    return ImageReference(
        {"Fn::Sub": [uri, account]},
        {"Fn::Sub": [arn, account]},
        (name, {where: {_ACCOUNT: number} for where, number in sorted(found.registries.items())}),
    )
