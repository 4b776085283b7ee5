"""AWS regions: their partitions, host names, and what they offer; and accounts of AWS Marketplace.

Sources: botocore's partition table; for inference components, the regions whose CloudFormation registry has
AWS::SageMaker::InferenceComponent (that can be inexact: warn, but never refuse). The accounts are from the
ARNs and tables of aws/amazon-sagemaker-examples (aws_marketplace/*/src/*_arns.py) and of
tests/integ/marketplace_utils.py in aws/sagemaker-python-sdk. What SageMaker JumpStart sells is there, too.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from inferstack.catalog import document


def names() -> tuple[str, ...]:
    """All known regions of all partitions, sorted."""
    return tuple(sorted(name for partition in _partitions().values() for name in partition["regions"]))


def is_region(name: str) -> bool:
    """Whether this is the name of a known region."""
    return any(name in partition["regions"] for partition in _partitions().values())


def partition(region: str) -> str:
    """The partition of a region, e.g. ``aws-cn``; for a region too new to be known, by the form of its name.

    LookupError if the name does not have the form of a region's name.
    """
    for name, found in _partitions().items():
        if region in found["regions"] or re.fullmatch(found["region_pattern"], region):
            return name
    raise LookupError(f"{region!r} is not the name of an AWS region")


def has_form(name: str) -> bool:
    """Whether a region could have this name, whether it is known or too new for that."""
    try:
        partition(name)
    except LookupError:
        return False
    return True


def dns_suffix(region: str) -> str:
    """How host names in a region end, e.g. ``amazonaws.com.cn``. LookupError as for :func:`partition`."""
    return str(_partitions()[partition(region)]["dns_suffix"])


def supports_inference_components(region: str) -> bool | None:
    """Whether CloudFormation can create inference components there; None for an unknown region."""
    known: Mapping[str, bool] = document("inference-component-regions.json")
    return known.get(region)


def _partitions() -> Mapping[str, Any]:
    found: Mapping[str, Any] = document("regions.json")
    return found


# ---------------------------------------------------------------- AWS Marketplace

MARKETPLACE_ACCOUNTS: Mapping[str, str] = MappingProxyType(
    {
        "ap-east-1": "822005858737",
        "ap-northeast-1": "977537786026",
        "ap-northeast-2": "745090734665",
        "ap-south-1": "077584701553",
        "ap-southeast-1": "192199979996",
        "ap-southeast-2": "666831318237",
        "ca-central-1": "470592106596",
        "eu-central-1": "446921602837",
        "eu-north-1": "136758871317",
        "eu-west-1": "985815980388",
        "eu-west-2": "856760150666",
        "eu-west-3": "843114510376",
        "sa-east-1": "270155090741",
        "us-east-1": "865070037744",
        "us-east-2": "057799348421",
        "us-west-1": "382657785993",
        "us-west-2": "594846645681",
    }
)
"""By region; the accounts of other regions are not published."""
