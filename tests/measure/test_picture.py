"""The picture of measurements: every kind of configuration, the best of each with its name, and the limit."""

import math
from typing import Any

import pytest

from inferstack.sizing.pictures import NoPictureError, drawn
from inferstack.sizing.rate_picture import rates_of_kinds
from inferstack.sizing.search import Trial, search
from inferstack.triton.measuring.configurations import Configuration
from tests.measure.test_search import Grid

KINDS = ["base", "batching", "instances", "both"]


def kinds(trials: list[Trial], limit: float = math.inf) -> Any:
    return rates_of_kinds(trials, "net", percentile=95.0, limit=limit)


def loaded(users: int, latency: float, rate: float = 10.0, **more: float) -> Trial:
    return Trial(Configuration(), users, rate, latency, **more)


def test_a_search_shows_each_kind_with_the_name_of_its_best() -> None:
    grid = Grid("python-batched")
    found = search(grid.space, grid.trial, 250.0)
    picture = kinds(found, 250.0)
    points = picture["data"]["values"]
    assert len(points) == len(found)
    assert list(dict.fromkeys(it["measured"] for it in points)) == KINDS
    assert [it["label"] for it in points if "label" in it] == [
        "base, 4 users",
        "batching, 64 users",
        "instances, 16 users",
        "both, 64 users",
    ]
    assert [it["meets"] for it in points] == [it["latency"] <= 250 for it in points]
    text = drawn(picture, ".svg").decode()
    for said in ("net by configuration", "Filled: within the limit", "limit: 250 ms", "requests per minute"):
        assert f">{said}<" in text


def test_every_run_has_a_point_and_the_best_of_its_kind_a_label() -> None:
    points = kinds([loaded(1, 25), loaded(4, 100, failed=0.5), loaded(16, 400)], 250.0)["data"]["values"]
    assert [(it.get("label"), it["meets"]) for it in points] == [
        ("base, 1 user", True),
        (None, False),
        (None, False),
    ]
    assert [(it["rate"], it["latency"]) for it in points] == [(600, 25), (600, 100), (600, 400)]


def test_without_a_limit_there_is_no_line_and_everything_is_filled() -> None:
    found = kinds([loaded(1, 25)])
    assert "limit" not in str(found["layer"])
    assert "subtitle" not in found["title"]
    assert found["data"]["values"][0]["meets"]


def test_what_is_far_slower_than_the_limit_is_counted_instead_of_shown() -> None:
    found = kinds([loaded(1, 25), loaded(4, 400), loaded(16, 401)], 100.0)
    assert [it["users"] for it in found["data"]["values"]] == [1, 4]
    assert found["title"]["subtitle"] == "Filled: within the limit; slower ones not shown: 1"


@pytest.mark.parametrize("trials", [[], [loaded(1, math.inf, 0.0)], [loaded(1, 401)]])
def test_nothing_to_draw_is_said(trials: list[Trial]) -> None:
    with pytest.raises(NoPictureError, match="nothing was answered in a time near the limit"):
        kinds(trials, 100.0)
