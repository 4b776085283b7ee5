"""S3 URLs anywhere in a spec, and wildcards in what the role may use."""

from collections.abc import Iterator

from inferstack.check.rules.base import error
from inferstack.check.rules.model.artifacts import model_urls
from inferstack.facts.role import Named, baselines, core_dumps, hub_contents, login_functions, results
from inferstack.facts.walk import containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import describe, listed
from inferstack.texts.arns import wildcard_in
from inferstack.texts.placeholders import PSEUDO_PARAMETERS
from inferstack.texts.s3_urls import s3_url

# ---------------------------------------------------------------- S3 URLs anywhere in a spec


_REFERENCES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"


@error("IS239", _REFERENCES)
def urls_tell_their_bucket(spec: ModelSpec) -> Iterator[Problem]:
    """An S3 URL must show its bucket, even where that is known only at deployment.

    The role's permissions name it. CloudFormation's functions can take a token apart, but not a dynamic
    reference, which is filled in only after they have run.
    """
    for path, url in every_url(spec):
        if s3_url(url) is None:
            fix = "write s3://bucket/key; the bucket, or parts of the key, may be known only at deployment"
            yield Problem(path, f"{describe(url)} does not show the bucket", fix)


def every_url(spec: ModelSpec) -> Iterator[Named]:
    """Each S3 URL of a spec, with its path."""
    yield from model_urls(spec)
    yield from core_dumps(spec)
    yield from results(spec)
    yield from baselines(spec)


# ---------------------------------------------------------------- Wildcards in what the role may use


_RESOURCES = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html"
_FILES = ("model_data_url", "s3_uri", "artifact_url")


@error("IS248", _RESOURCES)
def rights_name_what_is_meant(spec: ModelSpec) -> Iterator[Problem]:
    """Files, images, functions and hub contents cannot have wildcards or IAM variables in their names.

    SageMaker looks for exactly this name, and in the role's policy it would allow more than is meant.
    """
    for path, text in _used(spec):
        wild = wildcard_in(text)
        if wild is not None:
            what = "wildcard" if wild in ("*", "?") else f"variable `{wild}`, which is never filled in"
            yield Problem(path, f"{describe(text)} has a {what}", _fix(path, wild))


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
