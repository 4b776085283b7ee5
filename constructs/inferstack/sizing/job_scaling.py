"""Scaling as SageMaker recommends it after a load test, as the `autoscaling` block of a spec.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_GetScalingConfigurationRecommendation.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.metrics import find, find_predefined, scaling_statistic
from inferstack.endpoint.cost import NO_PRICES
from inferstack.facts.walk import model_containers, variant_scalings, variants
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import measured_in
from inferstack.sizing.sizes import demand_of, sizes

_NAMES = {"Namespace": "namespace", "MetricName": "metric_name", "Statistic": "statistic"}
_COOLDOWNS = {"ScaleInCooldown": "scale_in_cooldown", "ScaleOutCooldown": "scale_out_cooldown"}


class NothingToScaleError(LookupError):
    """Says what a job has not recommended."""


def recommendation_to_scale(spec: ModelSpec, answer: Mapping[str, Any], wanted: str) -> Mapping[str, Any]:
    """What a load test recommends and scaling can be asked for: the one with this id, or without one the
    cheapest that meets the objective, else the first. ``answer`` is that of the job.

    Raises:
        NothingToScaleError: when there is no such one on instances.
    """
    on_instances: list[tuple[Mapping[str, Any], Measurement]] = []
    for recommendation in answer.get("InferenceRecommendations", ()):
        rows = measured_in({**answer, "InferenceRecommendations": [recommendation]}, source="the job")
        on_instances += [(recommendation, row) for row in rows if "RecommendationId" in recommendation]
    if wanted:
        on_instances = [it for it in on_instances if it[0]["RecommendationId"] == wanted]
    if not on_instances:
        which = f"recommendation {wanted}" if wanted else "recommendation"
        raise NothingToScaleError(f"the job has no {which} on instances, so there is nothing to scale")
    if spec.objective is None:
        return on_instances[0][0]
    ranked = sizes([row for _, row in on_instances], demand_of(spec.objective), NO_PRICES)
    return next(it for it, row in on_instances if row is ranked[0].measurement)


# ---------------------------------------------------------------- as a block


def autoscaling_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The `autoscaling` block for an answer of GetScalingConfigurationRecommendation.

    Raises:
        ValueError: when the answer recommends no capacity, or no policy.
    """
    configuration = answer.get("DynamicScalingConfiguration") or {}
    cooldowns = {
        key: configuration[name] for name, key in _COOLDOWNS.items() if configuration.get(name) is not None
    }
    policies = [{**it, **cooldowns} for it in _policies(configuration)]
    if configuration.get("MinCapacity") is None or configuration.get("MaxCapacity") is None or not policies:
        raise ValueError("it has no capacities or no policies")
    capacity = {"min_capacity": configuration["MinCapacity"], "max_capacity": configuration["MaxCapacity"]}
    return {**capacity, "policies": policies}


def _policies(configuration: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for policy in configuration.get("ScalingPolicies") or ():
        tracking = policy.get("TargetTracking") or {}
        target = tracking.get("TargetValue")
        if target is not None:
            metric = _metric(tracking.get("MetricSpecification") or {})
            yield {**metric, "target_value": int(target) if target == int(target) else target}


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
