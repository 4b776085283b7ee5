"""CDK's constructs of the network that a spec names."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
from constructs import Construct, IDependable

from inferstack.spec.texts.placeholders import is_list_token, is_opaque


def security_group(scope: Construct, construct_id: str, group_id: str) -> cdk.aws_ec2.ISecurityGroup:
    """The group's own construct where the app makes it, so that its settings apply to rules."""
    made = _of_the_app(group_id)
    if isinstance(made, cdk.aws_ec2.SecurityGroup):
        return made
    # Whether it allows all outbound traffic is not known. If it does, a rule too many changes nothing; if it
    # does not, a missing rule would block traffic.
    return cdk.aws_ec2.SecurityGroup.from_security_group_id(
        scope, construct_id, group_id, allow_all_outbound=False
    )


def routes_of(subnet_id: str) -> IDependable | None:
    """The routes of a subnet that the app makes; None for any other subnet."""
    # Most are plain ids: no reason to load the module, or to ask Node.
    if not is_opaque(subnet_id) or is_list_token(subnet_id):
        return None
    made = _of_the_app(subnet_id)
    return made.internet_connectivity_established if isinstance(made, cdk.aws_ec2.Subnet) else None


def _of_the_app(attribute: str) -> Any:
    """The construct around the L1 that this is an attribute of; None where the app makes none."""
    found: Any = cdk.Tokenization.reverse_string(attribute)
    if found.length != 1 or not cdk.Reference.is_reference(found.first_token):
        return None
    return found.first_token.target.node.scope
