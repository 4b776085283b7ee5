"""A file with twice the problems, or with lists twice as long, is twice the work. Calls and lines are counted, since times only tell on an idle machine."""

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

FIRST, FEW, MANY = 5, 150, 300
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
    adjustments = [{**it, "scaling_adjustment": 1} for it in bounds]
    return scaling({"step_policies": [{**_POLICY, "step_adjustments": adjustments}]})


def schedules(count: int) -> dict[str, Any]:
    action = {"schedule": _SCHEDULE, "scalable_target_action": {"min_capacity": 1}}
    actions = [{"scheduled_action_name": f"s{it}", **action} for it in range(count)]
    return scaling({"scheduled_actions": actions})


def scaling(entries: dict[str, Any]) -> dict[str, Any]:
    return {**_BASE, "autoscaling": {"min_capacity": 1, "max_capacity": 4, **entries}}


def models_and_variants(count: int) -> dict[str, Any]:
    variants = [{**_BASE["variant"], "variant_name": f"v{it}", "model_name": f"m{it}"} for it in range(count)]
    models = {f"m{it}": _BASE["model"] for it in range(count)}
    return {"kind": "single-model", "endpoint_name": "film", "models": models, "variants": variants}


def components(count: int) -> dict[str, Any]:
    container = {"image": _BASE["model"]["image"], "artifact_url": "s3://films/m.tar.gz"}
    needs = {"min_memory_required_in_mb": 1024}
    one = {"specification": {"container": container, "compute_resource_requirements": needs}}
    return {
        "kind": "inference-components",
        "endpoint_name": "film",
        "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
        "inference_components": {f"c{it}": one for it in range(count)},
    }


def composite_alarms(count: int) -> dict[str, Any]:
    rule = {"metric": "ModelLatency", "threshold": "5 ms"}
    return {
        **_BASE,
        "alarms": {
            "rules": [{**rule, "alarm_name": f"a{it}"} for it in range(count)],
            "composite_alarms": {f"c{it}": {"alarm_rule": f"ALARM(a{it})"} for it in range(count)},
        },
    }


def steps_of_ensembles(count: int) -> dict[str, Any]:
    """Steps in a chain, the last one first."""
    one = {"name": "a", "data_type": "TYPE_FP32", "dims": [1]}
    model = {"backend": "python", "input": [one], "output": [{**one, "name": "b"}]}
    chain = [
        {
            "model_name": "m",
            "model_version": -1,
            "input_map": {"a": f"x{it}"},
            "output_map": {"b": f"x{it + 1}"},
        }
        for it in reversed(range(count))
    ]
    ensemble = {
        "platform": "ensemble",
        "input": [{**one, "name": "x0"}],
        "output": [{**one, "name": f"x{count}"}],
        "ensemble_scheduling": {"step": chain},
    }
    return {
        **_BASE,
        "kind": "ensemble",
        "model": {**_BASE["model"], "image": {"framework": "triton", "version": "26.05"}},
        "triton": {"default_model": "e", "models": {"m": model, "e": ensemble}},
    }


def work(file: Path) -> tuple[int, int]:
    """How many problems a file has, counting those that are not shown, and how many functions were called and
    lines run to find them.
    """
    done = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal done
        done += event in ("call", "c_call", "line")
        return count

    sys.setprofile(count)
    sys.settrace(count)
    try:
        found = check_file(file)
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    return sum(int(it.message.split()[0]) if it.code == COUNTED else 1 for it in found), done


@pytest.mark.parametrize("mistake", MISTAKES)
def test_twice_the_problems_are_twice_the_work(mistake: str, tmp_path: Path) -> None:
    """For each kind of mistake that `python -m benchmarks.validate` measures."""
    file = tmp_path / "wrong.yaml"
    counts = []
    for problems in (FIRST, FEW, MANY):
        file.write_text(MISTAKES[mistake](problems), encoding="utf-8")
        counts.append(work(file))
    # The first run imports and compiles what later runs already have.
    _, (found, few), (found_more, many) = counts
    assert FEW <= found < found_more
    assert many / few < _LINEAR, f"{few} steps for {found} problems, {many} for {found_more}"


@pytest.mark.parametrize(
    "entries",
    [steps, schedules, models_and_variants, components, composite_alarms, steps_of_ensembles],
    ids=lambda entries: entries.__name__,
)
def test_twice_the_entries_are_twice_the_work(
    entries: Callable[[int], dict[str, Any]], tmp_path: Path
) -> None:
    """Most problems of such a spec are about all entries together."""
    file = tmp_path / "spec.yaml"
    counts = []
    for count in (FIRST, FEW, MANY):
        file.write_text(json.dumps(entries(count)), encoding="utf-8")
        counts.append(work(file)[1])
    _, few, many = counts
    assert many / few < _LINEAR, f"{few} steps for {FEW} entries, {many} for {MANY}"
