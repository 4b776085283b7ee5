"""How many GPUs an engine uses, and what a GPU must be able to do for it."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from inferstack.catalog.instances import Capability
from inferstack.engines.engine import RUN_VLLM
from inferstack.engines.settings import Setting, family_of, setting
from inferstack.facts.engines import RunningEngine, engine_of
from inferstack.facts.walk import PlacedContainer

_SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
_SPLIT = frozenset({"vllm", "sglang", "lmi", "tgi"})
# Variables that images of one's own often read, too.
_WELL_KNOWN = ("OPTION_TENSOR_PARALLEL_DEGREE", "SM_NUM_GPUS", "SM_VLLM_TENSOR_PARALLEL_SIZE")
# With it, the parts of the data share the GPUs of the tensors, so the numbers are not multiplied.
_SHARES_GPUS = "enable-dp-attention"
# Without a word they use one GPU, and nothing of the others.
_USE_ONE = frozenset({"vllm", "sglang"})
USE_ALL = frozenset({"lmi", "tgi"})
"""Engines that divide a model over all GPUs they see, unless told otherwise."""


class GpusUsed(msgspec.Struct, frozen=True):
    """Over how many GPUs a server splits one model: the variables that say so, and the product of them.

    ``leaves_others_idle``: it does nothing with further GPUs.
    """

    said: tuple[Setting, ...]
    total: int
    leaves_others_idle: bool


def gpus_used(placed: PlacedContainer) -> GpusUsed | None:
    """What the variables of a container say; None where they say it in no numbers."""
    running = engine_of(placed)
    found = _said(placed, running)
    if not all(it.value.isascii() and it.value.isdecimal() and int(it.value) > 0 for it in found):
        return None
    idle = running is not None and family_of(running.name) in _USE_ONE and running.name != "vllm-omni"
    return GpusUsed(tuple(found), math.prod(int(it.value) for it in found), idle)


def _said(placed: PlacedContainer, running: RunningEngine | None) -> Sequence[Setting]:
    if running is not None and family_of(running.name) in _SPLIT:
        shares = setting(placed, _SHARES_GPUS) is not None
        found = [setting(placed, what) for what in (_SIZES[:2] if shares else _SIZES)]
        return [it for it in found if it is not None]
    named = [(name, placed.environment[name]) for name in _WELL_KNOWN if name in placed.environment]
    path = (*placed.path, "environment")
    return [Setting((*path, name), name, None, value) for name, value in named[:1]]


SHARE_OF_A_TARGET = 0.7
"""Of the requests that an engine works on at once, a target leaves room for those that come while further
capacity starts, which takes minutes.
"""

# ---------------------------------------------------------------- what a GPU must be able to do

BFLOAT16: Capability = (8, 0)
BFLOAT16_WORDS = frozenset({"bfloat16", "bf16"})
LEAST_CAPABILITIES: Mapping[str, Capability] = {
    "auto_awq": (7, 5),
    "awq": (7, 5),
    "awq_marlin": (7, 5),
    "experts_int8": (8, 0),
    "fbgemm_fp8": (8, 0),
    "fp8": (7, 5),
    "fp_quant": (10, 0),
    "gptq_marlin": (7, 5),
    "humming": (7, 5),
    "modelopt": (8, 0),
    "modelopt_fp4": (7, 5),
    "modelopt_mixed": (7, 5),
    "modelopt_mxfp8": (8, 0),
    "mxfp4": (8, 0),
    "online": (7, 5),
    "torchao": (7, 5),
}
"""The least compute capability for a `quantization` of vLLM, by `get_min_capability` in its
`layers/quantization`: of several versions, the lowest.
"""
_OF_SGLANG: Mapping[str, Capability] = {
    "awq": (7, 5),
    "awq_marlin": (8, 0),
    "blockwise_int8": (8, 0),
    "gptq_marlin": (8, 0),
    "modelopt_fp8": (8, 9),
    "nvfp4_online": (10, 0),
    "petit_nvfp4": (9, 0),
    "w4afp8": (9, 0),
    "w8a8_fp8": (8, 9),
    "w8a8_int8": (7, 5),
}
"""The same of SGLang's, where all versions from 0.5.5 that have a method agree. That of `nvfp4_online`, which
is newer, was read in 0.5.19 and 0.5.23.
"""


def least_capability(engine: str, quantization: str) -> Capability | None:
    """What a GPU must be able to do for a `quantization`; None if that is not known, or anything will do."""
    of_engine = _OF_SGLANG if engine == "sglang" else LEAST_CAPABILITIES if engine in RUN_VLLM else {}
    return of_engine.get(quantization)
