"""Goes through each guide as its reader does: writes its files into an empty folder, and runs its commands there."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.pages import assert_printed, code_blocks, commands, files
from support.rehearsal import HAS_SERVER

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = (DOCS / "index.md", *sorted((DOCS / "guides").glob("*.md")))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda page: page.stem)
def test_the_commands_of_a_guide_print_what_it_shows(guide: Path, tmp_path: Path) -> None:
    for name, content in files(guide).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    folder = tmp_path
    for session in code_blocks(guide, "console"):
        for command, shown in commands(session):
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
            elif HAS_SERVER or not command.startswith("inferstack rehearse"):
                assert_printed(run(command, folder), shown)


@pytest.mark.parametrize("guide", GUIDES[1:], ids=lambda page: page.stem)
def test_a_guide_is_short(guide: Path) -> None:
    assert len(guide.read_text("utf-8").splitlines()) <= 120


def run(command: str, folder: Path) -> str:
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    sources = f"{ROOT}/constructs:{ROOT}/stacks"
    if find_spec("torch") is None:
        sources += f":{ROOT}/tests/support/without_torch"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": programs, "PYTHONPATH": sources},
        # As in a terminal, warnings and the last lines, which go to standard error, are included.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout
