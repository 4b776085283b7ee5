"""An S3 in a thread, empty for each test, and credentials that it accepts."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import boto3
import pytest
from botocore.loaders import JSONFileLoader
from emulator.clients import EmulatedAws
from emulator.server import reset, running
from moto.server import ThreadedMotoServer
from support.locking import ONE, lay_out_spec
from support.program import Command
from support.s3 import BUCKET, Cloud, Faults, install

from inferstack.cli import main


@pytest.fixture(scope="session", autouse=True)
def _descriptions_are_read_once() -> Iterator[None]:
    """boto3 reads its descriptions of services once in a session, and each test makes a few of those."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", staticmethod(cache(JSONFileLoader().load_file)))
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the S3."""
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def cloud(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cloud:
    """An empty S3 with one bucket; the credentials in the environment are for it."""
    urlopen(Request(f"{server}/moto-api/reset", method="POST")).close()
    for name in (
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_DEFAULT_REGION",
        "AWS_MAX_ATTEMPTS",
        "AWS_RETRY_MODE",
    ):
        monkeypatch.delenv(name, raising=False)
    settings = {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
        "no_proxy": "127.0.0.1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    found = Cloud(server, *(_own(it, server) for it in ("s3", "kms")))
    found.bucket(BUCKET)
    return found


@cache
def _own(service: str, server: str) -> Any:
    session = boto3.Session(aws_access_key_id="other", aws_secret_access_key="other", region_name="us-east-1")
    return session.client(service, endpoint_url=server)


@pytest.fixture
def faults(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Faults:
    """The faults that the program's own requests meet; there are no waits between two attempts."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    return install(monkeypatch)


@pytest.fixture
def package(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``package("--stage", …)`` uploads `a.yaml`, a spec with one model, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    lay_out_spec(Path(), ONE)
    return lambda *arguments: main(["package", "a.yaml", "--upload", *arguments])


@pytest.fixture(scope="session")
def emulator_address() -> Iterator[str]:
    """The address of the emulated AWS."""
    with running() as url:
        yield url


@pytest.fixture
def aws(emulator_address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> EmulatedAws:
    """The emulated account, empty; the credentials in the environment are for it."""
    reset()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE"):
        monkeypatch.delenv(name, raising=False)
    found = EmulatedAws(emulator_address)
    files = {"AWS_CONFIG_FILE": "no-config", "AWS_SHARED_CREDENTIALS_FILE": "no-credentials"}
    for name, value in {**found.environment(), **{it: str(tmp_path / files[it]) for it in files}}.items():
        monkeypatch.setenv(name, value)
    return found
