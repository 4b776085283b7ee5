"""What is asked of Node, and in which step: `python -m benchmarks.jsii_calls [COUNT]`.

Each question is a round trip through a pipe during which Python waits.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.surroundings import specs_folder, use_that_node

use_that_node()

from aws_cdk import App  # noqa: E402
from jsii._kernel.providers import process  # noqa: E402

from benchmarks.by_hand.stack import HandWrittenStack  # noqa: E402
from benchmarks.compare import table  # noqa: E402
from benchmarks.family import family  # noqa: E402
from inferstack.check.load import LoadedSpec, load_spec  # noqa: E402
from inferstack_stacks import EndpointStack  # noqa: E402

Calls = Counter[str]


@contextmanager
def counted() -> Iterator[Calls]:
    """Counts requests to Node by their kind: create, get, invoke, ..."""
    asked: Calls = Counter()
    send = process._NodeProcess.send

    def count(self: Any, request: Any, response_type: Any) -> Any:
        asked[type(request).__name__.removesuffix("Request").lower()] += 1
        return send(self, request, response_type)

    process._NodeProcess.send = count  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        process._NodeProcess.send = send  # type: ignore[method-assign]


def _app(folder: str) -> App:
    return App(outdir=folder, analytics_reporting=False, stack_traces=False, auto_synth=False)


def _by_hand(count: int, folder: str) -> tuple[Calls, Calls]:
    app = _app(folder)
    with counted() as building:
        for endpoint in family(count):
            HandWrittenStack(app, endpoint)
    with counted() as synthesising:
        app.synth()
    return building, synthesising


def _with_inferstack(loaded: list[LoadedSpec], folder: str) -> tuple[Calls, Calls]:
    app = _app(folder)
    with counted() as building:
        for one in loaded:
            EndpointStack(app, one.spec.endpoint_name, spec=one)
    with counted() as synthesising:
        app.synth()
    return building, synthesising


def _loaded(count: int) -> list[LoadedSpec]:
    with specs_folder(count) as folder:
        return [load_spec(file) for file in sorted((folder / "model_specs").iterdir())]


def _main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 20
    with tempfile.TemporaryDirectory() as folder:
        both = {"by hand": _by_hand(count, folder), "inferstack": _with_inferstack(_loaded(count), folder)}
    lines = [
        (name, f"{building.total() / count:.1f}", _kinds(building, count), str(synthesising.total()))
        for name, (building, synthesising) in both.items()
    ]
    header = ("", "calls a stack while building", "of these", "calls of the synthesis")
    print(table(f"jsii calls, {count} stacks", header, lines))


def _kinds(calls: Calls, count: int) -> str:
    return ", ".join(f"{number / count:.1f} {kind}" for kind, number in calls.most_common())


if __name__ == "__main__":
    _main()
