"""Specs of endpoints that answer, and the command that asks them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import played_runtime
from support.answers import CHURN
from support.played_runtime import PlayedRuntime

from inferstack.cli import main

runtime = played_runtime.runtime

CHAT = """\
kind: single-model
endpoint_name: chat
env: {region: us-east-1}
model:
  image: {framework: vllm, version: "0.30.0"}
  environment: {HF_MODEL_ID: org/model}
variant: {instance_type: ml.g6e.xlarge, initial_instance_count: 1}
alarms: false
"""
_OF_COMPONENT = """\
    specification:
      container:
        image: {framework: djl-lmi, version: "0.36.0"}
        environment: {HF_MODEL_ID: org/model}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}
"""
PARTS = f"""\
kind: inference-components
endpoint_name: parts
env: {{region: us-east-1}}
variant: {{instance_type: ml.g6e.12xlarge, initial_instance_count: 1}}
inference_components:
  asleep:
{_OF_COMPONENT}    autoscaling: {{min_capacity: 0, max_capacity: 2}}
  adapter:
    specification:
      base_inference_component_name: asleep
      container: {{artifact_url: s3://acme-models/adapter/model.tar.gz}}
  fixed:
{_OF_COMPONENT}alarms: false
"""
TRITON = """\
kind: single-model
endpoint_name: net
env: {region: us-east-1}
model:
  image: {framework: triton, version: "25.09"}
  model_data_url: s3://bucket-one/net/model.tar.gz
variant: {instance_type: ml.c5.xlarge, initial_instance_count: 2}
triton:
  models:
    net:
      backend: python
      max_batch_size: 4
      input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
      output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]
      files: {1/model.py: net.py}
alarms: false
"""
MANY = CHURN.replace("single-model", "multi-model").replace("churn/model.tar.gz", "churn/")
QUEUE = f"""{CHURN}\
endpoint_config:
  async_inference_config:
    output_config: {{s3_output_path: s3://acme-answers/churn/, s3_failure_path: s3://acme-answers/failed/}}
"""
A_B = """\
kind: single-model
endpoint_name: ab
env: {region: us-east-1}
models:
  stable: &model
    image: {framework: xgboost, version: "1.7-1"}
    model_data_url: s3://acme-models/stable/model.tar.gz
  candidate: {<<: *model, model_data_url: s3://acme-models/candidate/model.tar.gz}
variants:
  - {variant_name: Stable, model_name: stable, instance_type: ml.m5.xlarge, initial_instance_count: 1}
  - {variant_name: Candidate, model_name: candidate, instance_type: ml.m5.xlarge, initial_instance_count: 1}
alarms: false
"""
DIRECT = """\
kind: pipeline
endpoint_name: direct
env: {region: us-east-1}
model:
  containers:
    - &container
      image: {framework: xgboost, version: "1.7-1"}
      model_data_url: s3://acme-models/first/model.tar.gz
      container_hostname: first
    - {<<: *container, container_hostname: second}
  inference_execution_config: {mode: Direct}
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 1}
alarms: false
"""
_NET = TRITON.partition("  models:\n")[2].partition("alarms:")[0]
_ARCHIVE = "".join(f"    {line}" for line in f"  models:\n{_NET}".splitlines(keepends=True))
ARCHIVES = (
    TRITON.partition("triton:\n")[0]
    .replace("single-model", "multi-model")
    .replace("net/model.tar.gz", "nets/")
    + f"triton:\n  archives:\n    a.tar.gz:\n{_ARCHIVE}    b.tar.gz:\n{_ARCHIVE}alarms: false\n"
)
SPECS = {
    "archives": ARCHIVES,
    "direct": DIRECT,
    "churn": CHURN,
    "chat": CHAT,
    "parts": PARTS,
    "net": TRITON,
    "many": MANY,
    "queue": QUEUE,
    "ab": A_B,
}
CSV = ("--body", "row.csv", "--content-type", "text/csv")

Invoke = Callable[..., tuple[int, Any]]


@pytest.fixture
def invoke(runtime: PlayedRuntime, capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Runs the command for a spec, with the exit status and what it prints."""
    Path("row.csv").write_text("1,2,3\n")
    Path("net.py").write_text("")

    def run(name: str, *words: str) -> tuple[int, Any]:
        Path(f"{name}.yaml").write_text(SPECS[name])
        capsys.readouterr()
        code = main(["invoke", f"{name}.yaml", *words])
        return code, capsys.readouterr()

    return run
