"""The commands with which pipelines deploy, taken from the documentation and run against an emulated AWS."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import status
from support.cdk_cli import Project
from support.pipelines import SPEC, Repository, Step, codebuild_steps, github_steps, gitlab_steps

ONE, TWO = (SPEC.replace("ARCHIVE", name) for name in ("one", "two"))
Pipeline = Callable[[Repository, str], list[Step]]
# Variables that GitLab and CodeBuild set, and GitHub's action, through which the keys come.
GIVEN = {"AWS_ID_TOKEN": "token", "CI": "true", "CDK_DISABLE_CLI_TELEMETRY": "true"}


def github(repository: Repository, stage: str) -> list[Step]:
    return github_steps("github/inferstack-stage.yml", {"inputs.stage": stage})


def gitlab(repository: Repository, stage: str) -> list[Step]:
    steps = gitlab_steps(f"deploy-{stage}")
    for step in steps:
        inside = {
            name: value.replace("$CI_PROJECT_DIR", str(repository.folder))
            for name, value in step.environment.items()
        }
        # With this variable, AWS's clients would ask the emulator for keys; the test's keys are already there.
        step.environment = {name: value for name, value in inside.items() if name != "AWS_ROLE_ARN"}
    return steps


def codebuild(repository: Repository, stage: str) -> list[Step]:
    steps = codebuild_steps("codebuild/buildspec-deploy.yml")
    for step in steps:
        step.environment = {**step.environment, "STAGE": stage}
    return steps


@pytest.mark.parametrize("system", [github, gitlab, codebuild])
def test_a_pipeline_deploys_one_stage_after_the_other(
    aws: EmulatedAws, tmp_path: Path, system: Pipeline
) -> None:
    assert Project(tmp_path / "administrator", aws).bootstrap().status == 0
    repository = Repository(tmp_path)
    given = {**GIVEN, **aws.environment(), "CDK_HOME": str(tmp_path / "home")}
    for stage in ("test", "prod"):
        ended, printed = repository.run(system(repository, stage), **given)
        assert ended == 0, printed
        assert status(aws, f"bert-{stage}") == "CREATE_COMPLETE"
        assert "npm ci" in repository.called()
    repository.commit(TWO)
    ended, printed = repository.run(system(repository, "prod"), **given)
    assert ended == 0, printed
    assert re.search(r"^\[~\] AWS::SageMaker::Model .* replace$", printed, re.MULTILINE), printed
    models = aws.client("sagemaker").list_models()["Models"]
    sources = {
        aws.client("sagemaker").describe_model(ModelName=it["ModelName"])["PrimaryContainer"]["ModelDataUrl"]
        for it in models
    }
    assert sources == {f"s3://acme-models/bert/{name}/model.tar.gz" for name in ("one", "two")}
    assert not (repository.folder / ".aws-token").exists()


def test_a_spec_with_errors_stops_a_pipeline_before_it_asks_anything_of_aws(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit(ONE.replace("max_capacity: 4", "max_capacity: 1"))
    ended, printed = repository.run(github(repository, "prod"), AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert ended == 1
    assert "IS500" in printed
    assert "cdk" not in printed
