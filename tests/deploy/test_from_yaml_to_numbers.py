"""From a spec to numbers: packed, uploaded, deployed, invoked; then with new weights, then rolled back.

S3, CloudFormation and SageMaker are emulated. The computing is done by a real Triton, which loads the uploaded
archives from where the deployed model says they are.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np
import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, destroy, failures
from support.hosting import Hosting
from support.rehearsal import HAS_SERVER

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.triton.invocation import read_answer, request_body
from inferstack.triton.model import Repository
from inferstack.triton.repositories import repositories_of

pytestmark = pytest.mark.skipif(not HAS_SERVER, reason="there is no server for this machine")

BUCKET = "acme-models"
# The weights are a number in a file beside the code.
CODE = """\
from pathlib import Path

import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        folder = Path(args["model_repository"]) / args["model_version"]
        self.weight = float((folder / "weight.txt").read_text())

    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("Y", self.compute(it).astype("float32"))]) for it in requests]

    def compute(self, request):
        x = pb.get_input_tensor_by_name(request, "X").as_numpy()
        return x OPERATION self.weight
"""
FILES = {
    "times.py": CODE.replace("OPERATION", "*"),
    "plus.py": CODE.replace("OPERATION", "+"),
    "two.txt": "2",
    "changing.txt": "3",
}
NEW_WEIGHT = "5"
FLEET = "variant: {instance_type: ml.c5.4xlarge, initial_instance_count: 1}"
IMAGE = 'image: {framework: triton, version: "24.09"}'
IO = "input: [{name: X, data_type: TYPE_FP32, dims: [2]}], output: [{name: Y, data_type: TYPE_FP32, dims: [2]}]"


def net(code: str, weight: str) -> str:
    return f"{{backend: python, {IO}, files: {{1/model.py: {code}.py, 1/weight.txt: {weight}.txt}}}}"


def component(name: str, weight: str) -> str:
    return (
        f"  {name}:\n    specification:\n"
        f"      container: {{{IMAGE}, artifact_url: s3://{BUCKET}/{name}/model.tar.gz,"
        f" triton: {{models: {{net: {net('times', weight)}}}}}}}\n"
        "      compute_resource_requirements: {min_memory_required_in_mb: 1024}\n"
    )


def model(name: str, weight: str) -> str:
    url = f"s3://{BUCKET}/{name}/model.tar.gz"
    return (
        f"  {name}: {{{IMAGE}, model_data_url: {url}, triton: {{models: {{net: {net('times', weight)}}}}}}}\n"
    )


def run(name: str, model: str) -> str:
    needs = "compute_resource_requirements: {min_memory_required_in_mb: 1024}"
    return f"  {name}: {{specification: {{model_name: {model}, {needs}}}}}\n"


class Case(NamedTuple):
    """A spec, and for each request what is added to it and the answers for 1 and 10: first, then with new weights."""

    spec: str
    requests: Mapping[str, tuple[dict[str, str], list[float], list[float]]]
    """By the archive whose model answers."""


def case(head: str, requests: Mapping[str, tuple[dict[str, str], list[float], list[float]]]) -> Case:
    return Case(f"endpoint_name: numbers\n{FLEET}\n{dedent(head)}", requests)


CASES = {
    "two models of a multi-model endpoint": case(
        f"""\
        kind: multi-model
        model: {{{IMAGE}, model_data_url: s3://{BUCKET}/many/}}
        triton:
          archives:
            cats.tar.gz: {{models: {{net: {net("times", "two")}}}}}
            dogs.tar.gz: {{models: {{net: {net("times", "changing")}}}}}
        """,
        {
            "cats.tar.gz": ({"TargetModel": "cats.tar.gz"}, [2, 20], [2, 20]),
            "dogs.tar.gz": ({"TargetModel": "dogs.tar.gz"}, [3, 30], [5, 50]),
        },
    ),
    "an ensemble of two models": case(
        f"""\
        kind: ensemble
        model: {{{IMAGE}, model_data_url: s3://{BUCKET}/whole/model.tar.gz}}
        triton:
          models:
            first: {net("times", "two")}
            second: {net("plus", "changing")}
            whole:
              platform: ensemble
              {IO[: IO.index(", output")]}
              {IO[IO.index("output") :]}
              ensemble_scheduling:
                step:
                  - {{model_name: first, model_version: -1, input_map: {{X: X}}, output_map: {{Y: between}}}}
                  - {{model_name: second, model_version: -1, input_map: {{X: between}}, output_map: {{Y: Y}}}}
        """,
        {"model.tar.gz": ({}, [5, 23], [7, 25])},
    ),
    "two inference components": case(
        f"kind: inference-components\ninference_components:\n{component('cats', 'two')}{component('dogs', 'changing')}",
        {
            "cats/model.tar.gz": ({"InferenceComponentName": "cats"}, [2, 20], [2, 20]),
            "dogs/model.tar.gz": ({"InferenceComponentName": "dogs"}, [3, 30], [5, 50]),
        },
    ),
    "two models that inference components name": case(
        f"kind: inference-components\nmodels:\n{model('cats', 'two')}{model('dogs', 'changing')}"
        f"inference_components:\n{run('meow', 'cats')}{run('bark', 'dogs')}",
        {
            "models/cats/model.tar.gz": ({"InferenceComponentName": "meow"}, [2, 20], [2, 20]),
            "models/dogs/model.tar.gz": ({"InferenceComponentName": "bark"}, [3, 30], [5, 50]),
        },
    ),
}


@pytest.fixture
def hosting(aws: EmulatedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosting]:
    """Containers behind the endpoints, a bucket, and an empty working directory."""
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    aws.client("s3").create_bucket(Bucket=BUCKET)
    with Hosting(aws, tmp_path / "downloaded") as running, aws.container(running.url):
        yield running


class Project:
    """``spec.yaml`` in the working directory, and the stack that is made from it."""

    def __init__(self, aws: EmulatedAws, one: Case, capsys: pytest.CaptureFixture[str]) -> None:
        self._aws, self._case, self._capsys = aws, one, capsys
        for name, content in {"spec.yaml": one.spec, **FILES}.items():
            Path(name).write_text(content)

    def upload(self) -> str:
        """Packs and uploads; returns the lock written by that."""
        assert main(["package", "spec.yaml", "--upload"]) == 0
        return Path("spec.lock.json").read_text()

    def deploy(self) -> str:
        """Renders and deploys; returns the outcome."""
        self._capsys.readouterr()
        assert main(["render", "spec.yaml"]) == 0
        return deploy(self._aws, "stack", json.loads(self._capsys.readouterr().out))

    def repositories(self) -> dict[str, Repository]:
        found = repositories_of(load_spec("spec.yaml").spec, Path())
        return {repository.archive: repository for repository in found}

    def numbers(self) -> list[list[float]]:
        """The endpoint's answers to each request of the case."""
        declared = self.repositories()
        return [self._ask(declared[archive], more) for archive, (more, _, _) in self._case.requests.items()]

    def _ask(self, repository: Repository, more: dict[str, str]) -> list[float]:
        model: Any = repository.model(str(repository.default_model))
        body = request_body(model.config, {"X": np.array([1, 10], "float32")})
        answer = self._aws.client("sagemaker-runtime").invoke_endpoint(
            EndpointName="numbers", ContentType=body.content_type, Body=body.content, **more
        )
        found: list[float] = read_answer(answer["Body"].read(), answer["ContentType"])["Y"].tolist()
        return found


@pytest.mark.parametrize("one", CASES.values(), ids=CASES)
def test_a_spec_answers_with_the_weights_that_its_lock_names(
    one: Case, aws: EmulatedAws, hosting: Hosting, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(aws, one, capsys)
    first, second = ([it[at] for it in one.requests.values()] for at in (1, 2))

    assert main(["package", "spec.yaml"]) == 0
    old = project.upload()
    assert (project.deploy(), failures(aws, "stack")) == ("CREATE_COMPLETE", [])
    assert project.numbers() == first

    Path("changing.txt").write_text(NEW_WEIGHT)
    assert main(["validate", "spec.yaml"]) == 1, "new weights that were not uploaded are no update"
    new = project.upload()
    assert new != old
    assert project.numbers() == first, "an upload alone changes nothing"
    assert project.deploy() == "UPDATE_COMPLETE"
    assert project.numbers() == second

    # Acts as another machine, which has the previous commit and no weights.
    Path("spec.lock.json").write_text(old)
    for name in FILES:
        Path(name).unlink()
    assert project.deploy() == "UPDATE_COMPLETE"
    assert project.numbers() == first
    assert set(hosting.loaded) <= uploaded(aws)
    assert destroy(aws, "stack") == "DELETE_COMPLETE"


def uploaded(aws: EmulatedAws) -> set[str]:
    """URLs of everything in the bucket."""
    return {
        f"s3://{BUCKET}/{it['Key']}" for it in aws.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
    }
