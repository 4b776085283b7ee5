"""The spec of an endpoint that exists: it resolves to what is there, and what it does not say is listed."""

from collections.abc import Callable
from typing import Any

import pytest
from support.existing_answers import ARN, ROLE, WHERE, alarm, answers, by_hand, model, policy

from inferstack.resolve.imported import spec_of

SPEC = {
    "kind": "single-model",
    "endpoint_name": "ranker",
    "env": {"account": "123456789012", "region": "us-east-1"},
    "execution_role": ROLE,
    "model": {
        "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/ranker:1",
        "model_data_url": "s3://acme-models/ranker-2026/model.tar.gz",
        "environment": {"WORKERS": "2"},
    },
    "variant": {
        "variant_name": "blue",
        "instance_type": "ml.m5.xlarge",
        "initial_instance_count": 2,
        "initial_variant_weight": 1,
        "volume_size_in_gb": 30,
        "autoscaling": {
            "min_capacity": 2,
            "max_capacity": 6,
            "policies": [
                {
                    "metric": "SageMakerVariantInvocationsPerInstance",
                    "target_value": 700,
                    "policy_name": "follow",
                }
            ],
            "step_policies": [
                {
                    "policy_name": "slow",
                    "metric": "ModelLatency",
                    "threshold": "1500 ms",
                    "statistic": "Average",
                    "comparison_operator": "GreaterThanThreshold",
                    "period": 300,
                    "evaluation_periods": 2,
                    "adjustment_type": "ChangeInCapacity",
                    "step_adjustments": [
                        {
                            "scaling_adjustment": 1,
                            "metric_interval_lower_bound": 0,
                            "metric_interval_upper_bound": "250 ms",
                        },
                        {"scaling_adjustment": 2, "metric_interval_lower_bound": "250 ms"},
                    ],
                }
            ],
        },
    },
    "alarms": {
        "defaults": False,
        "rules": [
            {
                "metric": "Invocation5XXErrors",
                "variant_name": "blue",
                "threshold": 0.05,
                "statistic": "Average",
                "comparison_operator": "GreaterThanThreshold",
                "period": 300,
                "evaluation_periods": 2,
                "treat_missing_data": "missing",
                "alarm_name": "ranker-errors",
                "actions": ["arn:aws:sns:us-east-1:123456789012:ops"],
            }
        ],
    },
    "dashboard": False,
}


def test_what_aws_adds_to_a_request_is_not_in_the_spec() -> None:
    imported = spec_of(answers(), WHERE)
    assert imported.data == SPEC
    assert imported.comparison is not None
    assert imported.resolves_to_it
    assert (imported.left_out, imported.problems) == ((), ())
    assert {(it.path, it.found) for it in imported.comparison.drift} == {
        # Nobody wrote a description, and a step's alarm gets one.
        (("AlarmDescription",), "nothing"),
    }


def _accelerated(fields: dict[str, Any]) -> None:
    fields["config"]["ProductionVariants"][0]["AcceleratorType"] = "ml.eia2.medium"


def _with_predictions(fields: dict[str, Any]) -> None:
    [fleet] = fields["targets"]
    fields["policies"].append(policy(fleet, "ahead") | {"PolicyType": "PredictiveScaling"})


def _without_its_alarm(fields: dict[str, Any]) -> None:
    del fields["alarms"][1]


def _of_an_anomaly(fields: dict[str, Any]) -> None:
    band = {"Metrics": [{"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(m, 2)"}]}
    fields["alarms"].append(alarm("odd", "ModelLatency", 0.0, **band))
    del fields["alarms"][-1]["Threshold"]


def _with_another_role(fields: dict[str, Any]) -> None:
    fields["models"].append(model("second", ExecutionRoleArn=f"{ROLE}-2"))
    [first] = fields["config"]["ProductionVariants"]
    fields["config"]["ProductionVariants"].append(
        {**first, "VariantName": "green", "ModelName": "second", "InitialVariantWeight": 0.5}
    )


def _tagged_target(fields: dict[str, Any]) -> None:
    fields["tags"] = {fields["targets"][0]["ScalableTargetARN"]: {"team": "search"}}


@pytest.mark.parametrize(
    ("change", "left_out"),
    [
        (_accelerated, "ranker-7: `ProductionVariant.AcceleratorType` of AWS::SageMaker::EndpointConfig"),
        (_with_predictions, "the policy ahead of endpoint/ranker/variant/blue: PredictiveScaling"),
        (_without_its_alarm, "the policy slow of endpoint/ranker/variant/blue, which has no alarm"),
        (_of_an_anomaly, "the alarm odd"),
        (_with_another_role, "the model second, which has another role or none: the spec only names it"),
        (_tagged_target, "the tag `team: search` of endpoint/ranker/variant/blue"),
    ],
)
def test_what_a_spec_cannot_say_is_listed(change: Callable[[dict[str, Any]], None], left_out: str) -> None:
    fields = by_hand()
    change(fields)
    imported = spec_of(answers(**fields), WHERE)
    assert imported.problems == ()
    assert imported.left_out == (left_out,)


def test_a_metric_that_is_counted_in_another_way_is_written_out() -> None:
    fields = by_hand()
    del fields["alarms"][1]["Unit"]
    step = spec_of(answers(**fields), WHERE).data["variant"]["autoscaling"]["step_policies"][0]
    assert (step["namespace"], step["metric_name"], step["threshold"]) == (
        "AWS/SageMaker",
        "ModelLatency",
        1500000,
    )


def test_tags_that_all_have_are_those_of_the_spec() -> None:
    fields = by_hand()
    arns = [fields["endpoint"]["EndpointArn"], fields["config"]["EndpointConfigArn"]]
    arns += [it["ScalableTargetARN"] for it in fields["targets"]] + [
        it["AlarmArn"] for it in fields["alarms"]
    ]
    tags = {it: {"team": "search"} for it in arns} | {
        f"{ARN}:model/ranker-2026": {"team": "search", "step": "2"}
    }
    data = spec_of(answers(tags=tags), WHERE).data
    assert data["tags"] == {"team": "search"}
    assert data["model"]["tags"] == {"step": "2"}


def test_an_endpoint_that_no_spec_allows_is_written_with_its_errors() -> None:
    fields = by_hand()
    fields["models"][0]["PrimaryContainer"]["Image"] = "registry.example.com/ranker:1"
    imported = spec_of(answers(**fields), WHERE)
    assert imported.data["model"]["image"] == "registry.example.com/ranker:1"
    assert [it.path for it in imported.problems] != []
    assert imported.comparison is None
