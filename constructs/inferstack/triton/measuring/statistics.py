"""What Triton counts by itself: how long requests wait and are computed, and how large batches are.

https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_statistics.md
"""

from collections.abc import Mapping
from typing import Any

import msgspec

_NS_A_MS = 1_000_000
_COMPUTE = ("compute_input", "compute_infer", "compute_output")


class Counted(msgspec.Struct, frozen=True):
    """The counters of one model at a moment, or what they grew between two."""

    requests: int = 0
    rows: int = 0
    executions: int = 0
    queue_ns: int = 0
    compute_ns: int = 0
    batches: Mapping[int, int] = msgspec.field(default_factory=dict)
    """How many executions there were, by their rows."""

    def since(self, before: "Counted") -> "Counted":
        """What was counted after another moment."""
        batches = {size: count - before.batches.get(size, 0) for size, count in self.batches.items()}
        return Counted(
            self.requests - before.requests,
            self.rows - before.rows,
            self.executions - before.executions,
            self.queue_ns - before.queue_ns,
            self.compute_ns - before.compute_ns,
            {size: count for size, count in sorted(batches.items()) if count},
        )

    @property
    def queue_ms(self) -> float:
        """Milliseconds that a request waited for an instance, on average."""
        return self.queue_ns / _NS_A_MS / max(1, self.requests)

    @property
    def compute_ms(self) -> float:
        """Milliseconds that it took to compute a request, with the batch that it was in, on average."""
        return self.compute_ns / _NS_A_MS / max(1, self.requests)

    @property
    def batch(self) -> float:
        """Rows of an execution, on average."""
        return self.rows / max(1, self.executions)


def counted(answer: Mapping[str, Any]) -> dict[str, Counted]:
    """The counters of each model in an answer of `/v2/models/stats`; those of its versions added up."""
    found: dict[str, Counted] = {}
    for entry in answer.get("model_stats", ()):
        name, one = str(entry["name"]), _of_version(entry)
        found[name] = _sum(found[name], one) if name in found else one
    return found


def _of_version(entry: Mapping[str, Any]) -> Counted:
    stats = entry.get("inference_stats", {})
    return Counted(
        requests=_count(stats, "success"),
        rows=int(entry.get("inference_count", 0)),
        executions=int(entry.get("execution_count", 0)),
        queue_ns=_nanoseconds(stats, "queue"),
        compute_ns=sum(_nanoseconds(stats, it) for it in _COMPUTE),
        batches={int(it["batch_size"]): _count(it, "compute_infer") for it in entry.get("batch_stats", ())},
    )


def _count(stats: Mapping[str, Any], name: str) -> int:
    return int(stats.get(name, {}).get("count", 0))


def _nanoseconds(stats: Mapping[str, Any], name: str) -> int:
    return int(stats.get(name, {}).get("ns", 0))


def _sum(one: Counted, other: Counted) -> Counted:
    sizes = {*one.batches, *other.batches}
    return Counted(
        one.requests + other.requests,
        one.rows + other.rows,
        one.executions + other.executions,
        one.queue_ns + other.queue_ns,
        one.compute_ns + other.compute_ns,
        {size: one.batches.get(size, 0) + other.batches.get(size, 0) for size in sizes},
    )
