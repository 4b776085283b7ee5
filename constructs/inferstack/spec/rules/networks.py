"""IS249: the network that containers are in."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import VpcConfig
from inferstack.spec.placeholders import PLACEHOLDER, is_opaque
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding, warning
from inferstack.spec.walk import models
from inferstack.spec.words import describe

_VPC = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VpcConfig.html"
_BEGINNINGS = {"security_group_ids": ("sg-", "security group"), "subnets": ("subnet-", "subnet")}


@warning(
    "IS249",
    "Security groups and subnets are named by their IDs: `sg-…`, `subnet-…`.",
    _VPC,
    ModelSpec,
    about="vpc_config",
)
def networks_are_named_by_ids(spec: ModelSpec) -> Iterator[Finding]:
    """The API's own pattern lets their names pass, and a deployment does not find them."""
    for path, network in _networks(spec):
        for key, (beginning, what) in _BEGINNINGS.items():
            for index, found in enumerate(getattr(network, key)):
                if not (found.startswith(beginning) or is_opaque(found) or PLACEHOLDER.search(found)):
                    fix = f"write the ID, such as {beginning}0a1b2c3d4e5f60718"
                    yield Finding((*path, key, index), f"{describe(found)} is no ID of a {what}", fix)


def _networks(spec: ModelSpec) -> Iterator[tuple[SpecPath, VpcConfig]]:
    found = [(path, model.vpc_config) for path, _, model in models(spec)]
    if spec.endpoint_config is not None:
        found.append((("endpoint_config",), spec.endpoint_config.vpc_config))
    for path, network in found:
        if network is not None:
            yield (*path, "vpc_config"), network
