"""Of thresholds whose text does not fit, only a part is shown."""

import pytest

from inferstack.catalog.metrics import find
from inferstack.facts.quantity import UnfitQuantity, parse_threshold

LONG = 200_000


@pytest.mark.parametrize(
    ("threshold", "metric"),
    [
        ("x" * LONG, "ModelLatency"),
        ("1 " + "x" * LONG, "ModelLatency"),
        (" " * LONG + "1 x", "ModelLatency"),
        ("101" + " " * LONG + "%", "CPUUtilization"),
    ],
)
def test_a_long_threshold_is_cut_in_its_message(threshold: str, metric: str) -> None:
    found = find(metric)[0]
    with pytest.raises(UnfitQuantity) as caught:
        parse_threshold(threshold, found)
    assert len(caught.value.message) < 200
