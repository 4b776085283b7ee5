"""A guide as its reader follows it: the files that it says to write, and the commands that it says to type."""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from support.pages import files

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDES = sorted((DOCS / "guides").rglob("*.md"))
_GIT = ("init --quiet --initial-branch main", "add --all", "commit --quiet --message start --allow-empty")


def lay_out(guide: Path, folder: Path) -> None:
    """Writes a guide's files into a folder, and makes them the branch `main` of a repository."""
    for name, content in files(guide).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    for command in _GIT:
        subprocess.run(["git", *command.split()], cwd=folder, env=_environment(), check=True)


def run(command: str, folder: Path, aws: Mapping[str, str]) -> str:
    """What a command prints. ``aws``: the variables that lead it to an AWS."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**_environment(), **aws},
        # As in a terminal, warnings and the last lines, which go to standard error, are included.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


def _environment() -> dict[str, str]:
    sources = f"{ROOT}/constructs:{ROOT}/stacks"
    if find_spec("torch") is None:
        sources += f":{ROOT}/tests/support/without_torch"
    somebody = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {
        **os.environ,
        **somebody,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": sources,
    }
