"""IS710 to IS719: the stack's region."""

from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.placeholders import is_opaque
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.words import nearest

_REGIONS = "https://docs.aws.amazon.com/general/latest/gr/sagemaker.html"


@error("IS710", "`env.region` is the name of an AWS region.", _REGIONS, ModelSpec)
def region_exists(spec: ModelSpec) -> Iterator[Finding]:
    """A region too new to be known passes if its name has the right form."""
    region = None if spec.env is None else spec.env.region
    if region is None or is_opaque(region):
        return
    try:
        regions.partition(region)
    except LookupError:
        close = nearest(region, regions.names())
        suggestion = "" if close is None else f"did you mean `{close}`? "
        fix = f"{suggestion}write a name such as `us-east-1`"
        yield Finding(("env", "region"), f'"{region[:60]}" is no AWS region', fix)
