"""Does a model fit: its weights, the KV cache of one request, and of as many as its copies scale by?"""

from collections.abc import Iterator

import msgspec

from inferstack.catalog.gpus import GpuMemory, gpu_memory
from inferstack.catalog.instances import InstanceType
from inferstack.check.rules.language_models.model_files import OF_MODELS, Described
from inferstack.engines.gpus import SHARE_OF_A_TARGET
from inferstack.engines.kv_cache import Served
from inferstack.engines.memory import Band, overhead, requested, requests_in, room_for_cache, weights
from inferstack.facts.scaling import policies_of, scaled_with, tracks_requests_at_once
from inferstack.facts.walk import PlacedContainer, runs_of
from inferstack.problems import Problem
from inferstack.problems.words import counted

_MEMORY = "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html"


@OF_MODELS.error("IS360", _MEMORY)
def weights_fit(described: Described) -> Iterator[Problem]:
    """The weights of a model must fit into the memory of the GPUs that it is divided over.

    The least that they can take is compared with the most that the engine takes of such a GPU, on each
    instance type that the container may run on: vLLM its share, `gpu_memory_utilization`, others all of it.
    """
    too_large = [_too_large(described, host, visible) for host, visible in described.hosts]
    if too_large and None not in too_large:
        yield from filter(None, too_large[:1])


def _too_large(described: Described, host: InstanceType, visible: int) -> Problem | None:
    serving, memory = described.serving(visible), gpu_memory(host)
    on_each = None if serving is None else weights(described.model, serving)
    if serving is None or on_each is None or memory is None:
        return None
    # Of others it is not known whether they end because of their share.
    have = requested(memory, serving).most if serving.engine == "vllm" else memory.most
    if on_each.least <= have:
        return None
    degree = serving.tensor_parallel * serving.pipeline_parallel
    needed = f"the weights take at least {on_each.least:.1f} GiB on each of {counted(degree, 'GPU')}"
    there = f"one of {host.name} has {memory.most:.1f}"
    if on_each.least <= memory.most:
        there += f", of which vLLM takes {have:.1f}"
    besides = overhead(serving) or Band(0, 0)
    fix = _more_room(described, serving, on_each.least + besides.least, memory, visible)
    return Problem(described.at("tensor_parallel_size"), f"{needed}, but {there}", fix)


@OF_MODELS.warning("IS361", _MEMORY)
def cache_has_room(described: Described) -> Iterator[Problem]:
    """Besides the weights, the GPUs should have room for the KV cache of one request of the greatest length.

    vLLM ends at its start without it. The least that everything can take is compared with the most that there
    is; where the form of the cache is not known, only the weights count.
    """
    for host, visible in described.hosts:
        if _too_large(described, host, visible) is None:
            problem = _too_small_a_cache(described, host, visible)
            if problem is not None:
                yield problem
                return


def _too_small_a_cache(described: Described, host: InstanceType, visible: int) -> Problem | None:
    serving, memory = described.serving(visible), gpu_memory(host)
    if serving is None or memory is None:
        return None
    at, model = described.at("max_model_len"), described.model
    on_each, room = weights(model, serving), room_for_cache(model, serving, memory)
    if on_each is None or room is None:
        return None
    if room.most <= 0:
        besides = overhead(serving) or Band(0, 0)
        have, needed = requested(memory, serving).most, on_each.least + besides.least
        message = f"the engine takes {have:.1f} GiB of a GPU of {host.name}, but needs {needed:.1f} or more"
        fix = _more_room(described, serving, needed, memory, visible)
        return Problem(at, f"{message} beside the KV cache", fix)
    held, longest = described.tokens_on(host, visible), described.longest
    if held is None or longest is None:
        return None
    tokens = int(held.most)
    # A context that the model cannot take has a warning of its own.
    if tokens >= (longest if described.may_be_longer else min(longest, model.context or longest)):
        return None
    message = f"the KV cache on {host.name} holds {tokens} tokens at most, but a request may have {longest}"
    fix = f'write `{described.variable("max_model_len")}: "{tokens}"` or less, or use more GPUs'
    return Problem(at, message, fix)


# Of more, engines do not find enough free.
_GREATEST_SHARE = 0.95


def _more_room(described: Described, serving: Served, needed: float, memory: GpuMemory, visible: int) -> str:
    heads, degree = described.model.heads, serving.tensor_parallel * serving.pipeline_parallel
    more = [it for it in range(degree + 1, visible + 1) if heads is None or not heads % it]
    ways = [f'write `{described.variable("tensor_parallel_size")}: "{more[-1]}"`'] if more else []
    if needed < memory.least * _GREATEST_SHARE:
        ways.insert(0, f"raise `{described.variable('gpu_memory_utilization')}`")
    others = "choose an instance type with more memory, or a quantized model"
    if not more:
        others += "; `inferstack fit` lists what holds it"
    return ", or ".join([*ways, others])


# ---------------------------------------------------------------- requests at once


class CacheRoom(msgspec.Struct, frozen=True):
    """How many requests of so many tokens a copy has room for in its KV cache, on an instance type."""

    instance_type: str
    requests: Band
    of_tokens: int

    @property
    def sentence(self) -> str:
        """What there is room for, in words."""
        least, most = int(self.requests.least), int(self.requests.most)
        return f"{most if least == most else f'{least} to {most}'} of {self.of_tokens} tokens"


def least_room(described: Described) -> CacheRoom | None:
    """What there is room for on the instance type that has the least; None where it is not known."""
    served, planned = described.longest, planned_tokens(described.placed)
    lengths = [it for it in (served, planned) if it is not None]
    rooms = [_room(described, host, visible, min(lengths)) for host, visible in described.hosts if lengths]
    known = [it for it in rooms if it is not None]
    return min(known, key=lambda it: it.requests.most) if known and len(known) == len(rooms) else None


def planned_tokens(placed: PlacedContainer) -> int | None:
    """The tokens of a request that the spec plans with, or the component that needs the most."""
    runs = runs_of(placed.spec, placed.path)
    of_components = [it.component.objective for it in runs if it.component.objective is not None]
    said = [it.tokens_per_request for it in of_components if it.tokens_per_request is not None]
    objective = placed.spec.objective
    return max(said, default=None if objective is None else objective.tokens_per_request)


def _room(described: Described, host: InstanceType, visible: int, tokens: int) -> CacheRoom | None:
    held, serving = described.tokens_on(host, visible), described.serving(visible)
    if held is None or serving is None or described.running is None:
        return None
    # LMI starts as many copies of the model as the GPUs allow, each with a cache.
    several = described.running.name == "lmi"
    caches = max(1, visible // (serving.tensor_parallel * serving.pipeline_parallel)) if several else 1
    return CacheRoom(host.name, requests_in(Band(held.least * caches, held.most * caches), tokens), tokens)


@OF_MODELS.warning("IS394", _MEMORY)
def target_has_room(described: Described) -> Iterator[Problem]:
    """A target of requests at once should not be above what the KV cache has room for.

    Further ones wait in the engine's queue and count, too, so that capacity is added only after they wait.
    The most that there may be room for is compared, for requests of the greatest length or, where the
    objective says it, of the length that most have.
    """
    room = least_room(described)
    # Without room for a single one, another rule warns.
    if room is None or room.requests.most < 1:
        return
    for scaled in scaled_with(described.placed):
        for path, policy in policies_of(scaled):
            if not tracks_requests_at_once(policy) or path[:-1] != (*scaled.path, "policies"):
                continue
            if policy.target_value > room.requests.most:
                message = f"the target is {policy.target_value:g} requests at once, but the KV cache on "
                has = f"{room.instance_type} has room for {room.sentence}"
                most = max(1, int(room.requests.most * SHARE_OF_A_TARGET))
                shorter = (
                    "if most requests are shorter, write their `tokens_per_request` into the `objective`"
                )
                yield Problem((*path, "target_value"), message + has, f"write {most} or less, or {shorter}")
