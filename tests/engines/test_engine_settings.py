"""One thing is found in whichever engine, by whichever of its names."""

from typing import Any

import pytest

from inferstack.check.load import parse_spec
from inferstack.engines.engine import ENGINES
from inferstack.engines.settings import NAMES, Setting, name_of, option_called, setting, settings
from inferstack.engines.tables import versions_with
from inferstack.facts.walk import containers

AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
IMAGES = {
    "vllm": f"{AWS}/vllm:0.27.1-gpu-py312",
    "sglang": f"{AWS}/sglang:0.5.12-gpu-py312",
    "lmi": f"{AWS}/djl-inference:0.36.0-lmi28.0.0-cu130",
    "tgi": f"{AWS}/huggingface-pytorch-tgi-inference:2.7.0-tgi3.3.6-gpu-py311",
    "tei": f"{AWS}/tei:2.0.1-tei1.8.2-gpu-py310-cu122-ubuntu22.04",
}


def of(engine: str, what: str, **environment: str) -> Setting | None:
    data: dict[str, Any] = {
        **{"kind": "single-model", "endpoint_name": "chat"},
        "model": {"image": IMAGES.get(engine, engine), "environment": environment},
        "variant": {"instance_type": "ml.g6e.12xlarge", "initial_instance_count": 1},
    }
    [placed] = containers(parse_spec(data).spec)
    return setting(placed, what)


@pytest.mark.parametrize(
    ("engine", "what", "environment", "value"),
    [
        ("vllm", "tensor_parallel_size", {"SM_VLLM_TENSOR_PARALLEL_SIZE": "4"}, "4"),
        ("vllm", "tensor_parallel_size", {"SM_VLLM_TENSOR_PARALLEL_SIZ": "4"}, "4"),
        ("sglang", "tensor_parallel_size", {"SM_SGLANG_TP": "4"}, "4"),
        ("sglang", "max_model_len", {"SM_SGLANG_CONTEXT_LENGTH": "8192"}, "8192"),
        ("lmi", "tensor_parallel_size", {"TENSOR_PARALLEL_DEGREE": "4"}, "4"),
        ("lmi", "tensor_parallel_size", {"OPTION_TENSOR_PARALLEL_DEGREE": "4", "SM_NUM_GPUS": "2"}, "4"),
        ("lmi", "max_num_seqs", {"OPTION_MAX_ROLLING_BATCH_SIZE": "64"}, "64"),
        ("lmi", "quantization", {"HF_MODEL_QUANTIZE": "awq"}, "awq"),
        ("tgi", "tensor_parallel_size", {"SM_NUM_GPUS": "2"}, "2"),
        ("tgi", "quantization", {"QUANTIZE": "awq"}, "awq"),
        ("tei", "dtype", {"DTYPE": "float16"}, "float16"),
        ("tei", "tensor_parallel_size", {"NUM_SHARD": "2"}, None),
        ("vllm", "tensor_parallel_size", {"TENSOR_PARALLEL_SIZE": "2"}, None),
        (f"{AWS.replace('763104351884', '111122223333')}/vllm:1", "dtype", {"SM_VLLM_DTYPE": "half"}, None),
    ],
)
def test_a_thing_by_its_name(engine: str, what: str, environment: dict[str, str], value: str | None) -> None:
    found = of(engine, what, **environment)
    assert (None if found is None else found.value) == value
    if found is not None:
        assert found.path == ("model", "environment", found.name)


def test_a_name_that_no_option_has_is_kept_without_one() -> None:
    data: dict[str, Any] = {
        **{"kind": "single-model", "endpoint_name": "chat"},
        "model": {"image": IMAGES["vllm"], "environment": {"SM_VLLM_FOO": "1", "HF_TOKEN": "x"}},
        "variant": {"instance_type": "ml.g6e.12xlarge", "initial_instance_count": 1},
    }
    [placed] = containers(parse_spec(data).spec)
    assert [(it.name, it.option) for it in settings(placed)] == [("SM_VLLM_FOO", None)]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "tei"])
def test_the_names_are_options_of_the_engines(engine: str) -> None:
    for what in NAMES:
        name = name_of(engine, what)
        if name is not None:
            assert versions_with(str(ENGINES[engine].table), name), name
            assert option_called(name) is not None


def test_what_another_engine_calls_so() -> None:
    assert option_called("TENSOR_PARALLEL_DEGREE") == "tensor_parallel_size"
    assert option_called("context-length") == "max_model_len"
    assert option_called("SM_NUM_GPUS") == "tensor_parallel_size"
    assert option_called("favorite_color") is None
