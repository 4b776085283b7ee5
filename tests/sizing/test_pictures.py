"""The picture of cost against latency: every point that was measured, and labels that cover nothing."""

from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from inferstack.endpoint.cost import NO_PRICES
from inferstack.sizing.cost_picture import cost_against_latency
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.pictures import FORMATS, NoPictureError, drawn
from inferstack.sizing.sizes import Demand, PercentileLimit, sizes

PUBLISHED = read_measurements(Path(__file__).parents[2] / "docs/examples/bert-large.csv")
DEMAND = Demand(peak=Decimal(30_000), limits={"latency": PercentileLimit(Decimal(95), Decimal(500))})


def one(latency: float = 100, price: Decimal | None = Decimal(1), name: str = "base") -> Measurement:
    return Measurement(
        configuration=name,
        instance_type="ml.g5.xlarge",
        requests_per_minute=Decimal(1000),
        latencies={Decimal(95): Decimal(str(latency))},
        price_per_hour=price,
    )


def picture(measured: list[Measurement], demand: Demand = DEMAND) -> Any:
    return cost_against_latency(sizes(measured, demand, NO_PRICES), demand)


def test_all_that_was_measured_is_shown_and_what_fits_has_a_label() -> None:
    points = picture(PUBLISHED)["data"]["values"]
    assert len(points) == 24
    assert [it["label"] for it in points if it["meets"]] == [
        "23 x trt-db",
        "6 x trt-db",
        "6 x trt-ig",
        "6 x trt-db-ig",
        "11 x trt-base",
    ]
    assert not any("label" in it for it in points if not it["meets"])


@pytest.mark.parametrize("ending", FORMATS)
def test_it_is_drawn_for_a_narrow_screen(ending: str) -> None:
    content = drawn(picture(PUBLISHED), ending)
    if ending == ".svg":
        text = content.decode()
        assert int(text.partition('width="')[2].partition('"')[0].partition(".")[0]) <= 370
        for said in ("limit: 500 ms", "23 x trt-db", "ml.g4dn.2xlarge", "P95 latency in milliseconds"):
            assert f">{said}<" in text
    else:
        assert content.startswith(b"\x89PNG" if ending == ".png" else b"<!DOCTYPE html>")


def test_without_prices_instances_are_counted() -> None:
    found = picture([one(price=None)])
    assert found["encoding"]["y"]["title"] == "instances"
    assert found["data"]["values"][0]["cost"] == 30


def test_without_a_limit_there_is_no_line_and_the_usual_percentile() -> None:
    found = picture([one()], Demand(peak=Decimal(100)))
    assert "limit" not in str(found["layer"])
    assert found["encoding"]["x"]["title"] == "P95 latency in milliseconds"


def test_the_budget_is_a_line_unless_it_is_far_above_all_costs() -> None:
    for budget, is_shown in ((Decimal(40), True), (Decimal(1000), False)):
        demand = Demand(peak=Decimal(30_000), budget_per_hour=budget)
        assert ("budget: 40" in str(picture(PUBLISHED, demand)["layer"])) == is_shown


def test_nothing_to_draw_is_said() -> None:
    for demand in (DEMAND, Demand(peak=Decimal(1))):
        with pytest.raises(NoPictureError, match="nothing to draw"):
            picture(
                [Measurement(configuration="a", instance_type="b", requests_per_minute=Decimal(1))], demand
            )


def test_what_cannot_be_counted_is_not_drawn() -> None:
    with pytest.raises(NoPictureError, match="nothing to draw"):
        picture([one(price=None)], Demand(peak=Decimal(0), concurrency=Decimal(64)))


def test_a_long_name_is_cut() -> None:
    (point,) = picture([one(name="max_batch_size=16, max_queue_delay=100")])["data"]["values"]
    assert point["label"] == "30 x max_batch_size=16,…"


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 500), st.integers(1, 300)), min_size=1, max_size=30))
def test_labels_never_cover_a_point_or_one_another(measured: list[tuple[int, int]]) -> None:
    found = picture([one(latency, Decimal(price)) for latency, price in measured])
    most = [found["encoding"][axis]["scale"]["domain"][1] for axis in "xy"]
    points = found["data"]["values"]
    for it in points:
        assert it["latency"] <= most[0]
        assert it["cost"] <= most[1]
    labels = [
        (it["label_x"] / most[0] * 290, it["label_y"] / most[1] * 250, len(it["label"]) * 6)
        for it in points
        if "label" in it
    ]
    for (x, y, width), (other_x, other_y, other) in combinations(labels, 2):
        assert abs(x - other_x) >= (width + other) / 2 or abs(y - other_y) >= 12
    for x, y, width in labels:
        for it in points:
            beside = abs(x - it["latency"] / most[0] * 290) >= width / 2
            assert beside or abs(y - it["cost"] / most[1] * 250) >= 8
