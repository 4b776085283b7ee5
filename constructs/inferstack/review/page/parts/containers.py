"""What runs: images and model files, of models and of inference components."""

import re
from collections.abc import Iterator

from inferstack.review import deployed
from inferstack.review.deployed import Properties, entries, mapping, shown
from inferstack.review.page.data import Container
from inferstack.review.page.parts.stack import Stack, readable
from inferstack.review.update import PropertyPath

_DIGEST = re.compile(r"(?<![0-9a-z])sha256-([0-9a-f]{16})(?=\.tar\.gz$|/$)")


def containers(stack: Stack) -> tuple[Container, ...]:
    """Every container: of models first, then of components."""
    return (*_of_models(stack), *_of_components(stack))


def _of_models(stack: Stack) -> Iterator[Container]:
    for logical_id, model in stack.of_type(deployed.MODEL_TYPE).items():
        if "PrimaryContainer" in model:
            primary = mapping(model["PrimaryContainer"])
            yield _container(stack, logical_id, primary, (logical_id, ("PrimaryContainer",)))
        several = [mapping(it) for it in entries(model.get("Containers"))]
        for index, it in enumerate(several):
            name = shown(it.get("ContainerHostname", f"container-{index + 1}"))
            title = f"{logical_id}, {name}" if len(several) > 1 else logical_id
            yield _container(stack, title, it, (logical_id, ("Containers", index)))


def _of_components(stack: Stack) -> Iterator[Container]:
    for name, component in deployed.components(stack.resources).items():
        whole = component.properties
        written = [("Specification",)] if "Specification" in whole else []
        places: list[PropertyPath] = [
            *written,
            *(("Specifications", at) for at, _ in enumerate(entries(whole.get("Specifications")))),
        ]
        for path in places:
            specification = _at(whole, path)
            if "Container" in specification:
                kind = specification.get("InstanceType")
                title = name if kind is None else f"{name} on {shown(kind)}"
                at = (component.logical_id, (*path, "Container"))
                yield _container(stack, title, mapping(specification["Container"]), at)


def _at(properties: Properties, path: PropertyPath) -> Properties:
    match path:
        case [str() as key, int() as index]:
            return mapping(entries(properties.get(key))[index])
        case [str() as key]:
            return mapping(properties.get(key))
        case _:
            return {}


def _container(stack: Stack, name: str, container: Properties, at: tuple[str, PropertyPath]) -> Container:
    url = weights_of(container)
    image, package = container.get("Image"), container.get("ModelPackageName")
    return Container(
        name=name,
        image=None if image is None else readable(image),
        weights=url,
        digest=_digest(url, stack.digests),
        model_package=None if package is None else shown(package),
        place=stack.place_of(*at),
    )


def weights_of(container: Properties) -> str | None:
    """The URL of the model files, under whichever key."""
    source = mapping(mapping(container.get("ModelDataSource")).get("S3DataSource")).get("S3Uri")
    found = next(
        (
            it
            for it in (container.get("ModelDataUrl"), container.get("ArtifactUrl"), source)
            if it is not None
        ),
        None,
    )
    return None if found is None else readable(found)


def _digest(url: str | None, known: tuple[str, ...]) -> str | None:
    found = None if url is None else _DIGEST.search(url)
    if found is None:
        return None
    return next((it for it in known if it.startswith(found[1])), found[1])
