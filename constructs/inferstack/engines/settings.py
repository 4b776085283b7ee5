"""What a container sets, whichever engine it runs: each has a name of its own for the same thing."""

from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from inferstack.engines.engine import ENGINES, Engine
from inferstack.engines.lmi import LMI_OPTIONS
from inferstack.engines.tables import KnownOptions, look
from inferstack.facts.engines import RunningEngine, engine_of
from inferstack.facts.walk import PlacedContainer
from inferstack.problems import SpecPath


class Setting(msgspec.Struct, frozen=True):
    """One variable of a container that sets, or was meant to set, an option.

    ``name`` is the variable's, ``option`` the name that the engine knows; None if it knows none like it.
    """

    path: SpecPath
    name: str
    option: str | None
    value: str


NAMES: Mapping[str, Mapping[str, str]] = {
    "tensor_parallel_size": {
        "sglang": "tensor-parallel-size",
        "lmi": "tensor_parallel_degree",
        "tgi": "NUM_SHARD",
    },
    "pipeline_parallel_size": {"sglang": "pipeline-parallel-size", "lmi": "pipeline_parallel_degree"},
    "data_parallel_size": {"sglang": "data-parallel-size"},
    "expert_parallel_size": {"sglang": "expert-parallel-size", "vllm": ""},
    "dtype": {"tgi": "DTYPE", "tei": "DTYPE"},
    "quantization": {"lmi": "quantize", "tgi": "QUANTIZE"},
    "kv_cache_dtype": {"tgi": "KV_CACHE_DTYPE"},
    "max_model_len": {"sglang": "context-length", "tgi": "MAX_TOTAL_TOKENS"},
    "max_num_seqs": {
        "sglang": "max-running-requests",
        "lmi": "max_rolling_batch_size",
        "tgi": "MAX_BATCH_SIZE",
    },
    "max_num_batched_tokens": {
        "sglang": "chunked-prefill-size",
        "lmi": "max_rolling_batch_prefill_tokens",
        "tgi": "MAX_BATCH_PREFILL_TOKENS",
        "tei": "MAX_BATCH_TOKENS",
    },
    "gpu_memory_utilization": {"sglang": "mem-fraction-static", "tgi": "CUDA_MEMORY_FRACTION"},
    "enable_lora": {},
    "max_loras": {"sglang": "max-loras-per-batch"},
    "max_lora_rank": {},
    "max_cpu_loras": {"sglang": "max-loaded-loras"},
    "trust_remote_code": {"tgi": "TRUST_REMOTE_CODE"},
    "revision": {"tgi": "REVISION", "tei": "REVISION"},
    "tool_call_parser": {},
    "enable_auto_tool_choice": {"sglang": ""},
    "reasoning_parser": {},
    "enforce_eager": {"sglang": "disable-cuda-graph"},
    "enable_prefix_caching": {"sglang": ""},
    "served_model_name": {"tei": "SERVED_MODEL_NAME"},
    "tokenizer": {"sglang": "tokenizer-path"},
    "load_format": {},
    "cpu_offload_gb": {"lmi": "cpu_offload_gb_per_gpu"},
    "rolling_batch": {"vllm": "", "sglang": ""},
    "port": {"tgi": "PORT", "tei": "PORT"},
    "model": {"sglang": "model-path", "lmi": "model_id", "tgi": "MODEL_ID", "tei": "MODEL_ID"},
}
"""What vLLM calls a thing, and the option of engines that call it otherwise; empty for those that do not have
it.

SGLang's names are vLLM's with hyphens where nothing is written; TGI and TEI have only what is written.
"""
_SAME = {
    "sglang": {
        "tp": "tensor-parallel-size",
        "tp-size": "tensor-parallel-size",
        "pp-size": "pipeline-parallel-size",
        "dp-size": "data-parallel-size",
        "ep": "expert-parallel-size",
        "ep-size": "expert-parallel-size",
        "model": "model-path",
    },
    "lmi": {
        "quantization": "quantize",
        "max_num_batched_tokens": "max_rolling_batch_prefill_tokens",
        "cpu_offload_gb": "cpu_offload_gb_per_gpu",
    },
}
"""Options with two names, and the one that is used here."""


FORMER: Mapping[str, str] = {
    "disable_log_requests": "no_enable_log_requests",
    "enable_reasoning": "reasoning_parser",
    "guided_decoding_backend": "structured_outputs_config",
    "lora_path": "lora_modules",
    "model_id": "model",
    "model_path": "model",
    "num_speculative_tokens": "speculative_config",
    "rope_scaling": "hf_overrides",
    "rope_theta": "hf_overrides",
    "speculative_model": "speculative_config",
    "task": "runner",
}
"""What an option was called, or is called elsewhere, and vLLM's option that does it today."""
OF_REQUESTS = frozenset(
    {
        *("do_sample", "enable_thinking", "frequency_penalty", "max_completion_tokens", "max_new_tokens"),
        *("max_tokens", "presence_penalty", "repetition_penalty", "temperature", "top_k", "top_p"),
    }
)
"""What requests say, each for itself; no engine has an option of that name."""


def settings(placed: PlacedContainer) -> tuple[Setting, ...]:
    """What the variables of a container set; nothing if its engine is not known."""
    running = engine_of(placed)
    engine = None if running is None else ENGINES.get(running.name)
    return () if running is None or engine is None else tuple(_settings(placed, running, engine))


def _settings(placed: PlacedContainer, running: RunningEngine, engine: Engine) -> Iterator[Setting]:
    known = known_options(running)
    for variable, value in placed.environment.items():
        option = engine.option(variable)
        if option is not None and (engine.prefix or known is None or known.options(option)):
            path = (*placed.path, "environment", variable)
            yield Setting(path, variable, _known_as(running, known, option), value)


def known_options(running: RunningEngine) -> KnownOptions | None:
    """The options of the engine in its version; None if the table has none like it."""
    engine = ENGINES.get(running.name)
    if engine is None or engine.table is None or running.version is None:
        return None
    return look(engine.table, running.version)


def _known_as(running: RunningEngine, known: KnownOptions | None, option: str) -> str | None:
    """The engine's own name for an option, of which its parser needs the beginning only."""
    if running.name == "lmi":
        is_known = option in LMI_OPTIONS or known is None or bool(known.options(option.replace("_", "-")))
        return _SAME["lmi"].get(option, option) if is_known else None
    if known is None:
        return option
    meant = known.meant_by(option)
    return _SAME.get(running.name, {}).get(meant[0], meant[0]) if len(meant) == 1 else None


def setting(placed: PlacedContainer, what: str) -> Setting | None:
    """The variable that decides about a thing, by vLLM's name for it (see ``NAMES``); None if no variable
    does.
    """
    running = engine_of(placed)
    option = None if running is None else name_of(running.name, what)
    if running is None or option is None:
        return None
    found = [it for it in settings(placed) if it.option == option]
    # Of two arguments the last counts; LMI, TGI and TEI prefer their own name to an alias.
    own = [it for it in found if it.name not in ENGINES[running.name].aliases]
    return (own or found)[-1] if found else None


# LmiConfigRecommender of djl-serving: with `rolling_batch: vllm` or `trtllm` it is 256, as its page says.
_SEQUENCES_OF_LMI = 32
_OWN_BATCHES = {"vllm": 256, "trtllm": 256}


def sequences(placed: PlacedContainer) -> int | None:
    """How many requests a copy of a model works on at once; None if it is not known, or up to the GPU."""
    said, running = setting(placed, "max_num_seqs"), engine_of(placed)
    if said is not None:
        return int(said.value) if said.value.isascii() and said.value.isdecimal() else None
    if running is None or running.name != "lmi":
        return None
    return _OWN_BATCHES.get(placed.environment.get("OPTION_ROLLING_BATCH", ""), _SEQUENCES_OF_LMI)


def name_of(engine: str, what: str) -> str | None:
    """What an engine calls the option that vLLM calls ``what``; None if it has none."""
    family = family_of(engine)
    named = NAMES.get(what, {}).get(family)
    if named is not None:
        return named or None
    if family in ("tgi", "tei"):
        return None
    return what if family == "lmi" else what.replace("_", "-")


def option_called(name: str) -> str | None:
    """What vLLM calls the thing that some engine's option, or a variable without its prefix, is for."""
    return _things().get(_plain(name))


@cache
def _things() -> Mapping[str, str]:
    named = {_plain(name): what for what, names in NAMES.items() for name in (what, *names.values()) if name}
    again = {_plain(other): _plain(name) for names in _SAME.values() for other, name in names.items()}
    alias = {_plain(other): _plain(name) for other, name in ENGINES["tgi"].aliases.items()}
    others = {other: named[name] for other, name in {**again, **alias}.items() if name in named}
    return {**others, **named, "maxinputlength": "max_model_len", "maxinputtokens": "max_model_len"}


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def family_of(engine: str) -> str:
    """The engine that has the same options: Hugging Face's vLLM and vLLM-Omni have vLLM's."""
    return "vllm" if engine in ("huggingface-vllm", "vllm-omni") else engine


def variable_for(engine: str, what: str) -> str | None:
    """The variable with which an engine is told a thing; None if it has none."""
    option = name_of(engine, what)
    return None if option is None else ENGINES[engine].variable(option)
