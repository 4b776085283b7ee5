"""Small models that really compute, and specs around them."""

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

from inferstack.triton.rehearsal import ArchiveOutcome

# The interpreter with the extra `rehearse`: the tests' own unless this variable names another.
SERVER_PYTHON = Path(os.environ.get("INFERSTACK_REHEARSAL_PYTHON", sys.executable))
# The server exists only for this platform, and its numpy only for these Pythons.
HAS_SERVER = (sys.platform, platform.machine()) == ("linux", "x86_64") and sys.version_info < (3, 13)

PYTHON_MODEL = """\
import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse(self.outputs(request)) for request in requests]

    def outputs(self, request):
        given = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        return [pb.Tensor(name, values) for name, values in compute(**given).items()]


def compute(**given):
"""

_IMAGE = ("24.09", "al2-ami-sagemaker-inference-gpu-3-1")
_NEWER_IMAGE = ("26.05", "al2023-ami-sagemaker-inference-gpu-4-1")

Rehearse = Callable[..., list[ArchiveOutcome]]


def model(body: str) -> str:
    """A `model.py` that computes its outputs (a mapping) from `given`, the inputs."""
    return PYTHON_MODEL + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())


def spec(kind: str, triton: str, environment: str = "{}", newer: bool = False) -> str:
    """A spec with a `triton` block."""
    prefix = "s3://acme-models/m/" + ("" if kind == "multi-model" else "model.tar.gz")
    version, ami = _NEWER_IMAGE if newer else _IMAGE
    head = f"""\
kind: {kind}
endpoint_name: rehearsed
model:
  image: {{framework: triton, version: "{version}"}}
  model_data_url: {prefix}
  environment: {environment}
variant:
  instance_type: ml.g4dn.xlarge
  initial_instance_count: 1
  inference_ami_version: {ami}
"""
    return head + "triton:\n" + "".join(f"  {line}\n" for line in dedent(triton).strip().splitlines())
