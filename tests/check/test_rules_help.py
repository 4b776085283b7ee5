"""Following a rule's advice is not a mistake of another kind."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from support.advice import MODELLED, NEEDS, SINGLE, fix, found

from inferstack.catalog import metrics

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


def spelt_out(metric: str, namespace: str) -> dict[str, Any]:
    dimensions = [{"name": "EndpointName", "value": "churn"}, {"name": "VariantName", "value": "AllTraffic"}]
    custom = {
        "namespace": namespace,
        "metric_name": metric,
        "statistic": "Average",
        "dimensions": dimensions,
    }
    policies = [{"customized_metric_specification": custom, "target_value": 60}]
    return {**SINGLE, "autoscaling": {"min_capacity": 2, "max_capacity": 5, "policies": policies}}


def test_a_policy_that_spells_out_a_time_is_not_sent_to_where_it_is_refused() -> None:
    said = fix("IS843", spelt_out("ModelLatency", "AWS/SageMaker"))
    assert said.startswith("a time cannot be held at a target: use `step_policies`")
    said = fix("IS843", spelt_out("CPUUtilization", "/aws/sagemaker/Endpoints"))
    assert said == "write `metric: CPUUtilization` in the policy itself instead"


@pytest.mark.parametrize(("names", "which"), [(["a"], ""), (["a", "b"], " and `variant_name: a`")])
def test_an_alarm_on_a_metric_of_several_parts_is_told_how_to_choose_one(
    names: list[str], which: str
) -> None:
    dimensions = [{"name": "EndpointName", "value": "churn"}, {"name": "VariantName", "value": "a"}]
    stat = {"namespace": "AWS/SageMaker", "metric_name": "Invocation5XXErrors", "dimensions": dimensions}
    rule = {**stat, "statistic": "Sum", "threshold": 5}
    parts = [{**SINGLE["variant"], "variant_name": name, "model_name": name} for name in names]
    models = dict.fromkeys(names, SINGLE["model"])
    spec = {key: value for key, value in SINGLE.items() if key not in ("model", "variant")}
    said = fix("IS843", {**spec, "models": models, "variants": parts, "alarms": {"rules": [rule]}})
    assert said == f"write `metric: Invocation5XXErrors`{which} instead"


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


@pytest.mark.parametrize(
    ("metric", "published"),
    [
        ("ApproximateBacklogSizePerInstance", "it is only for asynchronous endpoints"),
        ("GPUUtilizationNormalized", "it is only for endpoints with inference components"),
        ("LoadedModelCount", "it is only for multi-model endpoints"),
    ],
)
def test_a_metric_of_other_endpoints_says_of_which(metric: str, published: str) -> None:
    (problem,) = [it for it in found(tracking(metric)) if it.code == "IS512"]
    assert problem.message.endswith(f" is not published for instances of this kind of endpoint: {published}")


def test_a_time_is_no_target_with_a_unit_or_without() -> None:
    assert fix("IS516", tracking("ModelLatency")).startswith(
        "a time cannot be held at a target: use `step_policies`"
    )


def copies_of(memory: float) -> dict[str, Any]:
    needs = {"compute_resource_requirements": {"min_memory_required_in_mb": memory}}
    one = {"specification": {"model_name": "net", **needs}}
    variant = {**MODELLED["variant"], "initial_instance_count": 1}
    return {**MODELLED, "variant": variant, "inference_components": {"one": one}}


def tracking_at(target: float) -> dict[str, Any]:
    policies = [{"metric": "CPUUtilization", "target_value": target}]
    return {**SINGLE, "autoscaling": {"min_capacity": 2, "max_capacity": 5, "policies": policies}}


def watched_every(seconds: float) -> dict[str, Any]:
    return {**SINGLE, "alarms": {"rules": [{"metric": "Invocations", "threshold": 5, "period": seconds}]}}


@pytest.mark.parametrize(
    ("spec_with", "code", "wrong", "said", "proposed"),
    [
        (tracking_at, "IS513", 0, "such as 140,", 140),
        (tracking_at, "IS514", 500, "such as 140", 140),
        (tracking_at, "IS522", 0.6, "write 120, ", 120),
        (watched_every, "IS807", 15, "write 60;", 60),
        (watched_every, "IS807", 130, "write 120;", 120),
        (copies_of, "IS414", 999_999, "write less than 7372,", 7_371),
    ],
)
def test_a_proposed_value_is_right_by_all_other_rules_too(
    spec_with: Callable[[float], dict[str, Any]], code: str, wrong: float, said: str, proposed: float
) -> None:
    assert said in fix(code, spec_with(wrong))
    assert found(spec_with(proposed)) == ()


def scaled(low: int, high: int, **more: Any) -> dict[str, Any]:
    policies = [{"metric": "CPUUtilization", "target_value": 60}]
    return {
        **SINGLE,
        **more,
        "autoscaling": {"min_capacity": low, "max_capacity": high, "policies": policies},
    }


def stepping(*names: str | None, **more: Any) -> dict[str, Any]:
    """A policy that holds CPUUtilization, and steps on it."""
    step = {
        "metric": "CPUUtilization",
        "threshold": "20 %",
        "adjustment_type": "ChangeInCapacity",
        "step_adjustments": [{"metric_interval_lower_bound": 0, "scaling_adjustment": 1}],
    }
    spec = scaled(2, 5, **more)
    steps = [step if name is None else {**step, "policy_name": name} for name in names]
    return {**spec, "autoscaling": {**spec["autoscaling"], "step_policies": steps}}


@pytest.mark.parametrize(
    ("names", "other", "free"),
    [
        ((None,), "number 1 of `policies`, `CPUUtilization`", "CPUUtilization2"),
        (("CPUUtilization2", None), "number 1 of `policies`, `CPUUtilization`", "CPUUtilization3"),
        (("idle", "IDLE"), "number 1 of `step_policies`, `idle`", "IDLE2"),
    ],
)
def test_a_policy_that_is_called_like_another_is_told_like_which_and_what_is_free(
    names: tuple[str | None, ...], other: str, free: str
) -> None:
    (problem,) = [it for it in found(stepping(*names)) if it.code == "IS533"]
    assert problem.message == f"the policy name `{names[-1] or 'CPUUtilization'}` clashes with {other}"
    assert problem.fix == f'give it another `policy_name`, such as "{free}"'
    assert problem.path == ("autoscaling", "step_policies", len(names) - 1)
    assert "IS533" not in {it.code for it in found(stepping(*names[:-1], free))}


ASYNCHRONOUS = {
    "endpoint_config": {"async_inference_config": {"output_config": {"s3_output_path": "s3://acme-out/a"}}}
}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (scaled(4, 2), "swap them: `min_capacity: 2` and `max_capacity: 4`"),
        (scaled(4, 0), "raise `max_capacity` to 4 or more"),
        (scaled(0, -1), "raise `max_capacity` to 1 or more"),
        (scaled(4, 0, **ASYNCHRONOUS), "swap them: `min_capacity: 0` and `max_capacity: 4`"),
    ],
)
def test_limits_the_wrong_way_round_are_swapped_where_that_is_allowed(
    spec: dict[str, Any], said: str
) -> None:
    assert fix("IS500", spec) == said
    assert [it for it in found(spec) if it.path[-1] == "max_capacity"] == []


@pytest.mark.parametrize(
    ("low", "said"), [(0, "; 0 needs an asynchronous endpoint or inference components"), (-1, "")]
)
def test_who_wants_to_scale_to_zero_is_told_what_can(low: int, said: str) -> None:
    assert fix("IS501", scaled(low, 4)) == f"write 1 or more{said}"


def test_managed_limits_the_wrong_way_round_are_swapped() -> None:
    managed = {"status": "ENABLED", "min_instance_count": 3, "max_instance_count": 2}
    spec = {
        "kind": "inference-components",
        "endpoint_name": "chat",
        "variant": {**SINGLE["variant"], "managed_instance_scaling": managed},
        "inference_components": {"llm": {"specification": {"model_name": "llm"}}},
    }
    assert fix("IS402", spec) == "swap them: `min_instance_count: 2` and `max_instance_count: 3`"


@pytest.mark.parametrize(
    ("low", "high", "in_variant"), [(0, 4, False), (1, 4, True), (1, 0, False), (-1, 4, False)]
)
def test_instances_are_advised_on_only_where_their_number_is_no_error(
    low: int, high: int, in_variant: bool
) -> None:
    spec = scaled(low, high, kind="multi-model")
    if in_variant:
        spec["variant"] = {**SINGLE["variant"], "autoscaling": spec["autoscaling"]}
    codes = {problem.code for problem in found(spec)}
    assert codes & {"IS500", "IS501", "IS503"}
    assert "IS306" not in codes


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
def test_a_fleet_that_is_too_small_is_told_how_many_instances_are_enough(
    variant: dict[str, Any], by: str
) -> None:
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
    assert fix("IS422", spec) == f"write 2, or let the fleet grow to 3 with {by}"


@pytest.mark.parametrize(
    ("code", "needs", "variant", "said"),
    [
        ("IS420", {"number_of_accelerator_devices_required": 4}, {}, "raise `initial_instance_count` to 3, "),
        ("IS421", {"number_of_cpu_cores_required": 40}, {}, "raise `initial_instance_count` to 3, "),
        (
            "IS421",
            {"number_of_cpu_cores_required": 40},
            {"autoscaling": {"min_capacity": 1, "max_capacity": 2}},
            "raise `initial_instance_count` to 3, and `max_capacity` of its `autoscaling` as well, ",
        ),
        *(
            (
                code,
                needs,
                {"managed_instance_scaling": {"status": "ENABLED", "max_instance_count": 2}},
                "let the fleet grow to 3 (5 for the maximum copies) with `max_instance_count` of "
                "`managed_instance_scaling`, ",
            )
            for code, needs in (
                ("IS420", {"number_of_accelerator_devices_required": 4}),
                ("IS421", {"number_of_cpu_cores_required": 40}),
            )
        ),
    ],
)
def test_first_copies_without_room_name_the_key_that_stands_in_the_way(
    code: str, needs: dict[str, Any], variant: dict[str, Any], said: str
) -> None:
    specification = {
        "container": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"},
        "compute_resource_requirements": {"min_memory_required_in_mb": 1024, **needs},
    }
    spec = {
        "kind": "inference-components",
        "endpoint_name": "chat",
        "variant": {"instance_type": "ml.g5.12xlarge", "initial_instance_count": 1, **variant},
        "inference_components": {
            "llm": {
                "specification": specification,
                "runtime_config": {"copy_count": 3},
                "autoscaling": {"min_capacity": 1, "max_capacity": 5},
            }
        },
    }
    assert fix(code, spec).startswith(said)


@pytest.mark.parametrize(
    ("region", "meant"),
    [
        ("us-est-1", "did you mean `us-east-1` or `us-west-1`?"),
        ("eu-wst-1", "did you mean `eu-west-1`?"),
        # Letter for letter it is as similar to the region in the west, which is two slips away.
        ("us-esat-1", "did you mean `us-east-1`?"),
        ("us-aest-1", "did you mean `us-east-1`?"),
        ("us-ehst-1", "did you mean `us-east-1`?"),
    ],
)
def test_all_that_is_as_near_as_the_nearest_is_named(region: str, meant: str) -> None:
    assert fix("IS711", {**SINGLE, "env": {"region": region}}) == meant


@pytest.mark.parametrize("region", ["us-east1", "nowhere", ""])
def test_of_a_region_that_cannot_be_nothing_else_is_said(region: str) -> None:
    image = {"framework": "triton", "version": "25.09"}
    topics = {"actions": ["arn:aws:sns:us-east-1:111122223333:on-call"]}
    spec = {**SINGLE, "env": {"region": region}, "model": {"image": image}, "alarms": topics}
    assert {problem.code for problem in found(spec)} & {"IS701", "IS702", "IS710", "IS711", "IS810"} == {
        "IS710"
    }


def test_of_an_asynchronous_endpoint_no_predefined_metric_is_proposed() -> None:
    asynchronous = {
        "async_inference_config": {"output_config": {"s3_output_path": "s3://acme-results/churn/"}}
    }
    spec = {**tracking("SageMakerVariantInvocationsPerInstance"), "endpoint_config": asynchronous}
    assert "`ApproximateBacklogSizePerInstance`" in fix("IS512", spec)
    assert "`SageMaker" not in fix("IS512", spec)


def test_a_percentage_where_a_share_is_due_is_told_as_one() -> None:
    serverless = {
        "serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": 20, "provisioned_concurrency": 2}
    }
    spec = {**tracking("SageMakerVariantProvisionedConcurrencyUtilization"), "variant": serverless}
    assert fix("IS514", spec) == "write a share, such as 0.7; 60 % is 0.6"


OFTEN = "set `metric_publish_frequency_in_seconds: 10` in `endpoint_config.metrics_config`"


@pytest.mark.parametrize(
    ("metric", "threshold", "said"),
    [
        ("CPUUtilization", "90 %", f"write 60 or more, or {OFTEN}"),
        (
            "Invocations",
            9000,
            f"write 60 or more, or {OFTEN} with `enable_enhanced_metrics: true`, without which it applies to "
            "utilization only",
        ),
    ],
)
def test_a_short_period_is_told_what_makes_it_possible(
    metric: str, threshold: float | str, said: str
) -> None:
    spec = {**SINGLE, "alarms": {"rules": [{"metric": metric, "threshold": threshold, "period": 20}]}}
    assert fix("IS809", spec) == said


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("X", "in a component, use two characters or more"),
        ("1ST", "use letters, digits and underscores, and do not begin with a digit"),
        (f"X{'1' * 1025}", "write at most 1024 characters"),
    ],
)
def test_a_variable_is_told_what_its_name_lacks(name: str, says: str) -> None:
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"
    spec = {
        "kind": "inference-components",
        "endpoint_name": "chat",
        "variant": {"instance_type": "ml.m5.xlarge", "initial_instance_count": 1},
        "inference_components": {
            "llm": {
                "specification": {
                    "container": {"image": image, "environment": {name: "1"}},
                    "compute_resource_requirements": {"min_memory_required_in_mb": 1024},
                },
                "runtime_config": {"copy_count": 1},
            }
        },
    }
    assert fix("IS210", spec) == says


def test_a_serverless_endpoint_is_not_sent_to_another_guardrail() -> None:
    rolling = {
        "maximum_batch_size": {"type": "CAPACITY_PERCENT", "value": 50},
        "wait_interval_in_seconds": 60,
    }
    config = {"deployment_config": {"rolling_update_policy": rolling}}
    serverless = {"serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": 2}}
    assert fix("IS620", {**SINGLE, "variant": serverless, "endpoint": config}) == "remove `deployment_config`"


@pytest.mark.parametrize(("least", "says"), [(0, "nothing stops it again"), (1, "so nothing scales")])
def test_an_asynchronous_endpoint_without_policies_is_told_what_is_made_anyway(least: int, says: str) -> None:
    output = {"output_config": {"s3_output_path": "s3://acme-results/churn/"}}
    scaling = {"min_capacity": least, "max_capacity": 3}
    spec = {**SINGLE, "autoscaling": scaling, "endpoint_config": {"async_inference_config": output}}
    (message,) = [problem.message for problem in found(spec) if problem.code == "IS505"]
    assert message.endswith(says)


@pytest.mark.parametrize(
    ("instance_type", "has", "said"),
    [
        ("ml.m5.large", "none", "remove it, or choose a type with accelerators"),
        ("ml.g5.xlarge", "1", "write at most 1, or choose a larger instance type"),
    ],
)
def test_accelerators_that_an_instance_lacks_are_told_apart_from_none(
    instance_type: str, has: str, said: str
) -> None:
    needs = {"compute_resource_requirements": {**NEEDS, "number_of_accelerator_devices_required": 2}}
    spec = {
        **MODELLED,
        "variant": {"instance_type": instance_type, "initial_instance_count": 2},
        "inference_components": {"one": {"specification": {"model_name": "net", **needs}}},
    }
    (problem,) = [it for it in found(spec) if it.code == "IS412"]
    assert problem.message.endswith(f"has {has}")
    assert problem.fix == said


def test_no_metric_of_gpus_is_proposed_where_there_are_none() -> None:
    assert "ml.m5.large has no GPU, so GPUUtilization is not published" in str(
        found(tracking("GPUUtilization"))
    )
    alarmed = {**SINGLE, "alarms": {"rules": [{"metric": "Nothing", "threshold": 5}]}}
    for code, spec in (("IS510", tracking("Nothing")), ("IS800", alarmed)):
        assert "GPU" not in fix(code, spec)
        on_gpus = {"instance_type": "ml.g5.xlarge", "initial_instance_count": 2}
        assert "`GPUUtilization`" in fix(code, {**spec, "variant": on_gpus})


def test_no_metric_of_bidirectional_streams_is_proposed_to_a_language_model() -> None:
    alarmed = {**SINGLE, "alarms": {"rules": [{"metric": "TimeToFirstChunk", "threshold": 1}]}}
    image = {"framework": "vllm", "version": "0.30.0"}
    assert "FirstChunk" in fix("IS800", alarmed)
    said = fix("IS800", {**alarmed, "model": {**SINGLE["model"], "image": image}})
    assert "`ModelLatency`" in said
    assert "FirstChunk" not in said


def test_of_many_metrics_those_are_proposed_that_are_like_the_one_found() -> None:
    alarmed = {**SINGLE, "alarms": {"rules": [{"metric": "CPUUtilisation", "threshold": 5}]}}
    all_metrics = [it for name in metrics.names() for it in metrics.find(name, "instances")]
    # Of one container, and without GPUs.
    published = {it.name for it in all_metrics if it.dimensions != "container" and not it.is_about_gpus}
    assert fix("IS800", alarmed) == (
        "did you mean `CPUUtilization`? available here: `CPUUtilization`, `DiskUtilization`, "
        f"`MemoryUtilization` and {len(published) - 3} more"
    )


def test_of_two_metrics_that_begin_alike_the_one_published_here_is_meant() -> None:
    # The nearer one, letter for letter, is `ConcurrentRequestsPerCopy`, which only components have.
    alarmed = {**SINGLE, "alarms": {"rules": [{"metric": "ConcurrentRequests", "threshold": 5}]}}
    for code, spec in (("IS510", tracking("ConcurrentRequests")), ("IS800", alarmed)):
        assert fix(code, spec).startswith("did you mean `ConcurrentRequestsPerModel`? ")


@pytest.mark.parametrize("name", ["5XXError", "Invocation5XXError", "5xx_errors"])
def test_metrics_are_known_by_their_last_words_in_singular_and_plural(name: str) -> None:
    alarmed = {**SINGLE, "alarms": {"rules": [{"metric": name, "threshold": 5}]}}
    assert fix("IS800", alarmed).startswith("did you mean `Invocation5XXErrors`? ")


@pytest.mark.parametrize(
    ("more", "missing"),
    [({}, "`namespace` and `statistic`"), ({"statistic": "p99"}, "`namespace`")],
)
def test_a_metric_of_sagemakers_without_a_namespace_is_proposed_by_its_name(
    more: dict[str, str], missing: str
) -> None:
    rule = {"metric_name": "ModelLatency", "threshold": "500 ms", **more}
    [problem] = found({**SINGLE, "alarms": {"rules": [rule]}})
    assert (problem.code, problem.path) == ("IS813", ("alarms", "rules", 0, "metric_name"))
    assert problem.message == f"the metric is missing {missing}"
    assert (
        problem.fix == f"write `metric: ModelLatency` for SageMaker's, or add {missing} for one of your own"
    )


def test_a_share_of_a_sum_is_put_the_same_way_in_alarms_and_policies() -> None:
    policy, alarm = tracking("CPUUtilization"), {"rules": [{"metric": "CPUUtilization", "threshold": 90}]}
    said = [str(it).partition(": warning: ")[2] for it in found({**policy, "alarms": alarm})]
    assert said == [
        "CPUUtilization is a sum over 2 vCPUs: 60 is 30 % of the total; for 60 % of the total, write 120",
        'CPUUtilization is a sum over 2 vCPUs: 90 is 45 % of the total; for 90 % of the total, which is 180, write "90 %"',
    ]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://a/b.tar.gz", "a bucket name has 3 to 63 lowercase letters"),
        ("s3://acme_models/b.tar.gz", "a bucket name has 3 to 63 lowercase letters"),
        ("s3://acme-models", "write s3://bucket/key"),
    ],
)
def test_of_a_bucket_that_is_none_it_is_said_what_one_is(url: str, said: str) -> None:
    text = fix("IS230", {**SINGLE, "model": {**SINGLE["model"], "model_data_url": url}})
    assert said in text
    assert ("small letters" in text) is ("small letters" in said)


@pytest.mark.parametrize(
    ("alarm", "said"),
    [({"alarm_name": "late"}, "the alarm late"), ({"metric": "ModelLatency"}, "the alarm on ModelLatency")],
)
def test_an_alarm_that_is_listed_twice_is_called_as_in_the_list(alarm: dict[str, str], said: str) -> None:
    config = {"auto_rollback_configuration": {"alarms": [alarm, alarm]}}
    messages = [
        it.message
        for it in found({**SINGLE, "endpoint": {"deployment_config": config}})
        if it.code == "IS622"
    ]
    assert messages == [f"{said} is listed twice"]


@pytest.mark.parametrize(
    ("own", "said", "fix_of_it"),
    [
        ({"unit": "Count"}, "`unit` of ModelLatency follows from its name", "remove it, or "),
        (
            {"namespace": "Acme", "unit": "Count"},
            "`namespace` and `unit` of ModelLatency follow from its name",
            "remove them, or ",
        ),
    ],
)
def test_what_follows_from_a_metrics_name_is_named(own: dict[str, str], said: str, fix_of_it: str) -> None:
    rule = {"metric": "ModelLatency", "threshold": "5 ms", **own}
    (problem,) = (it for it in found({**SINGLE, "alarms": {"rules": [rule]}}) if it.code == "IS813")
    assert problem.message == said
    assert problem.fix.startswith(fix_of_it)


def test_of_an_alarm_on_too_few_requests_no_more_is_said_than_aws_says() -> None:
    # https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html does not tell what is published
    # without requests; an earlier page on scaling spoke of zeros.
    rule = {"metric": "Invocations", "threshold": 5, "comparison_operator": "LessThanThreshold"}
    (problem,) = (it for it in found({**SINGLE, "alarms": {"rules": [rule]}}) if it.code == "IS848")
    assert problem.message.startswith("without requests Invocations may have no data, and then ")


def test_no_metric_is_proposed_that_a_variant_with_components_may_not_have() -> None:
    specification = {
        "container": {"image": {"framework": "djl-lmi", "version": "0.36.0"}},
        "compute_resource_requirements": {"min_memory_required_in_mb": 1024},
    }
    policies = [{"metric": "DiskUtilization", "target_value": 60}]
    spec = {
        "kind": "inference-components",
        "endpoint_name": "churn",
        "variant": {"instance_type": "ml.g5.xlarge", "initial_instance_count": 2},
        "inference_components": {"net": {"specification": specification}},
        "autoscaling": {"min_capacity": 1, "max_capacity": 4, "policies": policies},
    }
    proposed = fix("IS517", spec)
    assert "CPUUtilizationNormalized" in proposed
    assert "Requests" not in proposed
    assert "Invocations" not in proposed
