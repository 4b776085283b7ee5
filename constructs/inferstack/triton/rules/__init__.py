"""The rules for Triton's models, by topic.

Importing this package registers them all; :data:`RULES` has them by code.
"""

from inferstack.triton.rules import (
    advice,
    batches,
    ensembles,
    files,
    instances,
    local_files,
    models,
    pytorch,
    releases,
    serving,
    states,
    steps,
    tensors,
    warmup,
)
from inferstack.triton.rules.base import RULES, Context, Finding, TritonRule

__all__ = ["RULES", "Context", "Finding", "TritonRule"]
