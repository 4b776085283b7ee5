"""AWS regions: which partition they belong to, how their host names end, and what they offer.

Sources: botocore's partition table; for inference components, the regions whose CloudFormation
registry has AWS::SageMaker::InferenceComponent (that can be inexact: warn, but never refuse).
"""

import re
from collections.abc import Mapping
from typing import Any

from inferstack.catalog._data import document


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
