"""How many bytes of a GPU vLLM's KV cache takes for a token, where that can be known.

It can for plain attention, and for latent attention of DeepSeek's kind. Models with sliding windows, with
layers that keep a state, or that share what they keep have caches of other forms, whose size depends on more
than the number of tokens: of those, nothing is said. Which form a model has is decided by its keys, and by
whether its class in vLLM could have another one.
"""

import msgspec

from inferstack.engines.architectures import RunBy, has_number_of_its_own, is_built_in, run_of, text_class
from inferstack.engines.engine import ENGINES
from inferstack.engines.model_config import WIDTHS, LanguageModel

BLOCK = 16
"""Tokens. The cache has whole blocks only; a few kernels have larger ones."""

# Those whose attention is latent in vLLM; others with the same keys keep keys and values.
_LATENT_TYPES = frozenset({"deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe_lite"})
_PACKED = "the size of a token in a KV cache of type `{}` is not known"
_CACHE_WIDTHS = {**WIDTHS, **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2"), 1)}


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """How an engine serves a model, as far as memory depends on it.

    ``engine`` is its name in `ENGINES`, `vllm` for whatever runs vLLM; ``version`` is its own.
    """

    version: str
    engine: str = "vllm"
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    dtype: str = "auto"
    quantization: str | None = None
    cache_dtype: str = "auto"
    utilization: float | None = None


class Unknown(msgspec.Struct, frozen=True):
    """Why a number is not known."""

    why: str


def token_bytes(model: LanguageModel, serving: Served) -> int | Unknown:
    """The bytes on each GPU for one token; 0 for a model without a KV cache."""
    if serving.engine != "vllm":
        return Unknown(f"how much of a GPU {ENGINES[serving.engine].title} keeps for itself is not known")
    kind = _kind(model, serving.version)
    if isinstance(kind, Unknown):
        return kind
    if kind == "none":
        return 0
    if model.other_forms:
        return Unknown(f"`{model.other_forms[0]}` in config.json: layers do not all keep every token")
    width = _width(model, serving)
    size = _size_in_a_layer(model, kind, serving.tensor_parallel)
    if isinstance(width, Unknown):
        return width
    if isinstance(size, Unknown):
        return size
    if model.layers is None:
        return Unknown("config.json does not say how many layers there are")
    return -(-model.layers // serving.pipeline_parallel) * size * width


def kv_heads(model: LanguageModel) -> int | Unknown:
    """The heads whose keys and values are kept."""
    if model.written_kv_heads is not None:
        return model.written_kv_heads
    keys = ("num_key_value_heads", "num_kv_heads", "n_head_kv")
    if model.heads is None:
        return Unknown("config.json does not say how many attention heads there are")
    if not is_built_in(model.text_type or "") or has_number_of_its_own(model.text_type, *keys):
        return Unknown("config.json does not say how many heads the KV cache has")
    return model.heads


def _kind(model: LanguageModel, version: str) -> str | Unknown:
    if not model.architectures:
        return Unknown("config.json names no architecture")
    run = _first_run(model.architectures, version)
    kind = run.kind
    if kind == "of-text":
        inner = model.text_architectures or filter(None, [text_class(model.text_type)])
        kind = _first_run(tuple(inner), version).kind
    if kind is None:
        return Unknown(f"vLLM {version} is not known to run {model.architectures[0]}")
    if kind in ("other", "of-text"):
        return Unknown(f"{model.architectures[0]} may have a KV cache of another form than plain attention")
    return kind


def _first_run(architectures: tuple[str, ...], version: str) -> RunBy:
    """What becomes of the first architecture that the version runs."""
    runs = (run_of(it, version) for it in architectures)
    return next((it for it in runs if it.runs), RunBy(runs=None))


def _size_in_a_layer(model: LanguageModel, kind: str, tensor_parallel: int) -> int | Unknown:
    """How many numbers one layer keeps for a token on each GPU."""
    if model.latent_size is not None:
        if kind == "mla" and model.text_type in _LATENT_TYPES:
            return model.latent_size
        return Unknown(f"latent attention of `{model.text_type}` models may be kept in another form")
    heads, size = kv_heads(model), _head_size(model)
    if isinstance(heads, Unknown):
        return heads
    if isinstance(size, Unknown):
        return size
    if model.heads is not None and model.heads % tensor_parallel:
        return Unknown(f"{model.heads} attention heads cannot be divided by {tensor_parallel}")
    if heads % tensor_parallel and tensor_parallel % heads:
        return Unknown(f"{heads} heads of the KV cache cannot be divided by {tensor_parallel}")
    return 2 * max(1, heads // tensor_parallel) * size


def _head_size(model: LanguageModel) -> int | Unknown:
    if model.written_head_size is not None:
        return model.written_head_size
    unsaid = Unknown("config.json does not say how large a head is")
    if model.hidden_size is None or model.heads is None or has_number_of_its_own(model.text_type, "head_dim"):
        return unsaid
    return model.hidden_size // model.heads or unsaid


def _width(model: LanguageModel, serving: Served) -> int | Unknown:
    """The bytes of one number."""
    if serving.cache_dtype != "auto":
        return _CACHE_WIDTHS.get(serving.cache_dtype) or Unknown(_PACKED.format(serving.cache_dtype))
    if model.quantizes_cache:
        return Unknown("the model asks for a quantized KV cache, which not every version makes")
    if serving.dtype != "auto":
        return WIDTHS.get(serving.dtype) or Unknown(_PACKED.format(serving.dtype))
    # What is float32 is served in 16 bits, and so is what does not say.
    return 2
