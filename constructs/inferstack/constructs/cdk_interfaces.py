"""CDK's interfaces that endpoints and their parts implement.

Type checkers see from the members of a construct that it does. jsii wants the interfaces themselves, but
reads only the names given here: importing `aws_ec2` for the real one would take a tenth of a second. Which
members Node may call is decided when a construct is made, from the classes before the first of CDK's own.
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


class OfSageMaker:
    """`aws_cdk.aws_sagemaker.IEndpoint`, which API Gateway's `SagemakerIntegration` takes."""

    __jsii_type__ = "aws-cdk-lib.aws_sagemaker.IEndpoint"

    @property
    @jsii.member(jsii_name="endpointName")
    def endpoint_name(self) -> Any:
        """Name to invoke."""

    @property
    @jsii.member(jsii_name="endpointArn")
    def endpoint_arn(self) -> Any:
        """ARN of the endpoint."""

    @property
    @jsii.member(jsii_name="endpointRef")
    def endpoint_ref(self) -> Any:
        """The same, for CDK's own constructs."""

    @property
    @jsii.member(jsii_name="stack")
    def stack(self) -> Any:
        """The stack that the construct is in."""

    @property
    @jsii.member(jsii_name="env")
    def env(self) -> Any:
        """Account and region of the endpoint."""

    @jsii.member(jsii_name="grantInvoke")
    def grant_invoke(self, grantee: Any) -> Any:
        """Lets somebody send requests."""

    @jsii.member(jsii_name="applyRemovalPolicy")
    def apply_removal_policy(self, policy: Any) -> None:
        """What becomes of the endpoint when it leaves its stack."""
