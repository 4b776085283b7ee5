"""What a release is made of: its version, its changelog. `make test-release` builds it twice and installs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.release_notes import CHANGELOG, notes

ROOT = Path(__file__).parents[2]


def git(folder: Path, *words: str) -> None:
    names = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def version(folder: Path) -> str:
    """The version that a build of this folder would have."""
    command = (sys.executable, "-m", "hatchling", "version")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is no clone yet, with all that a version is made from."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("tags", "commits_since", "expected"),
    [
        ([], 0, r"0\.1\.dev1\+g[0-9a-f]+"),
        (["v0.1.0"], 0, r"0\.1\.0"),
        (["v1.2.3rc1"], 0, r"1\.2\.3rc1"),
        (["v0.1.0"], 1, r"0\.1\.1\.dev1\+g[0-9a-f]+"),
    ],
)
def test_the_version_is_that_of_the_tag(
    tags: list[str], commits_since: int, expected: str, project: Path
) -> None:
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=first")
    for tag in tags:
        git(project, "tag", tag)
    for _ in range(commits_since):
        git(project, "commit", "--quiet", "--allow-empty", "--message=more")
    assert re.fullmatch(expected, version(project))


def test_a_folder_without_history_builds_too(project: Path) -> None:
    assert version(project) == "0.1.dev0"


def test_an_sdist_says_its_version_itself(project: Path) -> None:
    (project / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: inferstack\nVersion: 4.5.6\n", "utf-8")
    assert version(project) == "4.5.6"


def test_a_pull_request_is_tested_by_all_that_must_hold() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    jobs = workflow["jobs"]["make"]["strategy"]["matrix"]["target"]
    run = (ROOT / ".ci" / "run").read_text("utf-8")
    assert sorted(jobs) == sorted(re.findall(r"^\s*make ([\w-]+)", run, re.MULTILINE))
    # What is in it was written by strangers.
    assert workflow[True] == {"pull_request": None, "push": {"branches": ["main"]}}
    assert (workflow["permissions"], workflow["jobs"]["make"]["permissions"]) == ({}, {"contents": "read"})
    assert "secrets." not in str(workflow)


def test_a_release_says_where_it_comes_from(tmp_path: Path) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    [step] = [
        it["run"] for it in workflow["jobs"]["build"]["steps"] if it.get("name") == "Compare the address"
    ]
    own = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/inferstack"}
    for address, status in (
        ("https://github.com/acme/inferstack", 0),
        ("https://github.com/other/inferstack", 1),
    ):
        (tmp_path / "pyproject.toml").write_text(f'[project.urls]\nRepository = "{address}"\n', "utf-8")
        done = subprocess.run(["bash", "-c", step], cwd=tmp_path, env={**os.environ, **own}, check=False)
        assert done.returncode == status


CHANGES = """\
# Changelog

## [Unreleased]

## [1.2.0] - 2026-11-23

### Added

- More.

## [1.1.0] - 2026-10-01

- Less.

[1.2.0]: https://example.com
"""


def test_the_notes_of_a_release_are_its_part_of_the_changelog() -> None:
    assert notes("v1.2.0", CHANGES) == "### Added\n\n- More."
    assert notes("v1.1.0", CHANGES) == "- Less."


@pytest.mark.parametrize("tag", ["v1.2", "v1.3.0", "v1.2x0", "vUnreleased"])
def test_a_release_that_the_changelog_does_not_know_fails(tag: str) -> None:
    with pytest.raises(SystemExit, match="has no section"):
        notes(tag, CHANGES)


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    headings = re.findall(r"^##? .*", CHANGELOG.read_text("utf-8"), re.MULTILINE)
    assert headings[:2] == ["# Changelog", "## [Unreleased]"]
