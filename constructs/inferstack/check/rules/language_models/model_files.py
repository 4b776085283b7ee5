"""Rules that know the model: do its files and the container that serves it go together?

They rest on what an engine does, and so are warnings, but for weights that no GPU of the endpoint can hold.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from inferstack.catalog import instances
from inferstack.catalog.gpus import gpu_memory
from inferstack.catalog.instances import COMPUTE_CAPABILITIES, Capability, InstanceType
from inferstack.engines import tables
from inferstack.engines.architectures import RunBy, is_built_in, is_configured, run_of
from inferstack.engines.engine import ENGINES, RUN_VLLM
from inferstack.engines.gpus import LEAST_CAPABILITIES, USE_ALL
from inferstack.engines.kv_cache import Served, Unknown, token_bytes
from inferstack.engines.memory import Band, room_for_cache, tokens_in
from inferstack.engines.model_config import Adapter, LanguageModel
from inferstack.engines.settings import Setting, name_of, setting, settings
from inferstack.facts.engines import RunningEngine, engine_of
from inferstack.facts.walk import PlacedContainer, runs_of
from inferstack.problems import Problem, SpecPath
from inferstack.problems.rules import RuleTable

OF_MODELS = RuleTable()
"""The rules below, by code."""

_MODELS = "https://docs.vllm.ai/en/latest/models/supported_models.html"
_MEMORY = "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html"
_ARGUMENTS = "https://docs.vllm.ai/en/latest/configuration/engine_args.html"
_QUANTIZATION = "https://docs.vllm.ai/en/latest/features/quantization/"
_LORA = "https://docs.vllm.ai/en/latest/features/lora.html"

_OTHERS = frozenset({"sglang", "tgi", "tei"})
"""Engines that load the same weights, in files of the same form."""


class Described(msgspec.Struct, frozen=True):
    """A container, and what its model's files say."""

    placed: PlacedContainer
    model: LanguageModel

    @property
    def running(self) -> RunningEngine | None:
        """The engine, if it is one of AWS's images."""
        return engine_of(self.placed)

    @property
    def vllm(self) -> str | None:
        """The version of vLLM that serves it, if it is known."""
        running = self.running
        return None if running is None or running.name not in RUN_VLLM else running.version

    @property
    def path(self) -> SpecPath:
        """Where to report what no variable is to blame for."""
        named = self.placed.container.model_config is not None
        return (*self.placed.path, "model_config") if named else self.placed.path

    def at(self, what: str) -> SpecPath:
        """The variable that sets a thing, or else the path."""
        found = setting(self.placed, what)
        return self.path if found is None else found.path

    def variable(self, what: str) -> str:
        """The name of the variable that sets a thing."""
        running = self.running
        option = None if running is None else name_of(running.name, what)
        return what if running is None or option is None else ENGINES[running.name].variable(option)

    def text(self, what: str) -> str | None:
        """What a variable sets a thing to."""
        found = setting(self.placed, what)
        return None if found is None else found.value.strip()

    def number(self, what: str) -> int | None:
        """The whole number that a variable sets; None if it sets none, or something else."""
        text = self.text(what) or ""
        return int(text) if re.fullmatch("[1-9][0-9]{0,8}", text) else None

    def share(self, what: str) -> float | None:
        """The number that a variable sets, if it is a share."""
        text = self.text(what) or ""
        return float(text) if re.fullmatch(r"(0?\.[0-9]{1,6})|1(\.0*)?", text) else None

    @property
    def longest(self) -> int | None:
        """The longest sequence that is served; None if a variable says something else than a number."""
        written = self.text("max_model_len")
        return self.model.context if written is None else self.number("max_model_len")

    @property
    def may_be_longer(self) -> bool:
        """Whether variables allow a longer context than the model's files do."""
        allowed = self.placed.environment.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN") == "1"
        return allowed or any((it.option or "").startswith(("hf", "rope")) for it in settings(self.placed))

    @property
    def hosts(self) -> Iterator[tuple[InstanceType, int]]:
        """The instance types whose GPUs are known, with the number of GPUs that the container sees."""
        runs = runs_of(self.placed.spec, self.placed.path)
        needs = [it.specification.compute_resource_requirements for it in runs]
        counts = [it.number_of_accelerator_devices_required for it in needs if it is not None]
        reserved = {int(it) for it in counts if it is not None and it >= 1}
        for name in self.placed.instance_types:
            host = instances.find(name)
            if host is not None and host.gpus and len(reserved) < 2:
                yield host, next(iter(reserved), host.gpus)

    def tensor_parallel(self, visible: int) -> int | None:
        """Over how many GPUs the model is divided; None where a variable says something that is no number."""
        running = self.running
        if running is None:
            return None
        written = self.text("tensor_parallel_size")
        if written is None or (running.name == "lmi" and written == "max"):
            return visible if running.name in USE_ALL else 1
        return self.number("tensor_parallel_size")

    @property
    def with_defaults(self) -> Served | None:
        """How the engine serves it if nothing is set; None if the engine or its version is not known."""
        running = self.running
        if running is None or running.name not in (*RUN_VLLM, *_OTHERS) or running.version is None:
            return None
        return Served(version=running.version, engine="vllm" if self.vllm else running.name)

    @property
    def unclear(self) -> Setting | None:
        """The variable because of which it is not known what the engine takes of a GPU; None if there is
        none.
        """
        running = self.running
        read = {
            "tensor_parallel_size": self.tensor_parallel(1),
            "pipeline_parallel_size": self.number("pipeline_parallel_size"),
            "gpu_memory_utilization": self.share("gpu_memory_utilization"),
        }
        unread = [what for what, number in read.items() if number is None]
        found = [setting(self.placed, what) for what in (*_UNCLEAR, *unread)]
        if running is not None and running.name == "sglang":
            found += [it for it in settings(self.placed) if _moves_weights(it.option)]
        return next((it for it in found if it is not None), None)

    def tokens_on(self, host: InstanceType, visible: int) -> Band | None:
        """The tokens that the KV cache has room for on an instance type; None if that is not known."""
        serving, memory = self.serving(visible), gpu_memory(host)
        if serving is None or memory is None:
            return None
        room, of_token = room_for_cache(self.model, serving, memory), token_bytes(self.model, serving)
        if room is None or isinstance(of_token, Unknown) or not of_token:
            return None
        return tokens_in(room, of_token)

    def serving(self, visible: int) -> Served | None:
        """How the engine serves it on so many GPUs; None if something is set whose effect is not known."""
        plain, degree = self.with_defaults, self.tensor_parallel(visible)
        if plain is None or degree is None or self.unclear is not None:
            return None
        return replace(
            plain,
            tensor_parallel=degree,
            pipeline_parallel=self.number("pipeline_parallel_size") or 1,
            dtype=(self.text("dtype") or "auto").lower(),
            quantization=self.text("quantization"),
            cache_dtype=(self.text("kv_cache_dtype") or "auto").lower(),
            utilization=self.share("gpu_memory_utilization"),
        )


# They move weights elsewhere, divide them in another way, double some, change the model, or say themselves
# how large the KV cache is. Experts that are distributed over the same GPUs rather than cut
# (`enable_expert_parallel`) weigh the same.
_UNCLEAR = (
    *("cpu_offload_gb", "data_parallel_size", "hf_overrides", "enable_eplb", "load_format"),
    *("kv_cache_memory_bytes", "num_gpu_blocks_override"),
)


# Of SGLang only, and likewise: they leave experts to the CPU, or quantize what is loaded.
_OF_SGLANG = ("cpu-offload", "offload", "kt-", "json-model", "torchao", "modelopt", "quantize", "enable-dp")


def _moves_weights(option: str | None) -> bool:
    return option is None or option.startswith(_OF_SGLANG)


class DescribedAdapter(msgspec.Struct, frozen=True):
    """The container of an adapter with what its files say, and the container of its base."""

    placed: PlacedContainer
    adapter: Adapter
    base: PlacedContainer


# ---------------------------------------------------------------- can the engine run it


@OF_MODELS.warning("IS356", _MODELS)
def engine_knows_the_architecture(described: Described) -> Iterator[Problem]:
    """The version of vLLM in an image should have the architecture of the model.

    Without it, vLLM ends, unless Transformers has the model in a form that vLLM can run.
    """
    model, version = described.model, described.vllm
    if version is None or not model.architectures:
        return
    runs = [run_of(it, version) for it in model.architectures]
    if any(it.runs is not False for it in runs):
        return
    problem = _lacking(described, model.architectures[0], runs[0], version)
    if problem is not None:
        yield problem


def _lacking(described: Described, architecture: str, run: RunBy, version: str) -> Problem | None:
    is_runnable = is_built_in(described.model.model_type or "") or described.model.has_own_code
    if run.until is not None and not is_runnable:
        message = f"vLLM {version} does not have {architecture} any more: {run.until} was the last"
        return Problem(described.path, message, f"use an image with vLLM {run.until} or older")
    if run.since is not None and run.until is None:
        message = f"vLLM {version} does not have {architecture}: {run.since} is the first known to"
        return Problem(described.path, message, f"use an image with vLLM {run.since} or newer")
    if run.since is None and not is_runnable:
        message = f"no version of vLLM that is known here has the architecture {architecture}"
        fix = "correct the name in config.json, or use an engine that runs this model"
        return Problem(described.path, message, fix)
    return None


@OF_MODELS.warning("IS357", _ARGUMENTS)
def code_of_the_model_is_trusted(described: Described) -> Iterator[Problem]:
    """A model with Python modules of its own should be served with `trust_remote_code`.

    `auto_map` in config.json names them. vLLM and Transformers need them only for types of models that they
    have not built in.
    """
    model = described.model
    trusted = described.text("trust_remote_code")
    if described.vllm is None or not model.has_own_code or is_configured(model.model_type or ""):
        return
    if trusted is None or trusted.lower() == "false":
        message = f"`auto_map` in config.json names code of the model: `{model.model_type}` is not built in"
        fix = f'write `{described.variable("trust_remote_code")}: "true"`, if you trust it'
        yield Problem(described.at("trust_remote_code"), message, fix)


@OF_MODELS.warning("IS358", _ARGUMENTS)
def heads_are_divisible(described: Described) -> Iterator[Problem]:
    """The number of attention heads should be divisible by the degree of tensor parallelism.

    Otherwise the engine ends at its start.
    """
    heads, running = described.model.heads, described.running
    if heads is None or running is None or running.name not in (*RUN_VLLM, "sglang"):
        return
    for host, visible in described.hosts:
        degree = described.tensor_parallel(visible)
        if degree is not None and heads % degree:
            message = f"{heads} attention heads cannot be divided over {degree} GPUs of {host.name}"
            possible = ", ".join(str(it) for it in range(1, visible + 1) if not heads % it)
            fix = f"write `{described.variable('tensor_parallel_size')}` as one of {possible}"
            yield Problem(described.at("tensor_parallel_size"), message, fix)
            return


@OF_MODELS.warning("IS359", _ARGUMENTS)
def context_is_that_of_the_model(described: Described) -> Iterator[Problem]:
    """The longest sequence that is served should not be longer than what the model can take.

    vLLM ends at its start, unless `VLLM_ALLOW_LONG_MAX_MODEL_LEN` allows it.
    """
    wanted, longest = described.number("max_model_len"), described.model.context
    if described.vllm is None or wanted is None or longest is None or described.may_be_longer:
        return
    if wanted > longest:
        message = f"{wanted} tokens are more than the {longest} that the model's files allow"
        yield Problem(described.at("max_model_len"), message, f"write {longest} or less")


# ---------------------------------------------------------------- quantization


@OF_MODELS.warning("IS362", _QUANTIZATION)
def gpu_and_engine_know_the_quantization(described: Described) -> Iterator[Problem]:
    """The method by which a model is quantized should be one that the GPU and the version of vLLM have.

    And where a variable asks for a method of files that are quantized already, the model's should be.
    """
    method, version = described.model.quantization, described.vllm
    asked = described.text("quantization")
    if version is not None and method is None and asked in _OF_QUANTIZED_FILES:
        message = f"vLLM {version} looks for {asked}'s settings, but the model's files are not quantized"
        fix = "name files that are, or write `fp8`, to which vLLM quantizes what it loads"
        yield Problem(described.at("quantization"), message, fix)
    if method is None or version is None:
        return
    known = tables.look("vllm", version)
    choices = {it for option in (known.options("quantization") if known else ()) for it in option.choices}
    if choices and not {method, f"auto_{method}"} & choices and method in _REMOVED:
        message = f"the model is quantized with {method}, which vLLM {version} does not have"
        yield Problem(described.path, message, "use an older image, or the model in another quantization")
    least = LEAST_CAPABILITIES.get(method)
    for host, _ in described.hosts:
        has = COMPUTE_CAPABILITIES.get(host.gpu_name or "")
        if least is not None and has is not None and has < least:
            message = f"{method} needs compute capability {_dotted(least)}; {host.name} has {_dotted(has)}"
            yield Problem(described.path, message, "use a newer GPU, or the model in another quantization")
            return


_OF_QUANTIZED_FILES = frozenset({"auto_awq", "auto_gptq", "awq", "awq_marlin", "gptq", "gptq_marlin"})
"""Methods with which vLLM only loads what is quantized already: https://github.com/vllm-project/vllm/issues/4301"""
_REMOVED = frozenset({"bitsandbytes", "gguf"})
"""Methods that vLLM had, and that are plugins now."""


def _dotted(capability: Capability) -> str:
    return ".".join(map(str, capability))


# ---------------------------------------------------------------- adapters

_DEFAULT_RANK = 16


@OF_MODELS.warning("IS363", _LORA)
def rank_is_allowed(described: DescribedAdapter) -> Iterator[Problem]:
    """The rank of an adapter should not be above what its base was started with.

    vLLM refuses to load it. The default is 16.
    """
    rank, base = described.adapter.rank, Described(described.base, _UNSAID)
    allowed = base.number("max_lora_rank") if base.text("max_lora_rank") else _DEFAULT_RANK
    if rank is not None and allowed is not None and base.vllm is not None and rank > allowed:
        at = (*described.placed.path, "model_config")
        message = f"the adapter has rank {rank}, but its base takes {allowed} at most"
        variable = base.variable("max_lora_rank")
        yield Problem(at, message, f'write `{variable}: "{_next_rank(rank)}"` into the base\'s environment')


_UNSAID = LanguageModel(file="")
_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)


def _next_rank(rank: int) -> int:
    """The lowest of the ranks that vLLM can be started with."""
    return next((it for it in _RANKS if it >= rank), _RANKS[-1])


@OF_MODELS.warning("IS364", _LORA)
def adapter_is_of_its_base(described: DescribedAdapter) -> Iterator[Problem]:
    """An adapter should have been trained on the model that its base serves."""
    trained, running = described.adapter.base, engine_of(described.base)
    if trained is None or running is None or running.name not in ENGINES:
        return
    variables = ENGINES[running.name].model
    served = next((it for name in variables if (it := described.base.environment.get(name))), None)
    if (
        served is not None
        and _is_hub_id(served)
        and _is_hub_id(trained)
        and served.lower() != trained.lower()
    ):
        at = (*described.placed.path, "model_config")
        message = f"the adapter was trained on {trained}, but its base serves {served}"
        yield Problem(at, message, f"name a base that serves {trained}, or another adapter")


def _is_hub_id(text: str) -> bool:
    return re.fullmatch(r"[\w.-]+/[\w.-]+", text) is not None
