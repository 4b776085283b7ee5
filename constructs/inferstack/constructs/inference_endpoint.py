"""The endpoint of a model spec, with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

import aws_cdk as cdk
import jsii
from constructs import Construct

from inferstack.check.in_stack import refuse_exports
from inferstack.constructs.cdk_interfaces import Connectable, Grantable
from inferstack.constructs.escape_hatches import AlarmHandles, ComponentL1s, DashboardL1s, RoleL1s, ScalingL1s
from inferstack.constructs.handles import (
    bucket_handle,
    from_elsewhere,
    imported,
    named_role,
    role_handle,
    routes_of,
    security_group,
)
from inferstack.constructs.imported_endpoint import ImportedEndpoint
from inferstack.constructs.interface import IInferenceEndpoint
from inferstack.constructs.names_taken import free_names, take
from inferstack.constructs.rendered import AnySpec, spec_by_name, spec_in_stack
from inferstack.constructs.tokens import for_cdk
from inferstack.facts.async_inference import output_config
from inferstack.facts.publications import Publisher, publishers
from inferstack.facts.role import makes_role, needs_role
from inferstack.facts.walk import components, endpoint_config, models
from inferstack.format.logical_ids import ENDPOINT, ENDPOINT_CONFIG
from inferstack.format.model import VpcConfig
from inferstack.resolve.async_inference import topic_id
from inferstack.resolve.execution_role import ROLE
from inferstack.resolve.model import model_id
from inferstack.resolve.template import Template
from inferstack.texts.placeholders import is_list_token

# Sections that belong to a whole template, and would mix with those of the stack's other contents.
_OF_A_WHOLE_STACK = frozenset({"AWSTemplateFormatVersion", "Description", "Outputs"})


@jsii.implements(Grantable, Connectable)
class InferenceEndpoint(RoleL1s, ComponentL1s, AlarmHandles, DashboardL1s, ScalingL1s, IInferenceEndpoint):
    """A SageMaker inference endpoint: role, models, configuration, components, scaling, alarms, dashboard.

    `node.default_child` is the AWS::SageMaker::Endpoint. CDK's objects for grants, metrics and the role are
    only made on demand.

    https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-model.html
    """

    # Repeated, since jsii looks for what Node may call only in the classes before CDK's own.
    endpoint_ref = IInferenceEndpoint.endpoint_ref
    env = IInferenceEndpoint.env
    grant_invoke = IInferenceEndpoint.grant_invoke

    @spec_by_name
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: AnySpec,
        # `Role`, too: pyright does not accept it as an `IRole`, whose methods name parameters differently.
        role: cdk.aws_iam.IRole | cdk.aws_iam.Role | None = None,
        preserve_logical_ids: bool = False,
    ) -> None:
        """Makes the endpoint's resources.

        Args:
            scope: where the endpoint belongs.
            construct_id: its name there. Without ``preserve_logical_ids`` it is part of every logical id. If
                it changes, the next deployment fails: CloudFormation would make a second endpoint of the
                name.
            spec: from :func:`inferstack.check.load.load_spec`, or made in Python, perhaps with tokens.
            role: the role that the containers run under, for a spec without `execution_role`; or, for a spec
                with one, the role that :class:`ExecutionRole` made from it. You grant it its rights; models
                are made after those grants. Without ``role``, the endpoint gets a role with the rights that
                its spec needs, unless the spec names one.
            preserve_logical_ids: True for an endpoint that has its stack to itself: logical ids are those of
                the plain template, and the stack gets the template's outputs.

        Raises:
            SpecError: with all errors, when the spec has any or its template is too large; when it names
                another account or region than the stack; when it has an `execution_role` that ``role`` was
                not made from; when it has `exports`, without ``preserve_logical_ids``; or when an earlier
                construct has taken some of its names, in the same stack or the same account and region.
            TypeError: when ``role`` is an ARN as text, an L1 or something else that is not a role.
            ValueError: when ``role`` has an ARN that is not a role's.
        """
        given = cast("cdk.aws_iam.IRole | None", role)
        self._given_role = given
        made = spec_in_stack(scope, spec, given, makes=construct_id)
        if not preserve_logical_ids:
            refuse_exports(made.loaded)
        names = free_names(scope, made.loaded, made.lasting, made.template["Resources"].keys())
        made = made._replace(template=_sections(made.template, has_stack=preserve_logical_ids))
        super().__init__(
            scope, construct_id, made, main_id=ENDPOINT, preserve_logical_ids=preserve_logical_ids
        )
        take(scope, self, construct_id, names)
        if given is not None:
            self._start_after(given)
        self._start_after_routes()

    @staticmethod
    def from_endpoint_name(
        scope: Construct,
        construct_id: str,
        endpoint_name: str,
        *,
        variant_names: Sequence[str] = ("AllTraffic",),
        inference_components: Sequence[str] = (),
    ) -> IInferenceEndpoint:
        """An existing endpoint in the stack's account and region.

        For ``variant_names`` and ``inference_components`` see :meth:`from_endpoint_attributes`.

        Raises:
            TypeError: when a text is given for a list.
            ValueError: when a name is an ARN, or does not have the form of a name.
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
        """An existing endpoint in the account and region of its ARN.

        Its name is taken from the ARN, where it is in lower case. An endpoint whose name has capitals is
        invoked and measured under that name: pass both to :meth:`from_endpoint_attributes`.

        Raises:
            ValueError: when the ARN is of something else.
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
        """An existing endpoint of which more is known than its name.

        Args:
            scope: where the handle belongs.
            construct_id: its name there.
            endpoint_arn: gives account and region; without it, they are the stack's.
            endpoint_name: the name with its capitals; without it, the one in the ARN, in lower case.
            variant_names: names of the variants, which publish metrics.
            inference_components: names of the inference components, which are invoked by name and publish
                metrics, too.

        Raises:
            TypeError: when a text is given for a list.
            ValueError: when there is neither ARN nor name, or they are of two endpoints, or the ARN is of
                something else; when a name is an ARN, or does not have the form of a name.
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
        """Name to invoke; a resource that refers to it is deployed after the endpoint."""
        return self._l1(ENDPOINT).get_att("EndpointName").to_string()

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""
        return self._l1(ENDPOINT).ref

    @cached_property
    def execution_role(self) -> cdk.aws_iam.IRole:
        """The role that the containers run under. Models are made after what is granted to it.

        Raises:
            ValueError: when the app has called `Role.customize_roles`, and the spec makes the role; or when
                all models exist already, each with a role of its own.
        """
        if self._given_role is not None:
            return self._given_role
        role = self._imported_role()
        self._start_after(role)
        return role

    def _imported_role(self) -> cdk.aws_iam.IRole:
        given = self._spec.execution_role
        if isinstance(given, str):
            return named_role(self, given)
        if not needs_role(self._spec):
            name = self._spec.endpoint_name
            why = "its models exist already, each with a role of its own"
            raise ValueError(f"the endpoint {name} has no role: {why}")
        return role_handle(self, self._l1(ROLE), given)

    def _start_after(self, role: cdk.aws_iam.IRole) -> None:
        """Makes everything that SageMaker starts under the role wait for the role and its grants.

        SageMaker looks for the model's files, as the role, when the model is made.
        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModel.html
        """
        for logical_id in (*(model_id(name) for _, name, _ in models(self._lasting)), ENDPOINT_CONFIG):
            self._l1(logical_id).node.add_dependency(role)

    def _start_after_routes(self) -> None:
        """Makes the endpoint wait for the routes of subnets that the app makes, and go before they do.

        Instances fetch the model's files through them.
        https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html
        """
        subnets = dict.fromkeys(it for network in self._networks() for it in network.subnets)
        for routes in filter(None, map(routes_of, subnets)):
            self._l1(ENDPOINT).node.add_dependency(routes)

    @property
    def grant_principal(self) -> cdk.aws_iam.IPrincipal:
        """The endpoint's role: it receives grants to the endpoint, such as `bucket.grant_read(endpoint)`."""
        return self.execution_role.grant_principal

    def add_to_role_policy(self, statement: cdk.aws_iam.PolicyStatement) -> None:
        """Lets the containers do what the statement says. Models are made after that."""
        self.execution_role.add_to_principal_policy(statement)

    @property
    def connections(self) -> cdk.aws_ec2.Connections:
        """The security groups that the spec names under `vpc_config`.

        Raises:
            ValueError: when the spec has no `vpc_config`, or one with a list that only the deployment knows.
        """
        return self._connections

    @cached_property
    def _connections(self) -> cdk.aws_ec2.Connections:
        named = dict.fromkeys(it for network in self._networks() for it in network.security_group_ids)
        groups = [for_cdk(from_elsewhere(self, it)) for it in named]
        if any(map(is_list_token, groups)):
            name = self._spec.endpoint_name
            message = f"only the deployment knows how many security groups the endpoint {name} has"
            raise ValueError(f"{message}: name each in `vpc_config`, such as `cdk.Fn.select(0, …)`")
        if not groups:
            name = self._spec.endpoint_name
            raise ValueError(f"the endpoint {name} has no security groups: its spec has no `vpc_config`")
        made = [security_group(self, f"SecurityGroup{i}", group) for i, group in enumerate(groups)]
        return cdk.aws_ec2.Connections(security_groups=made)

    @cached_property
    def async_bucket(self) -> cdk.aws_s3.IBucket:
        """The bucket that the spec lets the stack make: clients put requests under `requests/` and read from
        `responses/` and `failures/`.

        Raises:
            ValueError: when the spec has no `create.bucket`.
        """
        return bucket_handle(self, self._only_l1(cdk.aws_s3.CfnBucket), output_config(self._spec).kms_key_id)

    @cached_property
    def success_topic(self) -> cdk.aws_sns.ITopic:
        """The topic that the spec lets the stack make for asynchronous requests that succeed.

        Raises:
            ValueError: when the spec has no `create.success_topic`.
        """
        return self._topic("success_topic")

    @cached_property
    def error_topic(self) -> cdk.aws_sns.ITopic:
        """The topic that the spec lets the stack make for asynchronous requests that fail.

        Raises:
            ValueError: when the spec has no `create.error_topic`.
        """
        return self._topic("error_topic")

    def _topic(self, key: str) -> cdk.aws_sns.ITopic:
        made = self._made_as(topic_id(key))
        if made is None:
            raise ValueError(f"the spec of {self._spec.endpoint_name} makes no `{key}`; add it to `create`")
        return cdk.aws_sns.Topic.from_topic_arn(self, imported(topic_id(key)), made.ref)

    def apply_removal_policy(self, policy: cdk.RemovalPolicy) -> None:
        """What becomes of the endpoint when it leaves its stack. Where it stays, so do its models and its
        configuration.

        Raises:
            ValueError: when the endpoint would stay, but not its role or its inference components.
        """
        if policy != cdk.RemovalPolicy.DESTROY:
            self._keep(policy)
        super().apply_removal_policy(policy)

    def _keep(self, policy: cdk.RemovalPolicy) -> None:
        """Keeps models and configuration, except those that an update replaces.

        Each content of a policy of the role, and each version of a component, has a logical id of its own.
        Those of earlier updates would stay, too: attached to the role, and on the instances.
        """
        name = self._spec.endpoint_name
        if makes_role(self._spec):
            fix = "give it the `role` of an `ExecutionRole` in a stack that stays, or protect its stack"
            raise ValueError(f"the endpoint {name} would stay without its role; {fix}")
        if any(True for _ in components(self._spec)):
            fix = "protect its stack: `termination_protection=True`"
            raise ValueError(f"the endpoint {name} would stay without its inference components; {fix}")
        for needed in (self.cfn_endpoint_config, *self.cfn_models):
            needed.apply_removal_policy(policy, apply_to_update_replace_policy=False)

    @property
    def endpoint_config_name(self) -> str:
        """Name of the endpoint configuration, which an update replaces."""
        return self.cfn_endpoint_config.attr_endpoint_config_name

    def model_name(self, name: str | None = None) -> str:
        """Name of a model, which an update replaces. Of several, ``name`` is the key under `models`.

        Raises:
            ValueError: when the construct makes no such model.
        """
        return self.cfn_model(name).attr_model_name

    @property
    def cfn_endpoint(self) -> cdk.aws_sagemaker.CfnEndpoint:
        """The L1 of the endpoint, for escape hatches."""
        return self._only_l1(cdk.aws_sagemaker.CfnEndpoint)

    @property
    def cfn_endpoint_config(self) -> cdk.aws_sagemaker.CfnEndpointConfig:
        """The L1 of the endpoint configuration."""
        return self._only_l1(cdk.aws_sagemaker.CfnEndpointConfig)

    def _publishers(self) -> Sequence[Publisher]:
        return tuple(publishers(self._spec))

    def _networks(self) -> Iterator[VpcConfig]:
        of_models = (model.vpc_config for _, _, model in models(self._spec))
        return filter(None, (endpoint_config(self._spec).vpc_config, *of_models))


def _sections(template: Template, *, has_stack: bool) -> Template:
    """The parts of the template that are made: nearly all for an endpoint that has its stack to itself."""
    left_out = frozenset({"Description"}) if has_stack else _OF_A_WHOLE_STACK
    return {section: content for section, content in template.items() if section not in left_out}
