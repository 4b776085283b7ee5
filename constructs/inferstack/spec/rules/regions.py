"""The stack's region."""

from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem.words import did_you_mean
from inferstack.spec.rules.base import Finding, error, warning
from inferstack.spec.texts.placeholders import is_settled

_ENVIRONMENTS = "https://docs.aws.amazon.com/cdk/v2/guide/environments.html"
_REGIONS = "https://docs.aws.amazon.com/general/latest/gr/sagemaker.html"


@error("IS710", "`env.region` must have the form of a region's name.", _REGIONS, ModelSpec)
def region_has_the_form(spec: ModelSpec) -> Iterator[Finding]:
    """A region too new to be known passes here."""
    region = _region(spec)
    if region is not None and not regions.has_form(region):
        yield Finding(("env", "region"), f'"{region[:60]}" is not a valid AWS region', _suggestion(region))


@warning(
    "IS711", "`env.region` should be a region that this version of inferstack knows.", _REGIONS, ModelSpec
)
def region_is_known(spec: ModelSpec) -> Iterator[Finding]:
    """A new region may be right, but a typo is more likely."""
    region = _region(spec)
    if region is not None and not regions.is_region(region) and regions.has_form(region):
        yield Finding(("env", "region"), f"{region} is not a region that is known here", _suggestion(region))


@error(
    "IS712",
    "`env` must have a plain account and region, known before the deployment.",
    _ENVIRONMENTS,
    ModelSpec,
    about="env",
)
def place_is_plain(spec: ModelSpec) -> Iterator[Finding]:
    """CDK and its CLI read it before anything is deployed, so no placeholder will do."""
    for key, value in (("account", spec.account), ("region", spec.region)):
        if value is not None and not is_settled(value):
            message = f'"{value[:60]}" is known only at deployment'
            yield Finding(("env", key), message, f"remove it to use the {key} of the deployment")


def _region(spec: ModelSpec) -> str | None:
    region = spec.region
    return region if region is not None and is_settled(region) else None


def _suggestion(region: str) -> str:
    return did_you_mean(region, regions.names(), "write a name such as `us-east-1`")
