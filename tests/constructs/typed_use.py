"""What users write, for mypy and pyright: CDK's own constructs accept an endpoint."""

from aws_cdk import (
    aws_apigateway as apigateway,
    aws_ec2 as ec2,
    aws_iam as iam,
    aws_s3 as s3,
    aws_sagemaker as sagemaker,
)

from inferstack.constructs import ExecutionRole, IInferenceEndpoint, InferenceEndpoint, vpc_config
from inferstack.format import Alarms, Model, SingleModelSpec, Variant


def grants(
    endpoint: InferenceEndpoint, part: ExecutionRole, bucket: s3.Bucket, group: ec2.SecurityGroup
) -> tuple[iam.IGrantable, ec2.IConnectable, iam.IGrantable]:
    """Every way to pass one."""
    bucket.grant_read(endpoint)
    bucket.grant_read(part)
    bucket.grant_read(part.role)
    group.connections.allow_from(endpoint, ec2.Port.tcp(443))
    return endpoint, endpoint, part


def fronts(made: InferenceEndpoint, imported: IInferenceEndpoint) -> tuple[sagemaker.IEndpoint, ...]:
    """What takes SageMaker's endpoints takes these."""
    apigateway.SagemakerIntegration(made)
    apigateway.SagemakerIntegration(imported)
    return made, imported


def spec(
    vpc: ec2.Vpc, imported: ec2.IVpc, group: ec2.SecurityGroup
) -> tuple[SingleModelSpec, SingleModelSpec]:
    """Lists or tuples, with a name or without, in a network of either sort."""
    variant = Variant(instance_type="ml.m5.large", initial_instance_count=2)
    made = Model(image="net:1", vpc_config=vpc_config(vpc, security_groups=[group]))
    other = Model(image="net:1", vpc_config=vpc_config(imported, security_groups=(group,)))
    return (
        SingleModelSpec(
            model=made, variant=variant, alarms=Alarms(actions=["arn:aws:sns:us-east-1:1:oncall"])
        ),
        SingleModelSpec(endpoint_name="net", model=other, variants=(variant,)),
    )
