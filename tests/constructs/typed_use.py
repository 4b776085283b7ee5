"""What users write, for mypy and pyright: CDK's own constructs accept an endpoint."""

from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_s3 as s3

from inferstack.constructs import ExecutionRole, InferenceEndpoint


def grants(
    endpoint: InferenceEndpoint, part: ExecutionRole, bucket: s3.Bucket, group: ec2.SecurityGroup
) -> tuple[iam.IGrantable, ec2.IConnectable, iam.IGrantable]:
    """Every way to pass one."""
    bucket.grant_read(endpoint)
    bucket.grant_read(part)
    bucket.grant_read(part.role)
    group.connections.allow_from(endpoint, ec2.Port.tcp(443))
    return endpoint, endpoint, part
