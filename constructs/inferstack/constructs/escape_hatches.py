"""Access to the L1 constructs by type. The whole endpoint and its parts inherit what applies to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk

from inferstack.constructs.interface import known_component
from inferstack.constructs.rendered import Rendered
from inferstack.facts.walk import components
from inferstack.resolve.inference_component import component_id


class RoleL1s(Rendered):
    """L1s of the execution role."""

    @property
    def cfn_role(self) -> cdk.aws_iam.CfnRole:
        """The L1 of the execution role.

        Raises:
            ValueError: when the role is not made here.
        """
        return self._only_l1(cdk.aws_iam.CfnRole)

    @property
    def cfn_policies(self) -> Sequence[cdk.aws_iam.CfnManagedPolicy]:
        """The L1s of the role's policies: several if one would be too long, none for a role of your own."""
        return self._l1s(cdk.aws_iam.CfnManagedPolicy)


class ComponentL1s(Rendered):
    """L1s of inference components and models."""

    @property
    def cfn_models(self) -> Sequence[cdk.aws_sagemaker.CfnModel]:
        """The L1s of the models, in the spec's order."""
        return self._l1s(cdk.aws_sagemaker.CfnModel)

    def cfn_inference_component(self, name: str) -> cdk.aws_sagemaker.CfnInferenceComponent:
        """The L1 of an inference component, by the name that it has in the spec.

        Raises:
            ValueError: when the spec has no component of that name.
        """
        return cast("cdk.aws_sagemaker.CfnInferenceComponent", self._component(name))

    def _component(self, name: str) -> cdk.CfnResource:
        spec = self._lasting
        found = {it: component_id(spec, it, component) for _, it, component in components(spec)}
        return self._l1(found[known_component(self._tokens.lasting(name), found)])


class AlarmL1s(Rendered):
    """L1s of alarms."""

    @property
    def cfn_alarms(self) -> Sequence[cdk.aws_cloudwatch.CfnAlarm]:
        """The L1s of the alarms, in the template's order."""
        return self._l1s(cdk.aws_cloudwatch.CfnAlarm)


class DashboardL1s(Rendered):
    """L1 of the dashboard."""

    @property
    def cfn_dashboard(self) -> cdk.aws_cloudwatch.CfnDashboard:
        """The L1 of the dashboard.

        Raises:
            ValueError: when the spec says `dashboard: false`.
        """
        return self._only_l1(cdk.aws_cloudwatch.CfnDashboard)


class ScalingL1s(Rendered):
    """L1s of autoscaling."""

    @property
    def cfn_scalable_targets(self) -> Sequence[cdk.aws_applicationautoscaling.CfnScalableTarget]:
        """The L1s of what is scaled: variants, then inference components."""
        return self._l1s(cdk.aws_applicationautoscaling.CfnScalableTarget)

    @property
    def cfn_scaling_policies(self) -> Sequence[cdk.aws_applicationautoscaling.CfnScalingPolicy]:
        """The L1s of the scaling policies."""
        return self._l1s(cdk.aws_applicationautoscaling.CfnScalingPolicy)
