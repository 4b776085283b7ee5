"""Six small models that really compute: in Python, ONNX and TorchScript, light and heavy, some of them faster in
batches and some not. Those in Python wait, as if for an accelerator.
"""

import random
import struct
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.support.onnx_files import FLOAT, initializer, node, onnx_file
from tests.support.rehearsal import SERVER_PYTHON

WAITING = """\
import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        given = [pb.get_input_tensor_by_name(it, "X").as_numpy() for it in requests]
        time.sleep({wait})
        return [pb.InferenceResponse([pb.Tensor("Y", it)]) for it in given]
"""
TORCH = """\
import torch

torch.manual_seed(0)
torch.jit.trace(torch.nn.Sequential({layers}).eval(), torch.ones(2, {dims})).save("model.pt")
"""
SPEC = """\
kind: single-model
endpoint_name: measured
model:
  image: {{framework: triton, version: "24.09"}}
  model_data_url: s3://acme-models/m/model.tar.gz
variant:
  instance_type: ml.m5.large
  initial_instance_count: 1
{objective}
triton:
  models:
    net:
      {backend}
      max_batch_size: 32
      input: [{{name: X, data_type: TYPE_FP32, dims: [{dims}]}}]
      output: [{{name: Y, data_type: TYPE_FP32, dims: [{answer}]}}]
      files: {{1/{file}: {file}}}
"""
BACKENDS = {
    "model.py": "backend: python",
    "model.onnx": "platform: onnxruntime_onnx",
    "model.pt": "platform: pytorch_libtorch\n      parameters: {INFERENCE_MODE: true, DISABLE_OPTIMIZED_EXECUTION: true}",
}


class Small(NamedTuple):
    """A model: its file, sizes of input and output, and what writes the file into a folder."""

    file: str
    dims: str
    answer: str
    write: Callable[[Path], object]

    def write_spec(self, folder: Path, objective: str = "") -> Path:
        """The model's spec, in a folder with all that it needs."""
        self.write(folder)
        file = folder / "spec.yaml"
        made = SPEC.format(
            objective=objective,
            backend=BACKENDS[self.file],
            dims=self.dims,
            answer=self.answer,
            file=self.file,
        )
        file.write_text(made, "utf-8")
        return file


def waiting(seconds: str) -> Small:
    """A Python model that takes some seconds, which may depend on the requests."""
    return Small("model.py", "4", "4", lambda it: (it / "model.py").write_text(WAITING.format(wait=seconds)))


def multiplying(size: int, layers: int) -> Small:
    """An ONNX graph of matrices, which a batch reads only once."""

    def write(folder: Path) -> None:
        numbers = random.Random(0)
        weights = [_matrix(numbers, f"W{at}", size) for at in range(layers)]
        nodes = [node("MatMul", [_step(at), f"W{at}"], [_step(at + 1, layers)]) for at in range(layers)]
        shape = (FLOAT, ("batch", size))
        (folder / "model.onnx").write_bytes(onnx_file({"X": shape}, {"Y": shape}, nodes, weights))

    return Small("model.onnx", str(size), str(size), write)


def _matrix(numbers: random.Random, name: str, size: int) -> bytes:
    values = struct.pack(f"<{size * size}f", *(numbers.uniform(-0.1, 0.1) for _ in range(size * size)))
    return initializer(name, values, [size, size])


def _step(at: int, last: int = -1) -> str:
    return "X" if at == 0 else "Y" if at == last else f"T{at}"


def scripted(layers: str, dims: str, answer: str) -> Small:
    """A TorchScript module."""

    def write(folder: Path) -> None:
        (folder / "make.py").write_text(TORCH.format(layers=layers, dims=dims))
        subprocess.run([SERVER_PYTHON, "make.py"], cwd=folder, check=True)

    return Small("model.pt", dims, answer, write)


CONV = "torch.nn.Conv2d(3, 24, 3), torch.nn.ReLU(), torch.nn.Conv2d(24, 24, 3), torch.nn.Flatten(), torch.nn.Linear(24 * 44 * 44, 4)"
MODELS: Mapping[str, Small] = {
    "python-batched": waiting("0.020 + 0.002 * sum(map(len, given))"),
    "python-serial": waiting("0.010 * sum(map(len, given))"),
    "onnx-light": multiplying(16, 2),
    "onnx-heavy": multiplying(1024, 6),
    "torch-light": scripted("torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)", "16", "4"),
    "torch-heavy": scripted(CONV, "3, 48, 48", "4"),
}
