"""Scaling as SageMaker recommends it after a load test, as the `autoscaling` block of a spec.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_GetScalingConfigurationRecommendation.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.metrics import find, find_predefined, scaling_statistic
from inferstack.facts.walk import model_containers, variant_scalings, variants
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath

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


# ---------------------------------------------------------------- in a spec


def changes_for(
    spec: ModelSpec, recommendation: Mapping[str, Any], autoscaling: Mapping[str, Any]
) -> dict[SpecPath, Any]:
    """The values that a spec needs to be deployed as recommended, by path: the scaling, and the instances and
    environment variables that it was measured with.

    Raises:
        ValueError: when it is not clear where they belong.
    """
    fleets = [path for path, _ in variants(spec)]
    if len(fleets) != 1:
        raise ValueError("the spec has several variants; write it into one of them by hand")
    scaled = [path for path, *_ in variant_scalings(spec)]
    measured = recommendation["EndpointConfiguration"]
    least, most = autoscaling["min_capacity"], autoscaling["max_capacity"]
    start = min(max(int(measured.get("InitialInstanceCount") or 1), least, 1), most)
    return {
        (*fleets[0], "instance_type"): measured["InstanceType"],
        (*fleets[0], "initial_instance_count"): start,
        (scaled[0] if scaled else ("autoscaling",)): autoscaling,
        **_environment(spec, recommendation.get("ModelConfiguration") or {}),
    }


def _environment(spec: ModelSpec, model: Mapping[str, Any]) -> dict[SpecPath, Any]:
    variables = {it["Key"]: it["Value"] for it in model.get("EnvironmentParameters") or ()}
    places = [path for path, *_ in model_containers(spec)]
    if variables and len(places) != 1:
        raise ValueError(
            f"write {', '.join(variables)} into the environment of one of the containers by hand"
        )
    return {(*places[0], "environment", name): value for name, value in variables.items()}


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
