"""What a stack takes from elsewhere and gives to others: parameters, exports, those who invoke the endpoint.

A value from elsewhere may stand only where CloudFormation fills it in and nothing is decided by it.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from inferstack.format.base import Block, Items, Number, PolicyArn, form
from inferstack.problems import SpecPath

# ---------------------------------------------------------------- where a value from elsewhere may stand

LISTS = frozenset(
    {
        *("subnets", "security_group_ids"),
        *("kms_key_arns", "managed_policy_arns"),
        *("actions", "ok_actions", "insufficient_data_actions"),
    }
)
"""Keys with a list of texts. A value may be one of its entries, or all of it."""
TEXTS = {
    "roles, policies": (
        *("execution_role", "managed_policy_arns", "permissions_boundary", "statements.resource"),
        *("statements.condition.*.*", "invokers.roles", "invokers.role.trusted"),
    ),
    "subnets, security groups": ("subnets", "security_group_ids"),
    "KMS keys": ("kms_key_id", "kms_key_arns"),
    "S3 URLs, buckets": (
        *("model_data_url", "artifact_url", "s3_data_source.s3_uri", "shap_baseline_uri"),
        *("s3_output_path", "s3_failure_path", "destination_s3_uri", "destination_bucket_name"),
    ),
    "images, model packages, hub contents": (
        *("image", "repository_credentials_provider_arn", "model_package_name", "hub_content_arn"),
    ),
    "existing models": (
        *(f"{variant}.model_name" for variant in ("variant", "variants", "shadow_variants")),
        *("instance_pools.model_name_override", "specification.model_name", "specifications.model_name"),
    ),
    "topics, other actions": (
        *("success_topic", "error_topic", "actions", "ok_actions", "insufficient_data_actions"),
    ),
    "alarms of other stacks": ("auto_rollback_configuration.alarms.alarm_name",),
    "environment variables": ("environment.*",),
    "tags": ("tags.*",),
}
"""Keys under which a value may stand, or be part of a text: the ends of their paths, `*` for any key."""
_ENDS = tuple(tuple(end.split(".")) for ends in TEXTS.values() for end in ends)


def may_be_elsewhere(path: SpecPath) -> bool:
    """Whether the value at a path may come from elsewhere."""
    keys = [step for step in path if isinstance(step, str)]
    return any(_fits(keys[-len(end) :], end) for end in _ENDS)


def _fits(keys: list[str], end: Items[str]) -> bool:
    return len(keys) == len(end) and all(wanted in (key, "*") for key, wanted in zip(keys, end, strict=True))


# ---------------------------------------------------------------- parameters of the stack

# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-supplied-parameter-types.html
ParameterType = Literal[
    "String",
    "Number",
    "CommaDelimitedList",
    "AWS::EC2::Subnet::Id",
    "AWS::EC2::SecurityGroup::Id",
    "List<AWS::EC2::Subnet::Id>",
    "List<AWS::EC2::SecurityGroup::Id>",
    "AWS::SSM::Parameter::Value<String>",
    "AWS::SSM::Parameter::Value<List<String>>",
    "AWS::SSM::Parameter::Value<AWS::EC2::Subnet::Id>",
    "AWS::SSM::Parameter::Value<AWS::EC2::SecurityGroup::Id>",
    "AWS::SSM::Parameter::Value<List<AWS::EC2::Subnet::Id>>",
    "AWS::SSM::Parameter::Value<List<AWS::EC2::SecurityGroup::Id>>",
]
Length = Annotated[int, Meta(ge=0, le=4096)]
ParameterName = Annotated[str, form("^[A-Za-z0-9]+$", max_length=255)]


def is_list_type(type_name: str) -> bool:
    """Whether a parameter of this type stands for a list."""
    return "List" in type_name


class StackParameter(Block):
    """A parameter of the stack, whose value is given at deployment. Any text with `${parameter:NAME}` in it
    uses the value. Secrets belong in Secrets Manager instead."""

    type: ParameterType = "String"
    """CloudFormation's type of the parameter. A list type is for keys with a list."""
    default: Number | Annotated[str, form(max_length=4096)] | None = None
    """The value if none is given; of a type that begins with `AWS::SSM`, the name in the Parameter Store."""
    description: Annotated[str, form(max_length=4000)] | None = None
    """What the value is for, as the console and `aws cloudformation` show it."""
    allowed_values: Items[Number | str] | None = None
    """The values that CloudFormation accepts."""
    allowed_pattern: str | None = None
    """A regular expression that a text, or each entry of a CommaDelimitedList, must match as a whole."""
    constraint_description: str | None = None
    """What CloudFormation says about a value that it refuses."""
    min_length: Length | None = None
    """Minimum number of characters of a String."""
    max_length: Length | None = None
    """Maximum number of characters of a String."""
    min_value: Number | None = None
    """Minimum value of a Number."""
    max_value: Number | None = None
    """Maximum value of a Number."""


# ---------------------------------------------------------------- what other stacks may import

# The API's model has no pattern. CloudFormation refuses other names: https://github.com/aws/aws-cdk/issues/28563
ExportName = Annotated[str, form("^[A-Za-z0-9:-]+$", max_length=255)]


class Exports(Block):
    """What other stacks of the account and region may import, each under a name that no other stack there
    exports. CloudFormation deletes no stack, and changes no export, that another stack imports."""

    endpoint_name: ExportName | None = None
    """Exports the endpoint's name under this name."""
    endpoint_arn: ExportName | None = None
    """Exports the endpoint's ARN under this name."""
    invoker_policy_arn: ExportName | None = None
    """Exports the ARN of the policy of `invokers` under this name."""
    invoker_role_arn: ExportName | None = None
    """Exports the ARN of the role of `invokers` under this name."""

    @property
    def chosen(self) -> dict[str, str]:
        """The names by key, of what is exported."""
        named = {key: getattr(self, key) for key in self.__struct_fields__}
        return {key: name for key, name in named.items() if name is not None}


# ---------------------------------------------------------------- who may invoke

RoleName = Annotated[str, form(r"^[A-Za-z0-9_+=,.@-]+$", max_length=64)]
Principal = Annotated[
    str,
    form(r"^([a-z0-9.-]+\.amazonaws\.com(\.cn)?|[0-9]{12}|arn:aws[a-z\-]*:(iam|sts)::[0-9]{12}:[^*?]+)$"),
]


class InvokerRole(Block):
    """A role that may invoke the endpoint and do nothing else."""

    shapes: ClassVar = ("AWS::IAM::Role",)
    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    trusted: Annotated[Items[Principal], Meta(min_length=1)]
    """Who may assume the role: services such as `lambda.amazonaws.com`, accounts, or ARNs of roles."""
    role_name: RoleName | None = None
    """Name of the role. Without one, CloudFormation makes one up."""
    path: str | None = None
    """IAM path of the role."""
    permissions_boundary: PolicyArn | None = None
    """ARN of the policy that caps what the role may do, if your organisation requires one."""


class Invokers(Block):
    """A managed policy that allows invoking the endpoint and its inference components, and who gets it."""

    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    managed_policy_name: Annotated[str, form(r"^[A-Za-z0-9_+=,.@-]+$", max_length=128)] | None = None
    """Name of the policy. Without one, CloudFormation makes one up."""
    path: str | None = None
    """IAM path of the policy."""
    roles: Items[RoleName] = ()
    """Names of existing roles of the account that get the policy."""
    role: InvokerRole | None = None
    """A new role with the policy."""
    openai_route: bool | None = None
    """Whether the policy allows bearer tokens, which the OpenAI-compatible route takes. Without the key, it
    does where a container runs one of AWS's images for language models."""
