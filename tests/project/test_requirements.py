"""The versions that a project is pinned to."""

import json
from collections.abc import Callable
from importlib.metadata import DistributionFinder, MetadataPathFinder, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from inferstack.project import requirements as module
from inferstack.project.requirements import requirements

Environment = Callable[..., None]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An environment with these packages, each given as ``name=[version, requirement, …]``."""

    def environment(source: dict[str, Any] | None = None, **packages: list[str]) -> None:
        for name, (version, *needs) in packages.items():
            folder = tmp_path / f"{name}-{version}.dist-info"
            folder.mkdir()
            lines = [
                "Metadata-Version: 2.1",
                f"Name: {name}",
                f"Version: {version}",
                *(f"Requires-Dist: {it}" for it in needs),
            ]
            (folder / "METADATA").write_text("\n".join(lines), "utf-8")
            if name == "inferstack" and source is not None:
                (folder / "direct_url.json").write_text(json.dumps(source), "utf-8")
        monkeypatch.setattr(module, "distribution", by_name)

    def by_name(name: str) -> Any:
        found = list(MetadataPathFinder.find_distributions(_context(name, tmp_path)))
        if not found:
            raise PackageNotFoundError(name)
        return found[0]

    return environment


def _context(name: str, folder: Path) -> Any:
    return DistributionFinder.Context(name=name, path=[str(folder)])


def lines(extra: str | None = None) -> list[str]:
    return [it for it in requirements(extra).splitlines() if not it.startswith("#")]


def test_it_has_what_is_needed_and_installed_and_nothing_else(environment: Environment) -> None:
    environment(
        inferstack=["1.2.3", "Some_Lib>=1,<2", 'winonly>=1; os_name == "nt"', "boto3>=1; extra == 'aws'"],
        some_lib=["1.5", "deep[fast]~=3.0"],
        deep=["3.1", "some-lib"],
        boto3=["1.44"],
        pytest=["9"],
    )
    assert lines() == ["inferstack==1.2.3", "deep==3.1", "some-lib==1.5"]
    assert lines("aws") == ["inferstack[aws]==1.2.3", "boto3==1.44", "deep==3.1", "some-lib==1.5"]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (None, ["inferstack==1.0"]),
        (
            {"url": "https://git.example.com/x", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            ["inferstack @ git+https://git.example.com/x@abc"],
        ),
        (
            {"url": "https://example.com/inferstack-1.0-py3-none-any.whl", "archive_info": {}},
            ["inferstack @ https://example.com/inferstack-1.0-py3-none-any.whl"],
        ),
        (
            {"url": "file:///home/me/inferstack", "dir_info": {"editable": True}},
            ["inferstack @ file:///home/me/inferstack"],
        ),
        (
            {"url": "file:///tmp/inferstack-1.0-py3-none-any.whl", "archive_info": {}},
            ["inferstack @ file:///tmp/inferstack-1.0-py3-none-any.whl"],
        ),
    ],
)
def test_inferstack_is_installed_from_where_it_came(
    source: Any, line: list[str], environment: Environment
) -> None:
    environment(source, inferstack=["1.0"])
    assert lines() == line
    assert lines("aws") == [it.replace("inferstack", "inferstack[aws]", 1) for it in line]
    # CI has not what is on this machine.
    assert ("came from this machine" in requirements()) == ("file:" in line[0])


def test_sources_that_are_not_installed_have_no_versions(environment: Environment) -> None:
    environment()
    assert lines() == []
