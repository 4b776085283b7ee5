"""What vLLM needs of a GPU's memory, before and besides the KV cache, which gets the rest.

    requested = what PyTorch sees x gpu_memory_utilization
    KV cache  = requested - weights - what the largest batch takes - what CUDA graphs are estimated at

The last two depend on the batch, the kernels and the version. They are known from logs only, so they are a
band: what fits at its upper end fits, what does not at its lower end does not. Of other engines they are not
known, but weights and the share of the GPU are: they leave something, or nothing, for the cache.
"""

import msgspec

from inferstack.catalog.gpus import GpuMemory
from inferstack.engines.kv_cache import BLOCK, Served
from inferstack.engines.model_config import WIDTHS, LanguageModel
from inferstack.engines.tables import numbers

GIB = 2**30


class Band(msgspec.Struct, frozen=True):
    """A number between a least and a most."""

    least: float
    most: float

    def __add__(self, other: "Band") -> "Band":
        return Band(self.least + other.least, self.most + other.most)


# Some files hold what is not loaded, such as layers for speculative decoding, or embeddings twice. Of plain
# models, that is no more than the masks of attention that older ones store: logs show the size of the index,
# or a little more.
_LOADED, _LOADED_OF_ALL = 0.9, 0.99
# Of weights that the engine quantizes while it loads them, embeddings stay as they are.
_QUANTIZED = {"fp8": 0.5}
_MOST_QUANTIZED = 0.25
# Tensor parallelism does not divide norms, nor heads of the KV cache that are fewer than the GPUs.
_REPLICATED = 1.05


def weights(model: LanguageModel, serving: Served) -> Band | None:
    """GiB of weights on each GPU; None where no file says how many there are."""
    if model.weight_bytes is None:
        return None
    least, most = _LOADED_OF_ALL if model.loads_all else _LOADED, 1.0
    if not model.is_16_bit and model.quantization is None:
        # What is stored in 32 bits is served in 16, unless something else is asked for.
        least *= 0.5
        if model.dtype is not None and WIDTHS.get(serving.dtype) != WIDTHS["float32"]:
            most = 0.5
    elif model.quantization is None and WIDTHS.get(serving.dtype) == WIDTHS["float32"]:
        least, most = 2 * least, 2 * most
    if serving.quantization is not None and model.quantization is None:
        least *= _QUANTIZED.get(serving.quantization, _MOST_QUANTIZED)
    shares = serving.tensor_parallel * serving.pipeline_parallel
    on_each = model.weight_bytes / GIB / shares
    return Band(on_each * least, on_each * most * (_REPLICATED if shares > 1 else 1))


# The first version of each row, and the GiB between what is requested and the sum of weights and KV cache.
# The least, and the most before 0.20, are those of logs. Later versions subtract an estimate for CUDA graphs,
# too, for which 2 GiB are assumed.
_OVERHEAD = (((0, 20), Band(0.5, 6.3)), ((0, 17), Band(0.5, 4.3)), ((), Band(0.5, 7.1)))
_UTILIZATION = (((0, 20), 0.92), ((), 0.9))


def overhead(serving: Served) -> Band | None:
    """GiB on each GPU that neither weights nor the KV cache take; None where it is not known."""
    if serving.engine != "vllm":
        return None
    return next(band for first, band in _OVERHEAD if numbers(serving.version) >= first)


def requested(memory: GpuMemory, serving: Served) -> Band:
    """GiB of a GPU that the engine takes."""
    share = serving.utilization
    if share is None and serving.engine != "vllm":
        share = 1.0
    elif share is None:
        share = next(it for first, it in _UTILIZATION if numbers(serving.version) >= first)
    return Band(memory.least * share, memory.most * share)


def room_for_cache(model: LanguageModel, serving: Served, memory: GpuMemory) -> Band | None:
    """GiB that are left for the KV cache; below 0 where the engine does not start. None where the weights are
    not known.
    """
    taken = weights(model, serving)
    if taken is None:
        return None
    have = requested(memory, serving)
    besides = overhead(serving) or Band(0, have.least)
    return Band(have.least - taken.most - besides.most, have.most - taken.least - besides.least)


def tokens_in(cache: Band, of_token: int) -> Band:
    """The tokens that GiB of a KV cache hold, in whole blocks."""
    least, most = (max(0, int(gib * GIB) // (of_token * BLOCK)) * BLOCK for gib in (cache.least, cache.most))
    return Band(least, most)


def requests_in(tokens: Band, of_tokens: int) -> Band:
    """How many requests of so many tokens, prompt and answer together, a cache of this size holds at once."""
    return Band(tokens.least / of_tokens, tokens.most / of_tokens)
