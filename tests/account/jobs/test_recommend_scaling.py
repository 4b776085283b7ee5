"""Scaling that SageMaker recommends, as a block of the spec."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from emulator.clients import EmulatedAws
from support.jobs import LOAD, SPEC, Read, deploy, write
from support.program import Command

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.sizing.job_scaling import autoscaling_of, changes_for
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names


def test_scaling_is_recommended_for_what_meets_the_objective(
    recommend: Command, aws: EmulatedAws, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    assert recommend("--run", "--autoscaling", "--target-cpu", "60") == 0
    said = capsys.readouterr().out
    text = said[said.index("# recommended by SageMaker") :]
    found = yaml.safe_load(text)
    assert found["autoscaling"] == {
        "min_capacity": 2,
        "max_capacity": 10,
        "policies": [
            {
                "metric": "SageMakerVariantInvocationsPerInstance",
                "target_value": 300,
                "scale_in_cooldown": 300,
                "scale_out_cooldown": 60,
            },
            {
                "metric": "CPUUtilization",
                "target_value": 240,
                "scale_in_cooldown": 300,
                "scale_out_cooldown": 60,
            },
        ],
    }
    write(SPEC + LOAD + text)
    assert main(["validate", "a.yaml"]) == 0
    job = said.splitlines()[0]
    assert recommend("--result", job, "--autoscaling", f"{job}/2") == 0
    assert recommend("--result", job, "--autoscaling", f"{job}/3") == 1
    assert f"the job has no recommendation {job}/3 on instances" in capsys.readouterr().err


def test_scaling_is_written_into_the_spec_with_what_it_scales(
    recommend: Command, aws: EmulatedAws, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    one = "instance_type: ml.c5.large, environment_parameter_ranges: {categorical_parameter_ranges: [*n]}"
    ranges = "&n {name: OMP_NUM_THREADS, value: ['4']}"
    text = (SPEC + LOAD).replace(
        "serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}", f"{{{one}}}"
    )
    write("# sized by a load test\n" + text.replace("*n", ranges))
    assert recommend("--run", "--autoscaling", "--write") == 0
    said = capsys.readouterr()
    assert "+autoscaling:" in said.out
    assert "a.yaml: written" in said.err
    job = said.out.splitlines()[0]
    assert recommend("--result", job, "--autoscaling", f"{job}/3", "--write") == 0
    after = Path("a.yaml").read_text()
    assert after.startswith("# sized by a load test\n")
    written = yaml.safe_load(after)
    assert written["variant"] == {"instance_type": "ml.c5.large", "initial_instance_count": 1}
    assert written["model"]["environment"] == {"OMP_NUM_THREADS": "4"}
    assert written["autoscaling"]["max_capacity"] == 4


@pytest.mark.parametrize(("recommended", "started"), [(1, 2), (3, 3), (9, 4), (None, 2)])
def test_as_many_instances_start_as_recommended_within_the_limits(
    recommended: int | None, started: int
) -> None:
    spec = load_spec(Path(__file__).parents[3] / "model_specs" / "bert-large.yaml").spec
    count = {} if recommended is None else {"InitialInstanceCount": recommended}
    found = {"EndpointConfiguration": {"InstanceType": "ml.m5.large", **count}}
    block = {"min_capacity": 2, "max_capacity": 4, "policies": []}
    assert changes_for(spec, found, block) == {
        ("variant", "instance_type"): "ml.m5.large",
        ("variant", "initial_instance_count"): started,
        ("autoscaling",): block,
    }


def test_scaling_that_belongs_nowhere_is_not_written() -> None:
    file = Path(__file__).parents[3] / "model_specs" / "sentiment-ab.yaml"
    spec = load_spec(file, stage=next(iter(stage_names(read_document(file))), None)).spec
    block = {"min_capacity": 1, "max_capacity": 2, "policies": []}
    with pytest.raises(ValueError, match="the spec has several variants"):
        changes_for(spec, {"EndpointConfiguration": {"InstanceType": "ml.m5.large"}}, block)


@pytest.mark.parametrize(
    "answer",
    [{}, {"DynamicScalingConfiguration": {"MinCapacity": 1, "MaxCapacity": 2, "ScalingPolicies": []}}],
)
def test_an_answer_without_scaling_is_none(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="it has no capacities or no policies"):
        autoscaling_of(answer)


def test_a_metric_that_a_spec_has_no_name_for_is_spelt_out() -> None:
    own = {"MetricName": "Queue", "Namespace": "Acme", "Statistic": "Sum"}
    tracking = {"MetricSpecification": {"Customized": own}, "TargetValue": 2.5}
    config = {"MinCapacity": 1, "MaxCapacity": 2, "ScalingPolicies": [{"TargetTracking": tracking}]}
    (policy,) = autoscaling_of({"DynamicScalingConfiguration": config})["policies"]
    spelt_out = {"namespace": "Acme", "metric_name": "Queue", "statistic": "Sum"}
    assert policy == {"customized_metric_specification": spelt_out, "target_value": 2.5}
