"""The first commands of docs/updates.md print what stands under them, in a repository with one changed spec."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "model_specs").mkdir(parents=True)
    (spec,) = re.findall(
        r"```yaml\n(kind: single-model\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    file = project / "model_specs" / "churn.yaml"
    file.write_text(spec, "utf-8")
    run(
        "git init -q -b main && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m specs",
        project,
    )
    file.write_text(spec.replace("ml.m5.large", "ml.m5.xlarge"), "utf-8")
    page = (ROOT / "docs" / "updates.md").read_text("utf-8")
    (block,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = run(command, project)
        same = doctest.OutputChecker().check_output(shown.replace("…", "..."), printed, doctest.ELLIPSIS)
        assert same, f"{command}\n{printed}"


def run(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout
