"""Triton models of SageMaker models that components name: each model has its own, and everything applies to each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.archiving import lay_out
from support.checking import check_file

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.resolve import resolve_template
from inferstack.triton.repositories import repositories_of

IO = "input: [{name: X, data_type: TYPE_FP32, dims: [1]}], output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]"
NET = f"{{net: {{backend: python, {IO}, files: {{1/model.py: net.py}}}}}}"
STEP = "{model_name: net, model_version: -1, input_map: {X: X}, output_map: {Y: Y}}"
PIPE = f"{NET[:-1]}, pipe: {{platform: ensemble, {IO}, ensemble_scheduling: {{step: [{STEP}]}}}}}}"
ON_SECOND = NET.replace("backend", "instance_group: [{kind: KIND_GPU, gpus: [1]}], backend")
HEAD = """\
kind: inference-components
endpoint_name: several
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 1, inference_ami_version: al2-ami-sagemaker-inference-gpu-3-1}
"""


def model(name: str, triton: str, version: str = "24.09", environment: str = "{}", url: str = "") -> str:
    return f"""\
  {name}:
    image: {{framework: triton, version: "{version}"}}
    model_data_url: {url or f"s3://acme-models/{name}/v1/model.tar.gz"}
    environment: {environment}
    triton: {triton}
"""


def run(component: str, model: str, devices: int = 1) -> str:
    needs = f"{{number_of_accelerator_devices_required: {devices}, min_memory_required_in_mb: 1024}}"
    return (
        f"  {component}: {{specification: {{model_name: {model}, compute_resource_requirements: {needs}}}}}\n"
    )


def spec(models: Mapping[str, str], runs: str = "") -> str:
    """A spec of models with a repository each; component `ask-NAME` runs each model unless another text is given."""
    asked = runs or "".join(run(f"ask-{name}", name) for name in models)
    return f"{HEAD}models:\n{''.join(models.values())}inference_components:\n{asked}"


def of(**tritons: str) -> dict[str, str]:
    return {name: model(name, triton) for name, triton in tritons.items()}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, {"net.py": "pass\n"})
    return Path("several.yaml")


def found(file: Path) -> set[tuple[int, str]]:
    return {(it.line, it.code) for it in check_file(file)}


def resources(file: Path, stage: str | None = None) -> dict[str, Any]:
    template = resolve_template(load_spec(file, stage=stage).spec, region="us-east-1", source_of=str)
    return {name: it["Properties"] for name, it in template["Resources"].items()}


def default_of(file: Path, name: str, stage: str | None = None) -> str:
    environment = resources(file, stage)[f"Model{name}"]["PrimaryContainer"]["Environment"]
    return str(environment["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"])


def archives(file: Path) -> list[str]:
    return [it.archive for it in repositories_of(load_spec(file).spec, Path())]


def test_what_is_wrong_in_a_model_is_reported_where_it_stands(file: Path) -> None:
    wrong = "\n      models:\n        net: {backend: python, max_batch_size: -1, " + f"{IO}}}"
    file.write_text(spec(of(fine=f"{{models: {NET}}}", bad=wrong)))
    assert found(file) == {(16, "IS911"), (16, "IS922")}


def test_each_model_is_held_against_its_own_image(file: Path) -> None:
    newer = f"{{models: {NET.replace('backend:', 'model_metrics: {}, backend:')}}}"
    file.write_text(spec({"new": model("new", newer, "25.09"), "old": model("old", newer)}))
    assert {it for it in found(file) if it[1] == "IS970"} == {(14, "IS970")}


def test_each_model_is_held_against_its_own_environment(file: Path) -> None:
    other = "{SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: other}"
    triton = f"{{models: {NET}}}"
    file.write_text(spec({"a": model("a", triton), "b": model("b", triton, environment=other)}))
    assert found(file) == {(13, "IS916")}


@pytest.mark.parametrize(
    ("runs", "wrong"),
    [
        (run("small", "net") + run("large", "net", 2), True),
        (run("large", "net", 2) + run("other", "net", 2), False),
    ],
)
def test_a_model_has_the_gpus_that_every_component_reserves_which_runs_it(
    file: Path, runs: str, *, wrong: bool
) -> None:
    file.write_text(spec(of(net=f"{{models: {ON_SECOND}}}"), runs))
    assert found(file) == ({(9, "IS931")} if wrong else set())


def test_each_model_is_told_which_of_its_models_answers(file: Path) -> None:
    file.write_text(
        spec(
            of(
                one=f"{{models: {NET}}}",
                two=f"{{models: {PIPE}}}",
                three=f"{{default_model: net, models: {PIPE}}}",
            )
        )
    )
    assert [default_of(file, name) for name in ("One", "Two", "Three")] == ["net", "pipe", "net"]
    # A component that names a model does not describe a container.
    specifications = [
        it["Specification"] for it in resources(file).values() if "InferenceComponentName" in it
    ]
    assert [it["ModelName"] for it in specifications] == [
        {"Fn::GetAtt": [f"Model{name}", "ModelName"]} for name in ("One", "Two", "Three")
    ]


def test_the_template_has_nothing_of_the_block_itself(file: Path) -> None:
    file.write_text(spec(of(net=f"{{models: {NET}}}")))
    model = resources(file)["ModelNet"]
    assert set(model) == {"ExecutionRoleArn", "PrimaryContainer"}
    assert set(model["PrimaryContainer"]) == {"Image", "ModelDataUrl", "Environment"}


def test_a_stage_changes_the_models_of_a_model(file: Path) -> None:
    stages = "stages: {prod: {models: {net: {triton: {default_model: net}}}}}\n"
    file.write_text(spec(of(net=f"{{models: {PIPE}}}")) + stages)
    assert (default_of(file, "Net"), default_of(file, "Net", "prod")) == ("pipe", "net")
    file.write_text(file.read_text().replace("default_model: net", "default_model: hole"))
    assert (12, "IS253") in found(file)


def test_an_archive_is_named_by_its_model_and_its_url(file: Path) -> None:
    url = "s3://acme-models/nets/net-7.tar.gz"
    triton = f"{{models: {NET}}}"
    file.write_text(spec({"a": model("a", triton), "b": model("b", triton, url=url)}))
    assert archives(file) == ["models/a/model.tar.gz", "models/b/net-7.tar.gz"]


def component(name: str, url: str = "") -> str:
    """A component with a repository in a container of its own."""
    return f"""\
  {name}:
    specification:
      container:
        image: {{framework: triton, version: "24.09"}}
        artifact_url: {url or f"s3://acme-models/{name}/c/model.tar.gz"}
        triton: {{models: {NET}}}
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}}
"""


def test_a_model_and_a_component_of_one_name_have_an_archive_each(file: Path) -> None:
    file.write_text(spec(of(net=f"{{models: {PIPE}}}"), run("asks", "net") + component("net")))
    assert found(file) == set()
    assert archives(file) == ["models/net/model.tar.gz", "net/model.tar.gz"]


def test_a_model_and_a_component_with_the_same_archive_share_it(file: Path) -> None:
    runs = run("asks", "net") + component("other", "s3://acme-models/net/v1/model.tar.gz")
    file.write_text(spec(of(net=f"{{models: {NET}}}"), runs))
    assert found(file) == set()
    assert archives(file) == ["models/net/model.tar.gz"]


def test_a_repository_at_the_top_is_for_models_without_their_own(file: Path) -> None:
    without = {"b": model("b", "{}").replace("    triton: {}\n", "")}
    file.write_text(f"{spec(of(a=f'{{models: {NET}}}') | without)}triton: {{models: {PIPE}}}\n")
    assert (default_of(file, "A"), default_of(file, "B")) == ("net", "pipe")
    assert archives(file) == ["model.tar.gz", "models/a/model.tar.gz"]


URL = "    model_data_url: s3://acme-models/net/v1/model.tar.gz\n"
PLAIN = "{s3_uri: s3://acme-models/net/, s3_data_type: S3Prefix, compression_type: None}"
WITHOUT_ARCHIVE = {
    "nothing": ("", "add `model_data_url`, the URL for the archive that `inferstack package` makes"),
    "plain files": (
        f"    model_data_source: {{s3_data_source: {PLAIN}}}\n",
        "write `model_data_url` instead of `model_data_source`, the URL for the archive that `inferstack package` makes",
    ),
    "a model package": (
        "    model_package_name: net\n",
        "write `model_data_url` instead of `model_package_name`, ",
    ),
}


@pytest.mark.parametrize(("files", "said"), WITHOUT_ARCHIVE.values(), ids=WITHOUT_ARCHIVE)
def test_a_model_without_an_archive_is_told_where_one_comes_from(file: Path, files: str, said: str) -> None:
    file.write_text(spec(of(net=f"{{models: {NET}}}")).replace(URL, files))
    (fix,) = (it.fix for it in check_file(file) if it.code == "IS258")
    assert fix.startswith(said)


def test_two_contents_of_an_archive_are_told_apart_by_who_loads_them(file: Path) -> None:
    runs = run("asks", "net") + component("net", "s3://acme-models/net/v1/model.tar.gz")
    file.write_text(spec(of(net=f"{{models: {PIPE}}}"), runs))
    (problem,) = check_file(file)
    assert problem.message.endswith("has different models for `net` than for the model `net`")


@pytest.fixture
def packed(file: Path) -> Path:
    file.write_text(spec(of(a=f"{{models: {NET}}}", b=f"{{models: {PIPE}}}")))
    assert main(["package", "several.yaml"]) == 0
    return Path("packages/several")


def test_each_model_gets_its_archive(packed: Path) -> None:
    names = sorted(path.relative_to(packed).as_posix() for path in packed.rglob("*.gz"))
    assert names == ["models/a/model.tar.gz", "models/b/model.tar.gz"]


def test_a_check_judges_an_archive_by_the_model_of_its_path(packed: Path) -> None:
    both = [f"{packed}/models/{name}/model.tar.gz" for name in "ab"]
    assert main(["package", "several.yaml", "--check", *both]) == 0


def test_a_check_tells_a_model_from_a_component_of_its_name(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(spec(of(net=f"{{models: {PIPE}}}"), run("asks", "net") + component("net")))
    assert main(["package", "several.yaml"]) == 0
    both = ["packages/several/models/net/model.tar.gz", "packages/several/net/model.tar.gz"]
    assert main(["package", "several.yaml", "--check", *both]) == 0
    Path(both[1]).replace(both[0])
    assert main(["package", "several.yaml", "--check", both[0]]) == 1
    assert 'IS917: the repository has no model "pipe"' in capsys.readouterr().out


def test_a_check_judges_an_archive_by_the_component_that_runs_the_model(
    packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = (packed / "models/a/model.tar.gz").rename("model.tar.gz")
    assert main(["package", "several.yaml", "--component", "ask-a", "--check", str(moved)]) == 0
    assert main(["package", "several.yaml", "--component", "ask-b", "--check", str(moved)]) == 1
    assert 'IS917: the repository has no model "pipe"' in capsys.readouterr().out


UNCLEAR = {
    "no component": ((), "", "model.tar.gz could be for any of several components; add --component: `ask-a` or `ask-b`"),
    "a model": (
        ("--component", "b"), "", "there is no inference component `b`; it is a model, run by `ask-b`"
    ),
    "a model that nobody runs": (
        ("--component", "a"), run("one", "b"), "`a`; it is a model, run by no component"
    ),
    "none of the two": (("--component", "c"), "", "there is no inference component `c`; allowed: ask-a or ask-b"),
    "models that nobody runs": (
        (), run("one", "exists"), "model.tar.gz could be any of `models/a/model.tar.gz` or `models/b/model.tar.gz`"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "runs", "said"), UNCLEAR.values(), ids=UNCLEAR)
def test_a_check_does_not_guess(
    packed: Path, arguments: tuple[str, ...], runs: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("several.yaml").write_text(spec(of(a=f"{{models: {NET}}}", b=f"{{models: {PIPE}}}"), runs))
    (packed / "models/a/model.tar.gz").rename("model.tar.gz")
    assert main(["package", "several.yaml", *arguments, "--check", "model.tar.gz"]) == 1
    assert said in capsys.readouterr().err


def test_a_component_with_models_for_its_instance_types_is_told_of_their_archives(
    packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs = "compute_resource_requirements: {min_memory_required_in_mb: 1024}"
    types = "".join(
        f"      - {{instance_type: {name}, model_name: {model}, {needs}}}\n"
        for name, model in (("ml.g5.12xlarge", "a"), ("ml.g6.12xlarge", "b"))
    )
    pools = "[{instance_type: ml.g5.12xlarge, priority: 1}, {instance_type: ml.g6.12xlarge, priority: 2}]"
    text = (
        Path("several.yaml")
        .read_text()
        .replace("instance_type: ml.g5.12xlarge", f"instance_pools: {pools}", 1)
    )
    Path("several.yaml").write_text(text[: text.index("  ask-a")] + f"  one:\n    specifications:\n{types}")
    (packed / "models/a/model.tar.gz").rename("model.tar.gz")
    assert main(["package", "several.yaml", "--component", "one", "--check", "model.tar.gz"]) == 1
    assert "could be any of `models/a/model.tar.gz` or `models/b/model.tar.gz`" in capsys.readouterr().err
