"""The pipeline files that users copy, and our own: what their linters report about them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cfnlint.decode.cfn_yaml import load
from support.pipelines import (
    DOCS,
    IN_GITHUB,
    ROOT,
    SPEC,
    Repository,
    Step,
    action_steps,
    codebuild_steps,
    component,
    github_steps,
    gitlab_steps,
)
from support.validators import cfn_lint_findings, validate_findings

BIN = Path(sys.executable).parent
GITLAB = DOCS / "gitlab" / ".gitlab-ci.yml"
OWN = ROOT / ".github" / "workflows"
SCHEMAS = {
    "docs/pipelines/github/*.yml": "vendor.github-workflows",
    "docs/pipelines/gitlab/.gitlab-ci.yml": "vendor.gitlab-ci",
    ".github/workflows/*.yml": "vendor.github-workflows",
    "action.yml": "vendor.github-actions",
}
# `$/…` instead of `./…` is newer than many users' runners, and GitHub's server does not know it.
FOR_ANY_RUNNER = "{self-repository: {disable: true}}"
COMMANDS = (
    "npx cdk synth --quiet -c stage=",
    "npx cdk diff --app cdk.out",
    "npx cdk deploy --app cdk.out --all --concurrency 5 --require-approval never",
)


def ran(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(("pattern", "schema"), SCHEMAS.items())
def test_a_file_is_of_its_format(pattern: str, schema: str) -> None:
    files = [str(file) for file in ROOT.glob(pattern)]
    assert files
    assert ran(str(BIN / "check-jsonschema"), "--builtin-schema", schema, *files) == ""


@pytest.mark.parametrize(
    ("folder", "rules"), [(DOCS / "github", FOR_ANY_RUNNER), (OWN, "{}")], ids=["users", "own"]
)
def test_zizmor_finds_nothing_in_the_workflows(folder: Path, rules: str, tmp_path: Path) -> None:
    workflows = tmp_path / ".github" / "workflows"
    shutil.copytree(folder, workflows)
    assert zizmor(workflows, tmp_path, rules) == ""


def test_zizmor_finds_nothing_in_the_action(tmp_path: Path) -> None:
    assert zizmor(ROOT / "action.yml", tmp_path) == ""
    # It reads actions, too: an input in a command is a hole.
    bad = tmp_path / "action.yml"
    text = (ROOT / "action.yml").read_text("utf-8")
    bad.write_text(text.replace('validate "$SPECS"', "validate ${{ inputs.specs }}"), "utf-8")
    assert "template-injection" in zizmor(bad, tmp_path)


def zizmor(files: Path, folder: Path, rules: str = "{}") -> str:
    config = folder / "zizmor.yml"
    config.write_text(f"rules: {rules}\n", "utf-8")
    options = ("--offline", "--no-progress", "--persona", "pedantic", "--config", str(config))
    return ran(str(BIN / "zizmor"), *options, str(files))


def test_the_component_is_a_pipeline(tmp_path: Path) -> None:
    file = tmp_path / "review.yml"
    file.write_text(yaml.safe_dump(component({}), sort_keys=False), "utf-8")
    assert ran(str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.gitlab-ci", str(file)) == ""


def _as_in_a_repository(script: str) -> str:
    """A command of the action or component, as the files that users copy have it."""
    for program in ('"$GITHUB_ACTION_PATH/docs/pipelines/review.sh"', '"$CI_PROJECT_DIR.review.sh"'):
        script = script.replace(program, "ci/review.sh")
    return script.replace(' "$SPECS" ', " ")


def test_the_action_runs_the_commands_of_the_workflow() -> None:
    in_action = [step.script for step in action_steps(IN_GITHUB)]
    in_workflow = [step.script for step in github_steps("github/inferstack-review.yml", IN_GITHUB)]
    assert [_as_in_a_repository(it) for it in in_action[1:]] == in_workflow[1:]


def test_the_component_runs_the_commands_of_the_pipeline() -> None:
    job, copied = component({})["inferstack-review"], yaml.safe_load(GITLAB.read_text("utf-8"))["review"]
    assert [_as_in_a_repository(it) for it in job["script"]] == copied["script"]
    assert {key: job[key] for key in ("rules", "artifacts")} == {
        key: copied[key] for key in ("rules", "artifacts")
    }
    program = (DOCS / "review.sh").read_text("utf-8")
    assert job["before_script"][-1] == f"cat >\"$CI_PROJECT_DIR.review.sh\" <<'END'\n{program}END\n"


def test_no_folder_of_a_pull_request_takes_the_place_of_what_it_is_compared_with(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    changed = SPEC.replace("ARCHIVE", "two")
    folder = repository.folder / "HEAD^1" / "model_specs"
    folder.mkdir(parents=True)
    (folder / "bert.yaml").write_text(changed, "utf-8")
    repository.propose(changed)
    status, printed = repository.run([Step("bash ci/review.sh HEAD^1 test")])
    assert status == 0, printed
    assert "1 endpoint against `HEAD^1`: 1 updated\n" in printed
    assert "+        ModelDataUrl: s3://acme-models/bert/two/model.tar.gz\n" in printed


def test_what_a_review_is_compared_with_must_be_a_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    (repository.folder / "nowhere").mkdir()
    for base in ("nowhere", "HEAD^9", "--help", "main:model_specs", ""):
        status, printed = repository.run([Step(f"bash ci/review.sh '{base}' test")])
        assert status == 1
        assert f"review.sh: {base} is no commit that git has here\n" in printed
        assert "endpoint" not in printed


def test_every_review_is_compared_with_a_revision() -> None:
    files = [
        ROOT / "action.yml",
        *(ROOT / "templates").iterdir(),
        *(it for it in DOCS.rglob("*") if it.is_file()),
    ]
    reviews = re.findall(r"--base .\S+", "\n".join(it.read_text("utf-8") for it in files))
    assert reviews == ['--base "git:$base"'] * 2


def test_aws_validators_find_nothing_in_the_pipeline() -> None:
    template = load(str(DOCS / "codebuild" / "pipeline.yaml"))
    assert cfn_lint_findings(template) == []
    assert validate_findings(template) == []


@pytest.mark.parametrize("word", ["codeconnections", "codestar-connections"])
def test_the_pipeline_may_use_every_connection_that_it_takes(word: str) -> None:
    template = load(str(DOCS / "codebuild" / "pipeline.yaml"))
    arn = f"arn:aws:{word}:us-east-1:111122223333:connection/1"
    assert re.fullmatch(template["Parameters"]["Connection"]["AllowedPattern"], arn)
    [policy] = template["Resources"]["PipelineRole"]["Properties"]["Policies"]
    first = policy["PolicyDocument"]["Statement"][0]
    assert f"{word}:UseConnection" in first["Action"]
    assert first["Resource"] == {"Ref": "Connection"}


def test_the_pipeline_may_do_with_its_bucket_what_aws_gives_every_pipeline() -> None:
    # https://docs.aws.amazon.com/codepipeline/latest/userguide/how-to-custom-role.html#how-to-custom-role-policy;
    # the ACL is for the source: https://github.com/aws/aws-cdk/issues/13557
    template = load(str(DOCS / "codebuild" / "pipeline.yaml"))
    [policy] = template["Resources"]["PipelineRole"]["Properties"]["Policies"]
    allowed = {
        action for it in policy["PolicyDocument"]["Statement"] for action in it["Action"] if "s3:" in action
    }
    objects = {"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:PutObjectAcl"}
    assert allowed == objects | {"s3:GetBucketAcl", "s3:GetBucketLocation", "s3:GetBucketVersioning"}


@pytest.mark.parametrize(
    "steps",
    [
        github_steps("github/inferstack-stage.yml", {"inputs.stage": "prod"}),
        gitlab_steps("deploy-prod"),
        codebuild_steps("codebuild/buildspec-deploy.yml"),
    ],
    ids=["github", "gitlab", "codebuild"],
)
def test_every_pipeline_deploys_what_it_has_shown(steps: list[object]) -> None:
    script = "\n".join(step.script for step in steps)
    places = [script.index(command) for command in COMMANDS]
    assert places == sorted(places)


def test_the_workflows_call_each_other_by_their_names() -> None:
    names = {file.name for file in (DOCS / "github").glob("*.yml")}
    deploy = yaml.safe_load((DOCS / "github" / "inferstack-deploy.yml").read_text("utf-8"))
    for job in deploy["jobs"].values():
        assert Path(job["uses"]).name in names


def test_the_cdk_cli_is_pinned_where_the_pipelines_install_it() -> None:
    package = yaml.safe_load((ROOT / "package.json").read_text("utf-8"))
    assert package["devDependencies"]["aws-cdk"].startswith("2.")


def test_whatever_starts_a_deployment_was_reviewed() -> None:
    deploy, review = (
        # YAML 1.1 takes the key `on` for true.
        yaml.safe_load((DOCS / "github" / f"inferstack-{name}.yml").read_text("utf-8"))[True]
        for name in ("deploy", "review")
    )
    workflows = ".github/workflows/inferstack-*.yml"
    assert {*deploy["push"]["paths"]} - {workflows} <= {*review["pull_request"]["paths"]}
