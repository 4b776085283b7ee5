"""A file with twice the problems, or with lists twice as long, is twice the work. Calls are counted, since times only tell on an idle machine."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.checking import check_file

from benchmarks.mistakes import MISTAKES
from inferstack.problems import MANY as COUNTED

FEW, MANY = 250, 500
_LINEAR = 2.2
_BASE: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": "film",
    "model": {
        "image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/film:1",
        "model_data_url": "s3://films/m.tar.gz",
    },
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
_POLICY = {"metric": "CPUUtilization", "threshold": 50, "adjustment_type": "ChangeInCapacity"}
_SCHEDULE = "cron(0 7 ? * MON-FRI *)"


def steps(count: int) -> dict[str, Any]:
    bounds = [
        {"metric_interval_lower_bound": it, "metric_interval_upper_bound": it + 1} for it in range(count)
    ]
    return {
        "step_policies": [{**_POLICY, "step_adjustments": [{**it, "scaling_adjustment": 1} for it in bounds]}]
    }


def schedules(count: int) -> dict[str, Any]:
    action = {"schedule": _SCHEDULE, "scalable_target_action": {"min_capacity": 1}}
    return {"scheduled_actions": [{"scheduled_action_name": f"s{it}", **action} for it in range(count)]}


def calls(file: Path) -> tuple[int, int]:
    """How many problems a file has, counting those that are not shown, and how many functions were called to find
    them.
    """
    called = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        found = check_file(file)
    finally:
        sys.setprofile(None)
    return sum(int(it.message.split()[0]) if it.code == COUNTED else 1 for it in found), called


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


@pytest.mark.parametrize("entries", [steps, schedules], ids=lambda entries: entries.__name__)
def test_twice_the_entries_are_twice_the_work(
    entries: Callable[[int], dict[str, Any]], tmp_path: Path
) -> None:
    """The few problems of such a spec are about all entries together."""
    file = tmp_path / "spec.yaml"
    counts = []
    for count in (FEW, FEW, MANY):
        scaling = {"min_capacity": 1, "max_capacity": 4, **entries(count)}
        file.write_text(json.dumps({**_BASE, "autoscaling": scaling}), encoding="utf-8")
        counts.append(calls(file)[1])
    _, few, many = counts
    assert many / few < _LINEAR, f"{few} calls for {FEW} entries, {many} for {MANY}"
