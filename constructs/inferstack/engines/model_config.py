"""What the files of a language model say of it: `config.json`, the index of its weights, its tokenizer.

Such files are public, and anybody may have written them: a value of another type than usual is taken for
absent, since other programs have other keys in its place, and only what is no JSON is an error. The keys are
looked up in the order in which vLLM does it, in `vllm/transformers_utils/model_arch_config_convertor.py`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import UNREADABLE_MODEL
from inferstack.source.other_files import read_text

CONFIG, INDEX, TOKENIZER = "config.json", "model.safetensors.index.json", "tokenizer_config.json"
ADAPTER = "adapter_config.json"
"""The files that are read, if they are there."""
QUANTIZATIONS: Mapping[str, Mapping[str, str]] = {
    "hf_quant_config.json": {},
    "quant_config.json": {"quant_method": "awq"},
    "quantize_config.json": {"quant_method": "gptq"},
}
"""Files that say how a model is quantized where its `config.json` does not, with what they leave out."""
WIDTHS = {
    **dict.fromkeys(("float32", "fp32", "float"), 4),
    **dict.fromkeys(("float16", "fp16", "half", "bfloat16", "bf16"), 2),
}
"""Bytes of a number, by the names of its type."""

_DESCRIBE = "`inferstack describe-model` writes one"
_NAMED = "config.json, or the folder that has it"
_MOST = 2**53
Config = Mapping[str, Any]


class LanguageModel(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model; None, or nothing, where its files do not say it.

    Layers, heads and all that follows from them are those of the part that generates text.
    """

    file: str
    architectures: tuple[str, ...] = ()
    model_type: str | None = None
    text_architectures: tuple[str, ...] = ()
    text_type: str | None = None
    has_own_code: bool = False
    """Whether the repository of the model has Python modules that have to be trusted (`auto_map`)."""
    layers: int | None = None
    heads: int | None = None
    written_kv_heads: int | None = None
    hidden_size: int | None = None
    written_head_size: int | None = None
    latent_size: int | None = None
    """With latent attention, the size of the one vector that is kept for a token in a layer."""
    context: int | None = None
    """The longest sequence, in tokens."""
    dtype: str | None = None
    quantization: str | None = None
    """The method by which the weights are quantized."""
    quantizes_cache: bool = False
    """Whether the model asks for a KV cache with numbers of another type than its own."""
    experts: int | None = None
    other_forms: tuple[str, ...] = ()
    """Keys because of which its cache is not of one size per token and layer."""
    weight_bytes: int | None = None
    """The bytes of all weights in its files."""
    loads_all: bool = False
    """Whether an engine is known to load all of them."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.architectures[0] if self.architectures else self.model_type or "the model"

    @property
    def is_16_bit(self) -> bool:
        """Whether its numbers are said to have 16 bits."""
        return WIDTHS.get(self.dtype or "") == WIDTHS["float16"]


class Adapter(msgspec.Struct, frozen=True):
    """What the files of a LoRA adapter say of it."""

    file: str
    rank: int | None = None
    base: str | None = None


def read_model(path: Path) -> LanguageModel:
    """Reads a model's `config.json`, or the folder that has it, with the files beside it.

    Raises:
        SpecError: when one of them cannot be read, or is not a JSON object.
    """
    if not _is(path, Path.is_dir):
        return model_of(_object(path, _NAMED), {}, {}, file=path.as_posix())
    config = _object(path / CONFIG)
    index, tokenizer, *quantizations = (
        _object(path / name) if _is(path / name, Path.exists) else {}
        for name in (INDEX, TOKENIZER, *QUANTIZATIONS)
    )
    for found, implied in zip(quantizations, QUANTIZATIONS.values(), strict=True):
        if found and "quantization_config" not in config:
            config = {**config, "quantization_config": {**implied, **found}}
    return model_of(config, index, tokenizer, file=(path / CONFIG).as_posix())


def _is(path: Path, what: Callable[[Path], bool]) -> bool:
    try:
        return what(path)
    except (OSError, ValueError):
        return False  # Reading it will find out what is wrong, and report it.


def read_adapter(folder: Path) -> Adapter | None:
    """What a folder says of the adapter in it; None if it holds none.

    Raises:
        SpecError: when its file cannot be read, or is not a JSON object.
    """
    file = folder / ADAPTER
    if not _is(file, Path.exists):
        return None
    config = _object(file)
    return Adapter(file.as_posix(), _count(config.get("r")), _text(config.get("base_model_name_or_path")))


def _object(file: Path, wanted: str | None = None) -> Config:
    """The content of a file; ``wanted`` is what to name instead of one that cannot be used."""
    named = f"a model's {wanted or file.name}"

    def stop(message: str, fix: str) -> SpecError:
        return SpecError([Problem(FilePlace(file.as_posix()), message, fix, UNREADABLE_MODEL)])

    text = read_text(file, stop, wanted=named, if_large=_DESCRIBE)
    try:
        # Python's own reader, since many of these files have NaN and Infinity, which JSON has not.
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise stop(f"this is not JSON: {reason}", f"name {named}; {_DESCRIBE}") from None
    if not isinstance(content, dict):
        found = type(content).__name__
        raise stop(f"this is a JSON {found}, not an object", f"name {named}; {_DESCRIBE}")
    return content


def model_of(config: Config, index: Config, tokenizer: Config, *, file: str = CONFIG) -> LanguageModel:
    """The model that such files describe; an empty mapping stands for a file that is not there."""
    text = _text_part(config)
    method, quantizes_cache = _quantization(config, text)
    return LanguageModel(
        file=file,
        architectures=_texts(config.get("architectures")),
        model_type=_text(config.get("model_type")),
        text_architectures=_texts(text.get("architectures")),
        text_type=_text(text.get("model_type")),
        has_own_code="auto_map" in config,
        layers=_first(text, "num_hidden_layers", "n_layer", "n_layers", "num_layers"),
        heads=_first(text, *_HEADS),
        written_kv_heads=_kv_heads(config, text),
        hidden_size=_first(text, "hidden_size", "n_embd", "d_model"),
        written_head_size=_first(text, "head_dim", "hidden_size_per_head"),
        latent_size=_latent_size(text),
        context=_context(config, text, tokenizer),
        dtype=_dtype(config, text),
        quantization=method,
        quantizes_cache=quantizes_cache,
        experts=_first(text, "num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts"),
        other_forms=tuple(_other_forms(text)),
        weight_bytes=_count(_mapping(index.get("metadata")).get("total_size")),
        loads_all=method is None and _loads_all(config, text),
    )


# ---------------------------------------------------------------- values of any type


def _count(value: object) -> int | None:
    """A whole number above 0, also as `4096.0`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MOST:
        return None
    return int(value) if value == int(value) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(it for it in value if isinstance(it, str)) if isinstance(value, list) else ()


def _mapping(value: object) -> Config:
    return value if isinstance(value, dict) else {}


def _first(config: Config, *keys: str) -> int | None:
    """The value of the first of these keys that has one."""
    counts = (_count(config.get(key)) for key in keys)
    return next((it for it in counts if it is not None), None)


# ---------------------------------------------------------------- what the keys mean

_HEADS = ("num_attention_heads", "n_head", "n_heads")


def _text_part(config: Config) -> Config:
    """The part that generates text; for most models, all of it."""
    thinker = _mapping(config.get("thinker_config")) or config
    parts = (_mapping(thinker.get(key)) for key in ("text_config", "llm_config", "language_config"))
    return next((it for it in parts if it), thinker)


def _kv_heads(config: Config, text: Config) -> int | None:
    shares_one = text.get("multi_query", True) and not text.get("new_decoder_architecture")
    if config.get("model_type") in ("falcon", "gpt_bigcode") and shares_one:
        return 1
    keys = ("n_head_kv", "num_kv_heads", "num_key_value_heads", "multi_query_group_num")
    written = _first(text, *keys, "num_attention_groups")
    return _count(_mapping(text.get("attn_config")).get("kv_n_heads")) if written is None else written


def _latent_size(text: Config) -> int | None:
    rank, rotary = _count(text.get("kv_lora_rank")), _count(text.get("qk_rope_head_dim"))
    return None if rank is None or rotary is None else rank + rotary


_LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
# Whose `max_position_embeddings` is the length after scaling.
_SCALED_ALREADY = frozenset({"su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling"})


def _context(config: Config, text: Config, tokenizer: Config) -> int | None:
    """The longest sequence that vLLM accepts without being asked to allow a longer one."""
    lengths = [it for key in _LENGTHS if (it := _count(text.get(key))) is not None]
    length = _count(text.get("model_max_length")) or min(lengths, default=None)
    if length is None:
        return None
    of_tokenizer = _count(tokenizer.get("model_max_length"))
    length = min(length, of_tokenizer or length)
    if "gemma3" in str(config.get("model_type")):
        return length
    return int(length * _scaling(text))


def _scaling(text: Config) -> float:
    factor = 1.0
    for one in _rope_parameters(text):
        kind = one.get("rope_type", one.get("type"))
        written = one.get("factor")
        if kind in _SCALED_ALREADY or isinstance(written, bool) or not isinstance(written, int | float):
            continue
        if 0 < written < _MOST:
            factor = float(written)
    return factor


def _rope_parameters(text: Config) -> Iterator[Config]:
    """The parameters of rotary embeddings: one for all layers, or one for each type of them."""
    written = _mapping(text.get("rope_parameters")) or _mapping(text.get("rope_scaling"))
    nested = [it for it in written.values() if isinstance(it, dict)]
    yield from nested
    if not nested:
        yield written


def _dtype(config: Config, text: Config) -> str | None:
    parts = (config, text, _mapping(config.get("vision_config")), _mapping(config.get("encoder_config")))
    names = (_text(part.get(key)) for part in parts for key in ("dtype", "torch_dtype"))
    return next((it.removeprefix("torch.") for it in names if it is not None), None)


def _quantization(config: Config, text: Config) -> tuple[str | None, bool]:
    """The method, and whether the KV cache is to be quantized, too."""
    keys = ("quantization_config", "compression_config")
    found = [it for part in (config, text) for key in keys if (it := _mapping(part.get(key)))]
    if not found:
        return None, False
    first = found[0]
    inner = _mapping(first.get("quantization"))
    method = _text(first.get("quant_method"))
    if _mapping(first.get("producer")).get("name") == "modelopt":
        algorithm = str(inner.get("quant_algo")).upper()
        method = "modelopt_fp4" if algorithm == "NVFP4" else "modelopt"
    keys = ("kv_cache_scheme", "kv_cache_quant_algo")
    quantizes_cache = any(part.get(key) for part in (first, inner) for key in keys)
    name = None if method is None else method.lower().replace("compressed_tensors", "compressed-tensors")
    return name, quantizes_cache


# Each means that layers differ, that some keep a state, or only what is in a window, or share what they keep.
_OTHER_FORMS = (
    "attention_chunk_size",
    "num_kv_shared_layers",
    "index_topk",
    "compress_ratios",
    "block_configs",
    "cross_attention_layers",
    "full_attention_interval",
    "hybrid_override_pattern",
    "rswa_window",
    "layers_block_type",
    "attn_layer_period",
    "global_attn_every_n_layers",
    "dual_chunk_attention_config",
)
_STARTS = ("linear_", "ssm_", "mamba_", "conv_L", "conv_dim")


def _other_forms(text: Config) -> Iterator[str]:
    if text.get("sliding_window") and text.get("use_sliding_window", True) is not False:
        yield "sliding_window"
    types = text.get("layer_types")
    if types is not None and set(_texts(types)) != {"full_attention"}:
        yield "layer_types"
    # Of which 1 is plain attention.
    kinds = text.get("attn_type_list")
    if isinstance(kinds, list) and any(it != 1 for it in kinds):
        yield "attn_type_list"
    yield from (key for key in _OTHER_FORMS if text.get(key))
    yield from _begun(text.keys())
    # Keys and values of different sizes; with latent attention, neither is kept.
    if "kv_lora_rank" not in text:
        yield from (key for key in ("v_head_dim", "head_dim_v", "value_head_dim") if text.get(key))
    if text.get("is_encoder_decoder"):
        yield "is_encoder_decoder"


def _loads_all(config: Config, text: Config) -> bool:
    """Whether nothing is stored that engines may leave out: embeddings again as output, parts for images, or
    layers for speculative decoding, which models with layers of several kinds have without a key for them.
    """
    is_plain = text is config and not any(_other_forms(text))
    predicts = any(value for key, value in config.items() if "nextn" in key or "mtp" in key)
    return is_plain and not predicts and config.get("tie_word_embeddings") is False


def _begun(keys: Iterable[str]) -> Iterator[str]:
    return (key for key in keys if key.startswith(_STARTS))
