"""Programs side by side: interleaved runs, medians, and ratios that are taken pair by pair.

Absolute times vary with the load of the machine; the ratio of two consecutive runs hardly does.
"""

import os
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.process import Program, Sample, run
from benchmarks.surroundings import environment

Measured = dict[str, list[Sample]]


def interleaved(programs: Mapping[str, Program], rounds: int) -> Measured:
    """Every program once per round, after one that does not count (it compiles modules and fills caches)."""
    surrounding = environment()
    samples: Measured = {name: [] for name in programs}
    for program in programs.values():
        run(program, surrounding)
    names = list(programs)
    for _ in range(rounds):
        for name in names:
            samples[name].append(run(programs[name], surrounding))
        # A run after a demanding neighbor finds warmer caches, so the order alternates.
        names.reverse()
    return samples


HEADER = ("", "wall s", "CPU s", "wall ratio", "CPU ratio", "Python MB", "Node MB")


def rows(samples: Measured, base: str) -> list[tuple[str, ...]]:
    """A row of medians for each program; ratios are to ``base``."""
    return [_row(name, taken, samples[base]) for name, taken in samples.items()]


def least_rows(samples: Measured, base: str) -> list[tuple[str, ...]]:
    """A row of the best run of each program, with ratios of these, in case disturbances come in jumps."""
    return rows({name: [_least(taken)] for name, taken in samples.items()}, base)


def _least(taken: Sequence[Sample]) -> Sample:
    return Sample(
        min(sample.wall for sample in taken),
        min(sample.cpu for sample in taken),
        max(sample.python_mb for sample in taken),
        max(sample.node_mb for sample in taken),
    )


def _row(name: str, taken: Sequence[Sample], base: Sequence[Sample]) -> tuple[str, ...]:
    node = median(sample.node_mb for sample in taken)
    return (
        name,
        f"{median(sample.wall for sample in taken):.3f}",
        f"{median(sample.cpu for sample in taken):.3f}",
        f"{paired_ratio([s.wall for s in taken], [s.wall for s in base]):.3f}",
        f"{paired_ratio([s.cpu for s in taken], [s.cpu for s in base]):.3f}",
        f"{median(sample.python_mb for sample in taken):.0f}",
        f"{node:.0f}" if node else "",
    )


def paired_ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """The median of the ratios of runs of the same round."""
    return median(value / other for value, other in zip(values, base, strict=True))


def table(title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table under a title that says how busy the machine is."""
    load = os.getloadavg()[0]
    marks = ["---", *("---:" for _ in header[1:])]
    written = [f"| {' | '.join(cells)} |" for cells in (header, marks, *lines)]
    return "\n".join([f"\n{title} (load {load:.1f}):", "", *written])
