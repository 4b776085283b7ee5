"""The network of an app as a block of a spec."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk

from inferstack.format.model import VpcConfig
from inferstack.problems.file_codes import ONE_ZONE
from inferstack.texts.placeholders import is_settled

_SELECTION = (
    "availability_zones",
    "one_per_az",
    "subnet_filters",
    "subnet_group_name",
    "subnets",
    "subnet_type",
)


def vpc_config(
    vpc: cdk.aws_ec2.IVpc | cdk.aws_ec2.Vpc,
    *,
    security_groups: Sequence[cdk.aws_ec2.ISecurityGroup | cdk.aws_ec2.SecurityGroup],
    vpc_subnets: cdk.aws_ec2.SubnetSelection | None = None,
) -> VpcConfig:
    """The block `vpc_config` of a model or an endpoint configuration, from CDK's own constructs.

    ``vpc_subnets`` chooses among its subnets, as for CDK's own constructs: without it, private ones.

    Raises:
        TypeError: when ``security_groups`` is not a list.
        ValueError: when the network has public subnets only, and ``vpc_subnets`` does not choose them.
    """
    if not isinstance(security_groups, Sequence):
        given = type(security_groups).__name__
        raise TypeError(f"`security_groups` is a {given}, not a list; write `security_groups=[…]`")
    selection = {} if vpc_subnets is None else {name: getattr(vpc_subnets, name) for name in _SELECTION}
    chosen = vpc.select_subnets(**selection)
    if vpc_subnets is None and chosen.has_public:
        # CDK falls back to them, but SageMaker's interfaces have no public address.
        raise ValueError(
            f"the network {vpc.node.path} has no private subnets, and in public ones instances reach nothing "
            "but VPC endpoints; add private ones, or choose these: "
            "`vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)`"
        )
    zones = set(chosen.availability_zones)
    if len(zones) == 1 and all(map(is_settled, zones)):
        message = f"all subnets for SageMaker are in {zones.pop()}, but even one instance takes two zones"
        fix = "give the network subnets in another zone, or choose others with `vpc_subnets`"
        cdk.Annotations.of(vpc).add_warning_v2(ONE_ZONE, f"{ONE_ZONE}: {message}; {fix}")
    return VpcConfig(
        subnets=tuple(chosen.subnet_ids),
        security_group_ids=tuple(group.security_group_id for group in security_groups),
    )
