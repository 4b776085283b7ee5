"""The commands with which pipelines deploy, taken from the documentation and run against an emulated AWS."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from string import Template

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import status
from support.cdk_cli import bootstrap
from support.pipelines import (
    IN_GITHUB,
    SPEC,
    Repository,
    Step,
    codebuild_steps,
    github_steps,
    gitlab_steps,
)

ONE, TWO = (SPEC.replace("ARCHIVE", name) for name in ("one", "two"))
# A stack that CloudFormation cannot create.
REFUSED = json.dumps(
    {
        "Resources": {
            "Role": {
                "Type": "AWS::IAM::Role",
                "Properties": {"AssumeRolePolicyDocument": {}, "RoleName": "a b"},
            }
        }
    }
)
FAILING = "import unittest\n\nclass Test(unittest.TestCase):\n    def test(self):\n        self.fail()\n"
Pipeline = Callable[[Repository, str], tuple[list[Step], list[Step]]]
"""The commands up to the approval of a stage, and those after it, which end with the status."""
# Variables that GitLab and CodeBuild set, and GitHub's action, through which the keys come.
GIVEN = {
    "AWS_ID_TOKEN": "token",
    "CI": "true",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
    "CDK_VALIDATION": "false",
}


def github(_: Repository, stage: str) -> tuple[list[Step], list[Step]]:
    values = {**IN_GITHUB, "inputs.stage": stage, "vars.AWS_REGION": "us-east-1"}
    review, deploy, status = (
        github_steps("github/inferstack-stage.yml", values, job) for job in ("review", "deploy", "status")
    )
    return review, [*deploy, *status]


def gitlab(repository: Repository, stage: str) -> tuple[list[Step], list[Step]]:
    def job(name: str) -> list[Step]:
        steps = gitlab_steps(name)
        for step in steps:
            project = {
                "CI_PROJECT_DIR": str(repository.folder),
                "CI_PROJECT_URL": "https://gitlab.com/acme/models",
            }
            inside = {key: Template(it).safe_substitute(project) for key, it in step.environment.items()}
            # With this variable, AWS's clients would ask the emulator for keys; the test's keys are already there.
            step.environment = {key: it for key, it in inside.items() if key != "AWS_ROLE_ARN"}
        return steps

    review = [step for name in ("synthesize", f"fetch-{stage}", f"review-{stage}") for step in job(name)]
    return review, [*job(f"deploy-{stage}"), *job(f"status-{stage}")]


def codebuild(_: Repository, stage: str) -> tuple[list[Step], list[Step]]:
    synthesize, compare, deploy, status = (
        codebuild_steps(f"codebuild/buildspec-{name}.yml")
        for name in ("synthesize", "compare", "deploy", "status")
    )
    for step in (*compare, *deploy, *status):
        step.environment = {**step.environment, "STAGE": stage}
    compare[0].script += '\nprintf "SUMMARY=%s\\nREVIEW=%s\\n" "$SUMMARY" "$REVIEW"'
    return [*synthesize, *compare], [*deploy, *status]


@pytest.fixture(params=[github, gitlab, codebuild], ids=["github", "gitlab", "codebuild"])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    found: Pipeline = request.param
    return found


@pytest.fixture
def given(aws: EmulatedAws, tmp_path: Path) -> dict[str, str]:
    """What the commands find in an account that is ready for them."""
    bootstrap(aws)
    places = {"CDK_HOME": str(tmp_path / "home"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    return {**GIVEN, **aws.environment(), **places, "CODEBUILD_BUILD_ID": "compare:1a2b"}


def ran(repository: Repository, steps: list[Step], given: dict[str, str]) -> str:
    ended, printed = repository.run(steps, **given)
    assert ended == 0, printed
    return printed


def test_a_pipeline_shows_what_it_will_do_to_what_is_deployed_and_does_just_that(
    aws: EmulatedAws, tmp_path: Path, pipeline: Pipeline, given: dict[str, str]
) -> None:
    repository = Repository(tmp_path)
    review, deploy = pipeline(repository, "prod")
    said = ran(repository, review, given)
    assert "bert-prod: not deployed yet\n" in said
    assert "Nothing of this stage is deployed yet." in said
    said = ran(repository, deploy, given)
    assert status(aws, "bert-prod") == "CREATE_COMPLETE"
    assert "model_specs/bert.yaml (prod): works: the endpoint serves what the stack has\n" in said
    # Main is at two, and what is deployed at one, whatever lay between.
    repository.commit(SPEC.replace("ARCHIVE", "unseen"))
    repository.commit(TWO)
    review, deploy = pipeline(repository, "prod")
    said = ran(repository, review, given)
    assert "bert-prod: CREATE_COMPLETE\n" in said
    assert "1 endpoint against `deployed/prod`: 1 updated" in said
    assert re.search(r'^-\s+"ModelDataUrl": "s3://acme-models/bert/one/model.tar.gz"', said, re.MULTILINE), (
        said
    )
    assert re.search(r'^\+\s+"ModelDataUrl": "s3://acme-models/bert/two/model.tar.gz"', said, re.MULTILINE), (
        said
    )
    assert (repository.folder / "review-pages" / "review-prod.html").exists() == (pipeline is not codebuild)
    # Whatever the repository says by the time that somebody approves.
    repository.commit(SPEC.replace("ARCHIVE", "later"))
    ran(repository, deploy, given)
    sagemaker = aws.client("sagemaker")
    [model] = sagemaker.list_models()["Models"]
    container = sagemaker.describe_model(ModelName=model["ModelName"])["PrimaryContainer"]
    assert container["ModelDataUrl"] == "s3://acme-models/bert/two/model.tar.gz"
    assert not (repository.folder / ".aws-token").exists()


def test_whoever_approves_sees_the_review_where_they_approve(tmp_path: Path, given: dict[str, str]) -> None:
    repository = Repository(tmp_path)
    ran(repository, github(repository, "prod")[0], given)
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("## prod\n")
    said = ran(repository, codebuild(repository, "prod")[0], given)
    assert "\nSUMMARY=prod: 1 endpoint\n" in said
    assert (
        "\nREVIEW=https://console.aws.amazon.com/codesuite/codebuild/projects/compare/build/compare%3A1a2b/?region=us-east-1\n"
        in said
    )


def test_a_stage_that_could_not_be_compared_is_not_approved(
    tmp_path: Path, pipeline: Pipeline, given: dict[str, str]
) -> None:
    repository = Repository(tmp_path)
    elsewhere = ONE.replace("prod: {}", 'prod: {env: {account: "444455556666"}}')
    repository.commit(elsewhere)
    ended, printed = repository.run(pipeline(repository, "prod")[0], **given)
    assert ended == 1
    assert "bert-prod goes to the account 444455556666, and the role is of 123456789012" in printed
    assert "endpoint against" not in printed


def test_a_stack_whose_creation_failed_is_new(
    aws: EmulatedAws, tmp_path: Path, given: dict[str, str]
) -> None:
    repository = Repository(tmp_path)
    aws.client("cloudformation").create_stack(
        StackName="bert-prod", TemplateBody=REFUSED, Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    assert status(aws, "bert-prod") == "ROLLBACK_COMPLETE"
    said = ran(repository, github(repository, "prod")[0], given)
    assert "bert-prod: ROLLBACK_COMPLETE\n" in said
    assert "Nothing of this stage is deployed yet." in said


def test_a_spec_with_errors_stops_a_pipeline_before_it_asks_anything_of_aws(
    tmp_path: Path, pipeline: Pipeline
) -> None:
    repository = Repository(tmp_path)
    repository.commit(ONE.replace("max_capacity: 4", "max_capacity: 1"))
    review, _ = pipeline(repository, "prod")
    ended, printed = repository.run(review, **GIVEN, AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert ended == 1
    assert "IS500" in printed
    assert not [it for it in repository.called() if it.startswith("aws ")]


def test_a_test_of_the_project_that_fails_stops_a_pipeline_before_anything_is_made(
    tmp_path: Path, pipeline: Pipeline
) -> None:
    repository = Repository(tmp_path)
    (repository.folder / "tests").mkdir()
    (repository.folder / "tests" / "test_ours.py").write_text(FAILING, "utf-8")
    ended, printed = repository.run(pipeline(repository, "prod")[0], **GIVEN, AWS_REGION="us-east-1")
    assert ended == 1
    assert "FAILED (failures=1)" in printed
    assert not (repository.folder / "cdk.out").exists()
