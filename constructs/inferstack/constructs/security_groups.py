"""CDK's handle for a security group that a spec names."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
from constructs import Construct


def security_group(scope: Construct, construct_id: str, group_id: str) -> cdk.aws_ec2.ISecurityGroup:
    """The group's own construct where the app makes it, so that its settings apply to rules."""
    made = _of_the_app(group_id)
    if made is not None:
        return made
    # Whether it allows all outbound traffic is not known. If it does, a rule too many changes nothing; if it
    # does not, a missing rule would block traffic.
    return cdk.aws_ec2.SecurityGroup.from_security_group_id(
        scope, construct_id, group_id, allow_all_outbound=False
    )


def _of_the_app(group_id: str) -> cdk.aws_ec2.SecurityGroup | None:
    """The construct around the L1 whose attribute the id is."""
    found: Any = cdk.Tokenization.reverse_string(group_id)
    if found.length != 1 or not cdk.Reference.is_reference(found.first_token):
        return None
    around = found.first_token.target.node.scope
    return around if isinstance(around, cdk.aws_ec2.SecurityGroup) else None
