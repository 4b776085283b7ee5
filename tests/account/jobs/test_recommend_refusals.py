"""What is made of SageMaker's answers about jobs, also of those that the emulated one does not give."""

import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError
from botocore.response import StreamingBody
from support.jobs import SPEC
from support.stubbed import ACCOUNT, StubbedSession

from inferstack.account.connection import AccountError
from inferstack.account.job_result import JobResult, result_of
from inferstack.account.recommender import Ended, Progress, Recommender
from inferstack.check.load import parse_spec
from inferstack.cli.recommend.found import result_lines
from inferstack.sizing.job_scaling import NothingToScaleError, recommendation_to_scale

ARN = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:endpoint/churn"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def session() -> StubbedSession:
    return StubbedSession()


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []
    monkeypatch.setattr("inferstack.account.recommender.time.sleep", seconds.append)
    return seconds


def recommender(session: StubbedSession, block: str = "load_test") -> Recommender:
    return Recommender(session.connection(), "us-east-1", block)


def benchmark(status: str) -> dict[str, Any]:
    """The description of a benchmark, with what every such answer has."""
    return {
        "AIBenchmarkJobName": "job",
        "AIBenchmarkJobArn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:ai-benchmark-job/job",
        "AIBenchmarkJobStatus": status,
        "BenchmarkTarget": {"Endpoint": {"Identifier": "chat"}},
        "OutputConfig": {"S3OutputLocation": "s3://acme/jobs"},
        "AIWorkloadConfigIdentifier": "w",
        "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/jobs",
        "CreationTime": NOW,
    }


def awaited(session: StubbedSession) -> tuple[str, list[Progress]]:
    told: list[Progress] = []
    return recommender(session, "ai_benchmark_job").ended("job", told.append).status, told


# ---------------------------------------------------------------- Refusals

DENIED: dict[str, tuple[str, str, Callable[[Recommender], Any]]] = {
    "the model of the endpoint churn cannot be looked up": (
        "sagemaker",
        "describe_endpoint",
        lambda it: it.deployed_model("churn"),
    ),
    "CreateInferenceRecommendationsJob fails": (
        "sagemaker",
        "create_inference_recommendations_job",
        lambda it: it.start({"CreateInferenceRecommendationsJob": START}),
    ),
    "job cannot be stopped": ("sagemaker", "stop_inference_recommendations_job", lambda it: it.stop("job")),
    "job cannot be looked at": (
        "sagemaker",
        "describe_inference_recommendations_job",
        lambda it: it.ended("job", lambda _: None),
    ),
    "the scaling for job/1 cannot be obtained": (
        "sagemaker",
        "get_scaling_configuration_recommendation",
        lambda it: it.scaling("job", "job/1"),
    ),
    "the results in s3://acme/jobs cannot be read": (
        "s3",
        "list_objects_v2",
        lambda it: it.output("s3://acme/jobs"),
    ),
}
START = {
    "JobName": "job",
    "JobType": "Default",
    "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/jobs",
    "InputConfig": {"ModelName": "m-${AWS::Region}", "Endpoints": [{"EndpointName": "e-${AWS::AccountId}"}]},
}


@pytest.mark.parametrize("what", DENIED)
def test_whatever_is_denied_is_named_with_the_policy_that_allows_it(
    what: str, session: StubbedSession
) -> None:
    service, operation, ask = DENIED[what]
    session.stub(service).add_client_error(operation, "AccessDeniedException", "Not you.", 400)
    with pytest.raises(AccountError) as raised:
        ask(recommender(session))
    policy = "docs/pipelines/iam/recommend-policy.json has the rights"
    assert str(raised.value).startswith(f"{what}: AWS answers AccessDeniedException: Not you; {policy}")


def test_what_a_request_says_of_its_place_is_filled_in(session: StubbedSession) -> None:
    input_config = {"ModelName": "m-us-east-1", "Endpoints": [{"EndpointName": f"e-{ACCOUNT}"}]}
    session.stub("sagemaker").add_response(
        "create_inference_recommendations_job",
        {"JobArn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:inference-recommendations-job/job"},
        {**START, "InputConfig": input_config},
    )
    assert recommender(session).start({"CreateInferenceRecommendationsJob": START})
    session.assert_all_asked()


@pytest.mark.parametrize(
    "variants", [[{"VariantName": "v"}], [{"VariantName": "v", "ModelName": "a"}, {"VariantName": "w"}]]
)
def test_a_variant_without_a_model_leaves_the_model_open(
    variants: list[dict[str, Any]], session: StubbedSession
) -> None:
    stub = session.stub("sagemaker")
    dates = {"CreationTime": NOW, "LastModifiedTime": NOW}
    endpoint = {"EndpointName": "churn", "EndpointArn": ARN, "EndpointStatus": "InService", **dates}
    config = {"EndpointConfigName": "c", "EndpointConfigArn": ARN, "CreationTime": NOW}
    stub.add_response("describe_endpoint", {**endpoint, "EndpointConfigName": "c"})
    stub.add_response("describe_endpoint_config", {**config, "ProductionVariants": variants})
    with pytest.raises(AccountError, match=r"^the endpoint churn has no single model; name one with"):
        recommender(session).deployed_model("churn")


# ---------------------------------------------------------------- Waiting


@pytest.mark.parametrize("status", ["Completed", "Failed", "Stopped", "Deleted"])
def test_a_job_has_ended_in_whichever_way_its_kind_writes_it(
    status: str, slept: list[float], session: StubbedSession
) -> None:
    session.stub("sagemaker").add_response("describe_ai_benchmark_job", benchmark(status))
    assert awaited(session) == (status.upper(), [])
    assert slept == []


def test_between_two_looks_at_a_job_half_a_minute_passes(slept: list[float], session: StubbedSession) -> None:
    for status in ("Pending", "InProgress", "Completed"):
        session.stub("sagemaker").add_response("describe_ai_benchmark_job", benchmark(status))
    assert awaited(session) == ("COMPLETED", [Progress("Pending"), Progress("InProgress")])
    assert slept == [30, 30]


@pytest.mark.parametrize(
    "code",
    ["Throttling", "ThrottlingException", "RequestLimitExceeded", "InternalFailure", "ServiceUnavailable"],
)
def test_a_busy_service_does_not_end_the_wait(code: str, slept: list[float], session: StubbedSession) -> None:
    stub = session.stub("sagemaker")
    stub.add_client_error("describe_ai_benchmark_job", code, "Later.", 503)
    stub.add_response("describe_ai_benchmark_job", benchmark("Completed"))
    assert awaited(session) == ("COMPLETED", [Progress(f"AWS answers {code}; trying again")])
    assert slept == [30]


@pytest.mark.parametrize("kind", [EndpointConnectionError, ConnectTimeoutError])
def test_a_network_that_is_gone_does_not_end_the_wait(
    kind: Any, slept: list[float], session: StubbedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = [kind(endpoint_url="https://sagemaker"), benchmark("Completed")]

    def describe(**_: object) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(session.stub("sagemaker").client, "describe_ai_benchmark_job", describe)
    assert awaited(session) == ("COMPLETED", [Progress("AWS is out of reach; trying again")])


# ---------------------------------------------------------------- Results


def test_the_newest_archive_of_a_job_is_read(session: StubbedSession) -> None:
    def listed(day: int, key: str) -> dict[str, Any]:
        return {"Key": key, "LastModified": NOW.replace(day=day)}

    s3 = session.stub("s3")
    place = {"Bucket": "acme", "Prefix": "jobs/job"}
    first = {"Contents": [listed(2, "jobs/job/a/output.tar.gz"), listed(3, "jobs/job/b/output.tar.gz")]}
    more = {"IsTruncated": True, "NextContinuationToken": "next"}
    s3.add_response("list_objects_v2", {**first, **more}, place)
    last = {"Contents": [listed(1, "jobs/job/c/output.tar.gz"), listed(4, "jobs/job/d/notes.txt")]}
    s3.add_response("list_objects_v2", last, {**place, "ContinuationToken": "next"})
    body = StreamingBody(io.BytesIO(b"packed"), 6)
    s3.add_response("get_object", {"Body": body}, {"Bucket": "acme", "Key": "jobs/job/b/output.tar.gz"})
    assert recommender(session).output("s3://acme/jobs/job") == b"packed"
    assert session.made == [("sagemaker", "us-east-1"), ("s3", "us-east-1")]


def test_what_is_recommended_without_a_measurement_is_shown_as_that() -> None:
    configuration = {"InstanceType": "ml.m5.large"}
    answer = {"InferenceRecommendations": [{"EndpointConfiguration": configuration}]}
    result = JobResult(block="load_test", is_complete=True, answer=answer, measurements=(), complaints=())
    assert list(result_lines(result)) == ["ml.m5.large, recommendation-1: it was not measured"]
    spec = parse_spec(yaml.safe_load(SPEC)).spec
    with pytest.raises(NothingToScaleError, match="the job has no recommendation on instances"):
        recommendation_to_scale(spec, answer, "")


def ended(*rows: dict[str, Any]) -> Ended:
    return Ended("COMPLETED", {"InferenceRecommendations": list(rows)}, ())


def row(**metrics: float) -> dict[str, Any]:
    return {"EndpointConfiguration": {"InstanceType": "ml.m5.large"}, "Metrics": metrics}


def test_every_row_that_can_be_used_is_shown_and_what_the_others_lack_is_said(
    session: StubbedSession,
) -> None:
    rows = [
        row(MaxInvocations=600, ModelLatency=40),
        row(MaxInvocations=900),
        row(ModelLatency=40),
        row(MaxInvocations=1200, ModelLatency=0),
    ]
    spec = parse_spec(yaml.safe_load(SPEC)).spec
    found = result_of(spec, recommender(session), "job", ended(*rows), instances=None)
    assert [it.requests_per_minute for it in found.measurements] == [600, 900]
    assert list(result_lines(found))[-2:] == [
        "ml.m5.large, recommendation-2: it has no `ModelLatency`, so it meets no latency limit",
        "ml.m5.large, recommendation-3: it has no `MaxInvocations`, so instances cannot be counted",
    ]
    (said,) = found.complaints
    assert said == "ml.m5.large, recommendation-4 cannot be used: `0` is not a usable number above 0"


def test_a_job_that_recommends_nothing_says_so(session: StubbedSession) -> None:
    spec = parse_spec(yaml.safe_load(SPEC)).spec
    found = result_of(spec, recommender(session), "job", ended(), instances=None)
    assert (found.found_anything, found.complaints) == (
        False,
        ("job: COMPLETED, but it recommends nothing: AWS gives no reason",),
    )


def test_without_an_archive_there_is_no_result(session: StubbedSession) -> None:
    session.stub("s3").add_response("list_objects_v2", {})
    assert recommender(session).output("s3://acme/jobs") is None


def test_scaling_is_asked_for_with_its_limits(session: StubbedSession) -> None:
    asked = {"InferenceRecommendationsJobName": "job", "RecommendationId": "job/1"}
    answer = {**asked, "TargetCpuUtilizationPerCore": 60}
    session.stub("sagemaker").add_response(
        "get_scaling_configuration_recommendation", answer, {**asked, "TargetCpuUtilizationPerCore": 60}
    )
    found = recommender(session).scaling("job", "job/1", TargetCpuUtilizationPerCore=60)
    assert found["TargetCpuUtilizationPerCore"] == 60
