"""The load on a deployed endpoint, by a server that answers as AWS does: bounded, and ended cleanly."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from support.pages import code_blocks
from support.program import PROGRAM, SOURCE_ROOT

from inferstack.cli import main
from inferstack.sizing.measurements import read_measurements

PAGE = Path(__file__).parents[2] / "docs" / "measuring.md"
SPEC = """\
kind: single-model
endpoint_name: ranker
model: {image: {framework: triton, version: "24.09"}, model_data_url: s3://acme-models/r/model.tar.gz}
variant: {instance_type: ml.g5.xlarge, initial_instance_count: 2}
env: {region: eu-west-1}
triton:
  models:
    net:
      backend: python
      max_batch_size: 8
      input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
      output: [{name: Y, data_type: TYPE_FP32, dims: [2]}]
"""
PRICES = {
    "regions": {
        "eu-west-1": {
            "currency": "USD",
            "read": "2026-11-01",
            "source": "a test",
            "hosting": {"ml.g5.xlarge": "1.80"},
        }
    }
}
IDENTITY = b"""<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/u</Arn><UserId>U</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>"""
QUICK = ["--window", "0.05", "--longest", "1"]


class Aws:
    """The account: one endpoint, and what was asked of it."""

    def __init__(self) -> None:
        self.status, self.instances, self.type = "InService", 2, "ml.g5.xlarge"
        self.invoked: list[dict[str, Any]] = []
        self.refusal: tuple[int, str, str] | None = None
        self.scaled_after = 10**9
        self.seconds = 0.001
        self.called: set[str] = set()

    def answer(self, path: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        operation = target.rpartition(".")[2]
        self.called.add(operation or path.rpartition("/")[2])
        match operation:
            case "DescribeEndpoint":
                count = self.instances + (len(self.invoked) > self.scaled_after)
                variants = [{"VariantName": "main", "CurrentInstanceCount": count}]
                return 200, self._json(EndpointStatus=self.status, ProductionVariants=variants)
            case "DescribeEndpointConfig":
                variants = [
                    {"VariantName": "main", "InstanceType": self.type}
                    if self.type
                    else {"VariantName": "main"}
                ]
                return 200, json.dumps({"EndpointConfigName": "c", "ProductionVariants": variants}).encode()
        if not path.startswith("/endpoints/"):
            return 200, IDENTITY
        sleep(self.seconds)
        self.invoked.append({"path": path, "body": body, **headers})
        if self.refusal is None:
            return 200, b"{}"
        status, code, message = self.refusal
        return status, json.dumps({"__type": code, "Message": message}).encode()

    def _json(self, **fields: Any) -> bytes:
        return json.dumps({"EndpointName": "ranker", "EndpointConfigName": "c", **fields}).encode()


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    """An account that answers, a spec, and a price file in the working directory."""
    account = Aws()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): it for name, it in self.headers.items()}
            status, content = account.answer(self.path, headers.get("x-amz-target", ""), headers, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    Path("ranker.yaml").write_text(SPEC)
    Path("inferstack-prices.json").write_text(json.dumps(PRICES))
    yield account
    server.shutdown()
    server.server_close()


def measure(*more: str) -> int:
    return main(["measure", "ranker.yaml", "--endpoint", "ranker", *QUICK, *more])


def test_the_load_is_sent_and_the_rate_is_that_of_one_instance(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure("--concurrency", "1,4", "--out", "m.csv") == 0
    out, err = capsys.readouterr()
    header, first, second = out.splitlines()
    assert header.split()[:2] == ["USERS", "PER"]
    assert [first.split()[0], second.split()[0]] == ["1", "4"]
    assert f"{len(aws.invoked)} requests to 2 x ml.g5.xlarge; 0.00" in err
    assert "USD of their time" in err
    one, four = read_measurements(Path("m.csv"))
    assert (one.instance_type, one.configuration) == ("ml.g5.xlarge", "ranker")
    assert float(four.requests_per_minute) == pytest.approx(float(second.split()[1]) / 2, rel=0.01)
    # As the rate, the users are those of one instance of the two.
    assert (one.users, four.users) == (1, 2)


def test_the_page_names_the_rights_that_it_takes(aws: Aws) -> None:
    """Of the operations that the load consists of; who one is, everybody may ask."""
    assert measure("--concurrency", "1", "--requests", "3") == 0
    [policy] = code_blocks(PAGE, "json")
    allowed = {it.removeprefix("sagemaker:") for it in json.loads(policy)["Action"]}
    assert allowed == {"InvokeEndpoint" if it == "invocations" else it for it in aws.called - {""}}


def test_a_request_is_made_of_what_the_spec_declares(aws: Aws) -> None:
    assert measure("--concurrency", "1", "--requests", "3", "--rows", "2") == 0
    sent = aws.invoked[0]
    assert len(aws.invoked) == 3
    assert sent["path"] == "/endpoints/ranker/invocations"
    assert sent["content-type"].startswith("application/vnd.sagemaker-triton.binary+json")
    assert b'"shape":[2,2]' in sent["body"]


def test_a_body_of_the_users_own_is_sent_as_it_is(aws: Aws) -> None:
    Path("request.json").write_text('{"text": "hello"}')
    form = ["--body", "request.json", "--content-type", "application/json", "--component", "one"]
    assert measure("--concurrency", "1", "--requests", "2", *form) == 0
    sent = aws.invoked[-1]
    assert (sent["body"], sent["content-type"]) == (b'{"text": "hello"}', "application/json")
    assert sent["x-amzn-sagemaker-inference-component"] == "one"


def test_no_more_requests_are_sent_than_allowed_in_all(aws: Aws, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure("--concurrency", "2,4", "--requests", "9") == 0
    assert len(aws.invoked) == 9
    assert "stopped before 4 users: --requests is used up" in capsys.readouterr().err


def test_the_load_ends_before_the_budget_does(aws: Aws, capsys: pytest.CaptureFixture[str]) -> None:
    # 3.60 an hour is a thousandth a second. Without the budget, the windows of a run would take a minute.
    slow = ["--window", "20", "--longest", "120"]
    assert measure("--concurrency", "1,2,4", "--budget", "0.0002", *slow) == 0
    err = capsys.readouterr().err
    assert "stopped before 2 users: --budget is used up" in err
    spent = float(err.rpartition("; ")[2].split()[0])
    assert spent <= 0.01


def test_a_budget_without_a_price_is_refused_before_anything_is_sent(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("inferstack-prices.json").unlink()
    assert measure("--budget", "1") == 1
    assert "inferstack prices update --region" in capsys.readouterr().err
    assert aws.invoked == []


def test_what_the_endpoint_refuses_is_said_after_one_request(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.refusal = (424, "ModelError", "Received server error (500) from primary")
    assert measure() == 1
    assert "ranker does not answer: ModelError: Received server error (500)" in capsys.readouterr().err
    assert len(aws.invoked) == 1


def test_an_endpoint_that_is_not_in_service_is_refused(aws: Aws, capsys: pytest.CaptureFixture[str]) -> None:
    aws.status = "Updating"
    assert measure() == 1
    assert "the endpoint ranker is Updating; wait until it is in service" in capsys.readouterr().err


def test_an_endpoint_without_one_instance_type_gives_size_nothing(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.type = ""
    assert measure("--out", "m.csv") == 1
    assert "--out: `size` counts instances of one type" in capsys.readouterr().err
    assert not Path("m.csv").exists()


def test_instances_that_come_meanwhile_are_pointed_out(aws: Aws, capsys: pytest.CaptureFixture[str]) -> None:
    aws.scaled_after = 5
    assert measure("--concurrency", "1") == 0
    assert "the endpoint was scaled during the load" in capsys.readouterr().err


def test_ctrl_c_prints_what_was_measured_and_leaves_no_request_behind(aws: Aws, tmp_path: Path) -> None:
    aws.seconds = 0.01
    arguments = ["measure", "ranker.yaml", "--endpoint", "ranker", "--concurrency", "1,2", "--window", "0.1"]
    # The second run would take half a minute, as it never has enough answers.
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments, "--longest", "30"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = monotonic() + 60
    while len(aws.invoked) < 3:
        assert monotonic() < deadline
        sleep(0.01)
    aws.seconds = 0.3
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "inferstack: interrupted"
    assert "Traceback" not in err
