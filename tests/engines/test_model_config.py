"""Configurations of public models: each is read, and only what is plain attention gets a number."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.llama import LLAMA

from inferstack.engines.kv_cache import Served, Unknown, token_bytes
from inferstack.engines.memory import weights
from inferstack.engines.model_config import model_of, read_adapter, read_model
from inferstack.problems import SpecError

PUBLIC: list[dict[str, Any]] = json.loads(Path(__file__).with_name("public_configs.json").read_text())
"""The keys of public `config.json` files that matter here, with the bytes for a token in 0.33; null: unknown."""
NEWEST = Served(version="0.33.0")
OF_7B = {"metadata": {"total_size": 15231233024}}
"""The index of Qwen2.5 7B."""


@pytest.mark.parametrize("it", PUBLIC, ids=lambda it: it["name"])
def test_a_public_configuration_is_read(it):
    model = model_of(it["config"], {}, {})
    found = token_bytes(model, NEWEST)
    assert model.context == it["context"]
    assert (None if isinstance(found, Unknown) else found) == it["bytes"]


def test_there_are_enough_of_them():
    assert len(PUBLIC) > 150
    assert 70 < sum(it["bytes"] is None for it in PUBLIC) < 90


# What makes the cache of a model another one than that of plain attention.
OTHER_FORMS: dict[str, dict[str, Any]] = {
    "a sliding window": {"sliding_window": 4096},
    "some layers with a window": {"layer_types": ["full_attention", "sliding_attention"]},
    "a state": {"mamba_d_state": 16},
    "linear attention": {"linear_num_key_heads": 16},
    "chunks": {"attention_chunk_size": 8192},
    "layers that share": {"num_kv_shared_layers": 10},
    "an indexer": {"index_topk": 2048},
    "blocks": {"block_configs": [{}]},
    "values of another size": {"v_head_dim": 64},
    "an encoder": {"is_encoder_decoder": True},
    "latent attention of another kind": {"kv_lora_rank": 512, "qk_rope_head_dim": 64},
    "a quantized cache": {"quantization_config": {"quant_method": "fp8", "kv_cache_scheme": {"num_bits": 8}}},
    "an architecture with a state": {"architectures": ["JambaForCausalLM"]},
    "an architecture that is not known": {"architectures": ["OursForCausalLM"]},
    "no architecture": {"architectures": None},
    "no number of layers": {"num_hidden_layers": "32"},
    "no number of heads": {"num_attention_heads": None, "num_key_value_heads": None},
    "heads that the type has by itself": {"model_type": "mistral", "num_key_value_heads": None},
    "a size that the type has by itself": {"model_type": "qwen3"},
}
PLAIN: dict[str, tuple[dict[str, Any], int]] = {
    "as it is": ({}, 131072),
    "a window that is off": ({"sliding_window": 4096, "use_sliding_window": False}, 131072),
    "no window": ({"sliding_window": None}, 131072),
    "all layers alike": ({"layer_types": ["full_attention"] * 32}, 131072),
    "as many heads as attention has": ({"num_key_value_heads": None}, 524288),
    "heads of another size": ({"head_dim": 64}, 65536),
    "numbers with a point": ({"num_hidden_layers": 32.0}, 131072),
}


@pytest.mark.parametrize("keys", OTHER_FORMS.values(), ids=OTHER_FORMS)
def test_a_cache_of_another_form_is_unknown(keys):
    found = token_bytes(model_of({**LLAMA, **keys}, {}, {}), NEWEST)
    assert isinstance(found, Unknown)
    assert found.why


@pytest.mark.parametrize(("keys", "expected"), PLAIN.values(), ids=PLAIN)
def test_plain_attention_is_known(keys, expected):
    assert token_bytes(model_of({**LLAMA, **keys}, {}, {}), NEWEST) == expected


@pytest.mark.parametrize(
    ("serving", "expected"),
    [
        ({"tensor_parallel": 2}, 65536),
        ({"tensor_parallel": 16}, 16384),
        ({"pipeline_parallel": 2}, 65536),
        ({"cache_dtype": "fp8"}, 65536),
        ({"dtype": "float32"}, 262144),
        ({"tensor_parallel": 3}, None),
        ({"cache_dtype": "nvfp4"}, None),
        ({"version": "0.9.2"}, None),
        ({"version": "latest"}, None),
    ],
)
def test_how_it_is_served_counts(serving, expected):
    found = token_bytes(model_of(LLAMA, {}, {}), Served(**{"version": "0.33.0", **serving}))
    assert (None if isinstance(found, Unknown) else found) == expected


CONTEXTS: dict[str, tuple[dict[str, Any], dict[str, Any], int | None]] = {
    "the smallest": ({"n_positions": 4096}, {}, 4096),
    "scaled": ({"rope_scaling": {"type": "linear", "factor": 2.0}}, {}, 16384),
    "scaled already": ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, {}, 8192),
    "of a type of layers": (
        {"rope_parameters": {"full_attention": {"rope_type": "dynamic", "factor": 2}}},
        {},
        16384,
    ),
    "of the tokenizer": ({}, {"model_max_length": 2048}, 2048),
    "no limit of the tokenizer": ({}, {"model_max_length": 1e30}, 8192),
    "unsaid": ({"max_position_embeddings": None}, {}, None),
    "a factor that is none": ({"rope_scaling": {"type": "linear", "factor": float("inf")}}, {}, 8192),
}


@pytest.mark.parametrize(("keys", "tokenizer", "expected"), CONTEXTS.values(), ids=CONTEXTS)
def test_the_context_is_that_of_vllm(keys, tokenizer, expected):
    assert model_of({**LLAMA, **keys}, {}, tokenizer).context == expected


ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 10**400, float("nan"), float("inf"), "", "x", "\ud800"),
    *([], [None], {}, {"a": {"b": []}}, [[[]]], {"factor": None}, [{"type": 1}]),
)


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_no_value_is_too_odd(value):
    keys = {key for it in PUBLIC for key in it["config"]} | {"rope_scaling", "quantization_config"}
    for key in keys:
        for config in ({**LLAMA, key: value}, {"text_config": {**LLAMA, key: value}}):
            model = model_of(config, {"metadata": value}, {key: value, "model_max_length": value})
            assert token_bytes(model, NEWEST) is not None


WRONG_FILES = {
    "no JSON": (b"{", "this is not JSON: "),
    "a list": (b"[]", "this is a JSON list, not an object"),
    "too deep": (b"[" * 100_000, "this is not JSON: it is nested too deeply"),
    "too many digits": (b'{"a": ' + b"1" * 10_000 + b"}", "this is not JSON: "),
    "empty": (b" \n", "the file is empty"),
    "another encoding": (b"\xff\xfe{\x00", "the file is UTF-16"),
}


@pytest.mark.parametrize(("content", "message"), WRONG_FILES.values(), ids=WRONG_FILES)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "tokenizer_config.json"])
def test_what_is_no_configuration_is_an_error(tmp_path, content, message, name):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SpecError) as caught:
        read_model(tmp_path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.file) == ("IS355", (tmp_path / name).as_posix())
    assert problem.message.startswith(message)


def test_the_files_beside_are_read(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 16060522496}}')
    (tmp_path / "hf_quant_config.json").write_text(
        '{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}'
    )
    model = read_model(tmp_path)
    assert (model.weight_bytes, model.quantization) == (16060522496, "modelopt_fp4")
    assert model.quantizes_cache
    assert read_model(tmp_path / "config.json").weight_bytes is None


@pytest.mark.parametrize(("name", "method"), [("quant_config.json", "awq"), ("quantize_config.json", "gptq")])
def test_older_files_say_how_a_model_is_quantized(tmp_path, name, method):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / name).write_text('{"w_bit": 4, "bits": 4}')
    assert read_model(tmp_path).quantization == method


@pytest.mark.parametrize("path", ["none", "\0", "x" * 5000])
def test_what_is_not_there_is_an_error(tmp_path, path):
    with pytest.raises(SpecError, match="IS355: the file cannot be read"):
        read_model(tmp_path / path)


# Which keys leave open that some of the stored weights are not loaded.
LEFT_OUT: dict[str, dict[str, Any]] = {
    "embeddings may be stored twice": {"tie_word_embeddings": None},
    "embeddings are used twice": {"tie_word_embeddings": True},
    "layers for speculative decoding": {"num_nextn_predict_layers": 1},
    "a part for images": {"text_config": LLAMA},
    "layers of several kinds": {"layer_types": ["full_attention", "linear_attention"]},
    "quantized": {"quantization_config": {"quant_method": "fp8"}},
}


@pytest.mark.parametrize("keys", [{}, {"num_nextn_predict_layers": 0}, *LEFT_OUT.values()])
def test_what_an_engine_may_leave_out_is_seen(keys):
    model = model_of({**LLAMA, "tie_word_embeddings": False, **keys}, OF_7B, {})
    assert model.loads_all == (keys not in LEFT_OUT.values())


def test_all_weights_of_a_plain_model_take_what_logs_show():
    # "Model loading took 14.2488 GiB", of Qwen2.5 7B.
    plain = model_of({**LLAMA, "tie_word_embeddings": False}, OF_7B, {})
    band = weights(plain, Served(version="0.10"))
    assert band is not None
    assert 14.0 < band.least < band.most < 14.2488


def test_an_adapter_is_read(tmp_path):
    assert read_adapter(tmp_path) is None
    (tmp_path / "adapter_config.json").write_text('{"r": 64, "base_model_name_or_path": "org/base"}')
    found = read_adapter(tmp_path)
    assert found is not None
    assert (found.rank, found.base) == (64, "org/base")
