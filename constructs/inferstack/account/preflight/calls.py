"""Every request of the checks: boto3's names, the right that it needs, and what "not there" looks like.

https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

import msgspec


class Call(msgspec.Struct, frozen=True):
    """One operation of one service."""

    service: str
    method: str
    action: str
    """IAM's action."""
    absent: tuple[tuple[str, str], ...] = ()
    """Error codes that mean that there is no such thing, each with a part of the message, as some services
    give one code to every wrong request.
    """


GET_PARAMETER = Call("ssm", "get_parameter", "ssm:GetParameter", (("ParameterNotFound", ""),))
LIST_QUOTAS = Call("service-quotas", "list_service_quotas", "servicequotas:ListServiceQuotas")
LIST_DEFAULT_QUOTAS = Call(
    "service-quotas", "list_aws_default_service_quotas", "servicequotas:ListAWSDefaultServiceQuotas"
)
LIST_ENDPOINTS = Call("sagemaker", "list_endpoints", "sagemaker:ListEndpoints")
# SageMaker answers so to requests for what does not exist, and to others that are not valid.
_NOT_FOUND = (("ValidationException", "could not find"),)
DESCRIBE_ENDPOINT = Call("sagemaker", "describe_endpoint", "sagemaker:DescribeEndpoint", _NOT_FOUND)
DESCRIBE_CONFIG = Call(
    "sagemaker", "describe_endpoint_config", "sagemaker:DescribeEndpointConfig", _NOT_FOUND
)
DESCRIBE_COMPONENT = Call(
    "sagemaker", "describe_inference_component", "sagemaker:DescribeInferenceComponent", _NOT_FOUND
)
HEAD_BUCKET = Call("s3", "head_bucket", "s3:ListBucket")
LIST_OBJECTS = Call("s3", "list_objects_v2", "s3:ListBucket")
HEAD_OBJECT = Call("s3", "head_object", "s3:GetObject", (("404", ""),))
DESCRIBE_KEY = Call("kms", "describe_key", "kms:DescribeKey", (("NotFoundException", ""),))
BATCH_GET_IMAGE = Call("ecr", "batch_get_image", "ecr:BatchGetImage", (("RepositoryNotFoundException", ""),))
GET_ROLE = Call("iam", "get_role", "iam:GetRole", (("NoSuchEntity", ""),))
GET_POLICY = Call("iam", "get_policy", "iam:GetPolicy", (("NoSuchEntity", ""),))
DESCRIBE_SUBNETS = Call("ec2", "describe_subnets", "ec2:DescribeSubnets", (("InvalidSubnetID.NotFound", ""),))
DESCRIBE_GROUPS = Call(
    "ec2", "describe_security_groups", "ec2:DescribeSecurityGroups", (("InvalidGroup.NotFound", ""),)
)
DESCRIBE_ROUTE_TABLES = Call("ec2", "describe_route_tables", "ec2:DescribeRouteTables")
DESCRIBE_VPC_ENDPOINTS = Call("ec2", "describe_vpc_endpoints", "ec2:DescribeVpcEndpoints")
_NO_STACK = (("ValidationError", "does not exist"),)
DESCRIBE_STACKS = Call("cloudformation", "describe_stacks", "cloudformation:DescribeStacks", _NO_STACK)
DESCRIBE_STACK_RESOURCES = Call(
    "cloudformation", "describe_stack_resources", "cloudformation:DescribeStackResources", _NO_STACK
)
DESCRIBE_STACK_RESOURCE = Call(
    "cloudformation", "describe_stack_resource", "cloudformation:DescribeStackResource", _NO_STACK
)
