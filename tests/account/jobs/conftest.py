"""An emulated SageMaker, and the command that runs jobs there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from emulator.server import reset, running
from support.jobs import COMPONENTS, LOAD, SPEC, deploy, write
from support.program import Command
from support.s3 import Faults, install

from inferstack.cli import main


@pytest.fixture(scope="session")
def emulator_address() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture
def aws(emulator_address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> EmulatedAws:
    """The emulated account, with the endpoint of the spec and a bucket for results."""
    reset()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE"):
        monkeypatch.delenv(name, raising=False)
    found = EmulatedAws(emulator_address)
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


@pytest.fixture
def chat(recommend: Command, aws: EmulatedAws) -> Command:
    write(COMPONENTS)
    deploy(aws, "chat")
    return recommend
