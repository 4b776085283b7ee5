"""Which parts of an endpoint run a server that takes most of a GPU's memory when it starts."""

import re
from collections.abc import Iterator

from inferstack.catalog.metrics import COMPONENT_NAME
from inferstack.catalog.registries import name_in_registry
from inferstack.defaults import GPU_MEMORY_TAKEN, VARIABLES_OF_GPU_MEMORY_TAKERS
from inferstack.spec.blocks.inference_component import ComponentContainer
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import Container, FrameworkImage
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.parts.adapters import bases_of_adapters
from inferstack.spec.parts.measured import Measured
from inferstack.spec.parts.triton_image import WrittenImage
from inferstack.spec.parts.walk import containers, model_containers, runs

_SERVER = re.compile(rf"(?<![a-z])({'|'.join(GPU_MEMORY_TAKEN)})(?![a-z])")


def takes_gpu_memory(spec: ModelSpec, part: Measured) -> bool:
    """Whether a container of a variant or a component runs such a server, judging by its image's name.

    If the image is given by its URI, its environment variables count as well.
    """
    component = part.values.get(COMPONENT_NAME)
    if component is not None:
        return any(map(_takes, _containers_of_component(spec, component)))
    return part.variant is not None and any(map(_takes, _containers_of_variant(spec, part.variant)))


def _takes(container: Container | ComponentContainer) -> bool:
    said = container.environment or {} if isinstance(container.image, str) else {}
    return is_taker(container.image) or any(key.startswith(VARIABLES_OF_GPU_MEMORY_TAKERS) for key in said)


def is_taker(image: WrittenImage) -> bool:
    """Whether an image is the image of such a server."""
    match image:
        case FrameworkImage():
            # An image for Hugging Face's models has another framework below.
            name = f"{image.framework} {image.base_framework_version}"
        case str():
            name = name_in_registry(image)
        case None:
            return False
    return _SERVER.search(name) is not None


def _containers_of_variant(spec: ModelSpec, variant: Variant) -> Iterator[Container]:
    hosted = {variant.model_name, *(pool.model_name_override for pool in variant.instance_pools or ())}
    for _, name, container in model_containers(spec):
        if name is None or name in hosted:
            yield container


def _containers_of_component(spec: ModelSpec, name: str) -> Iterator[Container | ComponentContainer]:
    """The component's own containers, and those of its base if it is an adapter, which runs in them."""
    hosts = {name, bases_of_adapters(spec).get(name, name)}
    running = {run.container for run in runs(spec) if run.name in hosts}
    return (placed.container for placed in containers(spec) if placed.path in running)
