"""CDK's interfaces for what can be granted rights and what has connections, as jsii needs them at run time.

Type checkers see from its members that an endpoint implements them. jsii wants the interfaces themselves, but
reads only the names given here. Importing `aws_ec2` for the real one would take a tenth of a second.
"""

from typing import Any

import jsii


class Grantable:
    """`aws_cdk.aws_iam.IGrantable`."""

    __jsii_type__ = "aws-cdk-lib.aws_iam.IGrantable"

    @property
    @jsii.member(jsii_name="grantPrincipal")
    def grant_principal(self) -> Any:
        """The principal that gets the rights."""


class Connectable:
    """`aws_cdk.aws_ec2.IConnectable`."""

    __jsii_type__ = "aws-cdk-lib.aws_ec2.IConnectable"

    @property
    @jsii.member(jsii_name="connections")
    def connections(self) -> Any:
        """The security groups."""
