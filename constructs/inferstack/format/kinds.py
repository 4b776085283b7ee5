"""The kinds of spec. `kind` decides which blocks a spec may have; everything else is shared."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, get_args

from msgspec import Meta

from inferstack.format.ai_jobs import AiBenchmarkJob, AiRecommendationJob, AiWorkloadConfig
from inferstack.format.alarms import Alarms, Dashboard, LogGroups
from inferstack.format.autoscaling import Autoscaling
from inferstack.format.base import Block, Items, PolicyArn, RoleArn, Tags, form
from inferstack.format.elsewhere import Exports, Invokers, ParameterName, StackParameter
from inferstack.format.endpoint import Endpoint, EndpointConfig
from inferstack.format.inference_component import InferenceComponent
from inferstack.format.load_testing import LoadTest
from inferstack.format.model import Model, NamedModel, Triton
from inferstack.format.objective import Objective
from inferstack.format.variant import Variant

# ---------------------------------------------------------------- the role

AccountId = Annotated[str, form(r"^[0-9]{12}$")]
KeyArn = Annotated[str, form(r"^arn:aws[a-z\-]*:kms:[a-z0-9\-]+:[0-9]{12}:(key|alias)/.+$")]


Action = Annotated[str, form(r"^(\*|[a-zA-Z0-9\-]+:[a-zA-Z0-9*?]+)$")]
ResourceArn = Annotated[str, form(r"^(\*|arn:[^:]+:[^:]+:[^:]*:([0-9]{12}|\*|aws)?:.+)$")]


class PolicyStatement(Block):
    """One more statement that allows something, written as in an IAM policy."""

    action: Items[Action]
    """Actions to allow, such as `dynamodb:GetItem`."""
    resource: Items[ResourceArn]
    """ARNs of the resources that the actions are allowed on."""
    condition: dict[str, dict[str, str | Items[str]]] | None = None
    """Conditions, as in IAM: operator, then condition key, then value."""
    sid: Annotated[str, form(r"^[A-Za-z0-9]+$")] | None = None
    """Name (Sid) of the statement."""


class ExecutionRole(Block):
    """Your additions to the role that the stack creates for the endpoint, which already allows exactly what
    the spec needs."""

    shapes: ClassVar = ("AWS::IAM::Role",)
    # The role's policies get the same path, and a policy's path allows fewer characters than a role's.
    aws_keys: ClassVar = {"path": ("iam:CreatePolicyRequest", "path")}

    statements: Items[PolicyStatement] = ()
    """Permissions that the code in the container needs."""
    managed_policy_arns: Items[PolicyArn] = ()
    """ARNs of further managed policies to attach to the role."""
    kms_key_arns: Items[KeyArn] = ()
    """ARNs of the KMS keys that encrypt the model files; the role may then read those files."""
    subnet_owner_id: AccountId | None = None
    """Account that owns the subnets of `vpc_config`, if it shares them with yours (AWS RAM): twelve digits,
    in quotes. The role may then use those subnets."""
    permissions_boundary: PolicyArn | None = None
    """ARN of the policy that caps what the role may do, if your organisation requires one."""
    path: str | None = None
    """IAM path of the role and of its policies."""


# ---------------------------------------------------------------- the kinds

# AWS's pattern for the names of endpoints, variants and components. The CloudFormation registry allows an
# endpoint's name 64 characters, the API only 63.
HOSTING_NAME, LONGEST_HOSTING_NAME = r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$", 63
HostingName = Annotated[str, form(HOSTING_NAME, max_length=LONGEST_HOSTING_NAME)]
NAMELESS = "${Token[EndpointName]}"
"""The name of an endpoint until a construct is made of it: in Python, a spec may leave the name out."""
WarningCode = Annotated[str, form(r"^IS[0-9]{3}$")]


class Environment(Block):
    """The account and region of the stack. What is left out comes from the CDK CLI's credentials."""

    account: AccountId | None = None
    """Account ID: twelve digits, in quotes."""
    region: str | None = None
    """AWS Region, for example `us-east-1`."""


class Ignore(Block):
    """A warning that does not apply to this spec, and why."""

    code: WarningCode
    """Code of the warning to turn off."""
    reason: str
    """Why the warning does not apply, for the next person who reads the spec."""


class ModelSpec(Block):
    """What every kind of spec has."""

    endpoint_name: HostingName = NAMELESS
    """Name of the endpoint that clients invoke. Changing it creates a new endpoint."""
    models: Mapping[HostingName, Model] | None = None
    """Models by name, for variants with different models; a variant names its own with `model_name`."""
    variant: Variant | None = None
    """The fleet of instances (or serverless capacity) behind the endpoint. One of `variant` and `variants`
    is required."""
    variants: Annotated[Items[Variant], Meta(min_length=1)] | None = None
    """Several fleets that share the traffic by weight, instead of `variant`."""
    autoscaling: Autoscaling | None = None
    """Autoscaling of the variant, if there is only one."""
    triton: Triton | None = None
    """Model repository for all Triton containers that have no `triton` block of their own."""
    description: Annotated[str, form(max_length=512)] | None = None
    """Description of the stack."""
    env: Environment | None = None
    """Account and region of the stack."""
    endpoint_config: EndpointConfig | None = None
    """Settings of the endpoint configuration that apply to all variants."""
    endpoint: Endpoint | None = None
    """How updates of the endpoint are rolled out, and what they keep."""
    execution_role: RoleArn | ExecutionRole | None = None
    """ARN of an existing role, or additions to the role that the stack creates."""
    alarms: Alarms | bool | None = None
    """CloudWatch alarms; `false` for none. If left out, the endpoint gets the default set for its kind."""
    dashboard: Dashboard | bool | None = None
    """CloudWatch dashboard; `false` for none. If left out, the endpoint gets one."""
    log_groups: LogGroups | None = None
    """How long logs are kept. If left out, SageMaker makes the log groups, and keeps logs forever."""
    tags: Tags | None = None
    """Tags for every resource of the stack that can have tags. Models, components, the endpoint and its
    configuration can have more of their own."""
    parameters: dict[ParameterName, StackParameter] | None = None
    """Parameters of the stack by name, whose values are given at deployment; `${parameter:NAME}` uses one."""
    exports: Exports | None = None
    """What other stacks may import."""
    invokers: Invokers | None = None
    """A managed policy, or a role, that may invoke the endpoint."""
    objective: Objective | None = None
    """What the endpoint must do: `inferstack size` finds the instances for it."""
    load_test: LoadTest | None = None
    """A job of Inference Recommender that measures the model: `inferstack recommend` runs it."""
    ai_workload_config: AiWorkloadConfig | None = None
    """What the two jobs for language models send."""
    ai_benchmark_job: AiBenchmarkJob | None = None
    """A benchmark of the deployed language model: `inferstack recommend` runs it."""
    ai_recommendation_job: AiRecommendationJob | None = None
    """A job that finds instance type and settings for a language model: `inferstack recommend` runs it."""
    ignore: Items[WarningCode | Ignore] = ()
    """Warnings to turn off because they do not apply to this spec: codes, or `{code, reason}`."""
    stages: dict[str, dict[str, Any]] | None = None
    """Overrides by stage name. The chosen stage's are merged deeply into the spec before anything else reads
    it: mappings merge, lists and values replace, `null` removes a key. `${stage}` in a text or a key, such as
    a component's name, becomes the stage's name."""

    @property
    def kind(self) -> str:
        """The spec's kind, as the spec writes it."""
        return str(self.__struct_config__.tag)

    @property
    def account(self) -> str | None:
        """The account that the spec names."""
        return None if self.env is None else self.env.account

    @property
    def region(self) -> str | None:
        """The region that the spec names."""
        return None if self.env is None else self.env.region

    @property
    def ignored_codes(self) -> Items[str]:
        """The codes under `ignore`, in order."""
        return tuple(entry.code if isinstance(entry, Ignore) else entry for entry in self.ignore)


class ModelBackedSpec(ModelSpec):
    """An endpoint whose variants host SageMaker models."""

    model: Model | None = None
    """The model that the endpoint hosts. One of `model` and `models` is required, unless the variants name
    existing models."""
    shadow_variants: Annotated[Items[Variant], Meta(min_length=1)] | None = None
    """A fleet that receives copies of the requests, for trying out a change; its responses are discarded."""


class SingleModelSpec(ModelBackedSpec, tag="single-model", tag_field="kind"):
    """One model per variant, in one container."""

    models: dict[HostingName, NamedModel] | None = None
    """Models by name, for variants with different models; a variant names its own with `model_name`."""


class MultiModelSpec(ModelBackedSpec, tag="multi-model", tag_field="kind"):
    """Many model archives under one S3 prefix; each is loaded when a request names it (`TargetModel`)."""


class EnsembleSpec(ModelBackedSpec, tag="ensemble", tag_field="kind"):
    """A Triton ensemble: several models in one container, run by a single request."""

    models: dict[HostingName, NamedModel] | None = None
    """Models by name, for variants with different models; a variant names its own with `model_name`."""


class PipelineSpec(ModelBackedSpec, tag="pipeline", tag_field="kind"):
    """Several containers on each instance, invoked one after the other or individually by name."""


class InferenceComponentsSpec(ModelSpec, tag="inference-components", tag_field="kind", kw_only=True):
    """Several models that share one fleet, each with its own number of copies and its own scaling."""

    models: Annotated[dict[HostingName, NamedModel], Meta(min_length=1)] | None = None
    """SageMaker models by name, for components that use one (`specification.model_name`) because a
    `container` block cannot express it: uncompressed files (`model_data_source`), model packages, private
    registries."""
    variants: Annotated[Items[Variant], Meta(min_length=1)] | None = None
    """Several fleets for different components, instead of `variant`."""
    autoscaling: Autoscaling | None = None
    """Your own autoscaling of the fleet's instances, instead of `managed_instance_scaling`."""
    inference_components: Annotated[dict[HostingName, InferenceComponent], Meta(min_length=1)]
    """Inference components by name, one for each model. A name is unique in the account and region: write
    `llama-${stage}` if several stages share them."""


Spec = SingleModelSpec | MultiModelSpec | EnsembleSpec | InferenceComponentsSpec | PipelineSpec
"""A spec of any kind; `kind` tells them apart."""

KINDS: tuple[type[ModelSpec], ...] = get_args(Spec)
