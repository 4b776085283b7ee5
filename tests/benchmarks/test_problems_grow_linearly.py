"""A file with twice the problems is twice the work. Calls are counted, since times only tell on an idle machine."""

import sys
from pathlib import Path
from types import FrameType

import pytest
from support.checking import check_file

from benchmarks.mistakes import MISTAKES

FEW, MANY = 250, 500
_LINEAR = 2.2


def calls(file: Path) -> tuple[int, int]:
    """How many problems a file has, and how many functions were called to find them."""
    called = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        found = len(check_file(file))
    finally:
        sys.setprofile(None)
    return found, called


@pytest.mark.parametrize("mistake", MISTAKES)
def test_twice_the_problems_are_twice_the_work(mistake: str, tmp_path: Path) -> None:
    """For each kind of mistake that `python -m benchmarks.validate` measures."""
    file = tmp_path / "wrong.yaml"
    counts = []
    for problems in (FEW, FEW, MANY):
        file.write_text(MISTAKES[mistake](problems), encoding="utf-8")
        counts.append(calls(file))
    # The first run imports and compiles what later runs already have.
    _, (found, few), (found_more, many) = counts
    assert FEW <= found < found_more
    assert many / few < _LINEAR, f"{few} calls for {found} problems, {many} for {found_more}"
