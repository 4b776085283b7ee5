"""Configurations adapted to a server that has no GPU and only the Python backend."""

from pathlib import Path

import pytest

from inferstack.triton.config import parse_text
from inferstack.triton.model import TritonModel
from inferstack.triton.rehearsal.layout import local_config, stand_in_backend


def _model(text: str, *files: str) -> TritonModel:
    return TritonModel(
        "net", parse_text(text), {file: Path(file) for file in files}, ("1",), lambda _: (), text
    )


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        ('backend: "python"', None),
        ('platform: "ensemble" ensemble_scheduling {}', None),
        ('platform: "tensorrt_plan"', "tensorrt"),
        ('platform: "tensorflow_graphdef"', "tensorflow"),
        ('backend: "dali"', "dali"),
        ('backend: "vllm"', "vllm"),
    ],
)
def test_every_backend_but_python_and_ensembles_is_played(text: str, backend: str | None) -> None:
    assert stand_in_backend(_model(text)) == backend


def test_a_model_that_names_no_backend_is_known_by_its_file() -> None:
    assert stand_in_backend(_model("", "1/model.onnx")) == "onnxruntime"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("instance_group { kind: KIND_GPU gpus: [0, 1] }", "instance_group { kind: KIND_CPU }", "on the CPU"),
        ("instance_group { kind: KIND_AUTO gpus: [0] }", "instance_group { kind: KIND_CPU }", "on the CPU"),
        ("model_metrics { }", "", "`model_metrics` is left out"),
        ("ensemble_scheduling { max_inflight_requests: 3 }", "ensemble_scheduling { }", "max_inflight"),
        ("model_repository_agents { }", "", "`model_repository_agents`"),
        (
            "input { name: 'A' data_type: TYPE_BF16 } model_warmup { inputs { key: 'A' value "
            "{ data_type: TYPE_BF16 } } }",
            "input { name: 'A' data_type: TYPE_FP16 } model_warmup { inputs { key: 'A' value "
            "{ data_type: TYPE_FP16 } } }",
            "TYPE_BF16 is rehearsed as TYPE_FP16",
        ),
    ],
)
def test_what_the_local_server_cannot_load_is_changed_and_said(before: str, after: str, said: str) -> None:
    model = _model(f'backend: "python" {before}')
    local = local_config(model)
    assert local.config == parse_text(f'backend: "python" {after}')
    assert local.changed
    assert said in " ".join(local.changes)
    assert model.config == parse_text(f'backend: "python" {before}')


@pytest.mark.parametrize("group", ["", "instance_group { kind: KIND_CPU count: 3 }", "instance_group { }"])
def test_what_runs_on_the_cpu_stays_as_it_is(group: str) -> None:
    local = local_config(_model(f'backend: "python" {group}'))
    assert (local.changed, local.changes) == (False, ())


def test_a_stand_in_gets_nothing_that_only_the_real_backend_understands() -> None:
    text = (
        'platform: "tensorrt_plan" default_model_filename: "a.plan" instance_group { count: 4 profile: "0" }'
    )
    assert local_config(_model(text)).config == parse_text(
        'platform: "tensorrt_plan" instance_group { count: 4 }'
    )
