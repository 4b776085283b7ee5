"""Runs the README and the pages that newcomers read next: each of their commands prints what they show."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.checking import check_file
from support.pages import assert_printed, code_blocks, commands
from support.rehearsal import HAS_SERVER

from inferstack.project.answers import Answers
from inferstack.project.files import files_of

ROOT = Path(__file__).parents[1]
README, PROJECT = ROOT / "README.md", ROOT / "docs" / "project.md"
_NAMES = (
    "validate",
    "diagnosing",
    "language-models",
    "triton",
    "packing",
    "measuring",
    "recommending",
    "review",
    "reading-a-template",
)
PAGES = (README, *(ROOT / "docs" / f"{name}.md" for name in _NAMES))
EXAMPLE = ROOT / "docs" / "examples" / "sizing"
# Not run here: where there is no Triton, what starts one.
ELSEWHERE = () if HAS_SERVER else ("inferstack rehearse", "inferstack measure")


def shown_commands() -> Iterator[tuple[str, str]]:
    """Each command on the pages, and what is shown below it."""
    for page in PAGES:
        for session in code_blocks(page, "console"):
            yield from (it for it in commands(session) if not it[0].startswith(ELSEWHERE))


@pytest.mark.parametrize(("command", "output"), list(shown_commands()))
def test_a_command_prints_what_the_page_shows(command: str, output: str, tmp_path: Path) -> None:
    assert_printed(printed(command, ROOT, tmp_path), output)


def test_the_page_on_sizing_leads_from_a_load_test_to_a_template(tmp_path: Path) -> None:
    folder = tmp_path / "sizing"
    shutil.copytree(EXAMPLE, folder)
    (folder / "cost.svg").unlink()
    for session in code_blocks(ROOT / "docs" / "sizing.md", "console"):
        for command, output in commands(session):
            assert_printed(printed(command, folder, tmp_path), output)
    # Fonts differ between machines, and with them where the texts are; what the picture says does not.
    shown, drawn = (re.findall(">([^<]+)<", (it / "cost.svg").read_text("utf-8")) for it in (EXAMPLE, folder))
    assert shown == drawn
    properties = json.loads((folder / "templates/bert.template.json").read_text("utf-8"))["Resources"]
    limits = [it["Properties"] for it in properties.values() if it["Type"].endswith("::ScalableTarget")]
    assert [(it["MinCapacity"], it["MaxCapacity"]) for it in limits] == [(8, 33)]


def printed(command: str, folder: Path, tmp_path: Path) -> str:
    """What a terminal shows of a command in a folder: also warnings and last lines, from standard error."""
    ran = subprocess.run(
        ["bash", "-c", runnable(command, tmp_path)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout


def runnable(command: str, folder: Path) -> str:
    """The command with this interpreter's programs, which writes only into a folder of the test."""
    programs = shlex.quote(str(Path(sys.executable).parent))
    if command == "make synth":
        command = f"cd {folder} && cp -r {ROOT}/model_specs . && python -m inferstack_stacks"
    return f"PATH={programs}:$PATH; {command.replace('--out packages', f'--out {folder}')}"


def test_the_yaml_of_the_readme_is_that_of_the_file() -> None:
    text = (ROOT / "model_specs" / "resnet-mme.yaml").read_text("utf-8")
    (shown,) = code_blocks(README, "yaml")
    assert text.startswith(shown)


def test_the_message_of_the_readme_is_about_the_line_that_it_names() -> None:
    line = (ROOT / "docs" / "examples" / "careless.yaml").read_text("utf-8").splitlines()[16]
    assert "`GPUUtilisation` on line 17" in README.read_text("utf-8")
    assert "GPUUtilisation" in line


def test_the_first_screen_is_the_spec_a_mistake_and_a_review() -> None:
    first, *_ = README.read_text("utf-8").split("## What comes out")
    headings = [line for line in first.splitlines() if line.startswith("## ")]
    assert headings == ["## One spec", "## One mistake, and its message", "## One change, and its review"]
    assert len(first.splitlines()) <= 75
    assert "| --- |" not in first.replace("|---|", "| --- |"), "tables come later"


def test_each_folder_is_explained() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    folders = {file.partition("/")[0] for file in listed.splitlines() if "/" in file and file[0] != "."}
    if not folders:
        pytest.skip("this is no clone")
    table = README.read_text("utf-8").partition("## The folders")[2].partition("## ")[0]
    assert set(re.findall("`([a-z_]+)/`", table)) == folders


def test_nobody_is_sent_to_a_name_that_anybody_may_take() -> None:
    pages = [README, *(ROOT / "docs").rglob("*.md"), *(ROOT / "skills").rglob("*.md")]
    bare = re.compile(r"pip install (--?\S+ )*inferstack\b")
    assert [it.name for it in pages if bare.search(it.read_text("utf-8"))] == []


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 250


def test_the_constructs_of_the_readme_work_in_the_project(tmp_path: Path) -> None:
    (program,) = code_blocks(README, "python")
    with_the_spec(tmp_path)
    (tmp_path / "app.py").write_text(program, "utf-8")
    run_python(tmp_path / "app.py", folder=tmp_path)


def test_the_first_session_of_the_page_is_real(tmp_path: Path) -> None:
    folder = tmp_path
    for session in code_blocks(PROJECT, "console"):
        for command, shown in commands(session):
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
                continue
            assert_printed(printed(command, folder, tmp_path), shown)


def test_the_four_files_of_the_page_make_a_project(tmp_path: Path) -> None:
    (app,), (cdk, package) = code_blocks(PROJECT, "python"), code_blocks(PROJECT, "json")
    (spec,) = code_blocks(PROJECT, "yaml")
    (tmp_path / "model_specs").mkdir()
    (tmp_path / "model_specs/churn.yaml").write_text(spec, "utf-8")
    for name, content in (("app.py", app), ("cdk.json", cdk)):
        (tmp_path / name).write_text(content, "utf-8")
    pinned = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    assert json.loads(package)["devDependencies"] == {"aws-cdk": pinned["aws-cdk"]}
    command = json.loads((tmp_path / "cdk.json").read_text("utf-8"))["app"]
    assert command == "python3 app.py"
    run_python(tmp_path / "app.py", folder=tmp_path)
    template = json.loads((tmp_path / "cdk.out/churn.template.json").read_text("utf-8"))
    assert template["Resources"]["Endpoint"]["Properties"]["EndpointName"] == "churn"
    assert check_file(tmp_path / "model_specs/churn.yaml") == []


def test_the_aws_cli_gets_what_the_readme_renders(tmp_path: Path) -> None:
    with_the_spec(tmp_path)
    _, without_cdk = code_blocks(README, "sh")
    render, deploy = without_cdk.replace("\\\n", "").splitlines()
    subprocess.run(["bash", "-c", runnable(render, tmp_path)], cwd=tmp_path, check=True, timeout=120)
    options = dict(zip(*[iter(shlex.split(deploy)[3:])] * 2, strict=True))
    template = json.loads((tmp_path / options["--template-file"]).read_text("utf-8"))
    assert template["Resources"]["Endpoint"]["Properties"]["EndpointName"] == options["--stack-name"]


def test_the_policy_of_the_page_on_reviews_says_what_breaks_it() -> None:
    (program,) = code_blocks(ROOT / "docs" / "review.md", "python")
    for labels, expected in (("", ["costs up to 8.40 an hour"]), ("expensive", [])):
        environment = {**os.environ, "LABELS": labels}
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        first, *others = done.stderr.splitlines()
        assert first.startswith("the role may also ")
        assert [said in line for said, line in zip(expected, others, strict=True)] == [True] * len(expected)


def with_the_spec(folder: Path) -> None:
    """Writes the spec that a new project has."""
    file = "model_specs/churn.yaml"
    (folder / "model_specs").mkdir()
    (folder / file).write_text(files_of(Answers("single-model", "us-east-1", "none"))[file], "utf-8")


def run_python(file: Path, *, folder: Path) -> None:
    environment = {**os.environ, "CDK_VALIDATION": "false", "PYTHONPATH": f"{ROOT}/constructs:{ROOT}/stacks"}
    subprocess.run([sys.executable, str(file)], cwd=folder, env=environment, check=True, timeout=120)
