"""Load tests on an emulated SageMaker: run, interrupted, failed, stopped."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from emulator.clients import EmulatedAws
from support.jobs import LOAD, ROLE, SPEC, Read, deploy, write
from support.program import Command
from support.s3 import Faults

from inferstack.cli import main
from inferstack.sizing.measurements import read_measurements


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
    assert (
        "AWS has this job already, so it is neither started nor paid for again; another --job-name repeats it"
        in said.err
    )
    assert (
        len(aws.client("sagemaker").list_tags(ResourceArn=described(aws, said.out.splitlines()[0])["JobArn"]))
        > 0
    )


def test_a_job_with_another_name_is_another_job(recommend: Command, aws: EmulatedAws, capsys: Read) -> None:
    deploy(aws, "churn", "Model-1")
    assert recommend("--run") == recommend("--run", "--job-name", "churn-again") == 0
    said = capsys.readouterr()
    assert "AWS has this job already" not in said.err
    assert described(aws, "churn-again")["Status"] == "COMPLETED"
    with pytest.raises(SystemExit):
        recommend("--run", "--job-name", "churn_again")


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
    assert "continues without this command, if it was started" in said.err
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


def test_a_job_that_does_not_exist_does_not_go_on(recommend: Command, capsys: Read) -> None:
    assert recommend("--result", "churn-0") == 1
    said = "`load_test` has no job churn-0 in us-east-1; check its name, --block and --region"
    assert capsys.readouterr().err == f"inferstack: {said}\n"


def test_a_command_to_copy_is_quoted(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    Path("my spec.yaml").write_text(SPEC + LOAD)
    assert main(["recommend", "my spec.yaml", "--run", "--measurements-out", "m 1.csv"]) == 0
    assert "`inferstack size 'my spec.yaml' --measurements 'm 1.csv'`" in capsys.readouterr().err
    # A job that was just started may not be known everywhere yet.
    faults.answers["DescribeInferenceRecommendationsJob"] = [(400, "ResourceNotFound", "Not yet.")]
    assert main(["recommend", "my spec.yaml", "--run", "--job-name", "new"]) == 1
    assert "inferstack recommend 'my spec.yaml' --result new" in capsys.readouterr().err


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
    assert "endpoint   churn, which must get no other requests during the job" in capsys.readouterr().out
