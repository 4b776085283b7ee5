"""Triton models of models that variants name: an A/B test has two archives, and everything applies to each."""

from pathlib import Path
from typing import Any

import pytest
from support.archiving import lay_out
from support.checking import check_file

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.resolve import resolve_template

NET = """{backend: python, max_batch_size: 8, dynamic_batching: {}, \
input: [{name: X, data_type: TYPE_FP32, dims: [1]}], \
output: [{name: Y, data_type: TYPE_FP32, dims: [1]}], files: {1/model.py: net.py}}"""
ENSEMBLE = """{platform: ensemble, max_batch_size: 8, input: [{name: X, data_type: TYPE_FP32, dims: [1]}], \
output: [{name: Y, data_type: TYPE_FP32, dims: [1]}], ensemble_scheduling: \
{step: [{model_name: net, model_version: -1, input_map: {X: X}, output_map: {Y: Y}}]}}"""
ONE = f"{{models: {{net: {NET}}}}}"
WITH_ENSEMBLE = f"{{models: {{net: {NET}, pipe: {ENSEMBLE}}}}}"
WIDER = ONE.replace("dims: [1]", "dims: [2]")


def spec(stable: str = ONE, candidate: str = ONE, kind: str = "single-model", url: str = "") -> str:
    def model(name: str, triton: str) -> str:
        return f"""\
  {name}:
    image: {{framework: triton, version: "24.09"}}
    model_data_url: {url or f"s3://acme-models/ab/{name}/model.tar.gz"}
{triton and f"    triton: {triton}"}
"""

    return f"""\
kind: {kind}
endpoint_name: ab
models:
{model("stable", stable)}{model("candidate", candidate)}\
variants:
  - &fleet {{variant_name: A, model_name: stable, instance_type: ml.m5.large, initial_instance_count: 1, initial_variant_weight: 9}}
  - {{<<: *fleet, variant_name: B, model_name: candidate, initial_variant_weight: 1}}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, {"net.py": "pass\n"})
    return Path("ab.yaml")


def found(file: Path) -> list[tuple[int, str]]:
    return [(it.line, it.code) for it in check_file(file) if it.severity == "error"]


def environments(file: Path) -> dict[str, dict[str, Any]]:
    template = resolve_template(load_spec(file).spec, region="us-east-1", source_of=str)
    models = {name: it for name, it in template["Resources"].items() if it["Type"] == "AWS::SageMaker::Model"}
    return {name: it["Properties"]["PrimaryContainer"]["Environment"] for name, it in models.items()}


def test_what_is_wrong_in_a_model_is_reported_where_it_stands(file: Path) -> None:
    file.write_text(spec(candidate=ONE.replace("max_batch_size: 8", "max_batch_size: -8")))
    assert {line for line, _ in found(file)} == {11}


@pytest.mark.parametrize("kind", ["single-model", "ensemble"])
def test_each_model_is_told_which_of_its_models_answers(file: Path, kind: str) -> None:
    file.write_text(spec(WITH_ENSEMBLE, WITH_ENSEMBLE.replace("pipe:", "other:"), kind))
    told = environments(file)
    assert [
        told[name]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] for name in ("ModelStable", "ModelCandidate")
    ] == [
        "pipe",
        "other",
    ]


def test_the_models_of_an_ensemble_each_have_one(file: Path) -> None:
    file.write_text(spec(WITH_ENSEMBLE, ONE, "ensemble"))
    assert found(file) == [(11, "IS255")]


def test_a_repository_at_the_top_is_for_models_without_their_own(file: Path) -> None:
    file.write_text(spec(stable="") + f"triton: {WITH_ENSEMBLE}\n")
    told = environments(file)
    assert told["ModelStable"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "pipe"
    assert told["ModelCandidate"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "net"


def test_a_model_with_its_own_repository_has_an_archive_for_it(file: Path) -> None:
    file.write_text(spec().replace("    model_data_url: s3://acme-models/ab/candidate/model.tar.gz\n", ""))
    assert found(file) == [(8, "IS258")]


def test_one_archive_cannot_hold_two_contents(file: Path) -> None:
    file.write_text(spec(ONE, WIDER, url="s3://acme-models/ab/model.tar.gz"))
    (problem,) = (it for it in check_file(file) if it.code == "IS259")
    assert problem.message.endswith(
        "has different models for the model `candidate` than for the model `stable`"
    )


@pytest.mark.parametrize("kind", ["multi-model", "pipeline"])
def test_other_kinds_are_told_where_to_write_it(file: Path, kind: str) -> None:
    file.write_text(spec(kind=kind))
    said = [it.fix for it in check_file(file) if it.code == "IS101" and "`triton`" in it.message]
    assert said == ["write it at the top of the spec, without indentation"] * 2


@pytest.fixture
def packed(file: Path) -> Path:
    file.write_text(spec(ONE, WITH_ENSEMBLE))
    assert main(["package", "ab.yaml"]) == 0
    return Path("packages/ab")


def test_each_model_gets_its_archive(packed: Path) -> None:
    names = sorted(path.relative_to(packed).as_posix() for path in packed.rglob("*.gz"))
    assert names == ["models/candidate/model.tar.gz", "models/stable/model.tar.gz"]


def test_a_check_judges_an_archive_by_the_model_that_is_named(
    packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = str((packed / "models/stable/model.tar.gz").rename("model.tar.gz"))
    assert main(["package", "ab.yaml", "--check", moved]) == 1
    assert (
        "could be for any of several models; add --model: `stable` or `candidate`" in capsys.readouterr().err
    )
    assert main(["package", "ab.yaml", "--model", "stable", "--check", moved]) == 0
    assert main(["package", "ab.yaml", "--model", "candidate", "--check", moved]) == 1
    assert 'IS917: the repository has no model "pipe"' in capsys.readouterr().out


WRONG_CHOICES = {
    "a slip": (
        "--model",
        "stabel",
        "there is no model `stabel`; did you mean `stable`? allowed: stable or candidate",
    ),
    "a component": (
        "--component",
        "stable",
        "no inference component `stable`; it is a model: write --model stable",
    ),
    "neither": (
        "--component",
        "other",
        "there is no inference component `other`; the spec has no components",
    ),
}


@pytest.mark.parametrize(("option", "name", "said"), WRONG_CHOICES.values(), ids=WRONG_CHOICES)
def test_what_does_not_exist_cannot_be_chosen(
    packed: Path, option: str, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["package", "ab.yaml", option, name, "--check", str(packed / "models/stable/model.tar.gz")]) == 1
    )
    assert said in capsys.readouterr().err


def body(*arguments: str) -> int:
    Path("x.json").write_text("[[2.0]]")
    return main(["body", "ab.yaml", "--input", "X=x.json", *arguments])


def test_a_request_that_fits_both_chooses_neither(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(spec())
    assert body() == 0
    assert "--target-variant" not in capsys.readouterr().out


def test_a_request_for_one_model_goes_to_its_variant(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(spec(candidate=WIDER))
    assert body() == 1
    assert (
        "which differ in their inputs or outputs, so no request fits all; add --model"
        in capsys.readouterr().err
    )
    assert body("--model", "stable") == 0
    assert "--target-variant A " in capsys.readouterr().out


def test_of_components_none_is_chosen_by_its_model(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = spec(kind="inference-components").partition("variants:")[0]
    needs = "compute_resource_requirements: {min_memory_required_in_mb: 1024}"
    text += "variant: {instance_type: ml.m5.large, initial_instance_count: 1}\ninference_components:\n"
    text += "".join(
        f"  ask-{it}: {{specification: {{model_name: {it}, {needs}}}}}\n" for it in ("stable", "candidate")
    )
    file.write_text(text)
    assert body("--model", "stable") == 1
    assert (
        "--model `stable`: choose by --component, since the model is run by `ask-stable`"
        in capsys.readouterr().err
    )
