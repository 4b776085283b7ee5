"""The network of an app as a block of a spec."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk

from inferstack.format.model import VpcConfig

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
    """
    selection = {} if vpc_subnets is None else {name: getattr(vpc_subnets, name) for name in _SELECTION}
    return VpcConfig(
        subnets=tuple(vpc.select_subnets(**selection).subnet_ids),
        security_group_ids=tuple(group.security_group_id for group in security_groups),
    )
