"""`inferstack validate` against `check-jsonschema` with our schema: `python -m benchmarks.validate`.

check-jsonschema knows the schema and nothing else: no positions, no rules of SageMaker, no stages. It is no
dependency of ours; give it an environment of its own and name the program:

    python -m venv ANYWHERE && ANYWHERE/bin/pip install check-jsonschema
    python -m benchmarks.validate --check-jsonschema ANYWHERE/bin/check-jsonschema
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.compare import HEADER, Measured, interleaved, paired_ratio, rows, table
from benchmarks.mistakes import MISTAKES
from benchmarks.process import Program
from benchmarks.surroundings import ROOT, inferstack_program, specs_folder

_SCHEMA = ROOT / "constructs" / "inferstack" / "format" / "structure.schema.json"
_FOUND = frozenset({1})


def compared(count: int, rounds: int, other: str) -> str:
    """The table for one number of files."""
    with specs_folder(count) as folder:
        specs = sorted(str(file.relative_to(folder)) for file in (folder / "model_specs").iterdir())
        programs = {
            "check-jsonschema": Program([other, "--schemafile", str(_SCHEMA), *specs], folder),
            "inferstack validate": inferstack_program(folder, "validate", *specs),
        }
        samples = interleaved(programs, rounds)
    title = f"{count} specs, {rounds} rounds"
    return table(title, HEADER, rows(samples, "check-jsonschema"))


def growth(few: int, many: int, rounds: int) -> str:
    """How much longer a file with ``many`` problems takes than one with ``few``, by kind of mistake."""
    header = ("mistake", f"{few} problems s", f"{many} problems s", "growth")
    with tempfile.TemporaryDirectory() as name:
        lines = [_grown(Path(name), mistake, (few, many), rounds) for mistake in MISTAKES]
    return table(f"One file, {rounds} rounds", header, lines)


def _grown(folder: Path, mistake: str, counts: tuple[int, int], rounds: int) -> tuple[str, ...]:
    samples = interleaved({str(count): _wrong(folder, mistake, count) for count in counts}, rounds)
    few, many = _walls(samples)
    return mistake, f"{min(few):.2f}", f"{min(many):.2f}", f"{paired_ratio(many, few):.1f}"


def _walls(samples: Measured) -> Iterator[list[float]]:
    return ([sample.wall for sample in taken] for taken in samples.values())


def _wrong(folder: Path, mistake: str, count: int) -> Program:
    file = folder / f"{mistake.replace(' ', '-')}-{count}.yaml"
    file.write_text(MISTAKES[mistake](count), encoding="utf-8")
    return inferstack_program(folder, "validate", file.name, statuses=_FOUND)


def tables(sizes: Sequence[int], rounds: int, other: str) -> Iterator[str]:
    """A table for each number of files, and the growth with the number of problems."""
    for count in sizes:
        yield compared(count, rounds, other)
    yield growth(1_000, 10_000, 3)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 1000], help="specs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check-jsonschema", default="check-jsonschema", metavar="PROGRAM")
    options = parser.parse_args()
    other = shutil.which(options.check_jsonschema)
    if other is None:
        sys.exit("check-jsonschema is not installed; see --help")
    # The programs run in the folder of the specs, where a relative path would lead nowhere.
    for written in tables(options.sizes, options.rounds, str(Path(other).absolute())):
        print(written, flush=True)


if __name__ == "__main__":
    _main()
