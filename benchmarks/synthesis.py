"""`python app.py` against the same templates written by hand: `python -m benchmarks.synthesis`.

What is measured is all that a user waits for: start of Python and Node, reading and checking the specs,
building, synthesising, ending.
"""

import argparse
from collections.abc import Iterator, Sequence

from benchmarks.compare import HEADER, interleaved, rows, table
from benchmarks.surroundings import app_program, hand_program, specs_folder

_HAND, _APP = "by hand", "inferstack"
_VALIDATED = 100


def compared(count: int, rounds: int, *, validation: bool = False) -> str:
    """The table for one size."""
    with specs_folder(count) as folder:
        programs = {
            _HAND: hand_program(folder, count, validation=validation),
            _APP: app_program(folder, validation=validation),
        }
        samples = interleaved(programs, rounds)
    switch = "on" if validation else "off"
    title = f"{_stacks(count)}, CDK's validation {switch}, {rounds} rounds"
    return table(title, HEADER, rows(samples, _HAND))


def tables(sizes: Sequence[int], rounds: int) -> Iterator[str]:
    """A table for each size, and the one with CDK's validation."""
    for count in sizes:
        # Longer runs vary less.
        yield compared(count, rounds if count < 100 else max(2, rounds // 2))
    if _VALIDATED in sizes:
        yield compared(_VALIDATED, max(2, rounds // 2), validation=True)


def _stacks(count: int) -> str:
    return f"{count} stack{'' if count == 1 else 's'}"


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100, 500], help="stacks of an app")
    parser.add_argument("--large", action="store_true", help="1,000 stacks, too")
    parser.add_argument("--rounds", type=int, default=7, help="half as many from 100 stacks on")
    options = parser.parse_args()
    for written in tables([*options.sizes, *([1000] if options.large else [])], options.rounds):
        print(written, flush=True)


if __name__ == "__main__":
    _main()
