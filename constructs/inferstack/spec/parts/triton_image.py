"""Which images run Triton, and which release, judging by the image's name.

https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

import re
from functools import cache

from inferstack.catalog import images
from inferstack.catalog.registries import name_in_registry
from inferstack.catalog.triton_container import Release
from inferstack.spec.blocks.model import FrameworkImage

WrittenImage = str | FrameworkImage | None
"""An image as the spec writes it; None if it has none."""

TRITON_FRAMEWORKS = images.spellings("triton")
"""The framework names that stand for Triton."""
_REPOSITORY = "tritonserver"
# NVIDIA's release numbers. AWS's images have them, and so do images that are copied from or built on those.
_TAGGED = re.compile(rf"{_REPOSITORY}:(\d\d)\.(\d\d)(?:[-@]|$)")
_VERSION = re.compile(r"(\d\d)\.(\d\d)")


@cache
def _frameworks() -> frozenset[str]:
    return frozenset(images.frameworks())


def is_triton(image: WrittenImage) -> bool:
    """Whether this is a Triton image by its framework or by the name of its repository."""
    match image:
        case FrameworkImage():
            return image.framework in TRITON_FRAMEWORKS
        case str():
            return _REPOSITORY in name_in_registry(image)
        case None:
            return False


def may_be_triton(image: WrittenImage) -> bool:
    """False for an image of another framework; an unknown framework may be a misspelling of Triton's name."""
    return not isinstance(image, FrameworkImage) or is_triton(image) or image.framework not in _frameworks()


def shows_triton(image: str) -> bool:
    """Whether the name of an image says that it contains Triton, or something built on Triton."""
    return "triton" in name_in_registry(image)


def triton_release(image: WrittenImage) -> Release | None:
    """Year and month of the Triton release in an image; None if the name does not say."""
    match image:
        case FrameworkImage() if is_triton(image):
            found = _VERSION.match(image.version)
        case str():
            found = _TAGGED.search(image)
        case _:
            return None
    return None if found is None else (int(found[1]), int(found[2]))
