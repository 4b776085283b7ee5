"""TorchScript really computes if the server's Python has torch: `make test-torch`."""

import subprocess
from pathlib import Path

import pytest
from support.rehearsal import SERVER_PYTHON, Rehearse, model, spec

from inferstack.triton.rehearsal import ArchiveOutcome, ModelOutcome, report, summary
from inferstack.triton.rehearsal.server import find_server

# Writes modules, all in one program since importing torch takes seconds. The arguments of `forward` differ in length,
# so that their order shows.
PRELUDE = """\
from typing import Dict, List, Tuple
import torch
from torch import Tensor

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([10.0, 20.0]))
"""
MODULE = """
class {name}(Net):
    {forward}

torch.jit.script({name}()).save("{name}.pt")
"""
ONE = "def forward(self, x: Tensor) -> Tensor: return x * self.weight + 1"
TWO = "def forward(self, short: Tensor, long: Tensor) -> Tensor: return torch.cat([short * 2, long * 5], 1)"
PAIR = "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]: return x * 3, x.to(torch.int64) * 4"
BY_NAME = "def forward(self, given: Dict[str, Tensor]) -> Tensor: return given['b'] - given['a'] * 8"
TEXTS = "def forward(self, texts: List[str]) -> List[str]: return [text.upper() for text in texts]"
FP32 = "data_type: TYPE_FP32, dims: [2]"
LONG = "data_type: TYPE_FP32, dims: [3]"
WIDE = "data_type: TYPE_FP32, dims: [5]"
INT64 = "data_type: TYPE_INT64, dims: [2]"
# Archive, code, inputs, outputs, and the answers to a request of ones or of the text `rehearsal`.
MODELS = [
    ("one", ONE, [f"INPUT__0, {FP32}"], [f"OUTPUT__0, {FP32}"], {"OUTPUT__0": (11, 21)}),
    ("places", TWO, [f"B__1, {LONG}", f"A__0, {FP32}"], [f"Y__0, {WIDE}"], {"Y__0": (2, 2, 5, 5)}),
    ("arguments", TWO, [f"long, {LONG}", f"short, {FP32}"], [f"any, {WIDE}"], {"any": (2, 2, 5, 5)}),
    ("order", TWO, [f"p, {FP32}", f"q, {LONG}"], [f"any, {WIDE}"], {"any": (2, 2, 5, 5)}),
    ("outputs", PAIR, [f"x, {FP32}"], [f"O__1, {INT64}", f"O__0, {FP32}"], {"O__0": (3, 3), "O__1": (4, 4)}),
    ("mapping", BY_NAME, [f"a, {FP32}", f"b, {FP32}"], [f"c, {FP32}"], {"c": (-7, -7)}),
]  # fmt: skip


def _archive(name: str, inputs: list[str], outputs: list[str], batch: int = 4) -> str:
    sides = (f"{{name: {one}}}" for one in inputs), (f"{{name: {one}}}" for one in outputs)
    io = "input: [{}], output: [{}]".format(*map(", ".join, sides))
    parameters = "parameters: {INFERENCE_MODE: true, DISABLE_OPTIMIZED_EXECUTION: true}"
    net = f"platform: pytorch_libtorch, max_batch_size: {batch}, {io}, {parameters}"
    return f"  {name}.tar.gz: {{models: {{net: {{{net}, files: {{1/model.pt: {name}.pt}}}}}}}}\n"


# After Python, what was text is numbers, and TorchScript's numbers are summed up again.
ENSEMBLE = """\
  ensemble.tar.gz:
    models:
      lengths:
        backend: python
        max_batch_size: 4
        input: [{name: TEXT, data_type: TYPE_STRING, dims: [1]}]
        output: [{name: LENGTHS, data_type: TYPE_FP32, dims: [2]}]
        files: {1/model.py: lengths.py}
      net:
        platform: pytorch_libtorch
        max_batch_size: 4
        input: [{name: INPUT__0, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: OUTPUT__0, data_type: TYPE_FP32, dims: [2]}]
        instance_group: [{kind: KIND_GPU, count: 2}]
        default_model_filename: scaled.pt
        parameters: {INFERENCE_MODE: true, DISABLE_OPTIMIZED_EXECUTION: true}
        files: {1/scaled.pt: one.pt}
      pipe:
        platform: ensemble
        max_batch_size: 4
        input: [{name: TEXT, data_type: TYPE_STRING, dims: [1]}]
        output: [{name: SCALED, data_type: TYPE_FP32, dims: [2]}]
        ensemble_scheduling:
          step:
            - {model_name: lengths, model_version: -1, input_map: {TEXT: TEXT}, output_map: {LENGTHS: lengths}}
            - {model_name: net, model_version: -1, input_map: {INPUT__0: lengths}, output_map: {OUTPUT__0: SCALED}}
"""
LENGTHS = model(
    'return {"LENGTHS": np.array([[len(text[0])] * 2 for text in given["TEXT"]], dtype=np.float32)}'
)
SPEC = spec(
    "multi-model",
    "archives:\n"
    + "".join(_archive(name, inputs, outputs) for name, _, inputs, outputs, _ in MODELS)
    + _archive(
        "texts", ["t, data_type: TYPE_STRING, dims: [-1]"], ["u, data_type: TYPE_STRING, dims: [-1]"], 0
    )
    + _archive("weights", [f"x, {FP32}"], [f"y, {FP32}"])
    + _archive("nowhere", [f"x, {FP32}"], [f"y, {FP32}"])
    + _archive("fewer", [f"x, {FP32}"], [f"y, {WIDE}"])
    + _archive("precise", [f"x, {FP32}"], ["y, data_type: TYPE_FP64, dims: [2]"])
    + ENSEMBLE,
)


def _make(folder: Path) -> None:
    """Creates the files of all models with torch itself."""
    forwards = {name: body for name, body, *_ in MODELS}
    forwards |= {"texts": TEXTS, "fewer": TWO, "precise": ONE}
    modules = (MODULE.format(name=name, forward=forward) for name, forward in forwards.items())
    plain = 'torch.save(Net().state_dict(), "weights.pt")\n'
    (folder / "make.py").write_text("".join([PRELUDE, *modules, plain]))
    subprocess.run([SERVER_PYTHON, "make.py"], cwd=folder, check=True)


@pytest.fixture(scope="module")
def outcomes(rehearsed: Rehearse, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ArchiveOutcome]:
    if "torch" not in find_server(SERVER_PYTHON).packages:
        pytest.fail("the server's Python has no torch; `make test-torch` installs it and runs this")
    folder: Path = tmp_path_factory.mktemp("torchscript")
    _make(folder)
    found = rehearsed(folder, SPEC, {"lengths.py": LENGTHS})
    return {one.archive.removesuffix(".tar.gz"): one for one in found}


def _only(outcome: ArchiveOutcome) -> ModelOutcome:
    [found] = outcome.models
    return found


@pytest.mark.parametrize(
    ("name", "wanted"), [(row[0], row[4]) for row in MODELS], ids=[row[0] for row in MODELS]
)
def test_inputs_and_outputs_are_those_that_the_backend_takes_by_their_names(
    outcomes: dict[str, ArchiveOutcome], name: str, wanted: dict[str, tuple[float, ...]]
) -> None:
    assert outcomes[name].good, report(outcomes[name])
    for answer in _only(outcomes[name]).answers:
        assert {tensor.name: tensor.first for tensor in answer.outputs} == {
            # A second row of a batch repeats the first; four values are read.
            output: (values * answer.batch)[:4]
            for output, values in wanted.items()
        }


def test_an_ensemble_of_python_and_torchscript_gives_the_right_numbers(
    outcomes: dict[str, ArchiveOutcome],
) -> None:
    assert outcomes["ensemble"].good, report(outcomes["ensemble"])
    pipe = next(one for one in outcomes["ensemble"].models if one.name == "pipe")
    assert [tensor.first for tensor in pipe.answers[1].outputs] == [(91.0, 181.0, 91.0, 181.0)]
    net = next(one for one in outcomes["ensemble"].models if one.name == "net")
    assert (net.stand_in, (net.run_by or "").split()[0]) == ("pytorch", "torch")


def test_texts_are_lists(outcomes: dict[str, ArchiveOutcome]) -> None:
    assert [tensor.first for tensor in _only(outcomes["texts"]).answers[0].outputs] == [
        ("REHEARSAL", "REHEARSAL")
    ]


def test_the_report_says_what_computed(outcomes: dict[str, ArchiveOutcome]) -> None:
    assert "STAND-IN for the backend `pytorch`: computed by torch 2." in report(outcomes["one"])
    assert "models by stand-ins that compute, but not as fast as their backend" in summary(outcomes.values())


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("weights", "1/model.pt is not TorchScript: the real backend cannot load it"),
        ("nowhere", "1/model.pt is not on this machine"),
    ],
)
def test_what_is_no_torchscript_is_answered_with_zeros_and_said_so(
    outcomes: dict[str, ArchiveOutcome], name: str, note: str
) -> None:
    found = _only(outcomes[name])
    assert (found.run_by, found.notes) == (None, (note,))
    assert "zeros" in report(outcomes[name])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fewer", "configuration expects 1 inputs, model provides 2"),
        ("precise", "configuration expects TYPE_FP64 for output 'y', model provides float32"),
    ],
)
def test_what_the_backend_refuses_is_refused(
    outcomes: dict[str, ArchiveOutcome], name: str, why: str
) -> None:
    assert not outcomes[name].good
    assert why in report(outcomes[name])
