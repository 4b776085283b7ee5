"""Starts of vLLM that people have reported: what ran is not refused, and what did not is mostly named."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from inferstack.catalog.gpus import GpuMemory
from inferstack.engines.kv_cache import BLOCK, Served, Unknown, token_bytes
from inferstack.engines.memory import GIB, room_for_cache
from inferstack.engines.model_config import LanguageModel, model_of

HERE = Path(__file__).parent
STARTS = list(csv.DictReader(HERE.joinpath("logged_starts.csv").read_text().splitlines()))
PUBLIC = {it["name"]: it["config"] for it in json.loads(HERE.joinpath("public_configs.json").read_text())}


def _config(name: str, layers: int, heads: int, **keys: Any) -> dict[str, Any]:
    shape = {"num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": 128 * heads}
    return {"architectures": [name], "torch_dtype": "bfloat16", "num_key_value_heads": heads, **shape, **keys}


OTHERS = {
    "Qwen1.5-7B": _config("Qwen2ForCausalLM", 32, 32, quantization_config={"quant_method": "gptq"}),
    "Qwen1.5-14B": _config("Qwen2ForCausalLM", 40, 40),
    "Qwen1.5-72B": _config("Qwen2ForCausalLM", 80, 64),
    "Qwen-72B": _config("QWenLMHeadModel", 80, 64),
    "Qwen2.5-VL-72B": _config("Qwen2_5_VLForConditionalGeneration", 80, 64, num_key_value_heads=8),
    "DeepSeek-R1-Distill-Qwen-14B": _config("Qwen2ForCausalLM", 48, 40, num_key_value_heads=8),
    "deepseek-coder-6.7b": _config("LlamaForCausalLM", 32, 32),
    "mpt-30b": _config("MPTForCausalLM", 48, 56, num_key_value_heads=None, attn_config={"kv_n_heads": 56}),
    "Llama-2-70B-AWQ": _config(
        "LlamaForCausalLM", 80, 64, num_key_value_heads=8, quantization_config={"quant_method": "awq"}
    ),
    "internlm-20b": _config("InternLMForCausalLM", 60, 40),
    "llama3_1_405b_fp8": {
        **_config("LlamaForCausalLM", 126, 128, num_key_value_heads=8),
        "quantization_config": {"quant_method": "fbgemm_fp8"},
    },
}


def model_in(start: dict[str, str]) -> LanguageModel:
    config = {**PUBLIC, **OTHERS}[start["model"]]
    return model_of(config, {"metadata": {"total_size": int(start["weight_bytes"])}}, {})


def serving_in(start: dict[str, str]) -> Served:
    # Older models are in the oldest version that the table has.
    version = start["version"] if float(start["version"].split(".")[1]) >= 10 else "0.10"
    return Served(
        version=version, tensor_parallel=int(start["gpus"]), utilization=float(start["utilization"])
    )


def is_refused(start: dict[str, str]) -> bool:
    """Whether the most that there may be is not enough for one request."""
    model, serving, total = model_in(start), serving_in(start), float(start["torch_gib"])
    room = room_for_cache(model, serving, GpuMemory(total, total))
    of_token = token_bytes(model, serving)
    assert room is not None
    needed = 0 if isinstance(of_token, Unknown) else of_token * int(start["max_model_len"])
    return room.most <= 0 or room.most * GIB < needed


@pytest.mark.parametrize(
    "start", [it for it in STARTS if it["worked"] == "yes"], ids=lambda it: f"{it['model']} {it['url'][-12:]}"
)
def test_what_ran_is_not_refused(start):
    assert not is_refused(start)


def test_at_least_half_of_what_did_not_run_is_named():
    failed = [it for it in STARTS if it["worked"] == "no"]
    named = [it for it in failed if is_refused(it)]
    assert len(failed) >= 10
    assert 2 * len(named) >= len(failed)


@pytest.mark.parametrize(
    "start",
    [it for it in STARTS if it["available_gib"] and it["tokens"]],
    ids=lambda it: f"{it['model']} {it['tokens']}",
)
def test_tokens_are_those_of_the_log_to_the_block(start):
    of_token = token_bytes(model_in(start), serving_in(start))
    assert isinstance(of_token, int)
    # The log rounds the memory to a hundredth of a GiB.
    least, most = (
        int((float(start["available_gib"]) + half) * GIB) // (of_token * BLOCK) for half in (-0.005, 0.005)
    )
    assert least <= int(start["tokens"]) // BLOCK <= most


@pytest.mark.parametrize(
    "start", [it for it in STARTS if it["tokens"] and it["worked"] == "yes"], ids=lambda it: it["model"]
)
def test_the_logged_tokens_are_within_the_band(start):
    model, serving, total = model_in(start), serving_in(start), float(start["torch_gib"])
    room, of_token = room_for_cache(model, serving, GpuMemory(total, total)), token_bytes(model, serving)
    assert room is not None
    assert isinstance(of_token, int)
    assert int(start["tokens"]) <= room.most * GIB / of_token
