"""The commands with which pipelines review a change, taken from the documentation and run on a repository."""

import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

import cmarkgfm
import pytest
from support.pipelines import (
    IN_GITHUB,
    PAGES_URL,
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

BEFORE = SPEC.replace("ARCHIVE", "one")
NEW_WEIGHTS = SPEC.replace("ARCHIVE", "two")
WRONG = BEFORE.replace("max_capacity: 4", "max_capacity: 1")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def github(repository: Repository, *, fork: bool = False) -> tuple[int, str]:
    steps = github_steps("github/inferstack-review.yml", IN_GITHUB, fork=fork)
    summary = str(repository.calls / "summary.md")
    return repository.run(steps, GITHUB_REPOSITORY="acme/models", GITHUB_STEP_SUMMARY=summary)


def action(repository: Repository, *, fork: bool = False, **inputs: str) -> tuple[int, str]:
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    summary = str(repository.calls / "summary.md")
    return repository.run(
        action_steps({**IN_GITHUB, **values}, fork=fork),
        GITHUB_REPOSITORY="acme/models",
        GITHUB_STEP_SUMMARY=summary,
        GITHUB_ACTION_PATH=str(ROOT),
    )


def gitlab(repository: Repository, steps: list[Step] | None = None, **more: str) -> tuple[int, str]:
    base = repository.git("rev-parse", "main")
    project = {
        "CI_API_V4_URL": "https://gitlab.com/api/v4",
        "CI_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_PROJECT_DIR": str(repository.folder),
        "CI_PROJECT_URL": "https://gitlab.com/acme/models",
        "CI_COMMIT_SHA": "0a1b2c3",
    }
    run = [
        replace(
            it, environment={key: Template(text).substitute(project) for key, text in it.environment.items()}
        )
        for it in (gitlab_steps("review") if steps is None else steps)
    ]
    return repository.run(run, CI_MERGE_REQUEST_DIFF_BASE_SHA=base, **project, **more)


def codebuild(repository: Repository) -> tuple[int, str]:
    repository.git("remote", "add", "origin", str(repository.folder))
    steps = codebuild_steps("codebuild/buildspec-review.yml")
    return repository.run(steps, CODEBUILD_WEBHOOK_BASE_REF="refs/heads/main")


@dataclass(frozen=True)
class Reviewed:
    """A repository after a pipeline has reviewed new weights in it, once for all tests that only look at it."""

    repository: Repository
    status: int
    printed: str
    comment: str
    called: list[str]


def reviewed(folder: Path, review: Callable[[Repository], tuple[int, str]], spec: str) -> Reviewed:
    repository = Repository(folder)
    repository.propose(spec)
    status, printed = review(repository)
    return Reviewed(repository, status, printed, repository.comment(), repository.called())


@pytest.fixture(scope="module")
def on_github(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    return reviewed(tmp_path_factory.mktemp("github"), github, NEW_WEIGHTS)


@pytest.fixture(scope="module")
def wrong_on_github(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    return reviewed(tmp_path_factory.mktemp("github"), github, WRONG)


@pytest.fixture(scope="module")
def on_gitlab(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    return reviewed(
        tmp_path_factory.mktemp("gitlab"), lambda it: gitlab(it, REVIEW_TOKEN="token"), NEW_WEIGHTS
    )


def test_github_comments_what_each_stage_would_deploy(on_github: Reviewed) -> None:
    assert on_github.status == 0, on_github.printed
    comment = on_github.comment
    for stage in ("test", "prod"):
        assert f"## {stage}\n\n### inferstack: 1 endpoint against `HEAD^1`: 1 updated\n" in comment
        where = f"`bert-{stage}`<br>`model_specs/bert.yaml:5`"
        assert f"| info<br>updated | {where} | **IS870** " in comment
        weights = "`s3://acme-models/bert/one/model.tar.gz` → `s3://acme-models/bert/two/model.tar.gz`"
        assert weights in comment
    assert comment.count("\n- changes: replaces Model and EndpointConfig; removes ExecutionPolicy") == 2
    assert comment.count("; nothing else changes\n") == 2
    assert comment.count("+        ModelDataUrl: s3://acme-models/bert/two/model.tar.gz\n") == 2
    summary = (on_github.repository.calls / "summary.md").read_text("utf-8")
    assert summary == f"[The review as a page]({PAGES_URL})\n\n{comment}"


@pytest.mark.parametrize(
    ("review", "blob"),
    [
        pytest.param("on_github", "https://github.com/acme/models/blob/0a1b2c3", id="github"),
        pytest.param("on_gitlab", "https://gitlab.com/acme/models/-/blob/0a1b2c3", id="gitlab"),
    ],
)
def test_each_stage_has_a_page_that_leads_to_the_lines_of_its_spec(
    request: pytest.FixtureRequest, review: str, blob: str
) -> None:
    found: Reviewed = request.getfixturevalue(review)
    assert found.status == 0, found.printed
    for stage in ("test", "prod"):
        page = (found.repository.folder / "review-pages" / f"review-{stage}.html").read_text("utf-8")
        assert f"bert-{stage}" in page
        assert f'href="{blob}/model_specs/bert.yaml#L5"' in page


def test_without_stages_there_is_one_page(repository: Repository) -> None:
    repository.propose(NEW_WEIGHTS)
    action(repository)
    assert [it.name for it in (repository.folder / "review-pages").iterdir()] == ["review.html"]


def test_what_another_version_of_inferstack_changes_is_shown(repository: Repository) -> None:
    wheel = "inferstack-0.0.1-py3-none-any.whl"
    older_version(repository.folder / wheel)
    (repository.folder / "requirements.txt").write_text(f"./{wheel}\n", "utf-8")
    repository.commit(BEFORE)
    (repository.folder / "requirements.txt").write_text("inferstack @ newer\n", "utf-8")
    repository.propose(BEFORE)
    status, printed = github(repository)
    assert status == 0, printed
    assert repository.comment().count("-        Image: older\n") == 2
    told = "another version of inferstack replaces `Model` and `EndpointConfig`; updates `Endpoint`, whatever"
    assert repository.comment().count(told) == 2


def test_a_version_that_is_not_to_be_had_any_more_is_said(repository: Repository) -> None:
    (repository.folder / "requirements.txt").write_text("./gone.whl\n", "utf-8")
    repository.commit(BEFORE)
    (repository.folder / "requirements.txt").write_text("inferstack\n", "utf-8")
    repository.propose(NEW_WEIGHTS)
    status, printed = github(repository)
    assert status == 0, printed
    assert "The old requirements.txt cannot be installed" in repository.comment()
    assert "IS870" in repository.comment()


def older_version(wheel: Path) -> None:
    """An inferstack that makes templates as this one does, but with another image."""
    program = shutil.which("inferstack", path=Path(sys.executable).parent)
    script = f"""
import pathlib, re, subprocess, sys
def main():
    status = subprocess.run([{program!r}, *sys.argv[1:]], check=False).returncode
    for file in pathlib.Path(sys.argv[-1]).iterdir():
        # In YAML, or in JSON.
        text = re.sub('Image: .*', 'Image: older', file.read_text("utf-8"))
        file.write_text(re.sub('"Image": "[^"]*"', '"Image": "older"', text), "utf-8")
    return status
"""
    about = "inferstack-0.0.1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("older.py", script)
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: inferstack\nVersion: 0.0.1\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/entry_points.txt", "[console_scripts]\ninferstack = older:main\n")
        archive.writestr(f"{about}/RECORD", "")


def test_nothing_in_a_spec_ends_the_code_that_shows_a_difference(repository: Repository) -> None:
    out = "</details>\\n```````\\n# @all\\n"
    text = f'environment: {{NOTE: "{out}"}}'
    repository.propose(BEFORE.replace("  model_data_url", f"  {text}\n  model_data_url"))
    status, printed = github(repository)
    assert status == 0, printed
    differences = re.sub("```mermaid\n.*?\n```\n", "", repository.comment(), flags=re.DOTALL)
    shown = cmarkgfm.github_flavored_markdown_to_html(differences)
    parts = re.split("</?pre>|</?pre [^>]*>", shown)
    assert len(parts) == 5, "one difference for each of two stages"
    assert all("@all" in part for part in parts[1::2])
    # A finding names the value too, as code: GitHub notifies nobody for that.
    outside = [re.sub("<code>.*?</code>", "", part, flags=re.DOTALL) for part in parts[::2]]
    assert not [part for part in outside if "@all" in part]
    # Whatever reads it, and however far in the text is.
    assert repository.comment().count("\n````````diff\n") == repository.comment().count("\n````````\n") == 2


def test_lines_that_moved_are_no_change(repository: Repository) -> None:
    repository.propose(f"# A comment.\n{BEFORE}")
    github(repository)
    assert repository.comment().count("nothing changes: bert-") == 2
    assert "<details>" not in repository.comment()


def test_github_has_one_comment_that_the_next_run_replaces(on_github: Reviewed) -> None:
    comment = github_steps("github/inferstack-review.yml", IN_GITHUB)[-1]
    on_github.repository.run([comment], GITHUB_REPOSITORY="acme/models")
    again = on_github.repository.called()[len(on_github.called) :]
    calls = [call for call in (*on_github.called, *again) if "body=@review.md" in call]
    assert calls == [
        "gh api --silent --method POST repos/acme/models/issues/7/comments -F body=@review.md",
        "gh api --silent --method PATCH repos/acme/models/issues/comments/42 -F body=@review.md",
    ]


def test_github_does_not_put_its_review_into_the_comment_of_somebody_else(on_github: Reviewed) -> None:
    [asked] = [call for call in on_github.called if "--paginate" in call]
    assert 'select(.user.login == "github-actions[bot]")' in asked


@pytest.mark.parametrize("in_a_difference", [True, False])
def test_a_comment_is_no_longer_than_github_takes(repository: Repository, in_a_difference: bool) -> None:
    fence = "``````"
    line = "+ a line of the difference of two templates\n"
    whole = f"## test\n\n<details>\n\n{fence}diff\n{line * 10}{fence}\n\n</details>\n"
    long = (
        f"## prod\n\n<details>\n\n{fence}diff\n{line * 2000}"
        if in_a_difference
        else f"## prod\n{line * 2000}"
    )
    (repository.folder / "review.md").write_text(whole + long, "utf-8")
    comment = github_steps("github/inferstack-review.yml", IN_GITHUB)[-1]
    where = {
        "GITHUB_REPOSITORY": "acme/models",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_RUN_ID": "1",
    }
    status, printed = repository.run([comment], **where)
    assert status == 0, printed
    sent = repository.comment()
    assert 50_000 < len(sent) < 65_536
    assert sent.count(fence) == sent.count("details>") == (4 if in_a_difference else 2)
    assert sent.endswith(
        "The rest is in the [summary of the run](https://github.com/acme/models/actions/runs/1).\n"
    )


def test_a_base_that_is_not_there_is_named_once(repository: Repository) -> None:
    status, printed = repository.run([Step("bash ci/review.sh nowhere test")])
    assert status != 0
    assert printed.count("fatal") == 1
    assert "nowhere" in printed


def test_github_annotates_and_fails_and_comments_all_the_same(wrong_on_github: Reviewed) -> None:
    assert wrong_on_github.status == 1
    assert "::error file=model_specs/bert.yaml,line=8,col=17,title=IS500::" in wrong_on_github.printed
    assert "| **error**<br>invalid | `model_specs/bert.yaml:8` | **IS500** " in wrong_on_github.comment


def test_a_fork_gets_the_summary_and_no_comment(repository: Repository) -> None:
    repository.propose(NEW_WEIGHTS)
    status, _ = github(repository, fork=True)
    assert status == 0
    assert not [call for call in repository.called() if call.startswith("gh ")]
    assert "IS870" in (repository.calls / "summary.md").read_text("utf-8")


def test_the_first_specs_of_a_repository_are_reviewed_too(repository: Repository) -> None:
    repository.git("rm", "--quiet", "model_specs/bert.yaml")
    repository.git("commit", "--quiet", "--message=none")
    (repository.folder / "model_specs").mkdir(exist_ok=True)
    repository.propose(BEFORE)
    status, printed = github(repository)
    assert status == 0, printed
    assert repository.comment().count("1 endpoint against `HEAD^1`: 1 new\n") == 2


def test_the_stacks_of_a_spec_that_is_removed_are_named(repository: Repository) -> None:
    other = repository.folder / "model_specs" / "other.yaml"
    other.write_text(BEFORE.replace("bert", "other"), "utf-8")
    repository.commit(BEFORE)
    other.unlink()
    repository.propose(BEFORE)
    status, printed = github(repository)
    assert status == 0, printed
    for stage in ("test", "prod"):
        where = f"`other-{stage}`<br>`HEAD^1:model_specs/other.yaml ({stage}):1`"
        assert f"| warning<br>removed | {where} | **IS854** " in repository.comment()
        assert f"delete-stack --stack-name other-{stage} --region us-east-1`" in repository.comment()


def test_a_review_leaves_nothing_behind(wrong_on_github: Reviewed) -> None:
    repository = wrong_on_github.repository
    assert repository.git("worktree", "list").count("\n") == 0
    assert repository.git("status", "--porcelain").split("\n") == ["?? review-pages/", "?? review.md"]


def test_gitlab_has_a_report_and_a_comment(on_gitlab: Reviewed) -> None:
    assert on_gitlab.status == 0, on_gitlab.printed
    assert on_gitlab.comment.count("**IS870**") == 2
    call = sent(on_gitlab.called)[-1]
    assert call.endswith("--form body=<review.md https://gitlab.com/api/v4/projects/1/merge_requests/7/notes")


def sent(calls: list[str]) -> list[str]:
    return [call for call in calls if call.startswith("curl ") and "--form" in call]


@pytest.mark.parametrize("refused", [False, True])
def test_gitlab_has_one_comment_that_the_next_run_replaces(on_gitlab: Reviewed, refused: bool) -> None:
    repository = on_gitlab.repository
    earlier = len(repository.called())
    # A comment that was written with another token cannot be changed.
    status, printed = gitlab(
        repository, REVIEW_TOKEN="token", **({"CALLS_REFUSED": "PUT"} if refused else {})
    )
    assert status == 0, printed
    calls = (*on_gitlab.called, *repository.called()[earlier:])
    first, *others = (call.partition(" --output /dev/null ")[2] for call in sent([*calls]))
    assert others[0].startswith("--request PUT --form body=<review.md ")
    assert others[0].endswith("/merge_requests/7/notes/42")
    assert others[1:] == ([first] if refused else [])


def test_gitlab_fails_with_both_reports_whole(repository: Repository) -> None:
    repository.propose(WRONG)
    status, _ = gitlab(repository)
    assert status == 1
    assert '"check_name": "IS500"' in (repository.folder / "gl-code-quality-report.json").read_text("utf-8")
    assert "**IS500**" in (repository.folder / "review.md").read_text("utf-8")
    assert not (repository.calls / "comment.md").exists(), "without a token nothing is sent"


def test_codebuild_prints_the_review_and_fails_with_it(repository: Repository) -> None:
    repository.propose(WRONG)
    status, printed = codebuild(repository)
    assert status == 1
    assert printed.count("**IS500**") == 1


def test_a_step_that_fails_stops_those_that_do_not_ask_to_run(repository: Repository) -> None:
    steps = [Step("false"), Step("echo never"), Step("echo always", always=True)]
    assert repository.run(steps) == (1, "always\n")


# ---------------------------------------------------------------- the action and the component

WITHOUT_STAGES = NEW_WEIGHTS.partition("stages:")[0].replace("-${stage}", "")


def test_the_action_comments_what_the_workflow_does(repository: Repository, on_github: Reviewed) -> None:
    repository.propose(NEW_WEIGHTS)
    status, printed = action(repository, stages="test prod")
    assert status == 0, printed
    assert repository.comment() == on_github.comment
    assert "## prod" in on_github.comment


def test_the_action_reports_errors_and_the_job_fails(repository: Repository) -> None:
    repository.propose(WRONG)
    status, printed = action(repository, stages="test prod")
    assert status == 1
    assert "::error file=model_specs/bert.yaml" in printed
    assert "IS500" in repository.comment()


def test_specs_without_stages_are_reviewed_as_they_stand(repository: Repository) -> None:
    repository.commit(WITHOUT_STAGES.replace("/two/", "/one/"))
    repository.propose(WITHOUT_STAGES)
    status, printed = action(repository)
    assert status == 0, printed
    assert "- changes: replaces Model and EndpointConfig; " in repository.comment()
    assert "+        ModelDataUrl: s3://acme-models/bert/two/model.tar.gz\n" in repository.comment()
    assert "## \n" not in repository.comment()


def test_the_action_says_how_to_check_out(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "--orphan", "alone")
    repository.commit(NEW_WEIGHTS)
    status, printed = action(repository)
    assert status == 1
    assert "::error::There is nothing to compare with: check out with fetch-depth: 2" in printed


def test_the_component_comments_what_the_pipeline_does(on_gitlab: Reviewed) -> None:
    # In the same repository, since a comment names the commit that it compares with.
    repository = on_gitlab.repository
    (repository.calls / "comment.md").unlink()
    steps = gitlab_steps("inferstack-review", component({"stages": "test prod"}))
    status, printed = gitlab(repository, steps, REVIEW_TOKEN="secret")
    assert status == 0, printed
    assert repository.comment() == on_gitlab.comment
    assert "## prod" in on_gitlab.comment
