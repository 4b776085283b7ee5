"""The skill for coding agents: its form, and that everything in it still works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from inferstack.cli.arguments import parse
from tools.skill import COMMANDS, FOLDER, SKILL

TEXT = SKILL.read_text("utf-8")


def test_it_is_a_skill() -> None:
    """By the reference implementation of https://agentskills.io/specification."""
    program = (Path(sys.executable).parent / "agentskills", "validate", FOLDER)
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"`(inferstack [^`]+)`", TEXT)) - {"inferstack COMMAND --help"})
)
def test_a_command_in_it_is_one_of_the_program(command: str) -> None:
    assert callable(parse(shlex.split(command)[1:]).run)


@pytest.mark.parametrize("part", ["validate --against", "package --upload", "prices update"])
def test_a_part_of_a_command_in_it_is_in_the_reference(part: str) -> None:
    assert f"`{part}`" in TEXT
    name, word = part.split()
    section = COMMANDS.read_text("utf-8").partition(f"## inferstack {name}\n")[2].partition("\n## ")[0]
    assert word in section


def test_an_agent_reads_little_before_it_starts() -> None:
    """The specification recommends fewer than 500 lines and 5,000 tokens."""
    assert len(TEXT.splitlines()) < 150
    assert len(TEXT) < 10_000


def test_it_names_every_command_and_status() -> None:
    assert [f"| {it} |" in TEXT for it in (0, 1, 2, 70, 130, 141)] == [True] * 6
    named = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert named == re.findall(r"^## inferstack (\w+)$", COMMANDS.read_text("utf-8"), re.MULTILINE)
