"""Starts of vLLM that people have reported: what ran is not refused, and what did not is mostly named.

A start that `worked` only for a while ran out of memory `later`, when it captured graphs or warmed up beside the
cache: a smaller share of the GPU, or none of the graphs, mends it, and no file of the model tells. Those that are
`of_band` are what the band of `engines/memory.py` was made from. Where no index was found, the bytes of the weights
are rounded from what the log says was loaded.
"""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from inferstack.catalog.gpus import GpuMemory
from inferstack.engines.kv_cache import BLOCK, Served, Unknown, token_bytes
from inferstack.engines.memory import GIB, Band, room_for_cache
from inferstack.engines.model_config import LanguageModel, model_of

HERE = Path(__file__).parent
STARTS = list(csv.DictReader(HERE.joinpath("logged_starts.csv").read_text().splitlines()))
PUBLIC = {it["name"]: it["config"] for it in json.loads(HERE.joinpath("public_configs.json").read_text())}


def _config(name: str, layers: int, heads: int, **keys: Any) -> dict[str, Any]:
    shape = {"num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": 128 * heads}
    return {"architectures": [name], "torch_dtype": "bfloat16", "num_key_value_heads": heads, **shape, **keys}


_AWQ = {"quantization_config": {"quant_method": "awq"}}
OTHERS = {
    "Ministral-3-14B": _config("MistralForCausalLM", 40, 32, num_key_value_heads=8, head_dim=128),
    "Mixtral-8x7B-AWQ": {**PUBLIC["mistralai/Mixtral-8x7B-v0.1"], **_AWQ},
    "Qwen3-235B-AWQ": {**PUBLIC["Qwen/Qwen3-235B-A22B"], **_AWQ},
    "qwen2.5_7b_awq": {**PUBLIC["qwen2_7b"], **_AWQ},
    "deepseek-coder-33b": _config("LlamaForCausalLM", 62, 56, num_key_value_heads=8),
    "InternVL3-78B": _config("InternVLChatModel", 80, 64, num_key_value_heads=8),
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
        version=version,
        tensor_parallel=int(start["gpus"]),
        utilization=float(start["utilization"]),
        dtype=start["dtype"],
        cache_dtype=start["cache_dtype"],
    )


def room_in(start: dict[str, str]) -> Band:
    total = float(start["torch_gib"])
    room = room_for_cache(model_in(start), serving_in(start), GpuMemory(total, total))
    assert room is not None
    return room


def is_refused(start: dict[str, str]) -> bool:
    """Whether the most that there may be is not enough for one request."""
    room, of_token = room_in(start), token_bytes(model_in(start), serving_in(start))
    needed = 0 if isinstance(of_token, Unknown) else of_token * int(start["max_model_len"])
    return room.most <= 0 or room.most * GIB < needed


def named(start: dict[str, str]) -> str:
    return f"{start['model']} {start['version']} {start['cache_dtype']} {start['url'][-12:]}"


RAN = [it for it in STARTS if it["worked"] != "no"]
IS_LOGGED = [it for it in STARTS if it["available_gib"] and it["tokens"]]
EXACT = [it for it in IS_LOGGED if isinstance(token_bytes(model_in(it), serving_in(it)), int)]
SHARED = 0.97
"""The least share of what the first worker logs: each logs its own memory, and that of the poorest counts."""


def test_most_of_them_are_others_than_the_band_was_made_from():
    assert sum(not it["of_band"] for it in STARTS) >= 80


@pytest.mark.parametrize("start", RAN, ids=named)
def test_what_ran_is_not_refused(start):
    assert not is_refused(start)


def test_at_least_half_of_what_did_not_run_is_named():
    failed = [it for it in STARTS if it["worked"] == "no"]
    assert len(failed) >= 28
    assert 2 * sum(map(is_refused, failed)) >= len(failed)


@pytest.mark.parametrize("start", EXACT, ids=named)
def test_tokens_are_those_of_the_log_to_the_block(start):
    of_token = token_bytes(model_in(start), serving_in(start))
    assert isinstance(of_token, int)
    # The log rounds the memory to a hundredth of a GiB.
    least, most = (
        int((float(start["available_gib"]) + half) * GIB) // (of_token * BLOCK) for half in (-0.005, 0.005)
    )
    share = 1 if start["gpus"] == "1" else SHARED
    assert least * share <= int(start["tokens"]) // BLOCK <= most


def test_what_is_not_exact_is_unknown():
    unknown = {it["model"] for it in IS_LOGGED if it not in EXACT}
    kinds = ("Nemotron", "Qwen3.5", "DeepSeek-V3.2", "Llama-4")
    assert all(any(kind in it for it in unknown) for kind in kinds)
    assert all(any(kind in it for kind in kinds) for it in unknown)


@pytest.mark.parametrize("start", [it for it in RAN if it["available_gib"]], ids=named)
def test_the_logged_memory_is_within_the_band(start):
    room = room_in(start)
    assert room.least <= float(start["available_gib"]) <= room.most


@pytest.mark.parametrize("start", [it for it in RAN if it["tokens"] and not it["available_gib"]], ids=named)
def test_the_logged_tokens_are_within_the_band(start):
    of_token = token_bytes(model_in(start), serving_in(start))
    assert isinstance(of_token, int)
    assert int(start["tokens"]) <= room_in(start).most * GIB / of_token
