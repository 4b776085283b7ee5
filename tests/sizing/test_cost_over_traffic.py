"""What sizes cost over traffic, compared with a calculator of its own."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given, strategies as st

from inferstack.endpoint.cost import NO_PRICES
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.sizes import Demand, best, sizes


def measured(rate, price="1", name="base"):
    return Measurement(
        configuration=name,
        instance_type="ml.g5.xlarge",
        requests_per_minute=Decimal(rate),
        price_per_hour=None if price is None else Decimal(price),
    )


def over(traffic, **others):
    minutes = tuple(map(Decimal, traffic))
    return Demand(peak=max(minutes), lowest=min(minutes), traffic=minutes, **others)


def sized(traffic, rate, **others):
    (size,) = sizes([measured(rate)], over(traffic, **others), NO_PRICES)
    return size


# One busy hour.
DAY = [60] * 600 + [6_000] * 60 + [60] * 780


def test_the_cost_over_the_day_decides_and_not_that_of_the_peak():
    small, large = measured(400, "1.408"), measured(8_000, "20.36", "large")
    ranked = sizes([large, small], over(DAY), NO_PRICES)
    first = best(ranked)
    assert first.measurement is small
    assert (first.min_capacity, first.count, first.target_value) == (1, 15, 400)
    # 5 minutes late, and 17 minutes longer than needed: 1 instance all day, and 14 more for 72 minutes.
    assert first.average * 1440 == 1440 + 14 * 72
    assert (first.per_hour, first.peak_per_hour) == (Decimal("2.3936"), Decimal("21.12"))
    assert first.per_month == Decimal("1747.328")
    assert (first.minutes_short, ranked[1].minutes_short) == (5, 0)
    # Without the day, nothing is known but the peak.
    at_peak = sizes([large, small], Demand(peak=Decimal(6_000), lowest=Decimal(60)), NO_PRICES)
    assert best(at_peak).measurement is large


def test_a_budget_is_for_an_average_hour():
    row = [measured(400, "1.408")]
    (within,) = sizes(row, over(DAY, budget_per_hour=Decimal("2.40")), NO_PRICES)
    assert within.objections == ()
    (over_it,) = sizes(row, over(DAY, budget_per_hour=Decimal("2.39")), NO_PRICES)
    assert over_it.objections == ("2.40 an hour is over the budget of 2.39",)


def test_a_million_requests_cost_what_they_cost_over_the_day():
    size = sized(DAY, 400)
    assert size.per_million == size.average * 24 * 1_000_000 / sum(DAY)


def test_without_prices_the_fewest_instances_on_average_come_first():
    rows = [measured(400, None, "small"), measured(4_000, None, "large")]
    assert [it.measurement.configuration for it in sizes(rows, over(DAY), NO_PRICES)] == ["large", "small"]


def test_steady_traffic_costs_what_its_peak_costs():
    size = sized([1_000] * 500, 400, spare_instances=1)
    assert (size.min_capacity, size.count, size.average, size.minutes_short) == (4, 4, 4, 0)


def running(traffic, low, high, target):
    """Instances of each minute, from what the documentation says, with nothing but what has happened so far."""
    counts, wanted, removed = [], [], None
    first = min(max(-(-traffic[0] // target), low), high)
    for minute, asked in enumerate(traffic):
        counts.append(first if minute < 3 else wanted[minute - 3])
        now = wanted[-1] if wanted else first
        seen = list(zip(traffic[max(0, minute - 14) : minute + 1], counts[-15:], strict=True))
        out = len(seen) >= 3 and all(requests > target * count for requests, count in seen[-3:])
        needs = min(max(-(-asked // target), low), high)
        if out and needs > now:
            now = needs
        elif len(seen) >= 15 and (removed is None or minute >= removed + 7):
            below = all(requests < Fraction(9, 10) * target * count for requests, count in seen[-15:])
            most = max(-(-requests // target) for requests, _ in seen[-15:])
            less = min(max(most, low), high)
            if below and less < now and not (out and needs >= now):
                now, removed = less, minute
        wanted.append(now)
    return counts


RUNS = st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 60)), min_size=1, max_size=6)


@given(RUNS, st.integers(100, 900))
def test_the_average_is_that_of_a_calculator_that_shares_no_code(runs, rate):
    traffic = [max(1, amount) for amount, minutes in runs for _ in range(minutes)]
    size = sized(traffic, rate)
    low, high = (max(1, -(-amount // rate)) for amount in (min(traffic), max(traffic)))
    counts = running(traffic, low, high, rate)
    assert (size.min_capacity, size.count) == (low, high)
    assert size.average == Decimal(sum(counts)) / len(counts)
    short = sum(asked > rate * count for asked, count in zip(traffic, counts, strict=True))
    assert size.minutes_short == short


# With fewer than ten instances, scaling never keeps more than it needs, so that history does not matter.
HOURS = st.lists(st.tuples(st.integers(1, 900), st.integers(0, 900)), min_size=1, max_size=8)


@given(HOURS)
def test_more_traffic_never_costs_less(hours):
    less = sized([amount for amount, _ in hours for _ in range(60)], 100)
    more = sized([min(900, amount + extra) for amount, extra in hours for _ in range(60)], 100)
    assert less.average <= more.average
    assert less.min_capacity <= less.average <= less.count
