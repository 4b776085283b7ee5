"""Measures whole grids of configurations, so that tests can say how close a search comes to the best.

Takes some minutes for each model, on a machine that does nothing else, or with `nice -n -20`. Written again
only when the models of `tests/support/measured_models.py` change. A second run keeps the higher rate of each
configuration, since other work on the machine only lowers it.
"""

import csv
import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from inferstack.check.load import load_spec
from inferstack.cli.rehearse import rehearsals_of
from inferstack.sizing.bench import Bench
from inferstack.sizing.closed_loop import Pace
from inferstack.sizing.search import TRIED, space_of
from inferstack.triton.measuring.configurations import Configuration
from inferstack.triton.measuring.serving import serving
from tests.support.measured_models import MODELS, Small
from tests.support.rehearsal import SERVER_PYTHON
from tools.generated_files import ROOT, Contents

GRIDS = ROOT / "tests" / "measure" / "grids"
USERS = (1, 4, 16, 64)
PROCESSORS = 2
COLUMNS = ("batch", "delay", "instances", "threads", "users", "per_second", "p95_ms")
_PACE = Pace(window=1.0, longest=6.0)

Grid = dict[tuple[Configuration, int], tuple[float, float]]


def generate() -> Contents:
    """The grid of each model."""
    contents = {}
    for name, model in MODELS.items():
        file = GRIDS / f"{name}.csv"
        known = read_grid(file) if file.is_file() else {}
        grid = measured(model, name)
        contents[file] = in_csv({key: max(it, known.get(key, it)) for key, it in grid.items()})
    return contents


def measured(model: Small, name: str) -> Grid:
    """Rate and latency of each configuration, with each number of users."""
    grid: Grid = {}
    with TemporaryDirectory() as folder:
        file = model.write_spec(Path(folder))
        [rehearsal] = rehearsals_of(load_spec(file), file, python=SERVER_PYTHON, seconds=60.0)
        with serving(rehearsal) as served:
            bench = Bench(served, served.request(1), _PACE)
            space = space_of(served.model("net"), TRIED, processors=PROCESSORS, users=USERS)
            for configuration in space.configurations:
                for users in USERS:
                    run = bench.configured("net", configuration, users).run
                    grid[configuration, users] = (run.per_second, run.latency(95))
                print(f"{name}: {len(grid)} of {space.size}, {configuration.name}", file=sys.stderr)
    return grid


def read_grid(file: Path) -> Grid:
    """A grid from its file."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = [[float(it) for it in row] for row in list(csv.reader(text))[1:]]
    return {(Configuration(*map(int, row[:4])), int(row[4])): (row[5], row[6]) for row in rows}


def in_csv(grid: Grid) -> str:
    """The text of a grid's file."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for (it, users), (rate, latency) in grid.items():
        rows.writerow([it.batch, it.delay, it.instances, it.threads, users, f"{rate:.5g}", f"{latency:.5g}"])
    return text.getvalue()
