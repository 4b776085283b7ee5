"""What runs in a container: the contents of its image, and the engine that serves language models."""

import msgspec

from inferstack.catalog import images, metrics
from inferstack.catalog.image_contents import ImageContents, contents
from inferstack.catalog.images import NoBuild, UnknownImage
from inferstack.facts.triton import triton_release
from inferstack.facts.walk import PlacedContainer, containers
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import FrameworkImage
from inferstack.texts.placeholders import is_opaque

_TRITON = "sagemaker-tritonserver"
LANGUAGE_MODEL_ENGINES = frozenset(
    {"huggingface-sglang", "huggingface-vllm", "llama-cpp", "lmi", "sglang", "tgi", "vllm"}
)
"""Engines that write text, token by token; not those of embeddings, speech and pictures, nor Triton."""


class RunningEngine(msgspec.Struct, frozen=True):
    """An engine in one of AWS's images.

    ``name`` is the image's way to start it: LMI (``lmi``) and Hugging Face's (``huggingface-vllm``) run vLLM
    and read other variables. ``version`` is the engine's own, of vLLM in LMI; None where it is not known.
    ``release`` is the image's: ``0.36.0-lmi28``, ``server-sagemaker-cuda-v2.3``, ``0.27.1``.
    """

    name: str
    version: str | None
    release: str


def engine_of(placed: PlacedContainer) -> RunningEngine | None:
    """The engine that a container runs; None for an image of one's own, whose entry point may do anything."""
    found = contents_of(placed) if is_of_aws(placed) else None
    if found is None or found.engine is None:
        return None
    return RunningEngine(found.engine, found.engine_version, found.release)


def has_language_model(spec: ModelSpec) -> bool:
    """Whether some container of the spec is known to run an engine that writes text."""
    found = (engine_of(it) for it in containers(spec))
    return any(it is not None and it.name in LANGUAGE_MODEL_ENGINES for it in found)


def lacks_its_streams(spec: ModelSpec, metric: str) -> bool:
    """Whether a metric of bidirectional streams may have no data, since a language model's engine has none.

    SageMaker opens such streams only to images with a label, of AWS's engines to vLLM-Omni's. That answers of
    InvokeEndpointWithResponseStream count, nobody has shown.
    https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html
    """
    return has_language_model(spec) and any(it.is_of_bidirectional_streams for it in metrics.find(metric))


def is_of_aws(placed: PlacedContainer) -> bool:
    """Whether a container's image is one that AWS publishes."""
    image = placed.image
    return isinstance(image, FrameworkImage) or (isinstance(image, str) and images.is_in_aws_registry(image))


def contents_of(placed: PlacedContainer) -> ImageContents | None:
    """What one of AWS's images contains, or a copy of it under its own name; None if that is not known."""
    name = name_of(placed)
    release = triton_release(placed.image)
    if release is not None and name is not None:
        # Of NVIDIA's own image, too, and of those that are built on it.
        year, month = release
        return contents(_TRITON, f"{year}.{month:02}-{name[1].partition('-')[2]}")
    return None if name is None else contents(*name)


def name_of(placed: PlacedContainer) -> tuple[str, str] | None:
    """Repository, without folders, and tag of a container's image; None if they are not known."""
    match placed.image:
        case FrameworkImage() as image:
            return _of_framework(image, next(iter(placed.hosts), None))
        case str() as uri if not is_opaque(uri):
            repository, _, tag = uri.partition("@")[0].rpartition("/")[2].partition(":")
            return repository, tag
        case _:
            return None


def _of_framework(image: FrameworkImage, instance_type: str | None) -> tuple[str, str] | None:
    flavour = {"py_version": image.py_version, "base_framework_version": image.base_framework_version}
    for host in (instance_type, None):
        try:
            found = images.find(image.framework, image.version, host, **flavour)
        except NoBuild:
            continue  # The wrong type is a problem of its own; the image is still known.
        except UnknownImage:
            return None
        return found.repository, found.tag
    return None
