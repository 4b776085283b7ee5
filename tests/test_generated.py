"""What is generated is up to date, can be made again from nothing, and whoever changes it learns what to run."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools import code_list, generate
from tools.generate import LINES_SHOWN, TABLE, USUAL, differences, main
from tools.generated_files import ROOT, Contents

MADE_FROM = ("constructs", "docs", "model_specs", "skills", "tests", "tools")
MADE_FROM_FILES = (".pre-commit-hooks.yaml", "package.json", "package-lock.json")


@cache
def contents(name: str) -> Contents:
    return TABLE[name].make()


@pytest.mark.parametrize("name", USUAL)
def test_what_is_committed_is_what_is_generated(name: str) -> None:
    assert "\n".join(differences(contents(name))) == "", f"run: python -m tools.generate {name}"
    commands = re.findall(r"python -m tools\.generate (\w+)", str([*contents(name).values()]))
    assert {*commands} <= {name}


def test_everything_can_be_made_again_from_nothing(tmp_path: Path) -> None:
    """A wrong order of the table fails here: what is made from what is not there yet."""
    for name in MADE_FROM:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in MADE_FROM_FILES:
        shutil.copy(ROOT / name, tmp_path)
    files = [path.relative_to(ROOT) for name in USUAL for path in contents(name)]
    for file in files:
        (tmp_path / file).unlink()
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'constructs'}"}
    done = subprocess.run(
        [sys.executable, "-m", "tools.generate"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [it for it in files if (tmp_path / it).read_bytes() != (ROOT / it).read_bytes()] == []


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of codes, for tests to change."""
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(code_list, "PAGE", tmp_path / "docs" / "codes.md")
    return tmp_path / "docs" / "codes.md"


def test_what_is_out_of_date_is_named_and_mended(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codes"]) == 0
    assert capsys.readouterr().out == "wrote docs/codes.md\n"
    committed = page.read_text("utf-8")
    page.write_text(committed.replace("# Codes\n", "# Kodes\n"), "utf-8")
    assert main(["--check", "codes"]) == 1
    assert capsys.readouterr().out == (
        "docs/codes.md is out of date:\n  -# Kodes\n  +# Codes\n"
        "To take this over, run: python -m tools.generate codes\n"
    )
    assert page.read_text("utf-8") != committed
    assert main(["codes"]) == 0
    assert main(["--check", "codes"]) == 0
    assert page.read_text("utf-8") == committed


def test_a_long_difference_is_cut_short(page: Path) -> None:
    [paragraph] = differences(code_list.generate())
    assert len(paragraph.splitlines()) == LINES_SHOWN + 2
    assert paragraph.endswith("more lines")


@pytest.mark.parametrize("words", [["kodes"], ["--check", "grids"]])
def test_what_cannot_be_made_or_checked_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert words[-1] in capsys.readouterr().err
