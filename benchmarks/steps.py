"""Milliseconds of CPU that the steps from a file to a template take: `python -m benchmarks.steps`."""

import argparse
import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import TypeVar

from benchmarks.compare import table
from benchmarks.surroundings import specs_folder
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.check.structure.report import structure_problems
from inferstack.resolve import resolve_template
from inferstack.source.document import read_document
from inferstack.source.stages import at_stage

In = TypeVar("In")
Out = TypeVar("Out")


def _cpu(step: Callable[[In], Out], inputs: Sequence[In], rounds: int) -> tuple[list[Out], float]:
    """What the step makes of the inputs, and its milliseconds per input in the best round."""
    made: list[Out] = []
    took: list[float] = []
    for _ in range(rounds):
        start = process_time()
        made = [step(one) for one in inputs]
        took.append(process_time() - start)
    return made, min(took) / len(inputs) * 1000


def steps(files: Sequence[Path], rounds: int) -> dict[str, float]:
    """Milliseconds by step, without the garbage collector's search for cycles, as in commands."""
    gc.disable()
    # The catalog's tables are read and checks are built when they are first needed.
    loaded, whole = _cpu(load_spec, files, rounds)
    documents, reading = _cpu(read_document, files, rounds)
    staged, staging = _cpu(lambda document: at_stage(document, None), documents, rounds)
    _, structure = _cpu(structure_problems, staged, rounds)
    _, resolving = _cpu(_resolved, loaded, rounds)
    return {
        "read YAML with positions": reading,
        "choose the stage": staging,
        "check the structure": structure,
        "apply the rules, and the rest": whole - reading - staging - structure,
        "resolve to a template": resolving,
    }


def _resolved(loaded: LoadedSpec) -> dict[str, object]:
    return resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with specs_folder(options.specs) as folder:
        taken = steps(sorted((folder / "model_specs").iterdir()), options.rounds)
    lines = [(step, f"{milliseconds:.2f}") for step, milliseconds in taken.items()]
    print(table("Milliseconds of CPU a spec", ("step", "ms"), lines))


if __name__ == "__main__":
    _main()
