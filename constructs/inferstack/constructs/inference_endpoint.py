"""The endpoint of a model spec, with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

import aws_cdk as cdk
import jsii
from constructs import Construct

from inferstack.catalog.metrics import Hosting
from inferstack.constructs.alarm_handle import alarm_handle
from inferstack.constructs.capabilities import Connectable, Grantable
from inferstack.constructs.escape_hatches import (
    AlarmL1s,
    ComponentL1s,
    DashboardL1s,
    RoleL1s,
    ScalingL1s,
)
from inferstack.constructs.imported_endpoint import ImportedEndpoint
from inferstack.constructs.interface import IInferenceEndpoint
from inferstack.constructs.known import for_cdk
from inferstack.constructs.measurement import Wanted, alarm_id
from inferstack.constructs.rendered import AnySpec, template_for
from inferstack.constructs.role_handle import imported, named_role, role_handle
from inferstack.constructs.security_groups import security_group
from inferstack.constructs.taken import free_names, take
from inferstack.resolve.alarms import resolve_alarms
from inferstack.resolve.endpoint import ENDPOINT
from inferstack.resolve.endpoint_config import ENDPOINT_CONFIG
from inferstack.resolve.execution_role import ROLE
from inferstack.resolve.inference_component import name_once_there
from inferstack.resolve.model import model_id
from inferstack.spec.parts.measured import Measured, measured
from inferstack.spec.parts.walk import components, endpoint_config, hosting_of, models
from inferstack.spec.texts.placeholders import is_list_token

# What belongs to a template as a whole and would mix with that of the stack's other contents.
_OF_A_WHOLE_STACK = frozenset({"AWSTemplateFormatVersion", "Description", "Outputs"})


@jsii.implements(Grantable, Connectable)
class InferenceEndpoint(RoleL1s, ComponentL1s, AlarmL1s, DashboardL1s, ScalingL1s, IInferenceEndpoint):
    """A SageMaker inference endpoint: role, models, configuration, components, scaling, alarms, dashboard.

    `node.default_child` is the AWS::SageMaker::Endpoint. What is asked of the construct (grants, metrics,
    the role) is made when it is asked for.

    https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-model.html
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: AnySpec,
        # CDK's own class, too: pyright does not take it for the interface, which names parameters otherwise.
        role: cdk.aws_iam.IRole | cdk.aws_iam.Role | None = None,
        preserve_logical_ids: bool = False,
    ) -> None:
        """Makes the endpoint's resources.

        Args:
            scope: where the endpoint belongs.
            construct_id: its name there. It is part of every logical id: changing it replaces the endpoint.
            spec: from :func:`inferstack.spec.check.load_spec`, or made in Python, perhaps with tokens.
            role: what the containers run under, for a spec without `execution_role`, or the one that
                :class:`ExecutionRole` made of that. Its rights are yours to give; models are made after what
                is granted to it here. Without one, the endpoint has a role with what its spec needs.
            preserve_logical_ids: True for an endpoint that has its stack to itself: logical ids are those of
                the plain template, and the template's outputs are there.

        Raises:
            SpecError: with every error of the spec, when it has any; when it names another account or region
                than the stack; when it has an `execution_role` and ``role`` was not made of that; or with
                each of its names that a construct before it has taken, in the same stack or the same account
                and region.
            TypeError: when ``role`` is no role, but its ARN or an L1; ValueError when that is no role's.
        """
        given = cast("cdk.aws_iam.IRole | None", role)
        self._given_role = given
        loaded, template = template_for(scope, spec, given)
        names = free_names(scope, loaded, template["Resources"].keys())
        left_out = frozenset({"Description"}) if preserve_logical_ids else _OF_A_WHOLE_STACK
        super().__init__(
            scope,
            construct_id,
            loaded,
            {section: content for section, content in template.items() if section not in left_out},
            main_id=ENDPOINT,
            preserve_logical_ids=preserve_logical_ids,
        )
        take(scope, self, construct_id, names)
        if given is not None:
            self._start_after(given)

    @staticmethod
    def from_endpoint_name(
        scope: Construct,
        construct_id: str,
        endpoint_name: str,
        *,
        variant_names: Sequence[str] = ("AllTraffic",),
        inference_components: Sequence[str] = (),
    ) -> IInferenceEndpoint:
        """An endpoint that exists already, in the stack's account and region.

        Raises:
            TypeError: when a text is given for a list.
            ValueError: when a name is an ARN, or has not the form of a name.
        """
        return InferenceEndpoint.from_endpoint_attributes(
            scope,
            construct_id,
            endpoint_name=endpoint_name,
            variant_names=variant_names,
            inference_components=inference_components,
        )

    @staticmethod
    def from_endpoint_arn(scope: Construct, construct_id: str, endpoint_arn: str) -> IInferenceEndpoint:
        """An endpoint that exists already, in the account and region of its ARN.

        Its name is as the ARN has it: in lower case. An endpoint whose name is not is invoked and measured
        under its own, see :meth:`from_endpoint_attributes`.
        """
        return InferenceEndpoint.from_endpoint_attributes(scope, construct_id, endpoint_arn=endpoint_arn)

    @staticmethod
    def from_endpoint_attributes(
        scope: Construct,
        construct_id: str,
        *,
        endpoint_arn: str | None = None,
        endpoint_name: str | None = None,
        variant_names: Sequence[str] = ("AllTraffic",),
        inference_components: Sequence[str] = (),
    ) -> IInferenceEndpoint:
        """An endpoint that exists already, of which more is known than its name.

        Args:
            scope: where the handle belongs.
            construct_id: its name there.
            endpoint_arn: says account and region; those of the stack without it.
            endpoint_name: the name as it was given; the one in the ARN, in lower case, without it.
            variant_names: what publishes metrics.
            inference_components: what is invoked and publishes metrics under a name of its own.

        Raises:
            TypeError: when a text is given for a list.
            ValueError: when there is neither ARN nor name, or the ARN is of something else; when a name is an
                ARN, or has not the form of a name.
        """
        return ImportedEndpoint(
            scope,
            construct_id,
            endpoint_name=endpoint_name,
            endpoint_arn=endpoint_arn,
            variant_names=variant_names,
            inference_components=inference_components,
        )

    @property
    def endpoint_name(self) -> str:
        """Name to invoke; whoever uses it is deployed after the endpoint."""
        return self._l1(ENDPOINT).get_att("EndpointName").to_string()

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""
        return self._l1(ENDPOINT).ref

    @cached_property
    def execution_role(self) -> cdk.aws_iam.IRole:
        """The role that the containers run under. What is granted to it is granted before models start."""
        if self._given_role is not None:
            return self._given_role
        role = self._imported_role()
        self._start_after(role)
        return role

    def _imported_role(self) -> cdk.aws_iam.IRole:
        given = self._spec.execution_role
        if isinstance(given, str):
            return named_role(self, given)
        return role_handle(self, self._l1(ROLE), given)

    def _start_after(self, role: cdk.aws_iam.IRole) -> None:
        """Makes whatever SageMaker starts under the role wait for it and for what is granted to it.

        SageMaker looks for the model's files, as the role, when the model is made.
        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModel.html
        """
        for logical_id in (*(model_id(name) for _, name, _ in models(self._spec)), ENDPOINT_CONFIG):
            self._l1(logical_id).node.add_dependency(role)

    @property
    def grant_principal(self) -> cdk.aws_iam.IPrincipal:
        """Who gets what is granted to the endpoint, as by `bucket.grant_read(endpoint)`: its role."""
        return self.execution_role.grant_principal

    @property
    def connections(self) -> cdk.aws_ec2.Connections:
        """The security groups that the spec names under `vpc_config`.

        Raises:
            ValueError: when the spec has no `vpc_config`, or a list in it that only the deployment knows.
        """
        return self._connections

    @cached_property
    def _connections(self) -> cdk.aws_ec2.Connections:
        groups = [for_cdk(group) for group in dict.fromkeys(self._security_group_ids())]
        if any(map(is_list_token, groups)):
            name = self._spec.endpoint_name
            message = f"only the deployment knows how many security groups the endpoint {name} has"
            raise ValueError(f"{message}: name each in `vpc_config`, such as `cdk.Fn.select(0, …)`")
        if not groups:
            name = self._spec.endpoint_name
            raise ValueError(f"the endpoint {name} has no security groups: its spec has no `vpc_config`")
        made = [security_group(self, f"SecurityGroup{i}", group) for i, group in enumerate(groups)]
        return cdk.aws_ec2.Connections(security_groups=made)

    @property
    def cfn_endpoint(self) -> cdk.aws_sagemaker.CfnEndpoint:
        """The L1 of the endpoint; here and below for escape hatches."""
        return self._only_l1(cdk.aws_sagemaker.CfnEndpoint)

    @property
    def cfn_endpoint_config(self) -> cdk.aws_sagemaker.CfnEndpointConfig:
        """The L1 of the endpoint configuration."""
        return self._only_l1(cdk.aws_sagemaker.CfnEndpointConfig)

    def alarm(
        self, metric_name: str, *, variant_name: str | None = None, inference_component: str | None = None
    ) -> cdk.aws_cloudwatch.AlarmBase:
        """The alarm that the spec puts on a metric, the first where there are several.

        Actions that are added to it come after those of the spec.

        Raises:
            ValueError: when there is none, or when several variants or inference components have one and
                none is chosen.
        """
        wanted = Wanted(metric_name, variant_name, inference_component)
        logical_id = alarm_id(wanted, resolve_alarms(self._spec))
        if logical_id not in self._alarms:
            made = self._l1(logical_id)
            self._alarms[logical_id] = alarm_handle(self, imported(logical_id), made)
        return self._alarms[logical_id]

    @cached_property
    def _alarms(self) -> dict[str, cdk.aws_cloudwatch.AlarmBase]:
        return {}

    def inference_component_name(self, name: str) -> str:
        """Name to invoke an inference component by; whoever uses it is deployed after the component.

        Raises:
            ValueError: when the spec has none of the name.
        """
        return for_cdk(name_once_there(name, self._component(name).ref))

    def inference_component_arn(self, name: str) -> str:
        """ARN of an inference component; whoever uses it is deployed after the component.

        Raises:
            ValueError: when the spec has none of the name.
        """
        return self._component(name).ref

    def _component_arns(self) -> Iterator[str]:
        return (self.inference_component_arn(name) for _, name, _ in components(self._spec))

    def _known_name(self) -> str:
        return self._spec.endpoint_name

    def _measured(self) -> Sequence[Measured]:
        return tuple(measured(self._spec))

    def _hosting(self) -> Hosting:
        return hosting_of(self._spec)

    def _security_group_ids(self) -> Iterator[str]:
        of_models = (model.vpc_config for _, _, model in models(self._spec))
        for network in (endpoint_config(self._spec).vpc_config, *of_models):
            if network is not None:
                yield from network.security_group_ids
