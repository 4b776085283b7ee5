"""Answers that lack what AWS's model does not require, and pages of a proxy's, to every request that the package makes: a
command then does its work or says in a line what is wrong, and it never ends as a fault of its own would.
"""

import io
import json
import tarfile
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.parsers import ResponseParserFactory
from botocore.response import StreamingBody
from support.answers import Raw, log_in, optional, play_clients
from support.jobs import COMPONENTS, LOAD, SPEC
from support.locking import ONE, lay_out_spec
from support.s3 import ACCOUNT

from inferstack.account.connection import AnswerOfAws
from inferstack.cli import main

PIN = """\
kind: single-model
endpoint_name: churn
env: {region: us-east-1}
model: {model_package: {group: Churn, version: VERSION}}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
VERSION = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:model-package/churn/1"
IMAGE = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/churn:1"
KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ARCHIVE = Path("packages/a/model.tar.gz")
RUNS_ON = {"InstanceType": "ml.m5.large", "InitialInstanceCount": 2, "ServerlessConfig": None}
PER_INSTANCE = {"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"}


def _profile() -> bytes:
    summary = {
        "input_config": {"endpoint": {"model_names": ["llama"]}, "loadgen": {"concurrency": 8}},
        "request_throughput": {"unit": "requests/sec", "avg": 2.5},
        "request_latency": {"unit": "ms", "p95": 900},
    }
    content, archive = json.dumps(summary).encode(), io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as files:
        member = tarfile.TarInfo("profile_export_aiperf.json")
        member.size = len(content)
        files.addfile(member, io.BytesIO(content))
    return archive.getvalue()


def _stored() -> Mapping[str, Any]:
    content = ARCHIVE.read_bytes()
    return {
        "ContentLength": len(content),
        "Metadata": {"inferstack-sha256": sha256(content).hexdigest()},
        "ChecksumSHA256": b64encode(sha256(content).digest()).decode(),
        "ServerSideEncryption": "aws:kms",
        "SSEKMSKeyId": KEY,
    }


# By operation, what the members of an answer must say for a command to get to its end; None: the member is left out.
# The rest of an answer is made up from AWS's model.
ANSWERS: Mapping[str, Any] = {
    "GetCallerIdentity": {"Account": ACCOUNT},
    "ListModelPackages": {
        "ModelPackageSummaryList": [
            {"ModelPackageArn": VERSION, "ModelPackageVersion": 1, "ModelPackageStatus": "Completed"}
        ],
        "NextToken": None,
    },
    "DescribeModelPackage": {
        "ModelPackageArn": VERSION,
        "ModelPackageStatus": "Completed",
        "ModelApprovalStatus": "Approved",
        "InferenceSpecification": {"Containers": [{"Image": IMAGE}]},
    },
    "DescribeEndpoint": {
        "EndpointStatus": "InService",
        "ProductionVariants": [{"VariantName": "a", "CurrentInstanceCount": 2}],
    },
    "DescribeEndpointConfig": {
        "ProductionVariants": [{"VariantName": "a", "InstanceType": "ml.m5.large", "ModelName": "churn"}]
    },
    "DescribeInferenceRecommendationsJob": {
        "Status": "COMPLETED",
        "InferenceRecommendations": [
            {
                "RecommendationId": "r-1",
                "EndpointConfiguration": RUNS_ON,
                "ModelConfiguration": {"EnvironmentParameters": [{"Key": "WORKERS"}]},
            }
        ],
    },
    "ListInferenceRecommendationsJobSteps": {"Steps": [{"Status": "COMPLETED"}], "NextToken": None},
    "GetScalingConfigurationRecommendation": {
        "DynamicScalingConfiguration": {
            "ScalingPolicies": [{"TargetTracking": {"MetricSpecification": {"Predefined": PER_INSTANCE}}}]
        }
    },
    "DescribeAIBenchmarkJob": {
        "AIBenchmarkJobStatus": "Completed",
        "OutputConfig": {"S3OutputLocation": "s3://acme-results/jobs"},
    },
    "DescribeAIRecommendationJob": {
        "AIRecommendationJobStatus": "Completed",
        "Recommendations": [
            {
                "DeploymentConfiguration": {"InstanceType": "ml.g6.24xlarge"},
                "ExpectedPerformance": [{"Metric": "RequestThroughput", "Stat": "avg", "Value": "3"}],
            }
        ],
    },
    "HeadBucket": {"BucketRegion": "us-east-1"},
    "HeadObject": _stored,
    "ListObjectsV2": {
        "Contents": [{"Key": "jobs/output/output.tar.gz"}],
        "IsTruncated": False,
        "NextContinuationToken": None,
    },
    "GetObject": {"Body": _profile},
    "DescribeKey": {"KeyMetadata": {"Arn": KEY, "KeyManager": "CUSTOMER"}},
    "InvokeEndpoint": {"Body": lambda: b"{}"},
}
LOAD_TEST = SPEC + LOAD
LATENCY = ("--concurrency", "1", "--requests", "2", "--window", "0.05", "--longest", "0.2", "--timeout", "5")


def _write(text: str) -> Callable[[], object]:
    return lambda: Path("a.yaml").write_text(text)


def _uploaded() -> None:
    lay_out_spec(Path(), ONE)
    assert main(["package", "a.yaml", "--out", "packages"]) == 0


COMMANDS: Mapping[str, tuple[Callable[[], object], Sequence[str]]] = {
    "pin the newest": (_write(PIN.replace("VERSION", "latest-approved")), ["pin", "a.yaml"]),
    "pin a version": (_write(PIN.replace("VERSION", "1")), ["pin", "a.yaml"]),
    "check pins": (_write(PIN.replace("VERSION", "1")), ["pin", "a.yaml", "--check"]),
    "run a load test": (_write(LOAD_TEST), ["recommend", "a.yaml", "--run"]),
    "scale": (
        _write(LOAD_TEST),
        [
            "recommend",
            "a.yaml",
            "--result",
            "job-1",
            "--autoscaling",
            "--write",
            "--measurements-out",
            "m.csv",
        ],
    ),
    "stop a load test": (_write(LOAD_TEST), ["recommend", "a.yaml", "--stop", "job-1"]),
    **{
        f"{action} an {block}": (
            _write(COMPONENTS),
            ["recommend", "a.yaml", "--block", block, *words],
        )
        for block in ("ai_benchmark_job", "ai_recommendation_job")
        for action, words in (("run", ["--run"]), ("stop", ["--stop", "job-1"]))
    },
    "upload": (_uploaded, ["package", "a.yaml", "--upload"]),
    "measure": (_uploaded, ["measure", "a.yaml", "--endpoint", "one", "--region", "us-east-1", *LATENCY]),
}


# ---------------------------------------------------------------- answers, made from AWS's model


def _sample(shape: Any, within: tuple[str, ...] = ()) -> Any:
    """A value with every member that the shape has, but for those that would repeat it."""
    match shape.type_name:
        case "structure":
            nested = (*within, shape.name)
            members = {name: it for name, it in shape.members.items() if it.name not in nested}
            if getattr(shape, "is_tagged_union", False):
                members = dict([*members.items()][:1])
            return {name: _sample(it, nested) for name, it in members.items()}
        case "list":
            return [_sample(shape.member, within)]
        case "map":
            return {"key": _sample(shape.value, within)}
        case "string":
            return next(iter(getattr(shape, "enum", ())), "1")
        case "timestamp":
            return datetime(2026, 1, 1, tzinfo=UTC)
        case "boolean":
            return True
        case "blob":
            return b"x"
        case _:
            return 1


def _with(made: Any, given: Any) -> Any:
    match made, given:
        case {}, {**members}:
            merged = {**made, **{name: _with(made.get(name), it) for name, it in members.items()}}
            return {name: it for name, it in merged.items() if it is not None}
        case [only], [*entries]:
            return [_with(only, it) for it in entries]
        case _:
            return given() if callable(given) else given


# ---------------------------------------------------------------- the network


class Network:
    """Answers every request, but for one member of one operation, or with a page in its place."""

    def __init__(self) -> None:
        self.shapes: dict[str, Any] = {}
        self._samples: dict[str, Any] = {}
        self.asked: list[str] = []
        self.left_out: tuple[str, tuple[Any, ...]] | None = None
        self.page: tuple[str, int, bytes] | None = None

    def meet(self, request: Any, event_name: str, **_: object) -> AWSResponse:
        operation = event_name.rpartition(".")[2]
        uploaded = "PutObject" in self.asked
        self.asked.append(operation)
        status, headers, body = 200, {"x-operation": operation}, b""
        if operation == "HeadObject" and not uploaded:
            status, headers = 404, {}
        if self.page is not None and self.page[0] == operation:
            _, status, body = self.page
            headers = {"content-type": "text/html"}
            body = b"" if request.method == "HEAD" else body
        return AWSResponse(request.url, status, headers, Raw(body))

    def answer(self, operation: str, shape: Any) -> Any:
        """An answer as botocore's parsers make it."""
        self.shapes[operation] = shape
        made = {} if shape is None else self.full(operation)
        if self.left_out is not None and self.left_out[0] == operation:
            *parents, last = self.left_out[1]
            within = made
            for step in parents:
                within = within[step]
            del within[last]
        if isinstance(made.get("Body"), bytes):
            made["Body"] = StreamingBody(Raw(made["Body"]), len(made["Body"]))
        return {**made, "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}}}

    def full(self, operation: str) -> Any:
        """An answer with all of its members."""
        if operation not in self._samples:
            self._samples[operation] = _sample(self.shapes[operation])
        given = ANSWERS.get(operation, {})
        return _with(deepcopy(self._samples[operation]), given() if callable(given) else given)


class _Parser:
    def __init__(self, real: Any, network: Network) -> None:
        self._real, self._network = real, network

    def parse(self, response: Any, shape: Any) -> Any:
        operation = response["headers"].get("x-operation")
        return (
            self._real.parse(response, shape) if operation is None else self._network.answer(operation, shape)
        )


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Network:
    log_in(monkeypatch, tmp_path)
    monkeypatch.setattr("inferstack.account.recommender.time.sleep", _interrupt)
    made, parser = Network(), ResponseParserFactory.create_parser
    play_clients(monkeypatch, {}, lambda **_: None, made.meet)
    monkeypatch.setattr(
        ResponseParserFactory, "create_parser", lambda self, name: _Parser(parser(self, name), made)
    )
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the members that are looked at: what else may be left out changes nothing."""
    names: set[str] = set()

    def noted(method: str) -> Callable[..., Any]:
        plain = getattr(dict, method)

        def look(self: AnswerOfAws, *arguments: Any) -> Any:
            names.update(map(str, arguments[:1] or self))
            return plain(self, *arguments)

        return look

    for method in ("__getitem__", "__contains__", "get", "items"):
        monkeypatch.setattr(AnswerOfAws, method, noted(method), raising=False)
    return names


def _interrupt(_: float) -> None:
    """Ends a command that waits for the end of a job."""
    raise KeyboardInterrupt


def _run(network: Network, command: str) -> int:
    network.asked.clear()
    prepare, words = COMMANDS[command]
    Path("a.lock.json").unlink(missing_ok=True)
    prepare()
    return main(list(words))


Read = pytest.CaptureFixture[str]
# Done, said what is wrong, or still waiting for the end of a job.
ENDS = (0, 1, 130)


@pytest.mark.parametrize("command", COMMANDS)
def test_whatever_an_answer_may_lack_is_no_fault_of_ours(
    command: str, network: Network, read: set[str], capsys: Read
) -> None:
    assert _run(network, command) == 0, capsys.readouterr().err
    looked_at = {*read}
    assert looked_at
    for operation in dict.fromkeys(network.asked):
        shape = network.shapes.get(operation)
        for path in () if shape is None else optional(shape, network.full(operation)):
            if path[-1] in looked_at:
                network.left_out = (operation, path)
                assert _run(network, command) in ENDS, (operation, path, capsys.readouterr().err)
        network.left_out = None


PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Blocked\nby &quot;Acme&quot;</title></head><body>No.</body></html>"
)
"""What a proxy answers in AWS's place."""


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, PAGE), (200, b"[]"), (403, PAGE), (403, b"blocked"), (503, PAGE)],
    ids=["page", "list", "refused by a page", "refused", "unavailable"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_answer_is_no_fault_of_ours(
    command: str, status: int, body: bytes, network: Network, capsys: Read
) -> None:
    assert _run(network, command) == 0
    for operation in dict.fromkeys(network.asked):
        network.page = (operation, status, body)
        capsys.readouterr()
        assert _run(network, command) in ENDS, (operation, capsys.readouterr().err)
        assert "<" not in capsys.readouterr().err


def test_every_request_of_the_package_is_tried(network: Network) -> None:
    asked = set()
    for command in COMMANDS:
        assert _run(network, command) == 0, command
        asked |= {*network.asked}
    assert {*ANSWERS} <= asked
    assert asked - {*ANSWERS} == {
        *("CreateInferenceRecommendationsJob", "StopInferenceRecommendationsJob"),
        *("CreateAIWorkloadConfig", "PutObject"),
        *(f"{verb}AI{what}Job" for verb in ("Create", "Stop") for what in ("Benchmark", "Recommendation")),
    }


def test_a_page_is_named_with_its_title_and_what_helps(network: Network, capsys: Read) -> None:
    network.page = ("DescribeModelPackage", 403, PAGE)
    assert _run(network, "pin the newest") == 1
    assert capsys.readouterr().err.splitlines() == [
        f"inferstack: {VERSION} cannot be looked at: the answer to DescribeModelPackage is not AWS's, but a page of"
        ' HTML titled "Blocked by "Acme"", with status 403, such as a proxy\'s; check the network and the proxy'
        " settings, then run the command again"
    ]


def test_what_an_answer_lacks_is_named(network: Network, capsys: Read) -> None:
    network.left_out = ("DescribeModelPackage", ("ModelPackageVersion",))
    assert _run(network, "pin the newest") == 1
    said = "AWS's answer to DescribeModelPackage has no `ModelPackageVersion`; compare it with what the AWS CLI gets"
    assert said in capsys.readouterr().err
