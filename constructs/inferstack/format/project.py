"""The project's file, `inferstack.yaml`: what all specs of a project share, and what none of them may
change."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from inferstack.format.alarms import Alarms, Dashboard
from inferstack.format.base import Block, Items, Number, PolicyArn, RoleArn, Tags
from inferstack.format.endpoint import Endpoint, EndpointConfig
from inferstack.format.kinds import Environment, ExecutionRole, Ignore, WarningCode
from inferstack.format.model import VpcConfig

# ---------------------------------------------------------------- defaults


class ModelDefaults(Block):
    """What each model gets that a spec defines under `model` or `models`."""

    shapes: ClassVar = ("AWS::SageMaker::Model",)

    enable_network_isolation: bool | None = None
    """True blocks all of the container's network traffic, in and out; it still gets the model files."""
    vpc_config: VpcConfig | None = None
    """Connects the container to your VPC."""
    tags: Tags | None = None
    """Tags of each model alone, added to those of the spec."""


class InvokerRoleDefaults(Block):
    """What the role of `invokers` gets, in specs that make one."""

    shapes: ClassVar = ("AWS::IAM::Role",)
    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    path: str | None = None
    """IAM path of the role."""
    permissions_boundary: PolicyArn | None = None
    """ARN of the policy that caps what the role may do."""


class InvokersDefaults(Block):
    """What the policy and the role of `invokers` get, in specs that make them."""

    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    path: str | None = None
    """IAM path of the policy."""
    role: InvokerRoleDefaults | None = None
    """Of the role."""


class Defaults(Block):
    """What each spec gets unless it says otherwise, in the form of a spec. A spec's own values replace these,
    mappings merge key by key, and `null` in a spec removes a default. A spec that cannot have a key, such as
    a serverless one `vpc_config`, does not get it."""

    env: Environment | None = None
    """Account and region of the stacks."""
    execution_role: RoleArn | ExecutionRole | None = None
    """ARN of an existing role, or additions to the roles that the stacks create, such as the path and the
    permissions boundary that your organisation requires."""
    invokers: InvokersDefaults | None = None
    """Path and boundary of what `invokers` makes, in specs that have it."""
    model: ModelDefaults | None = None
    """What each model gets that a spec defines."""
    endpoint_config: EndpointConfig | None = None
    """Settings of the endpoint configurations. `vpc_config` and `enable_network_isolation` are for inference
    components."""
    endpoint: Endpoint | None = None
    """How updates of the endpoints are rolled out, and what they keep."""
    alarms: Alarms | bool | None = None
    """What alarms notify, and further alarms; `false` for none."""
    dashboard: Dashboard | bool | None = None
    """CloudWatch dashboards; `false` for none."""
    tags: Tags | None = None
    """Tags for every resource that can have tags."""
    ignore: Items[WarningCode | Ignore] = ()
    """Warnings to turn off in all specs. A spec with an `ignore` of its own has only that."""
    stages: dict[str, dict[str, Any]] | None = None
    """What is different at a stage, by its name. Each spec has these stages, besides its own."""


# ---------------------------------------------------------------- rules

Pattern = Annotated[str, Meta(extra_json_schema={"minLength": 1})]
Reason = Annotated[str, Meta(extra_json_schema={"minLength": 1})]


class ChoiceOfValues(Block):
    """The values that a spec may choose from, and why."""

    values: Annotated[Items[Pattern], Meta(min_length=1)]
    """What is allowed; `*` stands for any text, as in `ml.g5.*`."""
    reason: Reason
    """Why, for the person who has chosen something else."""


class RequiredTags(Block):
    """Tags that each spec must have, and why."""

    keys: Annotated[Items[Pattern], Meta(min_length=1)]
    """Keys that `tags` must have, each with a value."""
    reason: Reason
    """Why, for the person who has left one out."""


class Limit(Block):
    """The highest number that is allowed, and why."""

    value: Number
    """The highest number."""
    reason: Reason
    """Why, for the person who has exceeded it."""


class CostLimit(Limit):
    """The most that an endpoint may cost an hour, and why."""

    prices: str | None = None
    """File of prices, as `inferstack prices update` writes it, relative to this file; if left out,
    `inferstack-prices.json`."""


class AllowedValues(Block):
    """What specs may choose from. A value that only the deployment knows is refused, since nobody can check
    it."""

    accounts: ChoiceOfValues | None = None
    """Accounts that stacks may be deployed to. Each spec must name one."""
    regions: ChoiceOfValues | None = None
    """Regions that stacks may be deployed to. Each spec must name one."""
    instance_types: ChoiceOfValues | None = None
    """Instance types of variants, shadow variants and instance pools."""
    permissions_boundaries: ChoiceOfValues | None = None
    """Boundaries of the roles that stacks create, one of which each role must have."""
    role_paths: ChoiceOfValues | None = None
    """IAM paths of the roles and policies that stacks create, one of which each must have."""


class RequiredSettings(Block):
    """What each spec must have: the setting, and the reason."""

    vpc_config: Reason | None = None
    """Models, or with inference components the endpoint configuration, must be connected to a VPC."""
    enable_network_isolation: Reason | None = None
    """Containers must be cut off from the network."""
    kms_key_id: Reason | None = None
    """Whatever a key of yours can encrypt must have one: storage volumes, captured data, the results of
    asynchronous requests. A local NVMe disk takes no key."""
    alarm_actions: Reason | None = None
    """The endpoint must have alarms, and each alarm must notify or trigger something."""
    tags: RequiredTags | None = None
    """Tags that each spec must have."""


class UpperLimits(Block):
    """The most that one endpoint may hold or cost, with as many instances as its scaling allows."""

    instances: Limit | None = None
    """Instances of all variants together."""
    cost_per_hour: CostLimit | None = None
    """Cost of the instances an hour, on demand, in the currency of the price file."""


class Rules(Block):
    """What no spec may change. Unlike a warning, none of these can be ignored."""

    allowed: AllowedValues | None = None
    """What specs may choose from."""
    required: RequiredSettings | None = None
    """What each spec must have."""
    at_most: UpperLimits | None = None
    """The most that an endpoint may hold or cost."""


class Project(Block):
    """The file `inferstack.yaml`, next to the folder of the specs or above it."""

    defaults: Defaults | None = None
    """What each spec gets unless it says otherwise."""
    rules: Rules | None = None
    """What no spec may change."""
