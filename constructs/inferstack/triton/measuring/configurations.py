"""What is tried on a model: the greatest batch, how long Triton waits for one, instances, and threads.

https://github.com/triton-inference-server/server/blob/main/docs/user_guide/optimization.md
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from inferstack.problems.words import counted
from inferstack.triton.model import FieldPath, enum_name

THREADS = {"onnxruntime": "intra_op_thread_count", "pytorch": "INTRA_OP_THREAD_COUNT"}
"""The parameter for the threads of one operator, by backend. A Python model decides that itself.

https://github.com/triton-inference-server/onnxruntime_backend#model-config-options
https://github.com/triton-inference-server/pytorch_backend#parameters
"""


_ANY_KIND = "KIND_AUTO"


class Configuration(msgspec.Struct, frozen=True, order=True):
    """One way to run a model. Nothing else of its configuration changes."""

    batch: int = 0
    """The greatest batch that Triton makes of waiting requests; 0 without dynamic batching."""
    delay: int = 0
    """Microseconds that a request may wait for others."""
    instances: int = 1
    threads: int = 0
    """Threads of one operator; 0 leaves it to the backend."""

    @property
    def name(self) -> str:
        """Such as `batch 16, delay 500 us, 2 instances`."""
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        yield f"batch {self.batch}" if self.batch else "no batching"
        if self.delay:
            yield f"delay {self.delay} us"
        yield f"{counted(self.instances, 'instance')}"
        if self.threads:
            yield f"{counted(self.threads, 'thread')}"


def declared(config: Any, backend: str) -> Configuration:
    """How a model's configuration runs it."""
    batching = config.HasField("dynamic_batching")
    threads = config.parameters[THREADS[backend]].string_value if backend in THREADS else ""
    return Configuration(
        batch=max(1, config.max_batch_size) if batching else 0,
        delay=config.dynamic_batching.max_queue_delay_microseconds if batching else 0,
        instances=sum(max(1, it.count) for it in config.instance_group) or 1,
        threads=int(threads) if threads.isdecimal() else 0,
    )


def configured(config: Any, backend: str, wanted: Configuration) -> Any:
    """A copy of a model's configuration that runs it in another way."""
    made = type(config)()
    made.CopyFrom(config)
    made.ClearField("dynamic_batching")
    if wanted.batch:
        made.max_batch_size = wanted.batch
        made.dynamic_batching.max_queue_delay_microseconds = wanted.delay
        made.dynamic_batching.SetInParent()
    _set_instances(made, wanted.instances)
    if backend in THREADS:
        made.parameters.pop(THREADS[backend], None)
        if wanted.threads:
            made.parameters[THREADS[backend]].string_value = str(wanted.threads)
    return made


def _set_instances(config: Any, count: int) -> None:
    """Keeps the kind of the first group."""
    del config.instance_group[1:]
    if not config.instance_group:
        config.instance_group.add()
    config.instance_group[0].count = count


def changes(config: Any, backend: str, wanted: Configuration) -> dict[FieldPath, Any]:
    """What a spec has to say instead, by path in the model's configuration; None where a key is removed."""
    before, found = declared(config, backend), dict[FieldPath, Any]()
    if wanted.batch and wanted.batch != config.max_batch_size:
        found["max_batch_size",] = wanted.batch
    if (wanted.batch > 0, wanted.delay) != (before.batch > 0, before.delay):
        delay = {"max_queue_delay_microseconds": wanted.delay} if wanted.delay else {}
        found["dynamic_batching",] = delay if wanted.batch else None
    if wanted.instances != before.instances or len(config.instance_group) > 1:
        kind = enum_name(config.instance_group[0], "kind") if config.instance_group else _ANY_KIND
        found["instance_group",] = [
            {**({} if kind == _ANY_KIND else {"kind": kind}), "count": wanted.instances}
        ]
    if wanted.threads != before.threads:
        found["parameters", THREADS[backend]] = wanted.threads or None
    return found
