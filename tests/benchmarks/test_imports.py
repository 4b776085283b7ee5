"""What everyday commands and apps do not import: imports are most of the time that one spec takes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.family import KINDS, family
from benchmarks.specs import spec_text, write_specs

ROOT = Path(__file__).parents[2]
FORBIDDEN = frozenset({"aws_cdk", "boto3", "botocore", "jsii"})

LISTING = """
import json, sys
from inferstack.cli import program
status = program()
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def imported(folder: Path, *arguments: str) -> frozenset[str]:
    """The modules that a command has imported at its end, which must be successful."""
    done = subprocess.run(
        [sys.executable, "-c", LISTING, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT / "constructs")},
        capture_output=True,
        text=True,
        check=True,
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status == 0, done.stdout
    return frozenset(modules)


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a spec of each kind."""
    folder = tmp_path_factory.mktemp("specs")
    for endpoint in family(len(KINDS)):
        (folder / f"{endpoint.kind}.yaml").write_text(spec_text(endpoint), encoding="utf-8")
    return folder


def command(name: str) -> tuple[str, ...]:
    files = tuple(f"{kind}.yaml" for kind in KINDS)
    return (name, *files, "--out", "rendered") if name == "render" else (name, *files)


@pytest.mark.parametrize("name", ["validate", "render", "list", "review"])
def test_a_command_imports_nothing_heavy_where_all_is_well(name: str, specs: Path) -> None:
    top = {module.partition(".")[0] for module in imported(specs, *command(name))}
    assert not top & FORBIDDEN


BUILDING = """
import json, sys
from inferstack_stacks import build_app
build_app("specs").synth()
print(json.dumps(sorted(sys.modules)))
"""


def test_an_app_imports_no_more_of_cdk_than_it_makes(tmp_path: Path) -> None:
    """A mere annotation can bring in `aws_ec2`, which takes longer than a dozen stacks."""
    write_specs(tmp_path / "specs", len(KINDS))
    done = subprocess.run(
        [sys.executable, "-c", BUILDING],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}/constructs:{ROOT}/stacks", "CDK_VALIDATION": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    modules = [it.split(".") for it in json.loads(done.stdout.splitlines()[-1])]
    of_cdk = {it[1] for it in modules if it[0] == "aws_cdk" and len(it) > 1}
    assert {it for it in of_cdk if it.startswith("aws_")} == set()
    assert "cloudformation_include" in of_cdk
