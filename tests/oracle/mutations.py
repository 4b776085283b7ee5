"""A repository that Triton serves, and what can be done to it: one row for each change, with its result.

A row changes files of the repository. The key `net` stands for `net/config.pbtxt`; a text is added at its end, a pair
is a text and its replacement. Other keys are paths: a text is the new content, None removes the file. In all texts
and paths, `net`, `pre` and `pipe` get a number in the test, so that one server can take all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Edit = str | tuple[str, str] | None
Triton = Literal["serves", "refuses", "loads", "hangs"]
"""What the server does: `loads` without answering requests, `hangs` without ever finishing to load."""

NET = """\
name: "@net"
backend: "python"
max_batch_size: 8
input { name: "X" data_type: TYPE_FP32 dims: [ 3 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] }
"""
PRE = """\
name: "@pre"
backend: "python"
max_batch_size: 8
input { name: "RAW" data_type: TYPE_UINT8 dims: [ -1 ] }
output { name: "PIXELS" data_type: TYPE_FP32 dims: [ 3 ] }
"""
PIPE = """\
name: "@pipe"
platform: "ensemble"
max_batch_size: 8
input { name: "IN" data_type: TYPE_UINT8 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] }
ensemble_scheduling {
  step {
    model_name: "@pre" model_version: -1
    input_map { key: "RAW" value: "IN" }
    output_map { key: "PIXELS" value: "pixels" }
  }
  step {
    model_name: "@net" model_version: -1
    input_map { key: "X" value: "pixels" }
    output_map { key: "Y" value: "OUT" }
  }
}
"""
# Replaces `pre`, and asks `pipe` in turn.
RING = """\
platform: "ensemble"
max_batch_size: 8
input { name: "RAW" data_type: TYPE_UINT8 dims: [ -1 ] }
output { name: "PIXELS" data_type: TYPE_FP32 dims: [ 3 ] }
ensemble_scheduling {
  step {
    model_name: "@pipe" model_version: -1
    input_map { key: "IN" value: "RAW" }
    output_map { key: "OUT" value: "PIXELS" }
  }
}
"""
ALONE = {"@net/config.pbtxt": NET, "@net/1/model.py": "…"}
"""One model. `model.py` answers with zeros of the declared kind."""
JOINED = {
    **ALONE,
    "@pre/config.pbtxt": PRE,
    "@pre/1/model.py": "…",
    "@pipe/config.pbtxt": PIPE,
    "@pipe/1/": "",
}
"""An ensemble of two models."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """``codes`` are the errors that our checks report; ``why`` says why they intentionally differ from Triton."""

    title: str
    edits: Mapping[str, Edit | list[Edit]]
    codes: tuple[str, ...] = ()
    triton: Triton = "serves"
    why: str = ""
    at_times_hangs: bool = False
    """Whether Triton, which refuses it, sometimes waits forever instead."""

    @property
    def may_hang(self) -> bool:
        """Whether a server may be unusable afterwards."""
        return self.triton == "hangs" or self.at_times_hangs

    @property
    def agreed(self) -> bool:
        """Whether Triton refuses what the checks refuse, and serves everything else."""
        return self.triton == ("refuses" if self.codes else "serves")


def fine(title: str, edits: Mapping[str, Edit | list[Edit]]) -> Mutation:
    return Mutation(title, edits)


def wrong(title: str, code: str, edits: Mapping[str, Edit | list[Edit]]) -> Mutation:
    return Mutation(title, edits, tuple(code.split()), "refuses")
