"""Whether one of two configurations is really faster: both are measured in turns until that is clear.

One measurement of each says little. Of many configurations, the one that looks best has also been lucky, and
whatever else the machine does changes within minutes. So both are measured again, one directly after the
other and in changing order, and each such pair gives a ratio.

The interval of the ratio is that of the sign test, which assumes nothing about how rates scatter. The
true median lies between the lowest and the highest of 6 ratios with a probability of 97 %, between the
second from each end of 9 with 96 %, and between the third of 12. Of two configurations that are alike,
looking after 6, 9 and 12 pairs calls the one faster in 3.5 % of all cases.
"""

from collections.abc import Callable, Sequence
from math import inf

import msgspec

LOOKS = {6: 0, 9: 1, 12: 2}
"""How many pairs there are when the ratios are looked at, and how many are left out at each end."""
_WORTH_IT = 1.05


class Confirmation(msgspec.Struct, frozen=True):
    """The ratios of the pairs, as far as there are, and the interval that their median is in."""

    ratios: Sequence[float]
    low: float = 0.0
    high: float = inf

    @property
    def is_clear(self) -> bool:
        """Whether the one is faster, and by more than hardly."""
        return self.low > 1 and not self.is_none

    @property
    def is_none(self) -> bool:
        """Whether it is not, or hardly."""
        return self.high <= _WORTH_IT

    @property
    def in_words(self) -> str:
        """What the pairs show."""
        said = "hardly faster" if self.low > 1 else "no clear difference"
        said = "clearly faster" if self.is_clear else said
        if self.low == inf:
            return f"{said}: only the one meets the limit, in {len(self.ratios)} pairs of runs"
        return (
            f"{said}: {self.low:.2f} to {self.high:.2f} times the rate, by {len(self.ratios)} pairs of runs"
        )


def compared(one: Callable[[], float], other: Callable[[], float]) -> Confirmation:
    """Measures both in turns until it is clear whether ``one`` is faster. A rate that does not count is 0."""
    ratios: list[float] = []
    for pairs, left_out in LOOKS.items():
        while len(ratios) < pairs:
            # What drifts, such as the temperature of a processor, favors each as often.
            if len(ratios) % 2:
                below, above = other(), one()
            else:
                above, below = one(), other()
            ratios.append(_ratio(above, below))
        ordered = sorted(ratios)
        verdict = Confirmation(tuple(ratios), ordered[left_out], ordered[-1 - left_out])
        if verdict.is_clear or verdict.is_none:
            break
    return verdict


def _ratio(above: float, below: float) -> float:
    if below:
        return above / below
    return inf if above else 1.0
