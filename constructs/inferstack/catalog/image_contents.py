"""What is inside AWS's own images: CUDA, the engine that serves language models, and its version.

A tag rarely says it all: ``server-sagemaker-cuda-v2.3`` and ``0.27-gpu-py312`` name no CUDA, and LMI's do not
name the vLLM inside. The facts are those of AWS's page of images and of the files that make the images.
https://aws.github.io/deep-learning-containers/reference/available_images/
https://github.com/aws/deep-learning-containers and https://github.com/deepjavalibrary/djl-serving (LMI)
"""

import csv
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from inferstack.catalog import text
from inferstack.catalog.instances import Capability, Cuda


class ImageContents(msgspec.Struct, frozen=True):
    """What one image contains; None where it is not known, or differs between the images with a short tag.

    ``release`` is what its tag begins with. ``engine_version`` is the engine's own: in LMI, vLLM's.
    ``is_labelled``: a label says which CUDA drivers it is verified for, and SageMaker is seen to choose the
    driver by it: ``com.amazonaws.sagemaker.inference.cuda.verified_versions``.
    ``built_for``: compute capabilities of GPUs that its kernels are compiled for, where AWS leaves some out.
    """

    release: str
    cuda: Cuda | None
    is_labelled: bool
    engine: str | None
    engine_version: str | None
    built_for: tuple[Capability, ...]


_WITHOUT_CUDA = re.compile(r"-cpu\b")


@lru_cache(maxsize=64)
def contents(repository: str, tag: str) -> ImageContents | None:
    """What the image with a tag in one of AWS's repositories contains; None if it is not known.

    A short tag (``0.27-gpu-py312``, ``0.36-lmi18.0.0-cu128``) stands for the newest image that it fits.
    """
    known = _by_repository().get(repository, ())
    fitting = [it for it in known if _begins(tag, it.release)]
    # The longest one: v2.3 says more about v2.3.1 than v2 does.
    found = max(fitting, key=lambda it: len(it.release), default=None)
    if found is None:
        found = _of_short_tag(tag, known) or _unlisted(tag, known)
    if found is None or _WITHOUT_CUDA.search(tag) is None:
        return found
    return replace(found, cuda=None)


def _of_short_tag(tag: str, known: Sequence[ImageContents]) -> ImageContents | None:
    version, _, rest = tag.partition("-")
    for it in reversed(known):
        whole, _, after = it.release.partition("-")
        if whole.startswith(f"{version}.") and (not after or _begins(rest, after)):
            return it
    return None


def _unlisted(tag: str, known: Sequence[ImageContents]) -> ImageContents | None:
    """What can be said of an image that is not listed: it is made like those with a tag of the same form."""
    for it in reversed(known):
        before, version, after = it.release.partition(it.engine_version or "\0")
        form = f"{_form(before)}(?P<version>{_form(version)}){_form(after)}(?=[-.]|$)"
        found = re.match(form, tag)
        if found is not None:
            return replace(it, release=found[0], cuda=None, engine_version=found["version"] or None)
    return None


def _form(text: str) -> str:
    return re.sub(r"[0-9]+", "[0-9]+", re.escape(text))


def _begins(whole: str, beginning: str) -> bool:
    return whole == beginning or whole.startswith((f"{beginning}-", f"{beginning}."))


@cache
def _by_repository() -> Mapping[str, Sequence[ImageContents]]:
    """The known images of each repository, oldest first."""
    found: dict[str, list[ImageContents]] = {}
    for row in csv.DictReader(text("image-contents.csv").splitlines()):
        found.setdefault(row["repository"], []).append(
            ImageContents(
                release=row["tag_begins"],
                cuda=_numbers(row["cuda"]) if row["cuda"] else None,
                is_labelled=row["labelled"] == "yes",
                engine=row["engine"] or None,
                engine_version=row["engine_version"] or None,
                built_for=tuple(map(_numbers, row["built_for"].split())),
            )
        )
    return found


def _numbers(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor)
