"""A pipeline's container that serves many Triton models is in every way like that of a multi-model endpoint."""

from pathlib import Path

import pytest
from support.archiving import lay_out
from support.checking import check_file

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.resolve import resolve_template

NET = """{backend: python, max_batch_size: 8, dynamic_batching: {}, \
input: [{name: X, data_type: TYPE_FP32, dims: [1]}], \
output: [{name: Y, data_type: TYPE_FP32, dims: [1]}], files: {1/model.py: net.py}}"""
ARCHIVES = (
    f"{{archives: {{cats.tar.gz: {{models: {{cats: {NET}}}}}, dogs.tar.gz: {{models: {{dogs: {NET}}}}}}}}}"
)


def spec(triton: str = ARCHIVES, mode: str = "MultiModel", url: str = "s3://acme-models/animals/") -> str:
    return f"""\
kind: pipeline
endpoint_name: animals
model:
  containers:
    - image: {{framework: sklearn, version: 1.2-1}}
      model_data_url: s3://acme-models/features.tar.gz
    - image: {{framework: triton, version: "24.09"}}
      model_data_url: {url}
      mode: {mode}
variant: {{instance_type: ml.m5.xlarge, initial_instance_count: 2}}
triton: {triton}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, {"net.py": "pass\n"})
    file = Path("animals.yaml")
    file.write_text(spec())
    return file


def codes(file: Path) -> set[str]:
    return {it.code for it in check_file(file)}


def test_it_declares_its_models_by_archive(file: Path) -> None:
    assert codes(file) == set()
    file.write_text(spec(f"{{models: {{net: {NET}}}}}"))
    assert codes(file) == {"IS252"}
    file.write_text(spec(ARCHIVES.replace("{archives", "{default_model: cats, archives")))
    assert codes(file) == {"IS256"}


def test_a_container_with_one_model_is_told_how_to_have_many(file: Path) -> None:
    file.write_text(spec(mode="SingleModel", url="s3://acme-models/animals.tar.gz"))
    (problem,) = (it for it in check_file(file) if it.code == "IS251")
    assert problem.fix.endswith("or write `mode: MultiModel`")


def test_no_model_is_the_one_that_answers(file: Path) -> None:
    model = resolve_template(load_spec(file).spec, region="us-east-1", source_of=str)["Resources"]["Model"]
    _, triton = model["Properties"]["Containers"]
    assert triton["Mode"] == "MultiModel"
    assert triton["Environment"]["SAGEMAKER_TRITON_PING_MODE"] == "live"
    assert "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME" not in triton["Environment"]


def test_its_archives_are_packed_and_looked_into(file: Path) -> None:
    assert main(["package", str(file)]) == 0
    packed = sorted(Path("packages/animals").iterdir())
    assert [it.name for it in packed] == ["cats.tar.gz", "dogs.tar.gz"]
    assert main(["package", str(file), "--check", *map(str, packed)]) == 0


def test_folders_of_a_repository_are_archives(file: Path) -> None:
    config = 'backend: "python" input {name: "X" data_type: TYPE_FP32 dims: 1} output {name: "Y" data_type: TYPE_FP32 dims: 1}'
    for name in ("cats", "dogs"):
        lay_out(
            Path("models"), {f"{name}/{name}/config.pbtxt": config, f"{name}/{name}/1/model.py": "pass\n"}
        )
    file.write_text(spec("{repository: models}"))
    assert "IS917" not in codes(file)
    assert main(["package", str(file)]) == 0
    assert sorted(it.name for it in Path("packages/animals").iterdir()) == ["cats.tar.gz", "dogs.tar.gz"]


def test_an_opaque_url_may_be_a_prefix(file: Path) -> None:
    file.write_text(spec(url='"{{resolve:ssm:/animals}}"'))
    assert "IS300" not in codes(file)
