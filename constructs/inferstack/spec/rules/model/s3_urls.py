"""S3 URLs anywhere in a spec."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.uses import Named, baselines, core_dumps, results
from inferstack.spec.problem.words import describe
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.model.artifacts import model_urls
from inferstack.spec.texts.s3_urls import s3_url

_REFERENCES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"


@error(
    "IS239",
    "An S3 URL must show its bucket, even where that is known only at deployment.",
    _REFERENCES,
    ModelSpec,
)
def urls_tell_their_bucket(spec: ModelSpec) -> Iterator[Finding]:
    """The role's permissions name it. CloudFormation's functions can take a token apart, but not a dynamic
    reference, which is filled in only after they have run.
    """
    for path, url in every_url(spec):
        if s3_url(url) is None:
            fix = "write s3://bucket/key; the bucket, or parts of the key, may be known only at deployment"
            yield Finding(path, f"{describe(url)} does not show the bucket", fix)


def every_url(spec: ModelSpec) -> Iterator[Named]:
    """Each S3 URL of a spec, with its path."""
    yield from model_urls(spec)
    yield from core_dumps(spec)
    yield from results(spec)
    yield from baselines(spec)
