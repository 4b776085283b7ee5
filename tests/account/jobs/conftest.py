"""An emulated SageMaker, and the command that runs jobs there."""

from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from support.jobs import COMPONENTS, LOAD, SPEC, deploy, write
from support.program import Command
from support.s3 import Faults, install

from inferstack.cli import main


@pytest.fixture
def aws(aws: EmulatedAws) -> EmulatedAws:
    """The emulated account, with a bucket for results."""
    aws.client("s3").create_bucket(Bucket="acme-results")
    return aws


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
