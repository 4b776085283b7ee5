"""Images in Amazon ECR, by their URIs: whether the registry and the repository can be right."""

from collections.abc import Iterator, Sequence

from inferstack.catalog import images
from inferstack.catalog.images import ecr_image
from inferstack.check.rules.base import CONTAINER_PAGE, error, warning
from inferstack.check.rules.containers.images import PATHS
from inferstack.facts.walk import containers, region_of
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import ask, listed, slip_of
from inferstack.texts.placeholders import has_pseudo_parameter, is_opaque


@error("IS702", CONTAINER_PAGE)
def image_is_not_elsewhere(spec: ModelSpec) -> Iterator[Problem]:
    """An image in Amazon ECR must be in the stack's region.

    SageMaker pulls from its own region only.
    """
    region = region_of(spec)
    if region is None:
        return
    for path, uri in _uris(spec):
        image = ecr_image(uri)
        if image is not None and image.region != region and not has_pseudo_parameter(image.region):
            message = f"the image is in {image.region}, but the stack is in {region}"
            fix = f"copy it to {region}, or write ${{AWS::Region}} into the URI"
            yield Problem(path, message, fix)


@warning("IS718", PATHS)
def registry_is_that_of_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """AWS's own images should come from one of AWS's accounts in the region.

    Regions have accounts of their own, and a URI may be copied from elsewhere. Your accounts are not checked.
    """
    for path, uri in _uris(spec):
        image = ecr_image(uri)
        if image is None or not images.is_in_aws_registry(uri):
            continue
        region = region_of(spec) if has_pseudo_parameter(image.region) else image.region
        known = images.accounts_in(region or "", image.repository)
        if known and image.account not in images.accounts_in(region or ""):
            message = f"AWS publishes nothing from {image.account} in {region}"
            fix = f"use an account that has {image.repository}: {listed(sorted(known), quote='')}"
            yield Problem(path, message, fix)


@warning("IS719", PATHS)
def repository_is_one_of_awss(spec: ModelSpec) -> Iterator[Problem]:
    """An image in one of AWS's own accounts should be in a repository that AWS has.

    AWS adds repositories, so an unknown one is only reported if it looks like a typo, or like the repository
    of a framework that AWS has elsewhere.
    """
    for path, uri in _uris(spec):
        image = ecr_image(uri)
        if image is None or not images.is_in_aws_registry(uri):
            continue
        name, known = image.repository, images.repositories_of(image.account)
        if not images.registries_with(name) and (fix := _meant(name, sorted(known))):
            message = f"no repository `{name}` of {image.account} is known"
            yield Problem(path, message, f"{fix} if AWS has it, ignore IS719")


_OF_INFERENCE = "-inference"


def _meant(name: str, known: Sequence[str]) -> str:
    slip = slip_of(name, known)
    framework = name.removesuffix(_OF_INFERENCE)
    if slip is None and framework != name and framework in images.frameworks():
        return f"write `image: {{framework: {framework}, version: …}}` for AWS's image of it;"
    return ask([slip]) if slip is not None else ""


def _uris(spec: ModelSpec) -> Iterator[tuple[SpecPath, str]]:
    for placed in containers(spec):
        if isinstance(placed.image, str) and not is_opaque(placed.image):
            yield (*placed.path, "image"), placed.image
