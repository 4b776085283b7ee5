"""`inferstack render` against the hand-written app, which needs Node: `python -m benchmarks.render`."""

import argparse
from collections.abc import Iterator, Sequence

from benchmarks.compare import HEADER, interleaved, rows, table
from benchmarks.surroundings import hand_program, inferstack_program, specs_folder


def compared(count: int, rounds: int) -> str:
    """The table for one size."""
    with specs_folder(count) as folder:
        specs = sorted(str(file.relative_to(folder)) for file in (folder / "model_specs").iterdir())
        programs = {
            "by hand": hand_program(folder, count),
            "inferstack render": inferstack_program(folder, "render", *specs, "--out", "rendered"),
        }
        samples = interleaved(programs, rounds)
    return table(f"Templates of {count}, {rounds} rounds", HEADER, rows(samples, "by hand"))


def tables(sizes: Sequence[int], rounds: int) -> Iterator[str]:
    """A table for each size."""
    return (compared(count, rounds) for count in sizes)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 100], help="specs")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for written in tables(options.sizes, options.rounds):
        print(written, flush=True)


if __name__ == "__main__":
    _main()
