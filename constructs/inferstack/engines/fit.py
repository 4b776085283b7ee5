"""Does a model fit on an instance type: GPUs, memory, tokens, and requests at a context length."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from inferstack.catalog import instances
from inferstack.catalog.gpus import GpuMemory, gpu_memory
from inferstack.catalog.instances import COMPUTE_CAPABILITIES, InstanceType
from inferstack.engines.gpus import BFLOAT16, BFLOAT16_WORDS, SHARE_OF_A_TARGET
from inferstack.engines.kv_cache import Served, Unknown, kv_heads, token_bytes
from inferstack.engines.memory import Band, overhead, requests_in, room_for_cache, tokens_in, weights
from inferstack.engines.model_config import LanguageModel

_VERDICTS = ("yes", "perhaps", "no")
UNDIVIDED = frozenset({"tei"})
"""Engines that use one GPU, whatever there is; none of them quantizes, either."""


class Wanted(msgspec.Struct, frozen=True):
    """What has to fit: requests at once, of so many tokens each, prompt and answer together.

    ``takes_all_gpus``: a copy has an instance to itself, as the container of a model has that is no
    component. ``sequences``: how many requests the engine works on at once, if that is known. ``longest``:
    the tokens of a sequence that the engine is set to take, and does not start without room for.
    """

    context: int | None
    requests: int
    takes_all_gpus: bool = False
    sequences: int | None = None
    longest: int | None = None


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """How a model fits on an instance type, divided over some of its GPUs.

    Memory is in GiB on each GPU, ``copies`` are those of one instance. ``tokens`` and ``requests`` are those
    of one copy; None where they cannot be known, which ``unknown`` explains.
    """

    host: InstanceType
    tensor_parallel: int
    weights: Band
    overhead: Band | None
    cache: Band
    tokens: Band | None
    requests: Band | None
    verdict: str
    """`yes`, `perhaps` (within the bands of what is known) or `no`."""
    unknown: str | None = None
    sequences: int | None = None
    """How many requests the engine works on at once, if that is known."""

    @property
    def copies(self) -> int:
        """How many copies an instance holds."""
        return self.host.gpus // self.tensor_parallel

    @property
    def concurrency_target(self) -> int | None:
        """Requests at once per copy at which to add another; None where it is not known how many fit."""
        if self.requests is None or self.requests.least < 1:
            return None
        at_once = self.requests.least if self.sequences is None else min(self.requests.least, self.sequences)
        return max(1, int(at_once * SHARE_OF_A_TARGET))

    @property
    def host_memory_mib(self) -> int:
        """The share of the host's memory that a copy can have, in whole GiB."""
        return int(self.host.memory_mib * _USABLE_MEMORY) // self.copies // 1024 * 1024


# The host, the agent and the container runtime keep some for themselves.
_USABLE_MEMORY = 0.9


def fits(model: LanguageModel, serving: Served, wanted: Wanted) -> Iterator[Fit]:
    """How the model fits on each instance type with NVIDIA GPUs: with as few of them as it takes."""
    for name in instances.names():
        host = instances.find(name)
        memory = None if host is None else gpu_memory(host)
        if host is not None and memory is not None and _computes(serving, host):
            found = fit_on(model, serving, wanted, host, memory)
            if found is not None:
                yield found


def fit_on(
    model: LanguageModel, serving: Served, wanted: Wanted, host: InstanceType, memory: GpuMemory
) -> Fit | None:
    """The best fit on a type: the one with the fewest GPUs that holds it, else the likeliest.

    None where no file says how large the weights are, or no number of its GPUs divides the model.
    """
    degrees = [1] if serving.engine in UNDIVIDED else list(_degrees(model, host))
    found = [
        one
        for degree in (degrees[-1:] if wanted.takes_all_gpus else degrees)
        if (one := _fit(model, replace(serving, tensor_parallel=degree), wanted, host, memory)) is not None
    ]
    return min(found, key=lambda it: (_VERDICTS.index(it.verdict), it.tensor_parallel), default=None)


def ranked(found: Iterable[Fit], per_hour: Callable[[str], Decimal | None]) -> list[Fit]:
    """Those that hold the model first, then by the price of a copy, or without prices by what they have."""

    def key(it: Fit) -> tuple[int, bool, Decimal, int, int]:
        price = per_hour(it.host.name)
        of_copy = Decimal(0) if price is None else price / it.copies
        size = it.host.gpus * it.host.gpu_memory_mib_each
        return _VERDICTS.index(it.verdict), price is None, of_copy, size, it.host.memory_mib

    return sorted(found, key=key)


def with_logged_cache(fit: Fit, tokens: int, wanted: Wanted, context: int) -> Fit | None:
    """The fit with the tokens of the KV cache that a log shows; None if they cannot be those of this fit."""
    if fit.tokens is None or not fit.tokens.least <= tokens <= fit.tokens.most:
        return None
    held = Band(tokens, tokens)
    requests = requests_in(held, context)
    gib = fit.cache.most * tokens / fit.tokens.most
    cache = Band(gib, gib)
    verdict = _verdict(cache, held, requests, wanted)
    return replace(fit, cache=cache, tokens=held, requests=requests, verdict=verdict)


def _degrees(model: LanguageModel, host: InstanceType) -> Iterator[int]:
    """By how many GPUs the model can be divided on the type, so that none is left over."""
    heads = kv_heads(model)
    for degree in range(1, host.gpus + 1):
        divides_heads = model.heads is None or not model.heads % degree
        divides_kept = isinstance(heads, Unknown) or not heads % degree or not degree % heads
        if not host.gpus % degree and divides_heads and divides_kept:
            yield degree


def _fit(
    model: LanguageModel, serving: Served, wanted: Wanted, host: InstanceType, memory: GpuMemory
) -> Fit | None:
    on_each = weights(model, serving)
    cache = room_for_cache(model, serving, memory)
    if on_each is None or cache is None:
        return None
    of_token = token_bytes(model, serving)
    context = wanted.context or model.context
    tokens = requests = None
    unknown = of_token.why if isinstance(of_token, Unknown) else None
    if isinstance(of_token, int) and of_token:
        tokens = tokens_in(cache, of_token)
        if context is not None:
            requests = requests_in(tokens, context)
    return Fit(
        host=host,
        tensor_parallel=serving.tensor_parallel,
        weights=on_each,
        overhead=overhead(serving),
        cache=cache,
        tokens=tokens,
        requests=requests,
        verdict=_verdict(cache, tokens, requests, wanted),
        unknown=unknown,
        sequences=wanted.sequences,
    )


def _verdict(cache: Band, tokens: Band | None, requests: Band | None, wanted: Wanted) -> str:
    if cache.most <= 0 or (requests is not None and requests.most < wanted.requests):
        return "no"
    # What cannot have room has to be set to less; what may have it stays.
    if tokens is not None and tokens.least < (wanted.longest or 0) <= tokens.most:
        return "perhaps"
    # Room for a cache of unknown form is no more than a sign.
    return "yes" if requests is not None and requests.least >= wanted.requests else "perhaps"


def _computes(serving: Served, host: InstanceType) -> bool:
    """Whether the GPU has the numbers that are asked for; with `auto`, engines choose some that it has."""
    capability = COMPUTE_CAPABILITIES.get(host.gpu_name or "")
    return serving.dtype not in BFLOAT16_WORDS or capability is None or capability >= BFLOAT16
