"""Access to what was made from a spec: L1 constructs by type, and alarms by metric.

The whole endpoint and its parts inherit what applies to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import cast

import aws_cdk as cdk
from constructs import Construct

from inferstack.catalog.metrics import Hosting
from inferstack.constructs.handles import imported
from inferstack.constructs.interface import known_component
from inferstack.constructs.invoking import Invokable
from inferstack.constructs.metrics import WantedMetric, alarm_id
from inferstack.constructs.rendered import Rendered
from inferstack.constructs.tokens import for_cdk
from inferstack.facts.composite_alarms import composite_alarms
from inferstack.facts.scaling import scaled_parts
from inferstack.facts.walk import components, hosting_of, models
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.resolve.alarms import resolve_alarms
from inferstack.resolve.autoscaling import target_id
from inferstack.resolve.composite_alarms import composite_id
from inferstack.resolve.execution_role import POLICY, ROLE
from inferstack.resolve.inference_component import component_id, name_once_there
from inferstack.resolve.invokers import has_openai_route, invoke_actions
from inferstack.resolve.model import model_id
from inferstack.texts.placeholders import is_list_token


class RoleL1s(Rendered):
    """L1s of the execution role."""

    @property
    def cfn_role(self) -> cdk.aws_iam.CfnRole:
        """The L1 of the execution role.

        Raises:
            ValueError: when the role is not made here.
        """
        return self._only_l1(cdk.aws_iam.CfnRole, ROLE)

    @property
    def cfn_policies(self) -> Sequence[cdk.aws_iam.CfnManagedPolicy]:
        """The L1s of the role's policies: several if one would be too long, none for a role of your own."""
        return self._l1s(cdk.aws_iam.CfnManagedPolicy, POLICY)


class InvokableParts(Rendered, Invokable):
    """What a spec says of invoking an endpoint, or components on it."""

    def inference_component_name(self, name: str) -> str:
        """Name to invoke an inference component by; a resource that refers to it is deployed after that.

        Raises:
            ValueError: when the spec has no component of that name.
        """
        return for_cdk(name_once_there(name, self._component(name).ref))

    def inference_component_arn(self, name: str) -> str:
        """ARN of an inference component; a resource that refers to it is deployed after the component.

        Raises:
            ValueError: when the spec has no component of that name.
        """
        return self._component(name).ref

    def _component(self, name: str) -> cdk.CfnResource:
        spec = self._lasting
        found = {it: component_id(spec, it, component) for _, it, component in components(spec)}
        return self._l1(found[known_component(self._tokens.lasting(name), found)])

    def _component_arns(self) -> Iterator[str]:
        return (self.inference_component_arn(name) for _, name, _ in components(self._spec))

    def _known_name(self) -> str:
        return self._spec.endpoint_name

    def _hosting(self) -> Hosting:
        return hosting_of(self._spec)

    def _invoke_actions(self) -> Sequence[str]:
        return invoke_actions(self._spec)

    def _has_openai_route(self) -> bool:
        return has_openai_route(self._spec)


class ComponentL1s(InvokableParts):
    """L1s of inference components, of models, and of the log groups that containers write into."""

    @property
    def cfn_log_groups(self) -> Sequence[cdk.aws_logs.CfnLogGroup]:
        """The L1s of the log groups: the endpoint's, then its components'; none without `log_groups`."""
        return self._l1s(cdk.aws_logs.CfnLogGroup)

    @property
    def cfn_models(self) -> Sequence[cdk.aws_sagemaker.CfnModel]:
        """The L1s of the models, in the spec's order."""
        return self._l1s(cdk.aws_sagemaker.CfnModel)

    def cfn_model(self, name: str | None = None) -> cdk.aws_sagemaker.CfnModel:
        """The L1 of a model; ``name`` is its key under `models`, if there are several.

        Raises:
            ValueError: when the construct makes no such model.
        """
        made = {it: model_id(it) for _, it, _ in models(self._lasting)}
        wanted = next(iter(made)) if name is None and len(made) == 1 else name
        if wanted not in made:
            keys = [it for it in made if it is not None]
            rest = f"choose one of {listed(keys)}" if keys else "it makes only one, or none"
            hint = rest if name is None else did_you_mean_then(name, keys, rest)
            raise ValueError(f"the spec of {self._spec.endpoint_name} makes no model of that name; {hint}")
        return cast("cdk.aws_sagemaker.CfnModel", self._l1(made[wanted]))

    def cfn_inference_component(self, name: str) -> cdk.aws_sagemaker.CfnInferenceComponent:
        """The L1 of an inference component, by the name that it has in the spec.

        Raises:
            ValueError: when the spec has no component of that name.
        """
        return cast("cdk.aws_sagemaker.CfnInferenceComponent", self._component(name))


class AlarmL1s(Rendered):
    """L1s of alarms."""

    @property
    def cfn_alarms(self) -> Sequence[cdk.aws_cloudwatch.CfnAlarm]:
        """The L1s of the alarms on metrics, in the template's order."""
        return self._l1s(cdk.aws_cloudwatch.CfnAlarm)

    @property
    def cfn_composite_alarms(self) -> Sequence[cdk.aws_cloudwatch.CfnCompositeAlarm]:
        """The L1s of the composite alarms, in the spec's order."""
        return self._l1s(cdk.aws_cloudwatch.CfnCompositeAlarm)


class DashboardL1s(Rendered):
    """L1 of the dashboard."""

    @property
    def cfn_dashboard(self) -> cdk.aws_cloudwatch.CfnDashboard:
        """The L1 of the dashboard.

        Raises:
            ValueError: when the spec says `dashboard: false`.
        """
        return self._only_l1(cdk.aws_cloudwatch.CfnDashboard)


_PARTS = ("variant_name", "inference_component")


class ScalingL1s(Rendered):
    """L1s of autoscaling."""

    @property
    def cfn_scalable_targets(self) -> Sequence[cdk.aws_applicationautoscaling.CfnScalableTarget]:
        """The L1s of the scalable targets: variants, then inference components."""
        return self._l1s(cdk.aws_applicationautoscaling.CfnScalableTarget)

    def scalable_target(
        self, *, variant_name: str | None = None, inference_component: str | None = None
    ) -> cdk.aws_applicationautoscaling.IScalableTarget:
        """What the spec scales, for policies that the app adds: `scaling_target` of CDK's policies.

        Raises:
            ValueError: when the spec scales no such part, or several and none is chosen.
        """
        wanted = {
            option: self._tokens.lasting(name)
            for option, name in zip(_PARTS, (variant_name, inference_component), strict=True)
            if name is not None
        }
        made = {
            (_PARTS[it.component is not None], it.name): (target_id(self._lasting, it), it.dimension)
            for it in scaled_parts(self._lasting)
        }
        there = {part: it for part, it in made.items() if it[0] in self._types}
        fitting = [it for part, it in there.items() if wanted.items() <= dict([part]).items()]
        if len(fitting) != 1:
            parts = listed([f"{option}={name!r}" for option, name in there], quote="")
            fix = f"choose one of {parts}" if there else "add `autoscaling` to the spec"
            many = "several parts" if fitting else "no such part"
            raise ValueError(f"the spec of {self._spec.endpoint_name} scales {many}; {fix}")
        return self._target_of(*fitting[0])

    def _target_of(self, logical_id: str, dimension: str) -> cdk.aws_applicationautoscaling.IScalableTarget:
        if logical_id not in self._targets:
            self._targets[logical_id] = (
                cdk.aws_applicationautoscaling.ScalableTarget.from_scalable_target_attributes(
                    self,
                    imported(logical_id),
                    scalable_target_id=self._l1(logical_id).ref,
                    scalable_dimension=dimension,
                    service_namespace=dimension.partition(":")[0],
                )
            )
        return self._targets[logical_id]

    @cached_property
    def _targets(self) -> dict[str, cdk.aws_applicationautoscaling.IScalableTarget]:
        return {}

    @property
    def cfn_scaling_policies(self) -> Sequence[cdk.aws_applicationautoscaling.CfnScalingPolicy]:
        """The L1s of the scaling policies."""
        return self._l1s(cdk.aws_applicationautoscaling.CfnScalingPolicy)


# ---------------------------------------------------------------- alarms, to add actions to

# The L1's property, by the method of CDK's alarms. On an imported alarm, these methods only fill a list.
_ACTIONS = {
    "add_alarm_action": "alarm_actions",
    "add_ok_action": "ok_actions",
    "add_insufficient_data_action": "insufficient_data_actions",
}


class AlarmHandles(AlarmL1s):
    """All alarms of a spec."""

    def alarm(
        self, metric_name: str, *, variant_name: str | None = None, inference_component: str | None = None
    ) -> cdk.aws_cloudwatch.AlarmBase:
        """The alarm that the spec puts on a metric, the first where there are several.

        ``metric_name`` is AWS's name, or for an alarm on an expression the `id` of what that returns. Actions
        that are added to the alarm come after those of the spec; adding one raises ValueError where the
        spec's are a list that only the deployment knows.

        Raises:
            ValueError: when there is none, or when several variants or inference components have one and
                none is chosen.
        """
        part = (
            None if it is None else self._tokens.lasting(it) for it in (variant_name, inference_component)
        )
        return self._handle_of(alarm_id(WantedMetric(metric_name, *part), resolve_alarms(self._lasting)))

    def composite_alarm(self, key: str) -> cdk.aws_cloudwatch.AlarmBase:
        """A composite alarm, by its key in the spec. Actions can be added to it as to those of :meth:`alarm`.

        Raises:
            ValueError: when the spec has none with this key.
        """
        found = {it.key: composite_id(it) for it in composite_alarms(self._lasting)}
        if key not in found:
            rest = f"it has {listed([*found], last='and')}" if found else "it has none"
            hint = did_you_mean_then(key, list(found), rest)
            raise ValueError(f"the spec has no composite alarm `{key}`; {hint}")
        return self._handle_of(found[key])

    def _handle_of(self, logical_id: str) -> cdk.aws_cloudwatch.AlarmBase:
        if logical_id not in self._alarms:
            self._alarms[logical_id] = _handle(self, imported(logical_id), self._l1(logical_id))
        return self._alarms[logical_id]

    @cached_property
    def _alarms(self) -> dict[str, cdk.aws_cloudwatch.AlarmBase]:
        return {}


def _handle(scope: Construct, construct_id: str, made: cdk.CfnResource) -> cdk.aws_cloudwatch.AlarmBase:
    """CDK's alarm for an L1: actions that are added to the alarm are added to the L1."""
    arn = made.get_att("Arn").to_string()
    handle = cast(
        "cdk.aws_cloudwatch.AlarmBase", cdk.aws_cloudwatch.Alarm.from_alarm_arn(scope, construct_id, arn)
    )
    for method, actions in _ACTIONS.items():
        setattr(handle, method, partial(_add, handle, made, actions))
    return handle


def _add(
    handle: cdk.aws_cloudwatch.AlarmBase,
    made: cdk.CfnResource,
    name: str,
    *actions: cdk.aws_cloudwatch.IAlarmAction,
) -> None:
    for action in actions:
        if not hasattr(action, "bind"):
            fix = "pass one of `aws_cloudwatch_actions`, such as `SnsAction(topic)`"
            raise TypeError(f"a {type(action).__name__} is not an alarm action; {fix}")
    there = getattr(made, name)
    there = () if there is None else there
    if any(map(is_list_token, there)):
        raise ValueError(
            f"`{name}` of the alarm are a list that only the deployment knows, so none can be added: "
            "name each in the spec, such as `cdk.Fn.select(0, …)`"
        )
    arns = [action.bind(handle, handle).alarm_action_arn for action in actions]
    setattr(made, name, [*there, *arns])
