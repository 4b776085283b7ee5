"""An account in which everything that two specs need is there."""

from datetime import UTC, datetime
from typing import Any

from support.answers import Refused, policy_text

ACCOUNT = "123456789012"
KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ENDPOINT = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:endpoint/churn"
STACK = f"arn:aws:cloudformation:us-east-1:{ACCOUNT}:stack/churn/1"
POLICY = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
G5, G6 = "ml.g5.xlarge for endpoint usage", "ml.g6.xlarge for endpoint usage"
CONCURRENCY = "Maximum total concurrency that can be allocated across all serverless endpoints"

SPEC = f"""\
kind: single-model
endpoint_name: churn
env: {{account: "{ACCOUNT}", region: us-east-1}}
model:
  image: {ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/churn:1
  model_data_url: s3://acme-models/churn/model.tar.gz
  vpc_config: {{subnets: [subnet-0a, subnet-0b], security_group_ids: [sg-0a]}}
variant: {{instance_type: ml.g5.xlarge, initial_instance_count: 2}}
execution_role: arn:aws:iam::{ACCOUNT}:role/ml/churn
endpoint_config: {{kms_key_id: "{KEY}"}}
"""
"""Names a role, a network and a key."""

COMPONENTS = f"""\
kind: inference-components
endpoint_name: chat
env: {{account: "{ACCOUNT}", region: us-east-1}}
variant: {{instance_type: ml.g6.xlarge, initial_instance_count: 1}}
execution_role: {{permissions_boundary: "{POLICY}"}}
models:
  llama:
    image: {ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/llm:1
    model_data_source:
      s3_data_source: {{s3_uri: s3://acme-models/llama/, s3_data_type: S3Prefix, compression_type: None}}
inference_components:
  llama:
    specification:
      model_name: llama
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}}
    runtime_config: {{copy_count: 1}}
"""
"""Makes a role, and has files under a prefix."""

_THEN = datetime(2026, 1, 1, tzinfo=UTC)
TRUST = {
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ]
}
NOT_FOUND = Refused("ValidationException", 'Could not find endpoint "churn".')
NO_STACK = Refused("ValidationError", "Stack with id churn does not exist")


def quota(name: str, value: float) -> dict[str, Any]:
    return {"QuotaName": name, "Value": value, "QuotaCode": "L-1928E07B"}


def role(trust: Any = TRUST, arn: str = f"arn:aws:iam::{ACCOUNT}:role/ml/churn") -> dict[str, Any]:
    made = {"Path": "/ml/", "RoleName": "churn", "RoleId": "A" * 20, "Arn": arn, "CreateDate": _THEN}
    return {"Role": {**made, "AssumeRolePolicyDocument": policy_text(trust)}}


def endpoint(name: str = "churn", **more: Any) -> dict[str, Any]:
    return {
        "EndpointName": name,
        "EndpointArn": ENDPOINT.replace("churn", name),
        "EndpointConfigName": f"{name}-config",
        "EndpointStatus": "InService",
        "CreationTime": _THEN,
        "LastModifiedTime": _THEN,
        "ProductionVariants": [
            {"VariantName": "AllTraffic", "CurrentInstanceCount": 2, "DesiredInstanceCount": 2}
        ],
        **more,
    }


def summary(name: str) -> dict[str, Any]:
    kept = ("EndpointName", "EndpointArn", "EndpointStatus", "CreationTime", "LastModifiedTime")
    return {key: value for key, value in endpoint(name).items() if key in kept}


def config(instance_type: str = "ml.g5.xlarge") -> dict[str, Any]:
    return {
        "EndpointConfigName": "c",
        "EndpointConfigArn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:endpoint-config/c",
        "CreationTime": _THEN,
        "ProductionVariants": [{"VariantName": "AllTraffic", "InstanceType": instance_type}],
    }


def stack(status: str = "UPDATE_COMPLETE") -> dict[str, Any]:
    return {"Stacks": [{"StackName": "churn", "StackStatus": status, "CreationTime": _THEN}]}


def resource(stack_name: str = "churn", arn: str = ENDPOINT) -> dict[str, Any]:
    return {
        "StackName": stack_name,
        "LogicalResourceId": "Endpoint",
        "PhysicalResourceId": arn,
        "ResourceType": "AWS::SageMaker::Endpoint",
        "ResourceStatus": "CREATE_COMPLETE",
        "Timestamp": _THEN,
    }


def detail(source: str) -> dict[str, Any]:
    made = {key: value for key, value in resource("app").items() if key != "Timestamp"}
    metadata = f'{{"inferstack:source": "{source}"}}'
    return {"StackResourceDetail": {**made, "LastUpdatedTimestamp": _THEN, "Metadata": metadata}}


def subnet(name: str, free: int = 200, vpc: str = "vpc-1") -> dict[str, Any]:
    return {"SubnetId": name, "AvailableIpAddressCount": free, "VpcId": vpc}


def table(*routes: dict[str, Any], of: str | None = None, name: str = "rtb-main") -> dict[str, Any]:
    used = {"Main": True} if of is None else {"Main": False, "SubnetId": of}
    return {"RouteTableId": name, "Associations": [used], "Routes": list(routes)}


NAT = {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1", "State": "active"}
IGW = {"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "igw-1", "State": "active"}


def door(kind: str = "Gateway", **more: Any) -> dict[str, Any]:
    return {"VpcEndpointType": kind, "State": "available", "RouteTableIds": ["rtb-main"], **more}


def key(state: str = "Enabled", manager: str = "CUSTOMER") -> dict[str, Any]:
    return {"KeyMetadata": {"KeyId": KEY[-36:], "Arn": KEY, "KeyState": state, "KeyManager": manager}}


def file(**more: Any) -> dict[str, Any]:
    return {"ContentLength": 1000, "ServerSideEncryption": "AES256", **more}


def world() -> dict[str, Any]:
    """Both specs can be deployed, for the first time."""
    return {
        "GetCallerIdentity": {"Account": ACCOUNT},
        "GetParameter": {"Parameter": {"Value": "28"}},
        "ListServiceQuotas": {"Quotas": [quota(G5, 4), quota(G6, 4)]},
        "ListAWSDefaultServiceQuotas": {"Quotas": [quota("ml.m5.large for endpoint usage", 0)]},
        "ListEndpoints": {"Endpoints": []},
        "DescribeEndpoint": NOT_FOUND,
        "DescribeEndpointConfig": config(),
        "DescribeInferenceComponent": Refused("ValidationException", "Could not find inference component"),
        "HeadBucket": {"BucketRegion": "us-east-1"},
        "HeadObject": file(),
        "ListObjectsV2": {"KeyCount": 1, "Contents": [{"Key": "llama/config.json"}]},
        "DescribeKey": key(),
        "BatchGetImage": {"images": [{"imageId": {"imageTag": "1"}}], "failures": []},
        "GetRole": role(),
        "GetPolicy": {"Policy": {"Arn": POLICY}},
        "DescribeSubnets": {"Subnets": [subnet("subnet-0a"), subnet("subnet-0b")]},
        "DescribeSecurityGroups": {"SecurityGroups": [{"GroupId": "sg-0a", "VpcId": "vpc-1"}]},
        "DescribeRouteTables": {"RouteTables": [table()]},
        "DescribeVpcEndpoints": {"VpcEndpoints": [door()]},
        "DescribeStacks": NO_STACK,
        "DescribeStackResources": NO_STACK,
        "DescribeStackResource": NO_STACK,
    }


def running() -> dict[str, Any]:
    """The endpoint `churn` runs, from its own stack."""
    return world() | {
        "ListEndpoints": {"Endpoints": [summary("churn")]},
        "DescribeEndpoint": endpoint(),
        "DescribeStacks": lambda params: stack() if params["StackName"] == "churn" else NO_STACK,
        "DescribeStackResources": {"StackResources": [resource()]},
    }
