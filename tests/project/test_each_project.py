"""A project of each kind with each CI system passes its checks at once, and has what the documentation has."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App

from inferstack.catalog import regions
from inferstack.check.files import check_files, spec_files
from inferstack.format.schema import published_schema_text
from inferstack.problems import Severity
from inferstack.project.answers import CHAT, CI_SYSTEMS, KIND_NAMES, STARTS, Answers
from inferstack.project.files import files_of
from inferstack.project.writing import write_all
from inferstack_stacks.endpoint_stack import add_stacks

ROOT = Path(__file__).parents[2]
PIPELINES = ROOT / "docs" / "pipelines"
GUIDE = (PIPELINES / "README.md").read_text("utf-8")
POLICY = "policies: [{metric: SageMakerVariantInvocationsPerInstance, target_value: 100}]"
SERVERLESS = "{memory_size_in_mb: 2048, max_concurrency: 5}"
EACH = [*((kind, ci) for kind in KIND_NAMES for ci in CI_SYSTEMS), (CHAT, "none")]


@pytest.mark.parametrize(("kind", "ci"), EACH)
def test_it_validates_is_synthesized_and_passes_its_own_test(kind: str, ci: str, init: Any) -> None:
    folder = init(ci, kind=kind)
    specs = spec_files(folder / "model_specs")
    assert check_files(specs) == []
    host = "inference-components" if kind == CHAT else kind
    assert [yaml.safe_load(it.read_text("utf-8"))["kind"] for it in specs] == [host]
    for stage in ("test", "prod"):
        (stack,) = add_stacks(App(), folder / "model_specs", stage=stage)
        assert stack.stack_name == f"{specs[0].stem}-{stage}"
    assert own_test(folder) == (2, [])


def own_test(folder: Path) -> tuple[int, list[Any]]:
    """How many tests of the project's ran, and what failed."""
    spec = importlib.util.spec_from_file_location("test_stacks", folder / "tests" / "test_stacks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    return result.testsRun, [*result.failures, *result.errors]


@pytest.mark.parametrize(
    ("was", "now", "fails"),
    [
        ("count: 2}}", "count: 1}}", True),
        ("count: 2}}", "count: 1}, autoscaling: {min_capacity: 2, max_capacity: 4, " + POLICY + "}}", False),
        ("count: 2}}", "count: 2}, autoscaling: {min_capacity: 1, max_capacity: 4, " + POLICY + "}}", True),
        (
            "{instance_type: ml.m5.large, initial_instance_count: 1}",
            "{serverless_config: " + SERVERLESS + "}",
            False,
        ),
        (
            "prod:",
            "prod: {endpoint_config: {async_inference_config: {output_config: {s3_output_path: s3://acme-models/x}}}} #",
            False,
        ),
    ],
    ids=["one instance", "two by scaling", "one by scaling", "serverless", "asynchronous"],
)
def test_its_own_test_is_right_for_every_shape(was: str, now: str, fails: bool, init: Any) -> None:
    folder = init()
    (spec,) = spec_files(folder / "model_specs")
    text = spec.read_text("utf-8").replace(was, now)
    if "serverless" in now:
        text = text.replace("prod: {variant: {initial_instance_count: 2}}", "prod: {}")
    spec.write_text(text, "utf-8")
    assert [it for it in check_files([spec]) if it.severity is Severity.ERROR] == []
    ran, failed = own_test(folder)
    assert (ran, len(failed)) == (2, int(fails)), failed


@pytest.mark.parametrize("file", spec_files(ROOT / "tests" / "shapes"), ids=lambda file: file.stem)
def test_its_own_test_has_an_answer_for_every_spec(file: Path, init: Any) -> None:
    folder = init()
    (spec,) = spec_files(folder / "model_specs")
    text = file.read_text("utf-8")
    if "\nstages:" not in text:
        text += "\nstages: {test: {}, prod: {}}\n"
    spec.write_text(text, "utf-8")
    ran, failed = own_test(folder)
    assert ran == 2
    assert all("prod needs a second instance" in message for _, message in failed), failed


def test_its_own_test_can_fail(init: Any) -> None:
    folder = init()
    (spec,) = spec_files(folder / "model_specs")
    spec.write_text(spec.read_text("utf-8").replace("count: 2", "count: 1"), "utf-8")
    assert len(own_test(folder)[1]) == 1


def test_its_own_test_runs_as_its_readme_says(init: Any) -> None:
    folder = init()
    (line,) = re.findall(
        r"^python (-m unittest .*)$", (folder / "README.md").read_text("utf-8"), re.MULTILINE
    )
    paths = os.pathsep.join((f"{ROOT}/constructs", f"{ROOT}/stacks"))
    done = subprocess.run(
        [sys.executable, *line.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, "Ran 2 tests" in done.stderr) == (0, True), done.stderr


@pytest.mark.parametrize(("kind", "ci"), EACH)
def test_no_mark_is_left_and_every_file_is_of_its_format(kind: str, ci: str) -> None:
    for path, text in files_of(Answers(kind, "eu-west-1", ci)).items():
        assert "@{" not in text, path
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        match path.rpartition(".")[2]:
            case "json":
                json.loads(text)
            case "yaml" | "yml" if not path.startswith("ci/"):
                yaml.safe_load(text)
            case "py":
                compile(text, path, "exec")


@pytest.mark.parametrize("kind", STARTS)
def test_in_any_region_only_what_the_region_lacks_is_wrong(kind: str, tmp_path: Path) -> None:
    """An image, or inference components altogether."""
    for region in regions.names():
        files = files_of(Answers(kind, region, "github"))
        of_spec = {path: text for path, text in files.items() if path.startswith("model_specs/")}
        write_all(tmp_path / region, of_spec, ())
        found = check_files(spec_files(tmp_path / region / "model_specs"))
        assert {it.code for it in found} <= {"IS701", "IS450"}, region


# ---------------------------------------------------------------- one source for each fact


# The rights in the second are for whoever measures models, by hand.
NOT_OF_A_PIPELINE = {"README.md", "recommend-policy.json"}


def test_its_pipeline_files_are_those_of_the_documentation() -> None:
    found = {
        path.removesuffix(".in")
        for ci in CI_SYSTEMS
        for path, text in files_of(Answers("pipeline", "us-east-1", ci)).items()
        for file in PIPELINES.rglob(Path(path).name)
        if file.read_text("utf-8") == text
    }
    documented = {file.name for file in PIPELINES.rglob("*") if file.is_file()}
    assert documented - {Path(it).name for it in found} == NOT_OF_A_PIPELINE


MINE = {
    "region": ("us-east-1", "eu-west-1"),
    "account": ("111122223333", "222233334444"),
    "bucket": ("acme-models", "our-bucket"),
    "repository": ("acme@1234567/models@123456789", "ours@1/endpoints@2"),
}
"""What the documentation says, and what a user says."""


@pytest.mark.parametrize("ci", CI_SYSTEMS)
def test_only_what_the_user_says_differs_from_the_documentation(ci: str) -> None:
    here = files_of(Answers("pipeline", "us-east-1", ci))
    mine = {key: said for key, (_, said) in MINE.items()}
    there = files_of(Answers("pipeline", ci=ci, **mine))
    pairs = [*MINE.values(), ("acme/models", "ours/endpoints")]
    for path in here.keys() - {"inferstack.schema.json", "requirements.txt"}:
        wanted = here[path]
        for documented, said in pairs:
            wanted = wanted.replace(documented, said)
        assert there[path] == wanted, path
        assert not [it for it, _ in pairs if it in wanted], path


@pytest.mark.parametrize("kind", STARTS)
def test_the_spec_its_endpoint_and_its_archives_have_the_name_that_is_asked_for(kind: str) -> None:
    files = files_of(Answers(kind, "us-east-1", "github", name="our-net"))
    assert [it for it in files if it.endswith(".yaml") and "specs/" in it] == ["model_specs/our-net.yaml"]
    spec = yaml.safe_load(files["model_specs/our-net.yaml"])
    assert spec["endpoint_name"] == "our-net-${stage}"
    example = files_of(Answers(kind, "us-east-1", "github"))
    [theirs] = (Path(it).stem for it in example if it.endswith(".yaml") and "specs/" in it)
    assert not re.search(rf"\b(deploy|diff|destroy) {theirs}-", files["README.md"])
    assert f"s3://acme-models/{theirs}/" not in files["model_specs/our-net.yaml"]


@pytest.mark.parametrize("ci", CI_SYSTEMS)
def test_what_its_readme_says_about_pipelines_is_what_the_documentation_says(ci: str) -> None:
    readme = files_of(Answers("pipeline", "us-east-1", ci))["README.md"]
    lines = [it.strip() for it in readme.splitlines() if it.strip().startswith("aws iam ")]
    assert all(line.replace("trust-gitlab", "trust-github") in GUIDE for line in lines)
    assert (len(lines) > 0) == (ci != "none")
    assert all(name in GUIDE for name in re.findall(r"`([A-Z]+_[A-Z_]+)`", readme))


def test_it_has_the_schema_and_the_cli_of_this_version() -> None:
    files = files_of(Answers("pipeline", "us-east-1", "none"))
    assert files["inferstack.schema.json"] == published_schema_text()
    ours = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    assert json.loads(files["package.json"])["devDependencies"] == {"aws-cdk": ours["aws-cdk"]}
    lock = json.loads(files["package-lock.json"])["packages"]
    assert lock["node_modules/aws-cdk"]["version"] == ours["aws-cdk"]
    assert (
        lock["node_modules/aws-cdk"]
        == json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]["node_modules/aws-cdk"]
    )


def test_pre_commit_accepts_its_configuration(init: Any) -> None:
    program = (Path(sys.executable).parent / "pre-commit", "validate-config", ".pre-commit-config.yaml")
    done = subprocess.run(program, cwd=init(), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
