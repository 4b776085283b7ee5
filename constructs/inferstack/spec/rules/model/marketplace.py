"""Models from AWS Marketplace: what they need, and what they cannot do.

From the ARN of a package one can only guess that it is such a model, so all of it is advice.
"""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import InferenceComponentsSpec, ModelBackedSpec, ModelSpec
from inferstack.spec.parts.marketplace import marketplace_packages
from inferstack.spec.parts.walk import deployment_config, hosting, models, shadow_variants
from inferstack.spec.rules.base import SERVERLESS_PAGE, Finding, warning

_ISOLATION = "https://docs.aws.amazon.com/sagemaker/latest/dg/mkt-algo-model-internet-free.html"
_GUARDRAILS = "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html"
_SHADOWS = "https://docs.aws.amazon.com/sagemaker/latest/dg/shadow-tests-exclusions.html"
_KEY = "model_package_name"


@warning(
    "IS236", "A model from AWS Marketplace should have network isolation.", _ISOLATION, ModelSpec, about=_KEY
)
def marketplace_models_are_isolated(spec: ModelSpec) -> Iterator[Finding]:
    """SageMaker refuses training jobs without it. Serverless endpoints have neither it nor such models."""
    where = "the model"
    if isinstance(spec, InferenceComponentsSpec):
        where += " and in `endpoint_config`"
    isolated = {name for _, name, model in models(spec) if model.enable_network_isolation}
    for path, name in marketplace_packages(spec):
        if not (name in isolated or _is_serverless(spec, name)):
            message = "a package from AWS Marketplace needs network isolation"
            yield Finding((*path, _KEY), message, f"write `enable_network_isolation: true` in {where}")


@warning(
    "IS609",
    "A serverless endpoint should not host a model from AWS Marketplace: AWS lists it as unsupported.",
    SERVERLESS_PAGE,
    ModelSpec,
    about=_KEY,
)
def no_marketplace_models_on_serverless(spec: ModelSpec) -> Iterator[Finding]:
    """Among the features that serverless endpoints lack."""
    for path, name in marketplace_packages(spec):
        if _is_serverless(spec, name):
            message = "a package from AWS Marketplace cannot be used with a serverless variant"
            yield Finding((*path, _KEY), message, "replace `serverless_config` with instances")


@warning(
    "IS632",
    "Guardrails do not work with models from AWS Marketplace.",
    _GUARDRAILS,
    ModelSpec,
    about="deployment_config",
)
def no_guardrails_with_marketplace_models(spec: ModelSpec) -> Iterator[Finding]:
    """SageMaker silently falls back to all at once."""
    if deployment_config(spec) is not None and marketplace_packages(spec):
        message = "guardrails do not work with packages from AWS Marketplace: traffic moves all at once"
        yield Finding(("endpoint", "deployment_config"), message, "remove `deployment_config`")


@warning(
    "IS285",
    "A model from AWS Marketplace should not be tested with shadow variants: AWS lists it as unsupported.",
    _SHADOWS,
    ModelBackedSpec,
    about="shadow_variants",
)
def no_shadows_with_marketplace_models(spec: ModelBackedSpec) -> Iterator[Finding]:
    """Neither beside a shadow variant nor as one."""
    if shadow_variants(spec):
        for path, _ in marketplace_packages(spec):
            message = "a package from AWS Marketplace cannot be used with `shadow_variants`"
            fix = "remove them, or compare two production variants by their weights"
            yield Finding((*path, _KEY), message, fix)


def _is_serverless(spec: ModelSpec, model: str | None) -> bool:
    return any(it.serverless_config is not None for it in hosting(spec, model))
