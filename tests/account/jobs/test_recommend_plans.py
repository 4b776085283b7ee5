"""What ``inferstack recommend`` says before it starts anything."""

import json
from pathlib import Path

import pytest
from support.jobs import COMPONENTS, LOAD, SPEC, Read, write
from support.program import Command
from support.s3 import Faults


def test_a_plan_asks_nothing_of_aws(recommend: Command, faults: Faults, capsys: Read) -> None:
    assert recommend() == 0
    said = capsys.readouterr()
    assert "tests      3: ml.m5.large, ml.m5.xlarge, serverless 2048 MB x 5" in said.out
    assert "traffic    1 to 2 users, 2 min in each test" in said.out
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
    # Two of four tests: the costliest are counted, for two minutes each.
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
        (SPEC + LOAD, ("--run",), "there is no endpoint churn in us-east-1"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    text: str, arguments: tuple[str, ...], said: str, recommend: Command, capsys: Read
) -> None:
    write(text)
    assert recommend(*arguments) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--result j --model-name m --job-name n",
            "--model-name and --job-name are for a job that is not started",
        ),
        ("--stop j --prices p.json", "--prices is for a job that is not started yet"),
        ("--print --prices p.json", "--prices is for the plan, which --print does not show"),
        ("--measurements-out m.csv", "--measurements-out is for a result: add --run, or --result JOB"),
        ("--stop j --autoscaling --write", "--autoscaling and --write are for a result: add --run"),
        ("--print --format json", "--format json is for a result: add --run, or --result JOB"),
        ("--run --target-cpu 60", "--target-cpu is for --autoscaling"),
        ("--run --write", "--write needs --autoscaling"),
        ("--run --instances 2", "--instances is for jobs of `ai_benchmark_job`"),
    ],
)
def test_options_that_nothing_reads_are_refused(
    words: str, said: str, recommend: Command, faults: Faults, capsys: Read
) -> None:
    write(SPEC + LOAD)
    with pytest.raises(SystemExit) as ended:
        recommend(*words.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert faults.operations() == []


def test_nobody_pays_in_the_wrong_account(recommend: Command, faults: Faults, capsys: Read) -> None:
    write(SPEC.replace("us-east-1", "us-east-1, account: '444455556666'") + LOAD)
    assert recommend("--run") == 1
    said = "the spec is for the account 444455556666, but the credentials are for 123456789012"
    assert said in capsys.readouterr().err
    assert faults.operations() == ["GetCallerIdentity"]
