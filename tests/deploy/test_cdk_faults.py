"""What goes wrong while the CDK CLI deploys: what the user sees, what is left, and what the next run does with it."""

from pathlib import Path

import pytest
import yaml
from emulator.clients import EmulatedAws
from emulator.deploying import status
from emulator.inventory import inventory
from support.cdk_cli import Project, bootstrap
from support.slow_aws import SlowEndpoints, door

CASES = yaml.safe_load((Path(__file__).parent / "life_cycles.yaml").read_text("utf-8"))
EXPIRED = "The security token included in the request is expired"
STACK = "single-model"
BEFORE = yaml.safe_dump(CASES[STACK]["spec"])
NEW_WEIGHTS = BEFORE.replace("single/1/model", "single/2/model")
OTHER_TYPE = BEFORE.replace("ml.m5.large", "ml.m5.xlarge")


@pytest.fixture
def project(aws: EmulatedAws, tmp_path: Path) -> Project:
    made = Project(tmp_path, aws)
    bootstrap(aws)
    made.write({STACK: BEFORE})
    made.synth()
    return made


def change(project: Project, spec: str) -> None:
    project.write({STACK: spec})
    project.synth()


def served(aws: EmulatedAws) -> str:
    """Where the endpoint's model comes from."""
    sagemaker = aws.client("sagemaker")
    endpoint = sagemaker.describe_endpoint(EndpointName=STACK)
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    [variant] = config["ProductionVariants"]
    container = sagemaker.describe_model(ModelName=variant["ModelName"])["PrimaryContainer"]
    return f"{variant['InstanceType']} {container['ModelDataUrl']}"


def test_what_validate_calls_an_error_is_rolled_back_and_the_old_endpoint_serves(
    project: Project, aws: EmulatedAws
) -> None:
    assert project.deploy().status == 0
    before = inventory(aws)
    (project.folder / "cdk.out").rename(project.folder / "deployed")
    change(project, OTHER_TYPE)
    assert "IS860" in project.inferstack("validate", "--against", "deployed").output
    ran = project.deploy()
    assert ran.status == 1
    assert (
        "The instance type of variant AllTraffic cannot change while a scaling target is registered"
        in ran.output
    )
    assert status(aws, STACK) == "UPDATE_ROLLBACK_COMPLETE"
    assert served(aws) == "ml.m5.large s3://models/single/1/model.tar.gz"
    assert inventory(aws) == before, "nothing of the update is left"
    change(project, NEW_WEIGHTS)
    assert project.deploy().status == 0, "the next deployment needs no repair"


def test_a_deployment_goes_on_without_the_process_that_started_it(
    project: Project, aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowEndpoints(monkeypatch)
    with project.start_deploying() as process:
        slow.wait()
        process.kill()
    assert status(aws, STACK) == "CREATE_IN_PROGRESS"
    assert slow.release(aws, STACK) == "CREATE_COMPLETE"
    again = project.deploy()
    assert (again.status, f"✅  {STACK} (no changes)" in again.output) == (0, True), again.output


def test_of_two_deployments_at_once_the_second_is_refused_and_harms_nothing(
    project: Project, aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowEndpoints(monkeypatch)
    with project.start_deploying() as first:
        slow.wait()
        second = project.deploy()
        assert slow.release(aws, STACK) == "CREATE_COMPLETE"
        first.communicate(timeout=120)
    assert first.returncode == 0
    assert second.status == 1
    assert "is in CREATE_IN_PROGRESS state and can not be updated" in second.output


def test_an_expired_token_is_named_before_anything_is_touched(project: Project, aws: EmulatedAws) -> None:
    before = inventory(aws)
    with door(aws) as way:
        way.closed = True
        ran = project.cdk(
            "deploy", "--app", "cdk.out", "--all", "--require-approval", "never", AWS_ENDPOINT_URL=way.url
        )
    assert ran.status == 1
    assert EXPIRED in ran.output
    assert inventory(aws) == before


def test_a_token_that_expires_meanwhile_does_not_stop_the_deployment(
    project: Project, aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowEndpoints(monkeypatch)
    with door(aws) as way, project.start_deploying(AWS_ENDPOINT_URL=way.url) as process:
        slow.wait()
        way.closed = True
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert EXPIRED in output
    assert slow.release(aws, STACK) == "CREATE_COMPLETE"
    assert "(no changes)" in project.deploy().output
