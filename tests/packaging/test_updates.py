"""docs/updates.md: its commands print what it shows, and its table names the code of every rule about updates."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import assert_printed, code_blocks, commands

from inferstack.updates import UPDATE_RULES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "model_specs").mkdir(parents=True)
    (spec,) = code_blocks(DOCS / "project.md", "yaml")
    file = project / "model_specs" / "churn.yaml"
    file.write_text(spec, "utf-8")
    run(
        "git init -q -b main && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m specs",
        project,
    )
    file.write_text(spec.replace("ml.m5.large", "ml.m5.xlarge"), "utf-8")
    (session,) = code_blocks(DOCS / "updates.md", "console")
    for command, shown in commands(session):
        assert_printed(run(command, project), shown)


@pytest.mark.parametrize("code", UPDATE_RULES)
def test_the_table_has_every_code(code: str) -> None:
    text = (DOCS / "updates.md").read_text("utf-8")
    rows = re.findall(r"^\|.*", text, re.MULTILINE)
    assert code in " ".join(rows), f"no row of the table in docs/updates.md names {code}"


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
