"""Scheduled actions: the minutes at which they change limits."""

from datetime import UTC, datetime

import pytest

from inferstack.format.autoscaling import ScalableTargetAction, ScheduledAction
from inferstack.sizing.sharing.scaling import Limits
from inferstack.sizing.sharing.schedules import NotUnderstoodError, limits_over
from inferstack.sizing.traffic_points import UNDATED, Period

DAY = Period(UNDATED, 1440)
WEEK = Period(UNDATED, 7 * 1440)
# A Sunday, on which Central Europe's clocks go back at 03:00.
AUTUMN = Period(datetime(2026, 10, 25, tzinfo=UTC), 1440, is_dated=True)


def action(schedule, low=3, high=None, **fields):
    return ScheduledAction(
        scheduled_action_name=f"{schedule}-{low}",
        schedule=schedule,
        scalable_target_action=ScalableTargetAction(min_capacity=low, max_capacity=high),
        **fields,
    )


def minutes(schedule, period=DAY, **fields):
    return list(limits_over([action(schedule, **fields)], Limits(0, 9), period)[1])


@pytest.mark.parametrize(
    ("schedule", "found"),
    [
        ("cron(30 8 * * ? *)", [510]),
        ("cron(0 8,20 ? * * *)", [480, 1200]),
        ("cron(0 8 ? * MON-FRI *)", [480]),
        ("cron(0 8 ? * SUN,SAT *)", []),
        ("cron(0 8 ? * 2 *)", [480]),
        ("cron(0/30 9-10 * * ? *)", [540, 570, 600, 630]),
        ("cron(*/20 1 1 JAN ? 2024)", [60, 80, 100]),
        ("cron(0 1 2 1 ? *)", []),
        ("rate(12 hours)", [720]),
        ("rate(1 day)", []),
    ],
)
def test_when_an_action_applies(schedule, found):
    assert minutes(schedule) == found


def test_days_of_the_week_begin_on_monday_without_dates():
    assert minutes("cron(0 8 ? * MON-FRI *)", WEEK) == [480 + day * 1440 for day in range(5)]


def test_a_time_zone_moves_with_summer_time():
    # Noon in Berlin is at 10:00 UTC on the day before, and at 11:00 on this one.
    two_days = Period(datetime(2026, 10, 24, tzinfo=UTC), 2 * 1440, is_dated=True)
    assert minutes("cron(0 12 * * ? *)", two_days, timezone="Europe/Berlin") == [600, 1440 + 660]


def test_a_date_is_for_traffic_with_dates():
    assert minutes("at(2026-10-25T06:00:00)", AUTUMN) == [360]
    with pytest.raises(NotUnderstoodError, match="without dates"):
        minutes("at(2026-10-25T06:00:00)")


def test_an_action_begins_and_ends():
    assert minutes("cron(0 * * * ? *)", AUTUMN, start_time="2026-10-25T21:30:00Z") == [1320, 1380]
    assert minutes("cron(0 * * * ? *)", AUTUMN, end_time="2026-10-25T01:30:00Z") == [60]
    # Without dates, there is nothing to compare with.
    assert minutes("cron(0 8 * * ? *)", end_time="2020-01-01T00:00:00Z") == [480]


def test_the_first_limits_are_those_of_the_last_action_before():
    actions = [action("cron(0 8 * * ? *)", 2, 6), action("cron(0 20 * * ? *)", 0)]
    first, later = limits_over(actions, Limits(1, 4), DAY)
    assert first == Limits(0, 6)
    assert later == {480: Limits(2, 6), 1200: Limits(0, 6)}


@pytest.mark.parametrize(
    "schedule",
    [
        "cron(0 8 L * ? *)",
        "cron(0 8 ? * MON#1 *)",
        "cron(0 8 * * *)",
        "cron(61 8 * * ? *)",
        "cron(0 8-6 * * ? *)",
        "cron(0/0 8 * * ? *)",
        "every day",
        "at(tomorrow)",
    ],
)
def test_what_is_not_simulated_is_said(schedule):
    with pytest.raises(NotUnderstoodError):
        minutes(schedule)


def test_an_unknown_time_zone_is_said():
    with pytest.raises(NotUnderstoodError, match="Europe/Atlantis"):
        minutes("cron(0 8 * * ? *)", timezone="Europe/Atlantis")
