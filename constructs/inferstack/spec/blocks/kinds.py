"""The kinds of a spec. `kind` decides which blocks a spec has; all else is shared."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from inferstack.spec.blocks.alarms import Alarms, Dashboard
from inferstack.spec.blocks.autoscaling import Autoscaling
from inferstack.spec.blocks.base import Block, form
from inferstack.spec.blocks.endpoint import Endpoint
from inferstack.spec.blocks.endpoint_config import EndpointConfig
from inferstack.spec.blocks.execution_role import ExecutionRole, RoleArn
from inferstack.spec.blocks.inference_component import InferenceComponent
from inferstack.spec.blocks.load_test import LoadTest
from inferstack.spec.blocks.model import Model, NamedModel
from inferstack.spec.blocks.triton import Triton
from inferstack.spec.blocks.variant import Variant

# AWS's pattern for names of endpoints, variants and components. The registry allows an endpoint 64
# characters, the API only 63.
HOSTING_NAME, LONGEST_HOSTING_NAME = r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$", 63
HostingName = Annotated[str, form(HOSTING_NAME, max_length=LONGEST_HOSTING_NAME)]
AccountId = Annotated[str, form(r"^[0-9]{12}$")]
TagKey = Annotated[str, form(min_length=1, max_length=128)]
TagValue = Annotated[str, form(max_length=256)]
WarningCode = Annotated[str, form(r"^IS[0-9]{3}$")]


class Environment(Block):
    """The account and region that the stack is for. Absent parts come from the CDK CLI's credentials."""

    account: AccountId | None = None
    """Twelve digits, in quotes."""
    region: str | None = None
    """For example `us-east-1`."""


class Ignore(Block):
    """A warning that does not apply here."""

    code: WarningCode
    """The warning's code."""
    reason: str
    """Why it does not apply, for whoever reads the spec next."""


class ModelSpec(Block):
    """What every kind of spec has."""

    endpoint_name: HostingName
    """Name of the endpoint that clients invoke. Changing it makes a new endpoint."""
    models: Mapping[HostingName, Model] | None = None
    """Models by name, for variants that differ in their model (`model_name`)."""
    variant: Variant | None = None
    """The fleet, or `variants` for several: one of the two must be there."""
    variants: Annotated[tuple[Variant, ...], Meta(min_length=1)] | None = None
    """Fleets that share the traffic by weight."""
    autoscaling: Autoscaling | None = None
    """Scaling of the only variant."""
    triton: Triton | None = None
    """Model repository of all Triton containers that have no `triton` of their own."""
    description: Annotated[str, form(max_length=512)] | None = None
    """Description of the stack."""
    env: Environment | None = None
    """Account and region."""
    endpoint_config: EndpointConfig | None = None
    """Settings of the fleet as a whole."""
    endpoint: Endpoint | None = None
    """How the endpoint changes."""
    execution_role: RoleArn | ExecutionRole | None = None
    """ARN of an existing role, or additions to the one that is made."""
    alarms: Alarms | bool | None = None
    """Alarms; `false` for none at all."""
    dashboard: Dashboard | bool | None = None
    """Dashboard; `false` for none."""
    tags: dict[TagKey, TagValue] | None = None
    """Tags of every resource that can carry them."""
    load_test: LoadTest | None = None
    """Load test that is to size the endpoint: checked and kept; nothing runs it yet."""
    ignore: tuple[WarningCode | Ignore, ...] = ()
    """Warnings that do not apply here: codes, or `{code, reason}`."""
    stages: dict[str, dict[str, Any]] | None = None
    """Overrides by stage, merged deeply into the spec before anything else looks at it: mappings merge,
    lists and values replace, `null` removes a key. The chosen stage's name stands for `${stage}`."""

    @property
    def kind(self) -> str:
        """The spec's word for its kind."""
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
    def ignored_codes(self) -> tuple[str, ...]:
        """The codes of `ignore`, in its order."""
        return tuple(entry.code if isinstance(entry, Ignore) else entry for entry in self.ignore)


class ModelBackedSpec(ModelSpec):
    """An endpoint whose variants host SageMaker models."""

    model: Model | None = None
    """The model, or `models` for several: one of the two must be there."""
    shadow_variants: Annotated[tuple[Variant, ...], Meta(min_length=1)] | None = None
    """A fleet that gets copies of the requests while its answers are thrown away, to try a change."""


class SingleModelSpec(ModelBackedSpec, tag="single-model", tag_field="kind"):
    """One model a variant, in one container."""

    models: dict[HostingName, NamedModel] | None = None
    """Models by name, for variants that differ in their model (`model_name`)."""


class MultiModelSpec(ModelBackedSpec, tag="multi-model", tag_field="kind"):
    """Many archives under one S3 prefix, loaded when asked for (`TargetModel`)."""


class EnsembleSpec(ModelBackedSpec, tag="ensemble", tag_field="kind"):
    """A Triton ensemble: several models in one container, called in one request."""

    models: dict[HostingName, NamedModel] | None = None
    """Models by name, for variants that differ in their model (`model_name`)."""


class PipelineSpec(ModelBackedSpec, tag="pipeline", tag_field="kind"):
    """Several containers on each instance, called one after the other or each by name."""


class InferenceComponentsSpec(ModelSpec, tag="inference-components", tag_field="kind", kw_only=True):
    """Several models packed on one fleet, each with its own copies and scaling."""

    models: Annotated[dict[HostingName, NamedModel], Meta(min_length=1)] | None = None
    """SageMaker models by name, for components that name one (`specification.model_name`): for what no
    `container` says, such as plain files (`model_data_source`), model packages and private registries."""
    variants: Annotated[tuple[Variant, ...], Meta(min_length=1)] | None = None
    """Fleets for different components."""
    autoscaling: Autoscaling | None = None
    """Scaling of the fleet's instances by yourself, instead of `managed_instance_scaling`."""
    inference_components: Annotated[dict[HostingName, InferenceComponent], Meta(min_length=1)]
    """Models by the name of their component."""


Spec = SingleModelSpec | MultiModelSpec | EnsembleSpec | InferenceComponentsSpec | PipelineSpec
"""Any spec, told apart by `kind`."""

KINDS: tuple[type[ModelSpec], ...] = (
    SingleModelSpec,
    MultiModelSpec,
    EnsembleSpec,
    InferenceComponentsSpec,
    PipelineSpec,
)
