"""What everyday commands import when nothing is wrong: exact lists, since imports are most of their time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.family import KINDS, family
from benchmarks.specs import spec_text, write_specs

ROOT = Path(__file__).parents[2]
FORBIDDEN = frozenset(
    {
        "aws_cdk",
        "boto3",
        "botocore",
        "jsii",
        "jsonschema",
        "attrs",
        "referencing",
        "multiprocessing",
        "concurrent",
    }
)
# Modules of the standard library and of dependencies; lower these numbers when possible.
MOST_FOREIGN_MODULES = {"validate": 146, "render": 149}

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


@pytest.mark.parametrize("name", ["validate", "render"])
def test_a_command_imports_nothing_heavy_where_all_is_well(name: str, specs: Path) -> None:
    top = {module.partition(".")[0] for module in imported(specs, *command(name))}
    assert not top & FORBIDDEN


@pytest.mark.parametrize("name", ["validate", "render"])
def test_only_a_spec_with_triton_models_brings_protobuf(name: str, specs: Path) -> None:
    without = "inference-components.yaml"
    assert "triton:" not in (specs / without).read_text("utf-8")
    of_triton = {"google.protobuf", "inferstack.triton.rules", "inferstack.triton.repository.of_spec"}
    assert not imported(specs, name, without) & of_triton
    assert imported(specs, name, "ensemble.yaml") >= of_triton


@pytest.mark.parametrize("name", ["validate", "render"])
def test_models_in_a_spec_bring_the_half_of_protobuf_that_is_in_c(name: str, specs: Path) -> None:
    half_in_python = {
        f"google.protobuf.{module}" for module in ("descriptor_pool", "descriptor_pb2", "text_format")
    }
    assert not imported(specs, *command(name)) & half_in_python


@pytest.mark.parametrize("name", ["validate", "render"])
def test_only_a_file_that_takes_care_brings_the_careful_reader(name: str, specs: Path) -> None:
    careful = "inferstack.spec.reading.compose"
    assert careful not in imported(specs, *command(name))
    text = (specs / "inference-components.yaml").read_text("utf-8")
    (specs / "anchored.yaml").write_text(text.replace("env: {", "env: &here {"), "utf-8")
    assert careful in imported(specs, name, "anchored.yaml")


def test_validate_does_not_bring_the_making_of_templates(specs: Path) -> None:
    assert "inferstack.resolve" not in imported(specs, *command("validate"))


@pytest.mark.parametrize("name", ["validate", "render"])
def test_only_explain_brings_examples(name: str, specs: Path) -> None:
    module = "inferstack.spec.examples"
    assert module not in imported(specs, *command(name))
    assert module in imported(specs, "explain", "IS500")


@pytest.mark.parametrize("name", ["validate", "render"])
def test_msgspec_does_without_what_typing_has_itself(name: str, specs: Path) -> None:
    assert not imported(specs, *command(name)) & {"typing_extensions", "inspect"}


@pytest.mark.parametrize("name", ["validate", "render"])
def test_a_command_brings_no_other(name: str, specs: Path) -> None:
    others = {"body", "explain", "package", "rehearse", "render", "schema", "validate"} - {name}
    assert not imported(specs, *command(name)) & {f"inferstack.cli.{other}" for other in others}


def test_only_the_format_that_is_asked_for_is_brought(specs: Path) -> None:
    module = "inferstack.spec.report.sarif"
    assert module not in imported(specs, *command("validate"))
    assert module in imported(specs, *command("validate"), "--format", "sarif")


@pytest.mark.parametrize("name", ["validate", "render"])
def test_a_command_imports_no_more_modules_than_it_did(name: str, specs: Path) -> None:
    foreign = {it for it in imported(specs, *command(name)) if it.partition(".")[0] != "inferstack"}
    assert len(foreign) <= MOST_FOREIGN_MODULES[name], sorted(foreign)


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
