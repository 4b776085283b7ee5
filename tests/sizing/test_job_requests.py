"""Requests for jobs follow from a spec, and are what the API's own model allows."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from emulator.strictness import request_problems, request_shape

from inferstack.check.load import LoadedSpec, load_spec, parse_spec
from inferstack.facts.walk import bases_of_adapters, components
from inferstack.format.base import Block, with_subclasses
from inferstack.format.kinds import ModelSpec
from inferstack.sizing.job_requests import LEVELS, job_blocks, lacking, needs_model_name, requests_of
from inferstack.source.document import read_document
from inferstack.source.stages import at_stage, stage_names

ROOT = Path(__file__).parents[2]
ROLE = "arn:aws:iam::111122223333:role/load-tests"
SPECS = sorted((*(ROOT / "model_specs").glob("*.yaml"), *(ROOT / "tests" / "shapes").glob("*.yaml")))
LOAD = {
    "job_type": "Advanced",
    "sample_payload_url": "s3://acme/payload.tar.gz",
    "supported_content_types": ["application/json"],
    "instance_types": ["ml.m5.large", "ml.c5.large"],
    "endpoint_configurations": [
        {
            "instance_type": "ml.m5.xlarge",
            "inference_specification_name": "small",
            "environment_parameter_ranges": {
                "categorical_parameter_ranges": [{"name": "OMP_NUM_THREADS", "value": ["1", "2", "4"]}]
            },
        },
        {"serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": 5}},
    ],
    "traffic_pattern": {
        "traffic_type": "STAIRS",
        "stairs": {"duration_in_seconds": 240, "number_of_steps": 2, "users_per_step": 3},
    },
    "stopping_conditions": {
        "max_invocations": 3000,
        "model_latency_thresholds": [{"percentile": "P95", "value_in_milliseconds": 100}],
        "flat_invocations": "Continue",
    },
    "job_duration_in_seconds": 7200,
    "resource_limit": {"max_number_of_tests": 5, "max_parallel_of_tests": 2},
    "model_name": "churn-1",
    "domain": "MACHINE_LEARNING",
    "task": "CLASSIFICATION",
    "framework": "XGBOOST",
    "framework_version": "1.7",
    "nearest_model_name": "xgboost",
    "data_input_config": "[[1,3,256,256]]",
    "supported_endpoint_type": "RealTime",
    "supported_response_mime_types": ["application/json"],
    "endpoints": [{"endpoint_name": "other"}],
    "vpc_config": {"security_group_ids": ["sg-1"], "subnets": ["subnet-1"]},
    "volume_kms_key_id": "1234abcd",
    "output_config": {"kms_key_id": "1234abcd", "s3_output_uri": "s3://acme/compiled"},
    "role_arn": ROLE,
    "job_description": "how many",
}
MLFLOW = {
    "mlflow_resource_arn": "arn:aws:sagemaker:us-east-1:111122223333:mlflow-app/one",
    "mlflow_experiment_name": "sizes",
    "mlflow_run_name": "first",
}
WORKLOAD = {
    "parameters": {"prompt_input_tokens_mean": 550, "output_tokens_mean": 150, "concurrency": 8},
    "secrets": {"hf_token": "arn:aws:secretsmanager:us-west-2:111122223333:secret:hf-AbCdEf"},
    "tooling": {"api_standard": "openai"},
    "input_data_config": [{"channel_name": "traffic", "s3_uri": "s3://acme/traffic/"}],
}
BENCHMARK = {
    "s3_output_location": "s3://acme/results",
    "identifier": "chat",
    "inference_components": [{"identifier": "llama"}],
    "target_container_hostname": "first",
    "vpc_config": {"security_group_ids": ["sg-1"], "subnets": ["subnet-1"]},
    "mlflow_config": MLFLOW,
    "role_arn": ROLE,
}
RECOMMENDATION = {
    "s3_output_location": "s3://acme/results/",
    "constraints": [{"metric": "cost"}],
    "instance_types": ["ml.g5.xlarge", "ml.g6.xlarge"],
    "framework": "VLLM",
    "optimize_model": False,
    "s3_uri": "s3://acme/llama/",
    "adapter_source": {"s3_uris": [{"adapter_id": "one", "s3_uri": "s3://acme/one/"}]},
    "model_package_group_identifier": "llama",
    "capacity_reservation_config": {
        "capacity_reservation_preference": "capacity-reservations-only",
        "ml_reservation_arns": ["arn:aws:sagemaker:us-east-1:111122223333:training-plan/one"],
    },
    "mlflow_config": MLFLOW,
    "role_arn": ROLE,
}
JOBS = {
    "load_test": LOAD,
    "ai_workload_config": WORKLOAD,
    "ai_benchmark_job": BENCHMARK,
    "ai_recommendation_job": RECOMMENDATION,
}
BLOCKS = ("load_test", "ai_benchmark_job", "ai_recommendation_job")
LEAST: dict[str, Any] = {
    "load_test": {"job_type": "Default", "sample_payload_url": "s3://acme/payload.tar.gz"},
    "ai_benchmark_job": {"s3_output_location": "s3://acme/results/"},
    "ai_recommendation_job": {
        "s3_output_location": "s3://acme/results/",
        "constraints": [{"metric": "cost"}],
    },
}


def spec_of(jobs: Mapping[str, Any], file: Path = ROOT / "model_specs" / "bert-large.yaml") -> ModelSpec:
    return loaded_of(jobs, file).spec


def loaded_of(jobs: Mapping[str, Any], file: Path = ROOT / "model_specs" / "bert-large.yaml") -> LoadedSpec:
    document = read_document(file)
    data = at_stage(document, next(iter(stage_names(document)), None)).data
    kept = {key: it for key, it in data.items() if key not in ("stages", *JOBS)}
    return parse_spec({**kept, **jobs})


@pytest.mark.parametrize("file", SPECS, ids=lambda it: it.stem)
@pytest.mark.parametrize("block", BLOCKS)
def test_every_spec_makes_requests_that_the_service_allows(file: Path, block: str) -> None:
    spec = spec_of(JOBS, file)
    assert list(lacking(spec, block)) == []
    for operation, request in requests_of(spec, block).items():
        filled = json.loads(json.dumps(request).replace("${AWS::Region}", "us-east-1"))
        assert request_problems("sagemaker", operation, filled) == []


@pytest.mark.parametrize("name", ["model_specs/bert-large.yaml", "docs/examples/jobs/llama.yaml"])
def test_the_examples_can_be_requested_as_they_are(name: str) -> None:
    spec = load_spec(ROOT / name).spec
    assert job_blocks(spec)
    for block in job_blocks(spec):
        assert list(lacking(spec, block)) == []
        for operation, request in requests_of(spec, block, model_name="Model-1").items():
            assert request_problems("sagemaker", operation, request) == []


@pytest.mark.parametrize("block", BLOCKS)
def test_all_that_the_operation_has_can_be_written(block: str) -> None:
    for operation, request in requests_of(spec_of({**JOBS, "tags": {"team": "growth"}}), block).items():
        every = set(members(request_shape("sagemaker", operation)))
        # Written in other ways, or not together with what is written.
        others = {
            *("ModelPackageVersionArn", "SupportedInstanceTypes", "Phases", "ProvisionedConcurrency"),
            *("ModelPackageArns", "Key", "Value", "InitialNumberOfUsers", "SpawnRate", "ModelPackageArn"),
        }
        assert every - set(keys(request)) <= others


def members(shape: Any) -> Iterator[str]:
    match shape.type_name:
        case "structure":
            for name, member in shape.members.items():
                yield name
                yield from members(member)
        case "list":
            yield from members(shape.member)


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from keys(below)
    elif isinstance(value, list):
        for below in value:
            yield from keys(below)


def test_every_level_is_one_of_a_block() -> None:
    shapes = {shape for block in with_subclasses(Block) for shape in block.shapes}
    assert LEVELS.keys() <= shapes


def test_instance_types_go_where_the_kind_of_job_has_them() -> None:
    types = ["ml.m5.large", "ml.c5.large"]
    advanced = requests_of(spec_of(JOBS), "load_test")["CreateInferenceRecommendationsJob"]["InputConfig"]
    assert [it.get("InstanceType") for it in advanced["EndpointConfigurations"]] == [
        *types,
        "ml.m5.xlarge",
        None,
    ]
    default = spec_of({"load_test": {**LEAST["load_test"], "instance_types": types}})
    inputs = requests_of(default, "load_test")["CreateInferenceRecommendationsJob"]["InputConfig"]
    assert inputs["ContainerConfig"]["SupportedInstanceTypes"] == types


def test_the_model_is_that_of_the_spec_or_has_to_be_looked_up() -> None:
    bare = spec_of({"load_test": LEAST["load_test"]})
    assert needs_model_name(bare, "load_test")
    assert not needs_model_name(spec_of(JOBS), "load_test")
    assert not needs_model_name(spec_of(JOBS), "ai_benchmark_job")
    made = requests_of(bare, "load_test", model_name="Model-1")["CreateInferenceRecommendationsJob"]
    assert made["InputConfig"]["ModelName"] == "Model-1"
    package = spec_of({"load_test": LEAST["load_test"]}, ROOT / "tests" / "shapes" / "model-package.yaml")
    found = requests_of(package, "load_test")["CreateInferenceRecommendationsJob"]["InputConfig"]
    assert found["ModelPackageVersionArn"].startswith("arn:aws:sagemaker:")
    other = requests_of(package, "load_test", model_name="Model-1")["CreateInferenceRecommendationsJob"]
    assert other["InputConfig"].keys() & {"ModelName", "ModelPackageVersionArn"} == {"ModelName"}


def test_a_benchmark_is_of_the_endpoint_and_its_whole_models() -> None:
    file = ROOT / "model_specs" / "support-adapters.yaml"
    spec = spec_of({**LEAST, "ai_workload_config": WORKLOAD}, file)
    target = requests_of(spec, "ai_benchmark_job")["CreateAIBenchmarkJob"]["BenchmarkTarget"]["Endpoint"]
    assert target["Identifier"] == spec.endpoint_name
    whole = {name for _, name, _ in components(spec)} - set(bases_of_adapters(spec))
    assert [it["Identifier"] for it in target["InferenceComponents"]] == sorted(whole)
    assert bases_of_adapters(spec)
    other = requests_of(spec_of(JOBS, file), "ai_benchmark_job")["CreateAIBenchmarkJob"]["BenchmarkTarget"]
    assert other["Endpoint"]["Identifier"] == "chat"
    assert other["Endpoint"]["InferenceComponents"] == [{"Identifier": "llama"}]


def test_a_workload_is_written_in_the_words_of_its_tool() -> None:
    requests = requests_of(spec_of(JOBS), "ai_benchmark_job")
    workload, job = requests.values()
    assert json.loads(workload["AIWorkloadConfigs"]["WorkloadSpec"]["Inline"]) == {
        "benchmark": {"type": "aiperf"},
        **{key: WORKLOAD[key] for key in ("parameters", "secrets", "tooling")},
    }
    assert job["AIWorkloadConfigIdentifier"] == workload["AIWorkloadConfigName"]
    existing = {**BENCHMARK, "ai_workload_config_identifier": "ours"}
    (job,) = requests_of(spec_of({**JOBS, "ai_benchmark_job": existing}), "ai_benchmark_job").values()
    assert job["AIWorkloadConfigIdentifier"] == "ours"


# ---------------------------------------------------------------- names


def job_name(jobs: Mapping[str, Any], block: str = "load_test") -> str:
    *_, request = requests_of(spec_of(jobs), block).values()
    return str(next(iter(request.values())))


def test_the_same_request_has_the_same_name_and_another_has_another() -> None:
    assert job_name(JOBS) == job_name({**JOBS, "ai_benchmark_job": LEAST["ai_benchmark_job"]})
    assert job_name(JOBS) != job_name({**JOBS, "load_test": {**LOAD, "task": "OTHER"}})
    assert job_name(JOBS) != job_name({**JOBS, "tags": {"team": "growth"}})
    other = {**WORKLOAD, "parameters": {"concurrency": 9}}
    for block in ("ai_benchmark_job", "ai_recommendation_job"):
        assert job_name(JOBS, block) != job_name({**JOBS, "ai_workload_config": other}, block)


def test_a_job_can_be_named() -> None:
    for block in BLOCKS:
        *_, request = requests_of(spec_of(JOBS), block, job_name="again").values()
        assert next(iter(request.values())) == "again"
        assert request.get("OutputConfig", {}).get("S3OutputLocation", "/again/").endswith("/again/")


def test_a_long_name_is_cut_to_what_aws_takes() -> None:
    name = job_name({**JOBS, "endpoint_name": f"{'a' * 51}-{'b' * 11}"})
    assert len(name) == 62
    assert "--" not in name


def test_each_job_has_a_folder_of_its_own_for_its_results() -> None:
    for block in ("ai_benchmark_job", "ai_recommendation_job"):
        *_, request = requests_of(spec_of(JOBS), block).values()
        assert request["OutputConfig"]["S3OutputLocation"] == f"s3://acme/results/{job_name(JOBS, block)}/"


# ---------------------------------------------------------------- what a spec does not say

LACKS = {
    "load_test": ("the job needs a role", "also needs `domain`, `task`, `framework`"),
    "ai_benchmark_job": ("the job needs a role", "the job needs to know what to send"),
    "ai_recommendation_job": ("the job needs a role", "needs to know what to send"),
}


@pytest.mark.parametrize("block", LACKS)
def test_what_a_request_lacks_is_said_all_at_once(block: str) -> None:
    said = [it.message for it in lacking(spec_of({block: LEAST[block]}), block)]
    assert len(said) == len(LACKS[block])
    assert all(part in line for part, line in zip(LACKS[block], said, strict=True))


def test_files_that_are_not_in_s3_cannot_be_optimized() -> None:
    jobs = {
        "ai_recommendation_job": RECOMMENDATION | {"s3_uri": "https://acme.example/llama"},
        "ai_workload_config": WORKLOAD,
    }
    (problem,) = lacking(spec_of(jobs), "ai_recommendation_job")
    assert "needs the model's files in S3" in problem.message


def test_what_only_a_deployment_knows_is_no_part_of_a_request() -> None:
    vpc = {"security_group_ids": ["${import:Group}"], "subnets": ["subnet-1"]}
    jobs = {"load_test": {**LOAD, "vpc_config": vpc}}
    (problem,) = lacking(spec_of({**jobs, "tags": {"team": "${ssm:/team}", "cost": "7"}}), "load_test")
    assert problem.message == "only a deployment knows `${import:Group}`"
    placed = spec_of({"load_test": {**LOAD, "sample_payload_url": "s3://acme-${AWS::AccountId}/p.tar.gz"}})
    assert list(lacking(placed, "load_test")) == []
    roleless = {key: it for key, it in LOAD.items() if key != "role_arn"}
    without = spec_of({"load_test": roleless, "execution_role": "${import:Role}"})
    assert next(it.message for it in lacking(without, "load_test")).startswith("the job needs a role")


def test_a_role_of_the_endpoint_is_taken() -> None:
    spec = spec_of({"load_test": LEAST["load_test"], "execution_role": ROLE})
    assert requests_of(spec, "load_test")["CreateInferenceRecommendationsJob"]["RoleArn"] == ROLE
