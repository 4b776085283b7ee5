"""Goes through each guide as its reader does: writes its files into an empty folder, and runs its commands there."""

import json
import re
import shlex
import struct
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import boto3
import botocore.session
import pytest
from botocore import xform_name
from botocore.awsrequest import AWSResponse
from support.guides import DOCS, GUIDES, lay_out, run
from support.pages import assert_printed, code_blocks, commands
from support.rehearsal import HAS_SERVER

PAGES = (DOCS / "index.md", *GUIDES)
_UPLOADS = "--upload\n"
# Commands that only the AWS CLI has, and options that all of its commands have.
_OF_THE_CLI = {"cloudformation deploy", "logs tail", "s3 cp", "s3 ls", "s3 sync"}
_OF_ALL = {"--cli-binary-format", "--output", "--query", "--region"}


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """Variables that lead to an S3 with the bucket of the guides."""
    # Only the guides that upload something wait for it.
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    boto3.client("s3", endpoint_url=url, region_name="us-east-1", **keys).create_bucket(Bucket="acme-models")
    yield {
        **{name.upper(): value for name, value in keys.items()},
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
    }
    server.stop()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_guide_print_what_it_shows(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    lay_out(page, tmp_path)
    folder = tmp_path
    for session in code_blocks(page, "console"):
        aws = request.getfixturevalue("s3") if _UPLOADS in session else {}
        for command, shown in commands(session):
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
            elif HAS_SERVER or not command.startswith("inferstack rehearse"):
                assert_printed(run(command, folder, aws), shown)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda page: page.stem)
def test_a_guide_is_short(guide: Path) -> None:
    assert len(guide.read_text("utf-8").splitlines()) <= 170


@pytest.mark.parametrize("guide", GUIDES, ids=lambda page: page.stem)
def test_what_a_guide_asks_of_aws_is_in_its_api(guide: Path) -> None:
    text = guide.read_text("utf-8").replace("\\\n", "")
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for command in re.findall(r"\baws (.*?)(?=\)$| >|$)", block, re.MULTILINE):
            service, operation, *words = shlex.split(command, comments=True)
            if f"{service} {operation}" not in _OF_THE_CLI:
                options = {word for word in words if word.startswith("--")}
                assert options <= _options(service, operation) | _OF_ALL


@cache
def _options(service: str, operation: str) -> set[str]:
    model = botocore.session.get_session().get_service_model(service)
    name = {xform_name(it, "-"): it for it in model.operation_names}[operation]
    return {f"--{xform_name(it, '-')}" for it in model.operation_model(name).input_shape.members}


# ---------------------------------------------------------------- programs


class _Stream(BytesIO):
    def stream(self) -> Iterator[bytes]:
        yield self.read()


def _event(kind: bytes, payload: bytes) -> bytes:
    """https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html"""
    given = {b":message-type": b"event", b":event-type": kind}
    headers = b"".join(
        struct.pack("!B", len(name)) + name + b"\7" + struct.pack("!H", len(it)) + it
        for name, it in given.items()
    )
    start = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = start + struct.pack("!I", crc32(start)) + headers + payload
    return message + struct.pack("!I", crc32(message))


def test_the_program_of_the_guide_prints_what_a_model_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The container's bytes arrive as they are, even where a character is cut in two."""
    said = 'data: {"content": "Grüße"}\n\n'.encode()
    parts = [said[:23], said[23:]]
    requests: list[Any] = []
    real = boto3.client

    def answer(request: Any, **_: object) -> AWSResponse:
        requests.append(request)
        return AWSResponse(
            request.url, 200, {}, _Stream(b"".join(_event(b"PayloadPart", it) for it in parts))
        )

    def client(*given: str, **options: str) -> Any:
        made = real(*given, aws_access_key_id="testing", aws_secret_access_key="testing", **options)
        made.meta.events.register("before-send.sagemaker-runtime", answer)
        return made

    monkeypatch.setattr(boto3, "client", client)
    guide = DOCS / "guides" / "language-model.md"
    lay_out(guide, tmp_path)
    monkeypatch.chdir(tmp_path)
    (asked,) = re.findall(r"^\$ (inferstack body .+)$", guide.read_text("utf-8"), re.MULTILINE)
    exec(run(asked, tmp_path, {}).partition("<<'END'\n")[2].removesuffix("END\n"), {})
    assert capsysbinary.readouterr().out == said
    (request,) = requests
    assert request.url.endswith("/endpoints/assistant/invocations-response-stream")
    assert json.loads(request.body)["stream"] is True
