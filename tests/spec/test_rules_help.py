"""What a rule proposes is no mistake of another kind."""

import re
from typing import Any

import pytest

from inferstack.spec.check import parse_spec
from inferstack.spec.problem import Problem, SpecError

SINGLE = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
FAILED = {
    "id": "failed",
    "return_data": False,
    "metric_stat": {"stat": "Sum", "period": 60, "metric": {"namespace": "Acme", "metric_name": "Failed"}},
}


def tracking(metric: str) -> dict[str, Any]:
    policies = [{"metric": metric, "target_value": 60}]
    return {**SINGLE, "autoscaling": {"min_capacity": 2, "max_capacity": 5, "policies": policies}}


def watching(*queries: object) -> dict[str, Any]:
    return {**SINGLE, "alarms": {"rules": [{"metrics": list(queries), "threshold": 5}]}}


def found(spec: dict[str, Any]) -> tuple[Problem, ...]:
    try:
        return parse_spec(spec).warnings
    except SpecError as refused:
        return tuple(refused.problems)


def fix(code: str, spec: dict[str, Any]) -> str:
    (text,) = [problem.fix for problem in found(spec) if problem.code == code]
    return text


@pytest.mark.parametrize(
    ("code", "metric"),
    [
        ("IS510", "Utilisation"),
        ("IS511", "SageMakerInferenceComponentInvocationsPerCopy"),
        ("IS512", "ApproximateBacklogSizePerInstance"),
        ("IS517", "Invocations"),
    ],
)
def test_a_metric_that_is_proposed_for_a_policy_can_be_held_at_a_target(code: str, metric: str) -> None:
    proposed = re.findall(r"`(\w+)`", fix(code, tracking(metric)).removesuffix("or use `step_policies`"))
    assert "CPUUtilization" in proposed
    codes = {problem.code for name in proposed for problem in found(tracking(name))}
    assert not codes & {"IS510", "IS511", "IS512", "IS516", "IS517"}


def test_an_expression_is_not_sent_to_itself() -> None:
    share = {"id": "share", "expression": "faild / 100"}
    assert fix("IS817", watching(FAILED, share)) == "did you mean `failed`? allowed: failed"
    assert fix("IS817", watching(share)) == "add the metric that `faild` stands for"


@pytest.mark.parametrize(
    ("variant", "by"),
    [
        ({}, "`max_instance_count` of `managed_instance_scaling`"),
        ({"autoscaling": {"min_capacity": 1, "max_capacity": 1}}, "`max_capacity` of its `autoscaling`"),
    ],
)
def test_a_fleet_that_is_too_small_is_told_how_many_instances_are_enough(variant: dict[str, Any], by: str) -> None:
    spec = {
        "kind": "inference-components",
        "endpoint_name": "chat",
        "variant": {"instance_type": "ml.g5.12xlarge", "initial_instance_count": 1, **variant},
        "inference_components": {
            "llm": {
                "specification": {
                    "container": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"},
                    "compute_resource_requirements": {
                        "number_of_accelerator_devices_required": 2,
                        "min_memory_required_in_mb": 1024,
                    },
                },
                "runtime_config": {"copy_count": 1},
                "autoscaling": {"min_capacity": 1, "max_capacity": 5},
            }
        },
    }
    assert fix("IS422", spec) == f"write 2, or let the fleet grow to 3 by {by}"


@pytest.mark.parametrize(
    ("region", "meant"),
    [
        ("us-est-1", "did you mean `us-east-1` or `us-west-1`?"),
        ("eu-wst-1", "did you mean `eu-west-1`?"),
    ],
)
def test_all_that_is_as_near_as_the_nearest_is_named(region: str, meant: str) -> None:
    assert fix("IS711", {**SINGLE, "env": {"region": region}}) == meant


def test_a_version_without_its_last_words_is_completed() -> None:
    spec = {**SINGLE, "model": {"image": {"framework": "sklearn", "version": "1.4-2"}}}
    assert fix("IS700", spec).startswith("did you mean `1.4-2-py312`?")


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("triton:26.05", '{framework: triton, version: "26.05"} for'),
        ("nvcr.io/nvidia/tritonserver:24.10-py3", '{framework: triton, version: "…"} for'),
        ("acme/huggingface-llm", '{framework: huggingface-llm, version: "…"} for'),
        ("docker.io/library/nginx:latest", "{framework, version} of an image that AWS publishes"),
    ],
)
def test_an_image_from_elsewhere_is_sent_to_the_one_of_that_name_in_ecr(image: str, said: str) -> None:
    assert fix("IS247", {**SINGLE, "model": {"image": image}}).startswith(f"write the ECR URI, or {said}")
