"""Where Node's time goes, from its own profiler: `python -m benchmarks.profile_node [--stacks N]`.

CDK finds Node by JSII_NODE; a script in its place adds `--cpu-prof`, which the second Node process that jsii
starts inherits. A function counts with everything it calls, so the rows overlap.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.compare import table
from benchmarks.process import Program, run
from benchmarks.surroundings import app_program, environment, hand_program, specs_folder

# What readers want to know, with the functions of CDK and jsii that do it.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "waiting for Python": ("read",),
    "loading jsii assemblies": ("_Kernel_load",),
    "`create` requests": ("_Kernel_create",),
    "- of these: CfnInclude": ("CfnInclude",),
    "- - its YAML parser": ("readYamlSync",),
    "- - its L1 constructs": ("getOrCreateResource",),
    "stack traces of L1 constructs": ("captureStackTrace",),
    "synthesis": ("synth",),
    "- references between stacks": ("resolveReferences",),
    "- templates": ("synthesizeTemplate",),
    "- asset manifests": ("emitManifest",),
    "- tree.json": ("_synthesizeTree",),
    "- CDK's validation": ("validateTemplates",),
    "writing files": ("writeFileSync",),
    "garbage collection": ("(garbage collector)",),
}

Profile = dict[str, Any]


def profile(program: Program) -> Profile:
    """The CPU profile of the Node process that runs CDK."""
    surrounding = environment()
    with tempfile.TemporaryDirectory() as name:
        script = Path(name, "node")
        script.write_text(f'#!/bin/sh\nexec "{_node(surrounding)}" --cpu-prof --cpu-prof-dir="{name}" "$@"\n')
        script.chmod(0o755)
        run(program, {**surrounding, "JSII_NODE": str(script)})
        # The other process only starts this one.
        largest = max(Path(name).glob("*.cpuprofile"), key=lambda file: file.stat().st_size)
        found: Profile = json.loads(largest.read_text("utf-8"))
    return found


def _node(surrounding: Mapping[str, str]) -> str:
    return surrounding.get("JSII_NODE", "node")


def milliseconds(found: Profile) -> dict[str, float]:
    """Time of each function including all that it calls, by name; recursion counts once."""
    nodes = {node["id"]: node for node in found["nodes"]}
    above = {child: node["id"] for node in found["nodes"] for child in node.get("children", ())}
    own: dict[int, float] = defaultdict(float)
    for sample, microseconds in zip(found["samples"], found["timeDeltas"], strict=True):
        own[sample] += microseconds / 1000
    total: dict[str, float] = defaultdict(float)
    for node, spent in own.items():
        for name in {nodes[one]["callFrame"]["functionName"] for one in _upwards(node, above)}:
            total[name] += spent
    return total


def _upwards(node: int | None, above: Mapping[int, int]) -> Iterator[int]:
    while node is not None:
        yield node
        node = above.get(node)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stacks", type=int, default=100)
    parser.add_argument("--validation", action="store_true", help="with CDK's own validation")
    options = parser.parse_args()
    with specs_folder(options.stacks) as folder:
        hand = hand_program(folder, options.stacks, validation=options.validation)
        app = app_program(folder, validation=options.validation)
        both = [milliseconds(profile(program)) for program in (hand, app)]
    lines = [
        (part, *(f"{sum(spent.get(name, 0) for name in functions):.0f}" for spent in both))
        for part, functions in _PARTS.items()
    ]
    print(table(f"Node, {options.stacks} stacks, ms", ("", "by hand", "inferstack"), lines))


if __name__ == "__main__":
    _main()
