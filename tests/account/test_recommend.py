"""``inferstack recommend`` on an emulated SageMaker: what it asks for, how it waits, and what it makes of results."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ConnectionClosedError
from emulator.clients import EmulatedAws
from emulator.server import reset, running
from emulator.strictness import request_shape
from support.program import Command
from support.s3 import Faults, install
from support.strict_walk import walk

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.recommended_scaling import autoscaling_of, changes_for
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names

ROLE = "arn:aws:iam::123456789012:role/load-tests"
SPEC = """\
kind: single-model
endpoint_name: churn
env: {region: us-east-1}
tags: {team: growth}
model:
  image: {framework: xgboost, version: "1.7-1"}
  model_data_url: s3://acme-models/churn/model.tar.gz
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 2}
objective:
  requests_per_minute: 3000
  lowest_requests_per_minute: 600
  latency: {percentile: P95, value_in_milliseconds: 100}
"""
LOAD = f"""\
load_test:
  job_type: Advanced
  sample_payload_url: s3://acme-models-${{AWS::AccountId}}/payload.tar.gz
  supported_content_types: [text/csv]
  instance_types: [ml.m5.large, ml.m5.xlarge]
  endpoint_configurations:
    - serverless_config: {{memory_size_in_mb: 2048, max_concurrency: 5}}
  traffic_pattern:
    traffic_type: PHASES
    phases: [{{initial_number_of_users: 1, spawn_rate: 1, duration_in_seconds: 120}}]
  stopping_conditions:
    model_latency_thresholds: [{{percentile: P95, value_in_milliseconds: 100}}]
  domain: MACHINE_LEARNING
  task: CLASSIFICATION
  framework: XGBOOST
  role_arn: {ROLE}
"""
COMPONENTS = f"""\
kind: inference-components
endpoint_name: chat
env: {{region: us-east-1}}
variant: {{instance_type: ml.g5.2xlarge, initial_instance_count: 2}}
execution_role: {ROLE}
inference_components:
  llama:
    specification:
      container:
        image: {{framework: djl-lmi, version: "latest"}}
        artifact_url: s3://acme-models/llama.tar.gz
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 8192}}
    runtime_config: {{copy_count: 1}}
ai_workload_config:
  parameters: {{prompt_input_tokens_mean: 550, output_tokens_mean: 150, concurrency: 8}}
ai_benchmark_job: {{s3_output_location: s3://acme-results/jobs}}
ai_recommendation_job:
  s3_output_location: s3://acme-results/jobs
  constraints: [{{metric: throughput}}]
  instance_types: [ml.g6.24xlarge]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture
def aws(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> EmulatedAws:
    """The emulated account, with the endpoint of the spec and a bucket for results."""
    reset()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE"):
        monkeypatch.delenv(name, raising=False)
    found = EmulatedAws(server)
    files = {"AWS_CONFIG_FILE": "no-config", "AWS_SHARED_CREDENTIALS_FILE": "no-credentials"}
    for name, value in {**found.environment(), **{it: str(tmp_path / files[it]) for it in files}}.items():
        monkeypatch.setenv(name, value)
    found.client("s3").create_bucket(Bucket="acme-results")
    return found


@pytest.fixture
def faults(aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch) -> Faults:
    """The faults that the program's own requests meet; there are no waits."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    return install(monkeypatch)


@pytest.fixture
def recommend(faults: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``recommend("--run", …)`` for `a.yaml`, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    write(SPEC + LOAD)
    return lambda *arguments: main(["recommend", "a.yaml", *arguments])


def write(text: str) -> None:
    Path("a.yaml").write_text(text)


def deploy(aws: EmulatedAws, name: str = "churn", *models: str) -> None:
    """An endpoint with models as a stack would have made them."""
    client = aws.client("sagemaker")
    for model in models:
        client.create_model(ModelName=model, PrimaryContainer={"Image": "churn:1"})
    fleet = {"InitialInstanceCount": 1, "InstanceType": "ml.m5.xlarge"}
    variants = [{"VariantName": f"v{it}", "ModelName": it, **fleet} for it in models]
    role = {} if models else {"ExecutionRoleArn": ROLE}
    variants = variants or [{"VariantName": "AllTraffic", **fleet}]
    client.create_endpoint_config(EndpointConfigName=name, ProductionVariants=variants, **role)
    client.create_endpoint(EndpointName=name, EndpointConfigName=name)


Read = pytest.CaptureFixture[str]


def started(capsys: Read) -> str:
    """The name of the job that a plan shows first."""
    return capsys.readouterr().out.splitlines()[0]


# ---------------------------------------------------------------- before anything is started


def test_a_plan_asks_nothing_of_aws(recommend: Command, faults: Faults, capsys: Read) -> None:
    assert recommend() == 0
    said = capsys.readouterr()
    assert "tests      3: ml.m5.large, ml.m5.xlarge, serverless 2048 MB x 5" in said.out
    assert "traffic    1 to 3 users, 2 min in each test" in said.out
    assert "time       2 min to 6 min of traffic" in said.out
    assert "cost       0.07 instance hours under load" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert "nothing is started: --print shows the requests, --run makes them" in said.err
    assert faults.seen == []


def test_a_plan_counts_with_prices_and_limits(recommend: Command, capsys: Read) -> None:
    hosting = {"ml.m5.large": "0.115", "ml.m5.xlarge": "0.23"}
    region = {"currency": "USD", "read": "2026-11-01", "source": "AWS", "hosting": hosting}
    Path("inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": region}}))
    one = "serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}"
    many = """instance_type: ml.m5.xlarge
      environment_parameter_ranges:
        categorical_parameter_ranges: [{name: OMP_NUM_THREADS, value: ['1', '2']}]"""
    limit = "  resource_limit: {max_number_of_tests: 2, max_parallel_of_tests: 1}\n"
    write((SPEC + LOAD).replace(one, many) + limit + "  job_duration_in_seconds: 5400\n")
    assert recommend() == 0
    said = " ".join(capsys.readouterr().out.split())
    # Two of four tests: the dearest are counted, for two minutes each.
    assert "cost 0.02 USD for 0.07 instance hours under load" in said
    assert "tests 2, 1 at a time: ml.m5.large, ml.m5.xlarge (x 3)" in said
    assert (
        "time 4 min of traffic, and the time that endpoints take to start; no test starts after 1 h 30 min"
        in said
    )


def test_what_would_be_asked_for_can_be_reviewed(recommend: Command, faults: Faults, capsys: Read) -> None:
    assert recommend("--print", "--model-name", "Model-1") == 0
    (operation, request), *others = json.loads(capsys.readouterr().out).items()
    assert (operation, others, faults.seen) == ("CreateInferenceRecommendationsJob", [], [])
    assert request["InputConfig"]["ModelName"] == "Model-1"
    assert recommend("--print") == 0
    said = capsys.readouterr()
    assert "ModelName" not in said.out
    assert (
        said.err == "--run adds the model that the endpoint churn runs then; the job's name depends on it\n"
    )


def test_what_a_spec_lacks_is_said_at_its_line(recommend: Command, capsys: Read) -> None:
    write(SPEC + "load_test: {job_type: Default, sample_payload_url: s3://acme/p.tar.gz}\n")
    assert recommend("--print") == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("a.yaml:13:1: IS080: the job needs a role")
    assert second.endswith("also needs `domain`, `task`, `framework`; add what fits best, or `OTHER`")


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (SPEC, (), "the spec has no job; add a block `load_test`"),
        (
            COMPONENTS,
            (),
            "the spec has `ai_benchmark_job` and `ai_recommendation_job`; choose one with --block",
        ),
        (SPEC + LOAD, ("--block", "ai_benchmark_job"), "the spec has no such block"),
        (SPEC + LOAD, ("--run",), "Could not find endpoint"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    text: str, arguments: tuple[str, ...], said: str, recommend: Command, capsys: Read
) -> None:
    write(text)
    assert recommend(*arguments) == 1
    assert said in capsys.readouterr().err


def test_nobody_pays_in_the_wrong_account(recommend: Command, faults: Faults, capsys: Read) -> None:
    write(SPEC.replace("us-east-1", "us-east-1, account: '444455556666'") + LOAD)
    assert recommend("--run") == 1
    said = "the spec is for the account 444455556666, but the credentials are for 123456789012"
    assert said in capsys.readouterr().err
    assert faults.operations() == ["GetCallerIdentity"]


# ---------------------------------------------------------------- load tests


def test_a_load_test_is_run_to_its_result(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    assert recommend("--run", "--measurements-out", "m.csv") == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[-3].split() == ["ml.m5.large", "recommendation-1", "600", "40", "0.115", "3.19"]
    assert lines[-2].split() == ["ml.m5.xlarge", "recommendation-2", "1200", "80", "0.23", "3.19"]
    assert lines[-1] == "serverless 2048 MB x 5: 1800 requests a minute, 120 ms"
    assert "IN_PROGRESS: 1 of 3 tests done" in said.err
    assert "m.csv: written; count instances with `inferstack size a.yaml --measurements m.csv`" in said.err
    first, _ = read_measurements(Path("m.csv"))
    assert (first.instance_type, first.requests_per_minute, first.latencies) == ("ml.m5.large", 600, {95: 40})
    assert main(["size", "a.yaml", "--measurements", "m.csv"]) == 0
    (job,) = aws.client("sagemaker").list_tags(ResourceArn=described(aws, lines[0])["JobArn"])["Tags"]
    assert job == {"Key": "team", "Value": "growth"}
    config = described(aws, lines[0])["InputConfig"]
    assert config["ModelName"] == "Model-1"
    assert (
        config["ContainerConfig"]["PayloadConfig"]["SamplePayloadUrl"]
        == "s3://acme-models-123456789012/payload.tar.gz"
    )


def described(aws: EmulatedAws, job: str) -> dict[str, Any]:
    found: dict[str, Any] = aws.client("sagemaker").describe_inference_recommendations_job(JobName=job)
    return found


def test_the_same_job_is_never_paid_twice(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    assert recommend("--run") == recommend("--run") == 0
    said = capsys.readouterr()
    assert said.out.count("recommendation-1") == 2
    assert "AWS has this very job already, so it is not started and paid again" in said.err
    assert (
        len(aws.client("sagemaker").list_tags(ResourceArn=described(aws, said.out.splitlines()[0])["JobArn"]))
        > 0
    )


def test_an_interrupted_wait_says_how_to_go_on_and_goes_on(
    recommend: Command, aws: EmulatedAws, faults: Faults, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("inferstack.account.recommender.time.sleep", interrupted)
        assert recommend("--run", "--region", "us-east-1") == 130
    said = capsys.readouterr()
    job = said.out.splitlines()[0]
    assert f"  its result: inferstack recommend a.yaml --region us-east-1 --result {job}\n" in said.err
    assert f"  to end it:  inferstack recommend a.yaml --region us-east-1 --stop {job}\n" in said.err
    assert recommend("--result", job) == 0
    assert "recommendation-1" in capsys.readouterr().out


def test_a_lost_connection_and_a_busy_service_are_waited_for(
    recommend: Command, aws: EmulatedAws, faults: Faults, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    def lost() -> None:
        raise ConnectionClosedError(endpoint_url="https://sagemaker")

    faults.before["DescribeInferenceRecommendationsJob"] = lost
    busy = (400, "ThrottlingException", "Rate exceeded")
    faults.answers["DescribeInferenceRecommendationsJob"] = [busy, busy, None]
    assert recommend("--run") == 0
    said = capsys.readouterr()
    assert "AWS is out of reach; trying again" in said.err
    assert "AWS answers ThrottlingException; trying again" in said.err
    assert "recommendation-1" in said.out


def test_a_job_is_found_again_when_the_answer_to_its_start_was_lost(
    recommend: Command, aws: EmulatedAws, faults: Faults, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    faults.answers["CreateInferenceRecommendationsJob"] = [(503, "ServiceUnavailable", "later"), None]
    assert recommend("--run") == 1
    said = capsys.readouterr()
    assert "goes on without this command, if it was started" in said.err
    assert "CreateInferenceRecommendationsJob fails: AWS answers ServiceUnavailable" in said.err
    assert recommend("--run") == 0


def test_expired_credentials_end_the_wait_but_not_the_job(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    faults.answers["DescribeInferenceRecommendationsJob"] = [
        (400, "ExpiredTokenException", "The token is expired.")
    ]
    assert recommend("--run") == 1
    said = capsys.readouterr().err
    assert "its result: inferstack recommend a.yaml --result churn-" in said
    assert "log in again" in said


def test_who_may_not_is_shown_the_policy(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    faults.answers["DescribeEndpoint"] = [(400, "AccessDeniedException", "not authorized")]
    assert recommend("--run") == 1
    assert "docs/pipelines/iam/recommend-policy.json has the rights" in capsys.readouterr().err


def test_a_failed_job_says_why(recommend: Command, aws: EmulatedAws, capsys: Read) -> None:
    deploy(aws, "churn", "Model-1")
    write((SPEC + LOAD).replace("payload.tar.gz", "broken.tar.gz"))
    assert recommend("--run", "--measurements-out", "m.csv") == 1
    said = capsys.readouterr().err
    assert "FAILED: Every benchmark failed: the payload cannot be read." in said
    assert "ml.m5.large: FAILED: Every benchmark failed" in said
    assert not Path("m.csv").exists()


def test_a_job_is_stopped(
    recommend: Command, aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    monkeypatch.setattr("inferstack.account.recommender.time.sleep", lambda _: _stop())

    def _stop() -> None:
        job = capsys.readouterr().out.splitlines()[0]
        monkeypatch.setattr("inferstack.account.recommender.time.sleep", lambda _: None)
        assert recommend("--stop", job) == 0

    assert recommend("--run") == 1
    said = capsys.readouterr().err
    assert "AWS is stopping it; inferstack recommend a.yaml --result churn-" in said
    assert "STOPPED: AWS gives no reason" in said
    assert recommend("--stop", "churn-0") == 1
    assert "churn-0 cannot be stopped: AWS answers ResourceNotFound" in capsys.readouterr().err


def test_an_endpoint_of_several_models_is_not_guessed(
    recommend: Command, aws: EmulatedAws, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1", "Model-2")
    assert recommend("--run") == 1
    assert "the endpoint churn has no single model; name one with `model_name`" in capsys.readouterr().err
    assert recommend("--run", "--model-name", "Model-2") == 0


def test_a_default_job_measures_an_endpoint_as_well(
    recommend: Command, aws: EmulatedAws, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    write(
        SPEC + f"load_test: {{job_type: Default, sample_payload_url: s3://acme/p.tar.gz, role_arn: '{ROLE}', "
        "domain: OTHER, task: OTHER, framework: OTHER, endpoints: [{endpoint_name: churn}]}\n"
    )
    assert recommend("--run", "--format", "json") == 0
    text = capsys.readouterr().out
    answer = json.loads(text[text.index("{") :])
    assert answer["EndpointPerformances"][0]["Metrics"]["MaxInvocations"] == 184
    Path("answer.json").write_text(text[text.index("{") :])
    assert read_measurements(Path("answer.json"))[0].instance_type == "ml.m5.xlarge"
    assert recommend() == 0
    assert "endpoint   churn, which must not serve anybody meanwhile" in capsys.readouterr().out


# ---------------------------------------------------------------- scaling


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


def test_scaling_that_belongs_nowhere_is_not_written() -> None:
    file = Path(__file__).parents[2] / "model_specs" / "sentiment-ab.yaml"
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


# ---------------------------------------------------------------- language models


@pytest.fixture
def chat(recommend: Command, aws: EmulatedAws) -> Command:
    write(COMPONENTS)
    deploy(aws, "chat")
    return recommend


def test_a_benchmark_measures_the_components_of_the_endpoint(
    chat: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    assert chat("--block", "ai_benchmark_job", "--run", "--measurements-out", "m.csv") == 0
    said = capsys.readouterr()
    assert "endpoint   chat: llama; it gets this load besides its own" in said.out
    (measured,) = read_measurements(Path("m.csv"))
    assert measured.instance_type == "ml.g5.2xlarge"
    # The load of two instances.
    assert round(measured.requests_per_minute, 2) * 2 == pytest.approx(70, abs=0.5)
    assert faults.operations().index("CreateAIWorkloadConfig") < faults.operations().index(
        "CreateAIBenchmarkJob"
    )
    assert chat("--block", "ai_benchmark_job", "--result", said.out.splitlines()[0], "--instances", "1") == 0


def test_a_benchmark_without_its_archive_says_so(chat: Command, faults: Faults, capsys: Read) -> None:
    assert chat("--block", "ai_benchmark_job", "--run") == 0
    job = started(capsys)
    empty = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
    faults.answers["ListObjectsV2"] = [(404, "NoSuchBucket", empty)]
    assert chat("--block", "ai_benchmark_job", "--result", job) == 1
    assert "AWS answers NoSuchBucket" in capsys.readouterr().err


def test_a_recommendation_says_what_to_deploy(chat: Command, capsys: Read) -> None:
    assert chat("--block", "ai_recommendation_job", "--run", "--measurements-out", "m.csv") == 0
    said = capsys.readouterr().out
    assert "considers  ml.g6.24xlarge" in said
    assert "high-otps-on-g6-24xlarge: 1 x ml.g6.24xlarge" in said
    assert '    SM_VLLM_TENSOR_PARALLEL_SIZE: "2"' in said
    assert read_measurements(Path("m.csv"))[0].users == 88


def test_a_failed_recommendation_says_why(chat: Command, capsys: Read) -> None:
    write(COMPONENTS.replace("llama.tar.gz", "broken.tar.gz"))
    assert chat("--block", "ai_recommendation_job", "--run") == 1
    assert "FAILED: The model cannot be loaded." in capsys.readouterr().err


def test_jobs_for_language_models_are_stopped(
    chat: Command, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    for block in ("ai_benchmark_job", "ai_recommendation_job"):

        def interrupted(_: float) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("inferstack.account.recommender.time.sleep", interrupted)
            assert chat("--block", block, "--run") == 130
        job = started(capsys)
        assert chat("--block", block, "--stop", job) == 0
        assert chat("--block", block, "--result", job) == 1
        assert "STOPPED" in capsys.readouterr().err


def test_scaling_is_for_load_tests(chat: Command, capsys: Read) -> None:
    with pytest.raises(SystemExit):
        chat("--block", "ai_benchmark_job", "--autoscaling")
    assert "--autoscaling is for jobs of `load_test`" in capsys.readouterr().err


# ---------------------------------------------------------------- the emulator, and the rights

POLICY = Path(__file__).parents[2] / "docs" / "pipelines" / "iam" / "recommend-policy.json"
# No operations, but AWS asks for them: for requests with a role or with tags.
BESIDES = {"iam:PassRole", "sagemaker:AddTags"}
ACTIONS = {"ListObjectsV2": "s3:ListBucket", "GetObject": "s3:GetObject"}


def test_the_policy_allows_what_is_called_and_nothing_else(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    deploy(aws, "chat")
    assert recommend("--run", "--autoscaling") == 0
    job = started(capsys)
    recommend("--stop", job)
    write(COMPONENTS)
    for block in ("ai_benchmark_job", "ai_recommendation_job"):
        assert recommend("--block", block, "--run") == 0
        recommend("--block", block, "--stop", started(capsys))
    called = {it for it in faults.operations() if it != "GetCallerIdentity"}
    needed = {ACTIONS.get(it, f"sagemaker:{it}") for it in called}
    statements = json.loads(POLICY.read_text("utf-8"))["Statement"]
    actions = [it["Action"] if isinstance(it["Action"], list) else [it["Action"]] for it in statements]
    assert {action for each in actions for action in each} == needed | BESIDES


def test_answers_of_the_emulator_are_those_that_the_service_could_give(
    recommend: Command, aws: EmulatedAws, capsys: Read
) -> None:
    from botocore.session import get_session  # noqa: PLC0415

    deploy(aws, "churn", "Model-1")
    recommend("--run")
    job = started(capsys)
    client, model = aws.client("sagemaker"), get_session().get_service_model("sagemaker")
    asked = {
        "DescribeInferenceRecommendationsJob": client.describe_inference_recommendations_job(JobName=job),
        "ListInferenceRecommendationsJobSteps": client.list_inference_recommendations_job_steps(JobName=job),
        "GetScalingConfigurationRecommendation": client.get_scaling_configuration_recommendation(
            InferenceRecommendationsJobName=job, RecommendationId=f"{job}/1"
        ),
    }
    for operation, answer in asked.items():
        answer.pop("ResponseMetadata")
        assert list(walk(model.operation_model(operation).output_shape, answer, "")) == []
    assert request_shape("sagemaker", "CreateInferenceRecommendationsJob")
