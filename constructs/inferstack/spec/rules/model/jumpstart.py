"""Files of SageMaker JumpStart: the name of a bucket says where it is and whether its files are gated."""

import re
from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import model_containers, region_of
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import CONTAINER_PAGE, Finding, warning
from inferstack.spec.rules.model.artifacts import urls

_ACCESS = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ModelAccessConfig.html"
# Each region has one of each kind (sagemaker-core/src/sagemaker/core/jumpstart/region_config.json of
# aws/sagemaker-python-sdk); gated files are in the private one.
_OF_JUMPSTART = "jumpstart-"
_BUCKET = re.compile(rf"s3://{_OF_JUMPSTART}(?P<private>private-)?cache-prod-(?P<region>[^/]+)/.*")


@warning(
    "IS237",
    "Files of SageMaker JumpStart should come from the bucket of the stack's region.",
    CONTAINER_PAGE,
    ModelSpec,
)
def jumpstart_files_are_in_the_region(spec: ModelSpec) -> Iterator[Finding]:
    """The bucket's name says where it is, and model files must be in the endpoint's region."""
    here = region_of(spec)
    for path, bucket in _buckets(spec):
        there = bucket["region"]
        if here is not None and there != here and regions.has_form(there):
            message = f"the bucket is in {there}, but the stack is in {here}"
            name = f"jumpstart-{bucket['private'] or ''}cache-prod-{here}"
            yield Finding(path, message, f"write {name}, or ${{AWS::Region}} at the end of its name")


@warning(
    "IS238", "The license of a gated model of SageMaker JumpStart should be accepted.", _ACCESS, ModelSpec
)
def jumpstart_licences_are_accepted(spec: ModelSpec) -> Iterator[Finding]:
    """JumpStart's private buckets hold what is gated; declining a license is an error of its own."""
    accepting = {
        (*path, "model_data_source", "s3_data_source", "s3_uri")
        for path, _, model in model_containers(spec)
        if model.model_data_source is not None
        and model.model_data_source.s3_data_source.model_access_config is not None
    }
    for path, bucket in _buckets(spec):
        if bucket["private"] and path not in accepting:
            message = "JumpStart's private bucket holds gated models, but no license is accepted"
            yield Finding(path, message, f"read the license, then {_how_to_accept(str(path[-1]))}")


def _buckets(spec: ModelSpec) -> Iterator[tuple[SpecPath, re.Match[str]]]:
    for path, url in urls(spec):
        bucket = _BUCKET.fullmatch(url) if _OF_JUMPSTART in url else None
        if bucket is not None:
            yield path, bucket


def _how_to_accept(key: str) -> str:
    written = "`model_access_config: {accept_eula: true}`"
    if key == "s3_uri":
        return f"write {written} beside `s3_uri`"
    source = f"`model_data_source.s3_data_source` and {written} in it"
    if key == "artifact_url":
        return f"write a model under `models` with {source}, and name it in `model_name`"
    return f"write {source} instead of `{key}`"
