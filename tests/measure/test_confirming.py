"""Two configurations in turns: what is really faster is found, and what is only luck is not."""

from collections.abc import Callable
from random import Random

import pytest

from inferstack.sizing.confirming import LOOKS, Confirmation, compared


def engine(rate: float, noise: float, seed: int, clock: list[int], drift: float = 0.0) -> Callable[[], float]:
    """Rates that scatter, and that fall with every run of either engine."""
    random = Random(seed)

    def run() -> float:
        clock[0] += 1
        return rate * (1 - drift * clock[0]) * random.lognormvariate(0, noise)

    return run


def judged(ratio: float, noise: float, seed: int, drift: float = 0.0) -> Confirmation:
    clock = [0]
    one, other = (engine(rate, noise, seed * 2 + at, clock, drift) for at, rate in enumerate((ratio, 1.0)))
    return compared(one, other)


SEEDS = range(200)


@pytest.mark.parametrize(
    ("ratio", "noise", "drift", "least", "most"),
    [
        # The share of cases in which it is called clear.
        (1.0, 0.05, 0.0, 0, 0.06),
        (1.0, 0.3, 0.0, 0, 0.06),
        (1.0, 0.05, 0.02, 0, 0.06),
        (0.9, 0.05, 0.0, 0, 0.0),
        (1.2, 0.05, 0.02, 0.98, 1),
        (1.5, 0.1, 0.0, 1, 1),
        (8.0, 0.3, 0.0, 1, 1),
    ],
)
def test_what_is_faster_is_found_and_luck_is_not(
    ratio: float, noise: float, drift: float, least: float, most: float
) -> None:
    clear = sum(judged(ratio, noise, seed, drift).is_clear for seed in SEEDS) / len(SEEDS)
    assert least <= clear <= most


def test_the_interval_holds_the_true_ratio_as_often_as_is_claimed() -> None:
    found = [judged(1.3, 0.2, seed) for seed in SEEDS]
    assert sum(it.low <= 1.3 <= it.high for it in found) >= 0.9 * len(found)


def test_it_ends_as_soon_as_it_is_clear() -> None:
    assert len(compared(lambda: 2.0, lambda: 1.0).ratios) == min(LOOKS)
    assert len(compared(lambda: 1.0, lambda: 1.0).ratios) == min(LOOKS)
    assert len(judged(1.0, 0.5, 3).ratios) == max(LOOKS)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (3.0, 2.0, "clearly faster: 1.50 to 1.50 times the rate, by 6 pairs of runs"),
        (2.1, 2.0, "hardly faster: 1.05 to 1.05 times the rate, by 6 pairs of runs"),
        (2.0, 2.0, "no clear difference: 1.00 to 1.00 times the rate, by 6 pairs of runs"),
        (2.0, 0.0, "clearly faster: only the one meets the limit, in 6 pairs of runs"),
        (0.0, 2.0, "no clear difference: 0.00 to 0.00 times the rate, by 6 pairs of runs"),
        (0.0, 0.0, "no clear difference: 1.00 to 1.00 times the rate, by 6 pairs of runs"),
    ],
)
def test_a_rate_that_does_not_count_is_no_rate(one: float, other: float, said: str) -> None:
    assert compared(lambda: one, lambda: other).in_words == said


def test_the_order_changes_with_every_pair() -> None:
    runs: list[str] = []

    def run(name: str) -> float:
        runs.append(name)
        return 1.0

    compared(lambda: run("one"), lambda: run("other"))
    assert runs[:4] == ["one", "other", "other", "one"]
