"""Which images run Triton, the model repositories of a spec, and the containers that load each of them.

A `triton` block may be at the top of the spec. Each of several models may have its own, and so may the
container of an inference component; the one at the top is then for Triton containers without one.
https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

import msgspec
from msgspec.structs import replace

from inferstack.catalog import images
from inferstack.catalog.images import name_in_registry
from inferstack.catalog.triton_container import Release, likely_default
from inferstack.facts.once import found_once
from inferstack.facts.walk import PlacedContainer, containers, runs_of
from inferstack.format.inference_component import ComponentContainer, ComponentSpecificationForInstanceType
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import Container, FrameworkImage, NamedModel, Triton
from inferstack.problems import SpecPath
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.s3_urls import location_of

# ---------------------------------------------------------------- images

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


# ---------------------------------------------------------------- repositories

ARCHIVE = "model.tar.gz"
"""Name of the archive if the endpoint has a single one."""


class PlacedTriton(msgspec.Struct, frozen=True):
    """A model repository, where it is declared, and which containers load it.

    ``archive`` is the archive's name below the folder that archives are packed into. ``loaders`` are the
    containers that load it, or may load it, judging by their images.
    """

    path: SpecPath
    block: Triton
    archive: str
    loaders: tuple[PlacedContainer, ...]
    multi_model: bool = False


@found_once
def triton_blocks(spec: ModelSpec) -> Iterator[PlacedTriton]:
    """Every model repository of a spec. Containers with the same models in the same archive share one."""
    if spec.triton is not None:
        yield _at_the_top(spec, spec.triton)
    yield from _joined(_own_blocks(spec))


def undeclared(spec: ModelSpec) -> PlacedTriton:
    """For a spec that declares no Triton models: the archive that its containers load nevertheless."""
    return _at_the_top(spec, Triton())


def _at_the_top(spec: ModelSpec, block: Triton) -> PlacedTriton:
    loaders = tuple(_shared_loaders(spec))
    several = any(it.takes_prefix for it in loaders or containers(spec))
    return PlacedTriton(("triton",), block, ARCHIVE, loaders, several)


def own_block(container: Container | ComponentContainer) -> Triton | None:
    """The repository that a container itself declares."""
    match container:
        case ComponentContainer(triton=block) | NamedModel(triton=block):
            return block
        case _:
            return None


def may_have_own_block(placed: PlacedContainer) -> bool:
    """Whether a container can declare a repository of its own."""
    return isinstance(placed.container, ComponentContainer | NamedModel)


def loaded_by(spec: ModelSpec, placed: PlacedContainer) -> Triton | None:
    """The repository that a container loads: its own, or the one at the top if that is meant for it."""
    own, top = own_block(placed.container), spec.triton
    if own is not None or top is None:
        return own
    loaders = list(_shared_loaders(spec))
    sure = len(loaders) == 1 or is_triton(placed.image)
    return top if sure and any(placed.path == loader.path for loader in loaders) else None


def default_model(block: Triton) -> str | None:
    """The model that answers requests: the named one, otherwise the only one, otherwise the only ensemble.

    None if this is unclear, and for a ``repository``, whose models are not read here.
    """
    if block.default_model is not None or block.models is None:
        return block.default_model
    return likely_default(list(block.models), ensembles(block))


def ensembles(block: Triton) -> list[str]:
    """Names of the models that are ensembles."""
    models = (block.models or {}).items()
    return [name for name, it in models if it.get("platform") == "ensemble" or "ensemble_scheduling" in it]


def _shared_loaders(spec: ModelSpec) -> Iterator[PlacedContainer]:
    """The Triton containers without a block of their own; if none is certain, those that may be Triton."""
    free = [it for it in containers(spec) if _takes_models(it) and may_be_triton(it.image)]
    certain = [it for it in free if is_triton(it.image)]
    yield from certain or free


def _takes_models(placed: PlacedContainer) -> bool:
    """Whether a repository at the top of the spec may be for this container."""
    return own_block(placed.container) is None and not placed.is_of_adapter


def _own_blocks(spec: ModelSpec) -> Iterator[PlacedTriton]:
    for placed in containers(spec):
        block = own_block(placed.container)
        if block is not None:
            archive = f"{_folder(spec, placed)}/{_file_name(placed)}"
            yield PlacedTriton((*placed.path, "triton"), block, archive, (placed,))


def _folder(spec: ModelSpec, placed: PlacedContainer) -> str:
    """A component's folder has its name. A model's is `models/NAME`, since a component may have that name."""
    if isinstance(placed.container, NamedModel):
        return "/".join(map(str, placed.path))
    (run,) = runs_of(spec, placed.path)
    if isinstance(run.specification, ComponentSpecificationForInstanceType):
        return f"{run.name}/{run.specification.instance_type}"
    return run.name


def _file_name(placed: PlacedContainer) -> str:
    url = _url(placed)
    known = url is not None and not is_opaque(url) and not url.endswith("/")
    # The archive is packed under the same name whether or not it has been uploaded before.
    return location_of(url).rpartition("/")[2] if url is not None and known else ARCHIVE


def archive_of(placed: PlacedContainer) -> tuple[SpecPath, str] | None:
    """The URL of the archive that a container loads, after its path in the spec; None if it loads none."""
    container = placed.container
    if placed.url is not None:
        return (*placed.path, placed.url_key), placed.url
    if isinstance(container, ComponentContainer) or container.model_data_source is None:
        return None
    files = container.model_data_source.s3_data_source
    where = (*placed.path, "model_data_source", "s3_data_source", "s3_uri")
    return (where, files.s3_uri) if files.compression_type == "Gzip" else None


def _url(placed: PlacedContainer) -> str | None:
    found = archive_of(placed)
    return None if found is None else found[1]


def _joined(blocks: Iterable[PlacedTriton]) -> Iterator[PlacedTriton]:
    found: list[PlacedTriton] = []
    for block in blocks:
        url = _url(block.loaders[0])
        for index, other in enumerate(found):
            if url is not None and _url(other.loaders[0]) == url and other.block == block.block:
                found[index] = replace(other, loaders=(*other.loaders, *block.loaders))
                break
        else:
            found.append(block)
    yield from found
