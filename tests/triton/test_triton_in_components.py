"""Triton models in the containers of inference components: each has its own, and everything applies to each."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
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


def component(name: str, triton: str, version: str = "24.09", environment: str = "{}", url: str = "") -> str:
    return f"""\
  {name}:
    specification:
      container:
        image: {{framework: triton, version: "{version}"}}
        artifact_url: {url or f"s3://acme-models/{name}/v1/model.tar.gz"}
        environment: {environment}
        triton: {triton}
      compute_resource_requirements: {{min_memory_required_in_mb: 1024}}
"""


def spec(*components: str) -> str:
    head = """\
kind: inference-components
endpoint_name: several
variant: {instance_type: ml.c5.4xlarge, initial_instance_count: 1}
inference_components:
"""
    return head + "".join(components)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, {"net.py": "pass\n"})
    return Path("several.yaml")


def environments(file: Path) -> Mapping[str, Mapping[str, str]]:
    """The environment of each component's container, by the component's name."""
    template = resolve_template(load_spec(file).spec, region="us-east-1", source_of=str)
    found = (resource["Properties"] for resource in template["Resources"].values())
    components = (it for it in found if "InferenceComponentName" in it)
    return {
        it["InferenceComponentName"]: it["Specification"]["Container"]["Environment"] for it in components
    }


def test_what_is_wrong_in_a_model_is_reported_where_it_stands(file: Path) -> None:
    wrong = "\n          models:\n            net: {backend: python, max_batch_size: -1, " + f"{IO}}}"
    file.write_text(spec(component("fine", f"{{models: {NET}}}"), component("bad", wrong)))
    assert {(it.line, it.code) for it in check_file(file)} == {(21, "IS911"), (21, "IS922")}


def test_each_component_is_held_against_its_own_image(file: Path) -> None:
    newer = f"{{models: {NET.replace('backend:', 'model_metrics: {}, backend:')}}}"
    file.write_text(spec(component("new", newer, "25.09"), component("old", newer)))
    assert {(it.line, it.code) for it in check_file(file)} == {(19, "IS970")}


def test_each_component_is_held_against_its_own_environment(file: Path) -> None:
    other = "{SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: other}"
    file.write_text(
        spec(component("a", f"{{models: {NET}}}"), component("b", f"{{models: {NET}}}", environment=other))
    )
    assert {(it.line, it.code) for it in check_file(file)} == {(18, "IS916")}


def test_the_default_is_the_only_model_or_the_only_ensemble(file: Path) -> None:
    file.write_text(spec(component("one", f"{{models: {NET}}}"), component("two", f"{{models: {PIPE}}}")))
    defaults = {name: it["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] for name, it in environments(file).items()}
    assert defaults == {"one": "net", "two": "pipe"}


def test_a_default_that_is_written_wins_over_the_only_ensemble(file: Path) -> None:
    variable = component("b", f"{{models: {PIPE}}}", environment="{SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: net}")
    file.write_text(spec(component("a", f"{{default_model: net, models: {PIPE}}}"), variable))
    defaults = {name: it["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] for name, it in environments(file).items()}
    assert defaults == {"a": "net", "b": "net"}
    # Neither loads the ensemble, so there is no contradiction.
    assert {it.code for it in check_file(file)} == {"IS919"}


def test_a_container_without_triton_in_its_name_is_told_its_model_too(file: Path) -> None:
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/own:1"
    text = spec(component("one", f"{{models: {NET}}}")).replace(
        '{framework: triton, version: "24.09"}', image
    )
    file.write_text(text)
    assert environments(file)["one"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "net"
    assert [it.code for it in check_file(file)] == ["IS704"]


def test_an_archive_is_named_by_its_component_and_its_url(file: Path) -> None:
    url = "s3://acme-models/nets/net-7.tar.gz"
    file.write_text(spec(component("a", f"{{models: {NET}}}"), component("b", f"{{models: {NET}}}", url=url)))
    names = [it.archive for it in repositories_of(load_spec(file).spec, Path())]
    assert names == ["a/model.tar.gz", "b/net-7.tar.gz"]


def test_components_with_the_same_archive_share_it(file: Path) -> None:
    url = "s3://acme-models/nets/net.tar.gz"
    file.write_text(spec(*(component(name, f"{{models: {NET}}}", url=url) for name in "ab")))
    assert [it.archive for it in repositories_of(load_spec(file).spec, Path())] == ["a/net.tar.gz"]


def test_each_instance_type_has_its_own_archive(file: Path) -> None:
    types = "".join(
        f"""\
      - instance_type: {name}
        container:
          image: {{framework: triton, version: "24.09"}}
          artifact_url: s3://acme-models/{name}/model.tar.gz
          triton: {{models: {NET}}}
        compute_resource_requirements: {{min_memory_required_in_mb: 1024}}
"""
        for name in ("ml.c5.4xlarge", "ml.c6i.4xlarge")
    )
    file.write_text(spec(f"  one:\n    specifications:\n{types}"))
    data = yaml.safe_load(file.read_text())
    pools = [
        {"instance_type": name, "priority": rank}
        for rank, name in enumerate(("ml.c5.4xlarge", "ml.c6i.4xlarge"), 1)
    ]
    data["variant"] = {"initial_instance_count": 1, "instance_pools": pools}
    file.write_text(yaml.safe_dump(data))
    names = [it.archive for it in repositories_of(load_spec(file).spec, Path())]
    assert names == ["one/ml.c5.4xlarge/model.tar.gz", "one/ml.c6i.4xlarge/model.tar.gz"]


def test_a_repository_at_the_top_is_for_components_without_their_own(file: Path) -> None:
    without = component("b", "{}").replace("        triton: {}\n", "")
    file.write_text(f"{spec(component('a', f'{{models: {NET}}}'), without)}triton: {{models: {PIPE}}}\n")
    defaults = {name: it["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] for name, it in environments(file).items()}
    assert defaults == {"a": "net", "b": "pipe"}
    assert [it.archive for it in repositories_of(load_spec(file).spec, Path())] == [
        "model.tar.gz",
        "a/model.tar.gz",
    ]


def of_model(models: str, devices: str = "", version: str = "24.09") -> str:
    """A spec of a component that runs a model of its own, with the top-level repository for that model."""
    return f"""\
kind: inference-components
endpoint_name: several
variant: {{instance_type: ml.g5.12xlarge, initial_instance_count: 1, inference_ami_version: al2-ami-sagemaker-inference-gpu-3-1}}
models:
  net: {{image: {{framework: triton, version: "{version}"}}, model_data_url: s3://acme-models/net/v1/model.tar.gz}}
inference_components:
  one:
    specification:
      model_name: net
      compute_resource_requirements: {{{devices}min_memory_required_in_mb: 1024}}
triton:
  models: {models}
"""


def test_the_model_of_a_component_is_told_which_of_its_models_answers(file: Path) -> None:
    file.write_text(of_model(PIPE))
    template = resolve_template(load_spec(file).spec, region="us-east-1", source_of=str)
    environment = template["Resources"]["ModelNet"]["Properties"]["PrimaryContainer"]["Environment"]
    assert environment["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "pipe"


@pytest.mark.parametrize(
    ("devices", "codes"),
    [
        ("number_of_accelerator_devices_required: 1, ", {"IS931"}),
        ("number_of_accelerator_devices_required: 2, ", set()),
    ],
)
def test_the_model_of_a_component_sees_the_gpus_that_the_component_reserves(
    file: Path, devices: str, codes: set[str]
) -> None:
    on_second = NET.replace("backend", "instance_group: [{kind: KIND_GPU, gpus: [1]}], backend")
    file.write_text(of_model(on_second, devices))
    assert {it.code for it in check_file(file)} == codes


def test_the_model_of_a_component_is_held_against_its_image(file: Path) -> None:
    newer = NET.replace("backend:", "model_metrics: {}, backend:")
    file.write_text(of_model(newer))
    assert [it.code for it in check_file(file)] == ["IS970"]
    file.write_text(of_model(newer, version="25.09"))
    assert "IS970" not in {it.code for it in check_file(file)}


def test_one_archive_cannot_be_of_a_model_and_hold_others_for_a_component(file: Path) -> None:
    other = component("two", f"{{models: {PIPE}}}", url="s3://acme-models/net/v1/model.tar.gz")
    file.write_text(of_model(NET).replace("triton:\n", f"{other}triton:\n"))
    assert [it.code for it in check_file(file)] == ["IS259"]


def test_the_archive_of_a_components_model_is_found_by_the_components_name(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(of_model(NET).replace("triton:\n", f"{component('two', f'{{models: {PIPE}}}')}triton:\n"))
    assert main(["package", "several.yaml"]) == 0
    archive = Path("packages/several/model.tar.gz").rename("elsewhere.tar.gz")
    assert main(["package", "several.yaml", "--component", "one", "--check", str(archive)]) == 0
    assert main(["package", "several.yaml", "--component", "two", "--check", str(archive)]) == 1
    assert main(["package", "several.yaml", "--check", str(archive)]) == 1
    assert "add --component: `one` or `two`" in capsys.readouterr().err


@pytest.fixture
def packed(file: Path) -> Path:
    file.write_text(spec(component("a", f"{{models: {NET}}}"), component("b", f"{{models: {PIPE}}}")))
    assert main(["package", "several.yaml"]) == 0
    return Path("packages/several")


def test_each_component_gets_its_archive(packed: Path) -> None:
    found = sorted(path.relative_to(packed).as_posix() for path in packed.rglob("*.gz"))
    assert found == ["a/model.tar.gz", "b/model.tar.gz"]


def test_a_check_judges_an_archive_by_the_component_of_its_path(packed: Path) -> None:
    both = [f"{packed}/a/model.tar.gz", f"{packed}/b/model.tar.gz"]
    assert main(["package", "several.yaml", "--check", *both]) == 0


def test_a_check_judges_an_archive_by_the_component_that_is_named(
    packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = (packed / "a/model.tar.gz").rename("model.tar.gz")
    assert main(["package", "several.yaml", "--component", "a", "--check", str(moved)]) == 0
    assert main(["package", "several.yaml", "--component", "b", "--check", str(moved)]) == 1
    assert 'IS917: the repository has no model "pipe"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 1, "could be for any of several components; add --component: `a` or `b`"),
        (("--component", "c"), 1, "there is no inference component `c`"),
    ],
)
def test_a_check_does_not_guess(
    packed: Path, arguments: tuple[str, ...], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (packed / "a/model.tar.gz").rename("model.tar.gz")
    assert main(["package", "several.yaml", *arguments, "--check", "model.tar.gz"]) == status
    assert said in capsys.readouterr().err


def test_a_component_without_check_is_wrong_usage(packed: Path) -> None:
    with pytest.raises(SystemExit):
        main(["package", "several.yaml", "--component", "a"])


def test_archives_of_components_may_be_in_folders_in_every_triton(file: Path) -> None:
    file.write_text(spec(component("one", NET, "26.05"), component("two", NET, "26.05")), "utf-8")
    assert [problem for problem in check_file(file) if problem.code == "IS906"] == []
