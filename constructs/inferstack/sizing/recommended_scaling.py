"""Scaling as SageMaker recommends it after a load test, as the `autoscaling` block of a spec.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_GetScalingConfigurationRecommendation.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.metrics import find, find_predefined, scaling_statistic

_NAMES = {"Namespace": "namespace", "MetricName": "metric_name", "Statistic": "statistic"}
_COOLDOWNS = {"ScaleInCooldown": "scale_in_cooldown", "ScaleOutCooldown": "scale_out_cooldown"}


def autoscaling_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The `autoscaling` block for an answer of GetScalingConfigurationRecommendation.

    Raises:
        ValueError: when the answer recommends no capacity, or no policy.
    """
    found = answer.get("DynamicScalingConfiguration") or {}
    cooldowns = {key: found[name] for name, key in _COOLDOWNS.items() if found.get(name) is not None}
    policies = [{**it, **cooldowns} for it in _policies(found)]
    if found.get("MinCapacity") is None or found.get("MaxCapacity") is None or not policies:
        raise ValueError("it has no capacities or no policies")
    capacity = {"min_capacity": found["MinCapacity"], "max_capacity": found["MaxCapacity"]}
    return {**capacity, "policies": policies}


def _policies(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for policy in found.get("ScalingPolicies") or ():
        tracking = policy.get("TargetTracking") or {}
        if tracking.get("TargetValue") is not None:
            metric = _metric(tracking.get("MetricSpecification") or {})
            yield {**metric, "target_value": _plain(tracking["TargetValue"])}


def _metric(specification: Mapping[str, Any]) -> dict[str, Any]:
    predefined = (specification.get("Predefined") or {}).get("PredefinedMetricType")
    if predefined is not None and find_predefined(predefined) is not None:
        return {"metric": predefined}
    customized = specification.get("Customized") or {}
    if _is_known(customized):
        return {"metric": customized["MetricName"]}
    named = {key: customized[name] for name, key in _NAMES.items() if name in customized}
    return {"customized_metric_specification": named or {"metric_name": predefined}}


def _is_known(customized: Mapping[str, Any]) -> bool:
    """Whether the metric's name alone means the same in a spec."""
    namespace, statistic = customized.get("Namespace"), customized.get("Statistic", "Average")
    known = find(customized.get("MetricName", ""))
    return any(it.namespace == namespace and scaling_statistic(it) == statistic for it in known)


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
