"""The engines of AWS's images, each with the variables that its container reads, and what it makes of them.

https://github.com/aws/deep-learning-containers has the entry points of vLLM, SGLang and llama.cpp,
https://github.com/deepjavalibrary/djl-serving those of LMI. TGI and TEI read the variables themselves, as
their options.
"""

from collections.abc import Mapping

import msgspec

from inferstack.engines.lmi import LMI_OPTIONS
from inferstack.engines.tables import numbers
from inferstack.engines.values import EngineOption
from inferstack.facts.engines import RunningEngine

_SWITCHED = EngineOption("text", choices=("true", "1", "yes", "on", "false", "0", "no", "off"), folded=True)
# A value that the supervisor does not know ends it before the engine starts.
_SUPERVISED = {
    "PROCESS_AUTO_RECOVERY": _SWITCHED,
    "PROCESS_MAX_START_RETRIES": EngineOption("int", least=0, most=100),
    "LOG_LEVEL": EngineOption("text", choices=("debug", "info", "warn", "error", "critical"), folded=True),
}


class Engine(msgspec.Struct, frozen=True):
    """An engine as its container starts it.

    ``prefix`` begins the variables that become options, ``table`` has the options; None for an engine whose
    options are not known here. ``is_open``: it has options besides those of the table.
    """

    title: str
    prefix: str
    table: str | None
    is_open: bool = False
    reads_environment: str = ""
    """How the variables begin that the engine itself reads, if it has a list of them."""
    own: Mapping[str, EngineOption] = msgspec.field(default_factory=dict)
    """Variables, or in LMI options, of the container itself, with what they accept."""
    unlisted: frozenset[str] = frozenset()
    """Variables with the prefix that become no option."""
    aliases: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Variables that are taken for another one, if that is not set or they replace it."""
    model: tuple[str, ...] = ()
    """The variables that name the model, the strongest first."""
    files_first: bool = False
    """Whether files in /opt/ml/model are served rather than the last of these."""

    def option(self, variable: str) -> str | None:
        """The option that a variable sets, by its name alone; None if it is not one for an option."""
        variable = self.aliases.get(variable, variable)
        if not variable.startswith(self.prefix) or variable in self.unlisted or variable == self.prefix:
            return None
        name = variable.removeprefix(self.prefix)
        if self.is_of_flags:
            return name.lower().replace("_", "-")
        return name.lower() if self.prefix else name

    def variable(self, option: str) -> str:
        """The variable that sets an option."""
        return self.prefix + option.upper().replace("-", "_")

    @property
    def is_of_flags(self) -> bool:
        """Whether its container makes a command line of variables with a prefix."""
        return self.prefix.startswith("SM_")


_VLLM = Engine(
    "vLLM",
    "SM_VLLM_",
    "vllm",
    reads_environment="VLLM_",
    own=_SUPERVISED,
    model=("SM_VLLM_MODEL", "HF_MODEL_ID"),
    files_first=True,
)
_TGI_ALIASES = {
    "HF_MODEL_ID": "MODEL_ID",
    "HF_MODEL_REVISION": "REVISION",
    "SM_NUM_GPUS": "NUM_SHARD",
    "HF_MODEL_QUANTIZE": "QUANTIZE",
    "HF_MODEL_TRUST_REMOTE_CODE": "TRUST_REMOTE_CODE",
}

ENGINES: Mapping[str, Engine] = {
    "vllm": _VLLM,
    "huggingface-vllm": msgspec.structs.replace(_VLLM, title="Hugging Face's vLLM", own={}),
    "vllm-omni": msgspec.structs.replace(_VLLM, title="vLLM-Omni", is_open=True, own={}),
    "sglang": Engine(
        "SGLang",
        "SM_SGLANG_",
        "sglang",
        unlisted=frozenset({"SM_SGLANG_ENGINE"}),
        model=("SM_SGLANG_MODEL_PATH",),
    ),
    "lmi": Engine(
        "LMI",
        "OPTION_",
        "vllm",
        reads_environment="VLLM_",
        own=LMI_OPTIONS,
        aliases={
            "HF_MODEL_ID": "OPTION_MODEL_ID",
            "HF_REVISION": "OPTION_REVISION",
            "HF_MODEL_TRUST_REMOTE_CODE": "OPTION_TRUST_REMOTE_CODE",
            "HF_MODEL_QUANTIZE": "OPTION_QUANTIZE",
            "TENSOR_PARALLEL_DEGREE": "OPTION_TENSOR_PARALLEL_DEGREE",
            "SM_NUM_GPUS": "OPTION_TENSOR_PARALLEL_DEGREE",
            "MAX_BATCH_PREFILL_TOKENS": "OPTION_MAX_ROLLING_BATCH_PREFILL_TOKENS",
            "MAX_CONCURRENT_REQUESTS": "SERVING_JOB_QUEUE_SIZE",
            "MAX_BATCH_SIZE": "OPTION_MAX_ROLLING_BATCH_SIZE",
            "CUDA_MEMORY_FRACTION": "OPTION_GPU_MEMORY_UTILIZATION",
        },
        model=("OPTION_MODEL_ID", "HF_MODEL_ID", "OPTION_MODEL"),
    ),
    "tgi": Engine(
        "TGI",
        "",
        "tgi",
        aliases=_TGI_ALIASES,
        model=("HF_MODEL_ID",),
    ),
    "tei": Engine(
        "TEI",
        "",
        "tei",
        aliases={key: _TGI_ALIASES[key] for key in ("HF_MODEL_ID", "HF_MODEL_REVISION")},
        model=("HF_MODEL_ID",),
    ),
    "llama-cpp": Engine(
        "llama.cpp",
        "SM_LLAMA_CPP_",
        None,
        unlisted=frozenset({"SM_LLAMA_CPP_MODEL", "SM_LLAMA_CPP_MODEL_DIR", "SM_LLAMA_CPP_PORT"}),
        model=(
            *("SM_LLAMA_CPP_MODEL", "SM_LLAMA_CPP_HF_REPO", "SM_LLAMA_CPP_MODEL_URL"),
            *("SM_LLAMA_CPP_MODELS_DIR", "SM_LLAMA_CPP_MODELS_PRESET"),
        ),
    ),
}
"""By the name that :func:`inferstack.facts.engines.engine_of` gives."""
RUN_VLLM = frozenset(name for name, it in ENGINES.items() if it.table == "vllm" and not it.is_open)
"""Those that run vLLM, with the models that it has; vLLM-Omni has others."""

# What the entry point of an image does with `true`, `false` and lists has changed twice. Builds are published
# again under the same tag, so of some releases it is not known which they have.
_WORDS_SINCE = {"sglang": (0, 5, 10)}
_VLLM_WORDS_SINCE = (0, 17, 1)
_LISTS_SINCE = (0, 29)
_NO_LISTS_BEFORE = (0, 27)
_SUPERVISED_SINCE = (0, 21)
_SERVER = "server-sagemaker-cuda-v"


def drops_false(running: RunningEngine, version: tuple[int, ...]) -> bool | None:
    """Whether `false` leaves a flag out, and `true` is no value of it; None if that is not known.

    Images built before 2026-03-17 passed both on as values, which ends vLLM.
    """
    since = _WORDS_SINCE.get(running.name, _VLLM_WORDS_SINCE)
    return True if running.release.startswith(_SERVER) or version >= since else None


def is_supervised(version: tuple[int, ...]) -> bool:
    """Whether a supervisor surely starts vLLM in AWS's image, and reads variables of its own."""
    return version >= _SUPERVISED_SINCE


def splits_lists(running: RunningEngine, version: tuple[int, ...]) -> bool | None:
    """Whether the entries of a JSON list become a word each; None if that is not known."""
    if running.name != "vllm":
        return False
    if running.release.startswith(_SERVER):
        return numbers(running.release.removeprefix(_SERVER)) >= (2, 4)
    if _NO_LISTS_BEFORE <= version < _LISTS_SINCE:
        return None
    return version >= _LISTS_SINCE
