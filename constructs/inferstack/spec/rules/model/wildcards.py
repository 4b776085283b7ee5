"""Wildcards in what the role may use."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.uses import Named, hub_contents, login_functions
from inferstack.spec.parts.walk import containers
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import describe, listed
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.model.s3_urls import every_url
from inferstack.spec.texts.placeholders import PSEUDO_PARAMETERS
from inferstack.spec.texts.wildcards import wildcard_in

_RESOURCES = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html"
_FILES = ("model_data_url", "s3_uri", "artifact_url")


@error(
    "IS248",
    "Files, images, functions and hub contents cannot have wildcards or IAM variables in their names.",
    _RESOURCES,
    ModelSpec,
)
def rights_name_what_is_meant(spec: ModelSpec) -> Iterator[Finding]:
    """SageMaker looks for exactly this name, and in the role's policy it would allow more than is meant."""
    for path, text in _used(spec):
        wild = wildcard_in(text)
        if wild is not None:
            what = "wildcard" if wild in ("*", "?") else f"variable `{wild}`, which is never filled in"
            yield Finding(path, f"{describe(text)} has a {what}", _fix(path, wild))


def _fix(path: SpecPath, wild: str) -> str:
    if wild not in ("*", "?"):
        known = listed([f"${{{name}}}" for name in PSEUDO_PARAMETERS])
        return f"write what it stands for; allowed: {known}"
    if path[-1] in _FILES:
        return "name one archive, or a prefix that ends in `/` in `model_data_source`"
    return "write the exact name"


def _used(spec: ModelSpec) -> Iterator[Named]:
    """What SageMaker reads, writes, pulls or calls with the role and the spec names in free text."""
    yield from every_url(spec)
    for placed in containers(spec):
        if isinstance(placed.image, str):
            yield (*placed.path, "image"), placed.image
    yield from login_functions(spec)
    yield from hub_contents(spec)
