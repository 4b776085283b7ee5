"""Single parts of an endpoint that is made elsewhere.

Each takes the spec of the whole endpoint and makes its own resources only: the same ones that
:class:`~inferstack.constructs.InferenceEndpoint` would make.
"""

from __future__ import annotations

from collections.abc import Sequence, Set as AbstractSet
from functools import cached_property
from typing import ClassVar

import aws_cdk as cdk
import jsii
import msgspec
from constructs import Construct, Dependable, IConstruct
from msgspec.structs import replace

from inferstack.check.load import LoadedSpec, structured
from inferstack.constructs.cdk_interfaces import Grantable
from inferstack.constructs.escape_hatches import (
    AlarmHandles,
    AlarmL1s,
    ComponentL1s,
    DashboardL1s,
    RoleL1s,
    ScalingL1s,
)
from inferstack.constructs.handles import role_handle
from inferstack.constructs.interface import IInferenceEndpoint
from inferstack.constructs.names_taken import free_names, place_of, settled, take
from inferstack.constructs.rendered import AnySpec, Rendered, spec_by_name, spec_in_stack
from inferstack.constructs.tokens import for_cdk
from inferstack.facts.alarms import rollbacks
from inferstack.facts.async_inference import created
from inferstack.facts.publications import Publisher, publishing_component
from inferstack.facts.walk import components, models, variants
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem
from inferstack.problems.file_codes import SAME_ALARM, SAME_COMPONENT, SAME_DASHBOARD
from inferstack.problems.words import listed
from inferstack.resolve.alarms import resolve_alarms, rollback_alarm_ids
from inferstack.resolve.autoscaling import resolve_autoscaling, resolve_component_scaling
from inferstack.resolve.composite_alarms import resolve_composite_alarms
from inferstack.resolve.dashboard import DASHBOARD, resolve_dashboard
from inferstack.resolve.execution_role import ROLE, resolve_execution_role
from inferstack.resolve.inference_component import component_id
from inferstack.resolve.log_groups import component_log_groups
from inferstack.resolve.model import model_id
from inferstack.resolve.needs import gather_needs
from inferstack.resolve.resource import at_deployment
from inferstack.resolve.template import Template, part_of, waits_for
from inferstack.texts.placeholders import is_opaque, is_settled

# Rules about a role that a spec makes. They report a missing right at the block that needs it.
_ROLE_LACKS = frozenset({"IS823", "IS830"})


def _role(spec: ModelSpec) -> AbstractSet[str]:
    made = [key for key, it in msgspec.structs.asdict(created(spec)).items() if it is not None]
    if made and not isinstance(spec.execution_role, str):
        raise ValueError(
            f"the role of {spec.endpoint_name} needs rights to what the endpoint's stack makes, "
            f"{listed(made, last='and')}: name existing ones in the spec, or let the endpoint make its role"
        )
    # The id of a policy depends on its content, and that on the region that the template is for.
    return resolve_execution_role(spec, gather_needs(spec, spec.region)).keys()


def _alarms(spec: ModelSpec) -> AbstractSet[str]:
    return resolve_alarms(spec).keys() | resolve_composite_alarms(spec).keys()


def _dashboard(spec: ModelSpec) -> AbstractSet[str]:
    return resolve_dashboard(spec).keys()


def _scaling(spec: ModelSpec) -> AbstractSet[str]:
    return resolve_autoscaling(spec).keys()


def _components(spec: ModelSpec) -> AbstractSet[str]:
    own = {component_id(spec, name, it) for _, name, it in components(spec)}
    if not own:
        return own
    own |= _run_models(spec) | resolve_component_scaling(spec).keys() | _undoing(spec)
    return own | component_log_groups(spec)


def _run_models(spec: ModelSpec) -> AbstractSet[str]:
    """The models that the components run.

    Raises:
        ValueError: when they need a role that only the endpoint's stack has.
    """
    model_ids = {model_id(name) for _, name, _ in models(spec)}
    if model_ids and not isinstance(spec.execution_role, str):
        raise ValueError(
            f"the models of {spec.endpoint_name} start under the endpoint's role, which is made elsewhere: "
            "name its ARN in `execution_role`"
        )
    return model_ids


def _undoing(spec: ModelSpec) -> AbstractSet[str]:
    """Alarms of the spec that roll back an update of a component: the component refers to them."""
    return {
        logical_id
        for _, rollback, name in rollbacks(spec)
        for logical_id in rollback_alarm_ids(spec, rollback, name)
        if name is not None
    }


class _Part(Rendered):
    """Some of a spec's resources: ``wanted`` gives their logical ids, ``main_id`` that of the default child.

    ``takes`` has the codes of the problems that report a name that is taken already, ``about`` the blocks of
    the spec whose warnings the part shows.
    """

    wanted: ClassVar[staticmethod[[ModelSpec], AbstractSet[str]]]
    about: ClassVar[AbstractSet[str]]
    takes: ClassVar[AbstractSet[str]] = frozenset()
    main_id: ClassVar[str | None] = None

    @spec_by_name
    def __init__(self, scope: Construct, construct_id: str, *, spec: AnySpec) -> None:
        """Makes the part's resources.

        Args:
            scope: where the part belongs.
            construct_id: its name there.
            spec: of the whole endpoint, from a file or made in Python.

        Raises:
            SpecError: when the spec has errors, or names another account or region than the stack; or when an
                earlier construct has taken some of its names, in the same stack or the same account and
                region.
            ValueError: when the spec asks for nothing that the construct makes.
        """
        whole = spec_in_stack(scope, spec)
        name = whole.loaded.spec.endpoint_name
        ids = type(self).wanted(whole.lasting)
        if not ids:
            raise ValueError(f"the spec of {name} asks for nothing that {type(self).__name__} makes")
        names = free_names(scope, whole.loaded, whole.lasting, ids, self.takes)
        self._waits_for = tuple(waits_for(whole.template, ids))
        shown = tuple(filter(self._concerns, whole.loaded.warnings))
        part = self._alone(whole.lasting, part_of(whole.template, ids, name))
        made = whole._replace(loaded=replace(whole.loaded, warnings=shown), template=part)
        super().__init__(scope, construct_id, made, main_id=self.main_id)
        take(scope, self, construct_id, names)

    @classmethod
    def _alone(cls, spec: ModelSpec, part: Template) -> Template:
        """What the part has in a template without the rest."""
        return part

    @classmethod
    def _concerns(cls, warning: Problem) -> bool:
        """Whether the part shows a warning; the others are for the construct of the whole endpoint."""
        return not cls.about.isdisjoint(warning.path[:1])


class _Beside(_Part):
    """A part that can only be deployed once the endpoint exists."""

    @spec_by_name
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: AnySpec,
        endpoint: IInferenceEndpoint | None = None,
    ) -> None:
        """Makes the part's resources.

        Args:
            scope: where the part belongs.
            construct_id: its name there.
            spec: of the whole endpoint, from a file or made in Python.
            endpoint: the endpoint, where the app makes or imports it; the part waits for one that it makes.

        Raises:
            SpecError: when the spec has errors, or names another account or region than the stack; or when an
                earlier construct has taken some of its names, in the same stack or the same account and
                region.
            TypeError: when ``endpoint`` is a name as text, an L1 or something else that is not an endpoint.
            ValueError: when the spec asks for nothing that the construct makes, or ``endpoint`` has another
                name, lacks a variant of the spec, or is in another account or region.
        """
        if endpoint is not None:
            if not isinstance(endpoint, IInferenceEndpoint):
                given = (
                    f"the text {endpoint!r}" if isinstance(endpoint, str) else f"a {type(endpoint).__name__}"
                )
                fix = "pass an endpoint, such as `InferenceEndpoint.from_endpoint_name(…)`"
                raise TypeError(f"`endpoint` is {given}, not an endpoint; {fix}")
            named = spec if isinstance(spec, LoadedSpec) else structured(spec)
            _refuse_other_name(named.spec.endpoint_name, endpoint._known_name())
            _refuse_elsewhere(scope, endpoint)
            if isinstance(endpoint, Rendered):
                _refuse_other_variants(named.spec, endpoint._spec)
        super().__init__(scope, construct_id, spec=spec)
        self._endpoint = endpoint
        if isinstance(endpoint, Rendered):
            self._wait_for(endpoint)

    def _wait_for(self, endpoint: Rendered) -> None:
        for logical_id, other in self._waits_for:
            before = endpoint._made_as(other)
            if before is not None:
                self._l1(logical_id).add_resource_dependency(before)


def _refuse_other_name(name: str, found: str) -> None:
    if is_settled(name) and is_settled(found) and name.casefold() != found.casefold():
        raise ValueError(f"the spec is for the endpoint {name}, but `endpoint` is {found}; pass both of one")


def _refuse_other_variants(spec: ModelSpec, made: ModelSpec) -> None:
    """Refuses variants that the endpoint lacks, as AWS would in the middle of a deployment."""
    there = [it.variant_name for _, it in variants(made)]
    for _, variant in variants(spec):
        name = variant.variant_name
        if name not in there and all(map(is_settled, (name, *there))):
            raise ValueError(
                f"the spec has the variant {name}, but `endpoint` has {listed(there, last='and')}; "
                "give both the same `variant_name`"
            )


def _refuse_elsewhere(scope: Construct, endpoint: IInferenceEndpoint) -> None:
    place, env = place_of(scope), endpoint.env
    for what, here, there in (
        ("account", place.account, settled(env.account)),
        ("region", place.region, settled(env.region)),
    ):
        if here is not None and there is not None and here != there:
            raise ValueError(
                f"`endpoint` is in {there}, but the stack of its part is in {here}; "
                f"put the part into a stack of that {what}"
            )


class _Whole(Dependable):
    """Makes everything that waits for the part's role wait for the whole part: its policies and grants."""

    def __init__(self, part: Construct) -> None:
        super().__init__()
        self._part = part

    @property
    def dependency_roots(self) -> list[IConstruct]:
        """What is waited for."""
        return [self._part]


@jsii.implements(Grantable)
class ExecutionRole(_Part, RoleL1s):
    """The role that a spec's containers need, for a stack that keeps roles apart from endpoints.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createmodel-perms
    """

    wanted = staticmethod(_role)
    about = frozenset({"execution_role"})
    main_id = ROLE

    @property
    def role(self) -> cdk.aws_iam.IRole:
        """The role, to grant rights to and to pass as an endpoint's `role`: models wait for all its policies.

        Raises:
            ValueError: when the app has called `Role.customize_roles`.
        """
        return self._role

    @property
    def grant_principal(self) -> cdk.aws_iam.IPrincipal:
        """The role, which receives grants to the part, such as `bucket.grant_read(part)`."""
        return self.role.grant_principal

    @classmethod
    def _concerns(cls, warning: Problem) -> bool:
        return super()._concerns(warning) or warning.code in _ROLE_LACKS

    @cached_property
    def _role(self) -> cdk.aws_iam.IRole:
        block = self._spec.execution_role
        # For an ARN there is nothing to make, and the constructor has refused it.
        assert not isinstance(block, str)
        made = role_handle(self, self._l1(ROLE), block)
        Dependable.implement(made, self._with_policies)
        return made

    @cached_property
    def _with_policies(self) -> _Whole:
        return _Whole(self)

    @property
    def role_arn(self) -> str:
        """ARN of the role, for `execution_role` of the spec that makes the endpoint."""
        return self._l1(ROLE).get_att("Arn").to_string()


class EndpointAlarms(_Part, AlarmHandles):
    """The alarms of an existing endpoint.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
    """

    wanted = staticmethod(_alarms)
    about = frozenset({"alarms"})
    takes = frozenset({SAME_ALARM})


class EndpointDashboard(_Part, DashboardL1s):
    """The dashboard of an existing endpoint.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
    """

    wanted = staticmethod(_dashboard)
    about = frozenset({"dashboard"})
    takes = frozenset({SAME_DASHBOARD})
    main_id = DASHBOARD

    @classmethod
    def _alone(cls, spec: ModelSpec, part: Template) -> Template:
        """The graphs alone: the alarms whose states it would show are made elsewhere."""
        made = at_deployment(resolve_dashboard(spec)[DASHBOARD].properties)
        return {**part, "Resources": {DASHBOARD: {**part["Resources"][DASHBOARD], "Properties": made}}}


class EndpointAutoscaling(_Beside, ScalingL1s, AlarmL1s):
    """The scaling of variants and inference components that are made elsewhere, in this app or outside it.

    https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
    """

    wanted = staticmethod(_scaling)
    about = frozenset({"autoscaling"})

    @classmethod
    def _concerns(cls, warning: Problem) -> bool:
        # Inside variants and components there is such a block, too.
        return not cls.about.isdisjoint(warning.path)


class InferenceComponents(_Beside, ComponentL1s, ScalingL1s, AlarmL1s):
    """Inference components with their models and scaling, on an endpoint that is made elsewhere, in this app
    or outside it.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
    """

    wanted = staticmethod(_components)
    about = frozenset({"inference_components", "models"})
    takes = frozenset({SAME_COMPONENT})

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint that the components are on. SageMaker writes names in ARNs in lower case."""
        if self._endpoint is not None:
            return self._endpoint.endpoint_arn
        name = self._known_name()
        return cdk.Stack.of(self).format_arn(
            service="sagemaker",
            resource="endpoint",
            resource_name=for_cdk(name if is_opaque(name) else name.lower()),
            arn_format=cdk.ArnFormat.SLASH_RESOURCE_NAME,
        )

    @cached_property
    def env(self) -> cdk.interfaces.ResourceEnvironment:
        """Account and region of the components."""
        stack = cdk.Stack.of(self)
        return cdk.interfaces.ResourceEnvironment(account=stack.account, region=stack.region)

    def _publishers(self) -> Sequence[Publisher]:
        return [publishing_component(self._spec, name, it) for _, name, it in components(self._spec)]
