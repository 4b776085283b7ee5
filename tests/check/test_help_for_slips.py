"""What is reported for typical mistakes of CloudFormation users: one problem, what was found, and how to fix it."""

from typing import Any

import pytest

from inferstack.check.load import parse_spec
from inferstack.problems import Problem, SpecError

HEAD: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "env": {"region": "us-east-1"},
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/own:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
TRITON = {"image": {"framework": "triton", "version": "26.05"}}


def problems(change: dict[str, Any]) -> tuple[Problem, ...]:
    try:
        return parse_spec(HEAD | change).warnings
    except SpecError as error:
        return error.problems


def variant(**change: Any) -> dict[str, Any]:
    return {"variant": HEAD["variant"] | change}


def alarm(**rule: Any) -> dict[str, Any]:
    return {"alarms": {"rules": [{"metric": "ModelLatency", **rule}]}}


def policy(**keys: Any) -> dict[str, Any]:
    found = {"metric": "CPUUtilization", "target_value": 50, **keys}
    return {"autoscaling": {"min_capacity": 1, "max_capacity": 2, "policies": [found]}}


def rolled_back(alarms: list[Any]) -> dict[str, Any]:
    return {"endpoint": {"deployment_config": {"auto_rollback_configuration": {"alarms": alarms}}}}


def captured(options: list[Any]) -> dict[str, Any]:
    capture = {"destination_s3_uri": "s3://b/c", "initial_sampling_percentage": 5, "capture_options": options}
    return {"endpoint_config": {"data_capture_config": capture}}


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"model": HEAD["model"] | {"model_data_url": {"Ref": "Url"}}}, ("model", "model_data_url")),
        ({"alarms": {"actions": [{"Fn::Sub": "arn"}]}}, ("alarms", "actions", 0)),
        (alarm(threshold={"Fn::GetAtt": ["A", "B"]}), ("alarms", "rules", 0, "threshold")),
        (variant(initial_instance_count={"Ref": "Count"}), ("variant", "initial_instance_count")),
        ({"model": {"image": {"Fn::Sub": "x"}}}, ("model", "image", "Fn::Sub")),
    ],
)
def test_functions_of_cloudformation_are_told_how_a_spec_says_it(
    change: dict[str, Any], where: tuple[str | int, ...]
) -> None:
    [problem] = [it for it in problems(change) if it.path == where]
    assert "no CloudFormation functions" in problem.fix
    assert "${AWS::Region}" in problem.fix


@pytest.mark.parametrize(
    ("threshold", "found", "fix"),
    [
        (float("inf"), "found .inf", "write a finite number"),
        (float("-inf"), "found -.inf", "write a finite number"),
        (float("nan"), "found .nan", "write a finite number"),
        (True, "found true", "write a number"),
    ],
)
def test_a_threshold_that_is_no_number_is_shown_as_yaml_writes_it(
    threshold: Any, found: str, fix: str
) -> None:
    [problem] = problems(alarm(threshold=threshold))
    assert problem.message.endswith(found)
    assert problem.fix == fix


def test_a_model_that_is_no_block_is_one_problem() -> None:
    model = TRITON | {"model_data_url": "s3://acme-models/bert/model.tar.gz"}
    [problem] = problems({"model": model, "triton": {"models": {"bert": 5}}})
    assert problem.fix.startswith("write keys under it: name, platform")


def test_bounds_of_a_statistic_are_shown_as_they_are_written() -> None:
    [problem] = [
        it for it in problems(alarm(threshold=5, statistic="PR(2500001:2500000)")) if it.code == "IS842"
    ]
    assert problem.message.endswith("it begins after 2500001 and ends at 2500000")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ml.g4.xlarge", "`ml.g4dn.xlarge`"),
        ("ml.g4.12xlarge", "`ml.g4dn.12xlarge`"),
        ("ml.p4.24xlarge", "`ml.p4d.24xlarge`"),
    ],
)
def test_a_family_without_its_last_letters_is_that_family(said: str, meant: str) -> None:
    [problem] = [it for it in problems(variant(instance_type=said)) if it.code == "IS104"]
    assert problem.fix.startswith(f"did you mean {meant}?")


def test_what_has_nothing_to_write_elsewhere_is_to_be_removed() -> None:
    model = HEAD["model"] | {"inference_execution_config": {"mode": "Direct"}}
    [problem] = problems({"model": model})
    assert (problem.code, problem.fix) == ("IS320", "remove it, or choose `kind: pipeline`")


@pytest.mark.parametrize("environment", [{}, {"HF_MODEL_ID": "acme/bert"}])
def test_tritons_container_gets_its_model_by_files_alone(environment: dict[str, str]) -> None:
    [problem] = problems({"model": TRITON | {"environment": environment}})
    assert (problem.code, problem.fix) == ("IS246", "add `model_data_url`")


def test_models_of_components_on_several_variants_are_named_by_the_components() -> None:
    fleet = {
        "initial_instance_count": 1,
        "routing_config": {"routing_strategy": "LEAST_OUTSTANDING_REQUESTS"},
    }
    needs = {"number_of_cpu_cores_required": 1, "min_memory_required_in_mb": 1024}
    runs = {"specification": {"model_name": "one", "compute_resource_requirements": needs}}
    spec = {key: HEAD[key] for key in ("endpoint_name", "env")} | {
        "kind": "inference-components",
        "models": {
            "one": {
                "image": {"framework": "pytorch", "version": "2.6.0"},
                "model_data_url": "s3://a/b.tar.gz",
            }
        },
        "variants": [
            {"variant_name": "x", "instance_type": "ml.m5.4xlarge", **fleet},
            {"variant_name": "y", "instance_type": "ml.g5.xlarge", **fleet},
        ],
        "inference_components": {
            "a": {**runs, "variant_name": "x", "runtime_config": {"copy_count": 1}},
            "b": {**runs, "variant_name": "y", "runtime_config": {"copy_count": 1}},
        },
    }
    with pytest.raises(SpecError) as refusal:
        parse_spec(spec)
    [problem] = [it for it in refusal.value.problems if it.code == "IS706"]
    assert problem.fix.endswith("name them in the `model_name` of the components on each")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"alarms": {"sns_topic": "arn"}}, "actions: [ARN]"),
        ({"auto_rollback": True}, "under `endpoint.deployment_config`"),
        ({"env": {"HF_MODEL_ID": "x"}}, "a container's variables go in its `environment`"),
        ({"env": {"regio": "us-east-1"}}, "did you mean `region`?"),
        ({"model": {"container": {"image": "x"}}}, "write its contents in the model itself"),
        (policy(steps=[]), "`step_policies`"),
        (policy(metric="SageMakerVariantCPUUtilization"), "did you mean `CPUUtilization`?"),
        (rolled_back(["churn-errors"]), "write `{alarm_name: churn-errors}`"),
        (rolled_back([5]), "write keys under it"),
        (captured(["Input"]), "write `{capture_mode: Input}`"),
    ],
)
def test_words_of_other_tools_lead_to_those_of_the_format(change: dict[str, Any], said: str) -> None:
    assert any(said in problem.fix for problem in problems(change))


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("copies", "copy_count"),
        ("max_copies", "`autoscaling`"),
        ("policies", "write it under the component's `autoscaling`"),
        ("gpus", "number_of_accelerator_devices_required"),
        ("memory", "min_memory_required_in_mb"),
        ("cpus", "number_of_cpu_cores_required"),
        ("model", "specification: {model_name: …}"),
    ],
)
def test_words_of_a_component_lead_to_where_they_stand(key: str, said: str) -> None:
    component = {"kind": "inference-components", "inference_components": {"chat": {key: 1}}}
    assert any(said in problem.fix for problem in problems(component) if key in problem.path)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"threshold": "1%"}, "for a share of the requests write `statistic: Average` and `threshold: 0.01`"),
        (
            {"threshold": "50 %", "statistic": "Sum"},
            "for a share of the requests write `statistic: Average` and `threshold: 0.5`",
        ),
        (
            {"threshold": "0.5 %", "statistic": "Average"},
            "its average is a share of the requests, from 0 to 1: write 0.005",
        ),
        ({"threshold": "101 %"}, "write a number without quotes or unit"),
        ({"threshold": "5 ms"}, "write a number without quotes or unit"),
        ({"threshold": "5 %", "metric": "Invocations"}, "write a number without quotes or unit"),
    ],
)
def test_a_rate_of_errors_is_their_average(rule: dict[str, str], said: str) -> None:
    (problem,) = problems(alarm(**{"metric": "Invocation5XXErrors", **rule}))
    assert (problem.code, problem.fix) == ("IS803", said)


@pytest.mark.parametrize("metric", ["Invocation4XXErrors", "Invocation5XXErrors", "InvocationModelErrors"])
def test_a_rate_of_errors_written_so_is_right(metric: str) -> None:
    assert problems(alarm(metric=metric, statistic="Average", threshold=0.01)) == ()
