"""What runs: images and model files, of models and of inference components."""

import re
from collections.abc import Iterator

import msgspec

from inferstack.catalog import images, regions
from inferstack.catalog.images import ecr_image
from inferstack.catalog.resource_types import CONFIG_TYPE, MODEL_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Properties, PropertyPath, entries, mapping, references, shown
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import Stack
from inferstack.texts.secrets import is_secret


class RunningContainer(msgspec.Struct, frozen=True, kw_only=True):
    """What runs: an image with its files."""

    name: str
    """Name of the model, container or component; of the variant that hosts a model which exists already."""
    image: str | None
    """URI of the image; none for an adapter, or a model package."""
    weights: str | None
    """URL of the model files."""
    digest: str | None
    """SHA-256 of the files, or its beginning, where the URL or the lock has it."""
    model_package: str | None = None
    """Version of the model registry, where it says what runs."""
    model: str | None = None
    """Name of a model that exists already, where that runs."""
    environment: dict[str, str] = {}
    """Its environment variables; the value of one that may be secret is not shown."""
    place: Place
    """Where the spec has it."""


_DIGEST = re.compile(r"(?<![0-9a-z])sha256-([0-9a-f]{16})(?=\.tar\.gz$|/$)")


def environments(stack: Stack) -> dict[str, Properties]:
    """The environment variables of every container, by its name, as they are written: to compare, not to
    show.
    """
    return {
        name: mapping(it.get("Environment")) for name, it, _ in (*_in_models(stack), *_in_components(stack))
    }


def containers(stack: Stack) -> tuple[RunningContainer, ...]:
    """Every container: of models first, then of components; then models that exist already."""
    made = (*_in_models(stack), *_in_components(stack))
    return (*(_container(stack, *it) for it in made), *_existing(stack))


_Container = tuple[str, Properties, tuple[str, PropertyPath]]
"""Name, properties, and where they are."""


def _in_models(stack: Stack) -> Iterator[_Container]:
    for logical_id, model in stack.of_type(MODEL_TYPE).items():
        if "PrimaryContainer" in model:
            primary = mapping(model["PrimaryContainer"])
            yield logical_id, primary, (logical_id, ("PrimaryContainer",))
        several = [mapping(it) for it in entries(model.get("Containers"))]
        for index, it in enumerate(several):
            name = shown(it.get("ContainerHostname", f"container-{index + 1}"))
            title = f"{logical_id}, {name}" if len(several) > 1 else logical_id
            yield title, it, (logical_id, ("Containers", index))


def _existing(stack: Stack) -> Iterator[RunningContainer]:
    """The models that the stack names and does not make."""
    for name, value, at in (*_named_by_variants(stack), *_named_by_components(stack)):
        if value is not None and not _is_made(stack, value):
            yield RunningContainer(
                name=name,
                image=None,
                weights=None,
                digest=None,
                model=stack.readable(value),
                place=stack.place_of(*at),
            )


def hosted(stack: Stack) -> dict[str, list[str]]:
    """The names of the containers that each variant and component runs. A type of instances may have its own
    in a variant: `name on type`.
    """
    of_models: dict[str, list[str]] = {}
    for title, _, (logical_id, _) in _in_models(stack):
        of_models.setdefault(logical_id, []).append(title)
    found = {title: [title] for title, *_ in _in_components(stack)}
    for host, value, _ in (*_named_by_variants(stack), *_named_by_components(stack)):
        if value is not None:
            model = next(iter(references(value)), "") if _is_made(stack, value) else ""
            found[host] = of_models.get(model, []) if model else [host]
    return found


def _named_by_variants(stack: Stack) -> Iterator[tuple[str, object, tuple[str, PropertyPath]]]:
    config_id, config = stack.first(CONFIG_TYPE)
    for key in ("ProductionVariants", "ShadowProductionVariants"):
        for index, variant in enumerate(map(mapping, entries(config.get(key)))):
            name, at = shown(variant.get("VariantName")), (key, index)
            yield name, variant.get("ModelName"), (config_id, (*at, "ModelName"))
            for number, pool in enumerate(map(mapping, entries(variant.get("InstancePools")))):
                title = f"{name} on {shown(pool.get('InstanceType'))}"
                path = (*at, "InstancePools", number, "ModelNameOverride")
                yield title, pool.get("ModelNameOverride"), (config_id, path)


def _named_by_components(stack: Stack) -> Iterator[tuple[str, object, tuple[str, PropertyPath]]]:
    for title, specification, at in _specifications(stack):
        yield title, specification.get("ModelName"), at


def _is_made(stack: Stack, name: object) -> bool:
    match name:
        case {"Fn::GetAtt": [str() as logical_id, *_]} | {"Ref": str() as logical_id}:
            return logical_id in stack.of_type(MODEL_TYPE)
        case {"Fn::GetAtt": str() as attribute}:
            return attribute.partition(".")[0] in stack.of_type(MODEL_TYPE)
        case _:
            return False


def _in_components(stack: Stack) -> Iterator[_Container]:
    for title, specification, (logical_id, path) in _specifications(stack):
        if "Container" in specification:
            yield title, mapping(specification["Container"]), (logical_id, (*path, "Container"))


def _specifications(stack: Stack) -> Iterator[tuple[str, Properties, tuple[str, PropertyPath]]]:
    """What components run: title, specification, and where it is."""
    for name, component in deployed.components(stack.resources).items():
        whole = component.properties
        written = [("Specification",)] if "Specification" in whole else []
        places: list[PropertyPath] = [
            *written,
            *(("Specifications", at) for at, _ in enumerate(entries(whole.get("Specifications")))),
        ]
        for path in places:
            specification = mapping(deployed.value_at(whole, path))
            kind = specification.get("InstanceType")
            title = name if kind is None else f"{name} on {shown(kind)}"
            yield title, specification, (component.logical_id, path)


def _container(
    stack: Stack, name: str, container: Properties, at: tuple[str, PropertyPath]
) -> RunningContainer:
    url = weights_of(stack, container)
    image, package = container.get("Image"), container.get("ModelPackageName")
    return RunningContainer(
        name=name,
        image=None if image is None else stack.readable(image),
        weights=url,
        digest=_digest(url, stack.digests),
        model_package=None if package is None else shown(package),
        environment=dict(_environment(stack, container)),
        place=stack.place_of(*at),
    )


def is_same_image(one: str | None, other: str | None) -> bool:
    """Whether two images are the same: one with its region filled in, or AWS's own in whatever region."""
    if one is None or other is None or one == other:
        return one == other
    is_own = one.partition("/")[2] == other.partition("/")[2] and _is_of_aws(one) and _is_of_aws(other)
    return is_own or _in_region_of(other, one) == other or _in_region_of(one, other) == one


def _in_region_of(named: str, image: str) -> str:
    """An image of any region in the region of one that names it."""
    found = ecr_image(named)
    if found is None or not regions.has_form(found.region):
        return image
    filled_in = image.replace("${AWS::Region}", found.region)
    return filled_in.replace("${AWS::URLSuffix}", regions.dns_suffix(found.region))


# How a readable image begins whose account a function looks up in a table of AWS's own.
_LOOKED_UP = "….dkr.ecr."


def _is_of_aws(image: str) -> bool:
    """Whether it is an image of AWS's own: another account may have anything under the same name."""
    found = ecr_image(image)
    return image.startswith(_LOOKED_UP) or (
        found is not None
        and regions.has_form(found.region)
        and found.account in images.accounts_in(found.region, found.repository)
    )


HIDDEN = "(not shown)"
"""Takes the place of a value that may be secret."""


def _environment(stack: Stack, container: Properties) -> Iterator[tuple[str, str]]:
    for name, value in mapping(container.get("Environment")).items():
        text = stack.readable(value)
        yield shown(name), HIDDEN if is_secret(shown(name), text) else text


def weights_of(stack: Stack, container: Properties) -> str | None:
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
    return None if found is None else stack.readable(found)


def _digest(url: str | None, known: tuple[str, ...]) -> str | None:
    found = None if url is None else _DIGEST.search(url)
    if found is None:
        return None
    return next((it for it in known if it.startswith(found[1])), found[1])
