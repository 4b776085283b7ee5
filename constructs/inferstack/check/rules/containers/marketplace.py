"""Models from AWS Marketplace and SageMaker JumpStart: what they need, and what they cannot do.

The names of JumpStart's buckets say where they are and whether their files are gated. From the ARN of a
package one can only guess that it was bought in the Marketplace, so all of these are warnings.
"""

import re
from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.check.rules.base import API, CONTAINER_PAGE, GUIDE, SERVERLESS_PAGE, warning
from inferstack.check.rules.containers.artifacts import urls
from inferstack.facts.kinds import hosts_components
from inferstack.facts.role import marketplace_packages
from inferstack.facts.walk import (
    deployment_config,
    hosting,
    model_containers,
    models,
    region_of,
    shadow_variants,
)
from inferstack.format.kinds import ModelBackedSpec, ModelSpec
from inferstack.problems import Problem, SpecPath

# ---------------------------------------------------------------- JumpStart


_ACCESS = f"{API}/API_ModelAccessConfig.html"
_ISOLATION = f"{GUIDE}/mkt-algo-model-internet-free.html"
_GUARDRAILS = f"{GUIDE}/deployment-guardrails-exclusions.html"
_SHADOWS = f"{GUIDE}/shadow-tests-exclusions.html"
# Each region has one of each kind (sagemaker-core/src/sagemaker/core/jumpstart/region_config.json of
# aws/sagemaker-python-sdk); gated files are in the private one.
_OF_JUMPSTART = "jumpstart-"
_BUCKET = re.compile(rf"s3://{_OF_JUMPSTART}(?P<private>private-)?cache-prod-(?P<region>[^/]+)/.*")


@warning("IS237", CONTAINER_PAGE)
def jumpstart_files_are_in_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """Files of SageMaker JumpStart should come from the bucket of the stack's region.

    The bucket's name says where it is, and model files must be in the endpoint's region.
    """
    here = region_of(spec)
    for path, bucket in _buckets(spec):
        there = bucket["region"]
        if here is not None and there != here and regions.has_form(there):
            message = f"the bucket is in {there}, but the stack is in {here}"
            name = f"jumpstart-{bucket['private'] or ''}cache-prod-{here}"
            yield Problem(path, message, f"write {name}, or ${{AWS::Region}} at the end of its name")


@warning("IS238", _ACCESS)
def jumpstart_licenses_are_accepted(spec: ModelSpec) -> Iterator[Problem]:
    """The license of a gated model of SageMaker JumpStart should be accepted.

    JumpStart's private buckets hold gated models; declining a license is a separate error.
    """
    accepting = {
        (*path, "model_data_source", "s3_data_source", "s3_uri")
        for path, _, model in model_containers(spec)
        if model.model_data_source is not None
        and model.model_data_source.s3_data_source.model_access_config is not None
    }
    for path, bucket in _buckets(spec):
        if bucket["private"] and path not in accepting:
            message = "JumpStart's private bucket holds gated models, but no license is accepted"
            yield Problem(path, message, f"read the license, then {_how_to_accept(str(path[-1]))}")


def _buckets(spec: ModelSpec) -> Iterator[tuple[SpecPath, re.Match[str]]]:
    for path, url in urls(spec):
        bucket = _BUCKET.fullmatch(url) if _OF_JUMPSTART in url else None
        if bucket is not None:
            yield path, bucket


def _how_to_accept(key: str) -> str:
    written = "`model_access_config: {accept_eula: true}`"
    if key == "s3_uri":
        return f"write {written} next to `s3_uri`"
    source = f"`model_data_source.s3_data_source` and {written} in it"
    if key == "artifact_url":
        return f"write a model under `models` with {source}, and name it in `model_name`"
    return f"write {source} instead of `{key}`"


# ---------------------------------------------------------------- AWS Marketplace


_KEY = "model_package_name"


@warning("IS236", _ISOLATION)
def marketplace_models_are_isolated(spec: ModelSpec) -> Iterator[Problem]:
    """A model from AWS Marketplace should have network isolation.

    SageMaker refuses training jobs without it. Serverless endpoints have neither it nor such models.
    """
    where = "the model"
    if hosts_components(spec):
        where += " and in `endpoint_config`"
    isolated = {name for _, name, model in models(spec) if model.enable_network_isolation}
    for path, name in marketplace_packages(spec):
        if not (name in isolated or _is_serverless(spec, name)):
            message = "a package from AWS Marketplace needs network isolation"
            yield Problem((*path, _KEY), message, f"write `enable_network_isolation: true` in {where}")


@warning("IS609", SERVERLESS_PAGE)
def no_marketplace_models_on_serverless(spec: ModelSpec) -> Iterator[Problem]:
    """A serverless endpoint should not host a model from AWS Marketplace: AWS lists it as unsupported."""
    for path, name in marketplace_packages(spec):
        if _is_serverless(spec, name):
            message = "a package from AWS Marketplace cannot be used with a serverless variant"
            yield Problem((*path, _KEY), message, "replace `serverless_config` with instances")


@warning("IS632", _GUARDRAILS)
def no_guardrails_with_marketplace_models(spec: ModelSpec) -> Iterator[Problem]:
    """Guardrails do not work with models from AWS Marketplace.

    SageMaker silently falls back to all at once.
    """
    if deployment_config(spec) is not None and marketplace_packages(spec):
        message = "guardrails do not work with packages from AWS Marketplace: traffic moves all at once"
        yield Problem(("endpoint", "deployment_config"), message, "remove `deployment_config`")


@warning("IS285", _SHADOWS)
def no_shadows_with_marketplace_models(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A model from AWS Marketplace should not be tested with shadow variants: AWS lists it as unsupported.

    It can neither be the shadow nor have one.
    """
    if shadow_variants(spec):
        for path, _ in marketplace_packages(spec):
            message = "a package from AWS Marketplace cannot be used with `shadow_variants`"
            fix = "remove them, or compare two production variants by their weights"
            yield Problem((*path, _KEY), message, fix)


def _is_serverless(spec: ModelSpec, model: str | None) -> bool:
    return any(it.serverless_config is not None for it in hosting(spec, model))
