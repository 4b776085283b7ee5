"""Runs the README: each of its commands that needs no network prints what is shown below it."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.checking import check_file
from support.rehearsal import HAS_SERVER

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
# What is run in other ways: the whole test run, and what a deployment needs. And what starts a Triton, where
# there is none.
ELSEWHERE = ("make test", "npx", "pip", "npm", *(() if HAS_SERVER else (".venv/bin/inferstack rehearse",)))
ELLIPSIS = "…"


def commands() -> Iterator[tuple[str, str]]:
    """Each command, and what is shown below it."""
    for block in BLOCK.findall(README):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if not command.startswith(ELSEWHERE):
                yield command, output


@pytest.mark.parametrize(("command", "output"), list(commands()))
def test_a_command_prints_what_the_readme_shows(command: str, output: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        ["bash", "-c", runnable(command, tmp_path)],
        cwd=ROOT,
        # As in a terminal, warnings and the last lines, which go to standard error, are included.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    shown = output.replace(ELLIPSIS, "...")
    same = doctest.OutputChecker().check_output(shown, ran.stdout, doctest.ELLIPSIS)
    assert same, f"the README shows\n{output}\nand it prints\n{ran.stdout}"


def runnable(command: str, folder: Path) -> str:
    """The command with this interpreter's programs, which writes only into a folder of the test."""
    programs = shlex.quote(str(Path(sys.executable).parent))
    command = command.replace(".venv/bin/", f"{programs}/").replace("--out packages", f"--out {folder}")
    if command == "make synth":
        return f"cd {folder} && cp -r {ROOT}/model_specs . && {programs}/python -m inferstack_stacks"
    return command


def test_the_yaml_of_the_readme_is_that_of_the_file() -> None:
    text = (ROOT / "model_specs" / "resnet-mme.yaml").read_text("utf-8")
    (shown,) = re.findall(r"```yaml\n(# Many.*?)```", README, re.DOTALL)
    assert text.startswith(shown)


def test_the_constructs_of_the_readme_work_in_its_project(tmp_path: Path) -> None:
    (program,), (spec,) = blocks("In your own CDK app", "python"), blocks("A project of your own", "yaml")
    (tmp_path / "model_specs").mkdir()
    (tmp_path / "model_specs/churn.yaml").write_text(spec, "utf-8")
    (tmp_path / "app.py").write_text(program, "utf-8")
    run_python(tmp_path / "app.py", folder=tmp_path)


def test_the_four_files_of_the_readme_make_a_project(tmp_path: Path) -> None:
    section = "A project of your own"
    (app,), (cdk, package), (spec,) = (blocks(section, it) for it in ("python", "json", "yaml"))
    (tmp_path / "model_specs").mkdir()
    for name, content in (("app.py", app), ("cdk.json", cdk), ("model_specs/churn.yaml", spec)):
        (tmp_path / name).write_text(content, "utf-8")
    pinned = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    assert json.loads(package)["devDependencies"] == pinned
    command = json.loads((tmp_path / "cdk.json").read_text("utf-8"))["app"]
    assert command == "python3 app.py"
    run_python(tmp_path / "app.py", folder=tmp_path)
    template = json.loads((tmp_path / "cdk.out/churn.template.json").read_text("utf-8"))
    assert template["Resources"]["Endpoint"]["Properties"]["EndpointName"] == "churn"
    assert check_file(tmp_path / "model_specs/churn.yaml") == []


def test_the_aws_cli_gets_what_the_readme_renders(tmp_path: Path) -> None:
    (spec,) = blocks("A project of your own", "yaml")
    (tmp_path / "model_specs").mkdir()
    (tmp_path / "model_specs/churn.yaml").write_text(spec, "utf-8")
    render, deploy = blocks("Deploy from CI", "sh")[1].replace("\\\n", "").splitlines()
    subprocess.run(
        ["bash", "-c", runnable(f".venv/bin/{render}", tmp_path)], cwd=tmp_path, check=True, timeout=120
    )
    options = dict(zip(*[iter(shlex.split(deploy)[3:])] * 2, strict=True))
    template = json.loads((tmp_path / options["--template-file"]).read_text("utf-8"))
    assert template["Resources"]["Endpoint"]["Properties"]["EndpointName"] == options["--stack-name"]


def blocks(section: str, language: str) -> list[str]:
    """The blocks of code in a section."""
    text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run_python(file: Path, *, folder: Path) -> None:
    environment = {**os.environ, "CDK_VALIDATION": "false", "PYTHONPATH": f"{ROOT}/constructs:{ROOT}/stacks"}
    subprocess.run([sys.executable, str(file)], cwd=folder, env=environment, check=True, timeout=120)
