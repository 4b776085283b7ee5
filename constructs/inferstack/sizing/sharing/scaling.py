"""How many copies run, minute by minute, when policies follow traffic.

What AWS documents: target tracking adds capacity when three data points of a minute are above the target, and
removes some when fifteen are below it; both come one or two minutes later than that, since metrics are
published and read with a delay.
https://aws.amazon.com/blogs/machine-learning/reduce-model-deployment-costs-by-50-on-average-using-sagemakers-latest-features/
Capacity goes down only when the metric is more than 10 % below the target.
https://docs.aws.amazon.com/autoscaling/application/userguide/target-tracking-scaling-policy-overview.html
What a cooldown holds back:
https://docs.aws.amazon.com/autoscaling/application/APIReference/API_TargetTrackingScalingPolicyConfiguration.html

What AWS does not document, and is assumed: the new capacity is what the last minute needs at the target, or
when it goes down, what the busiest of the fifteen minutes needs; a minute without requests counts as 0.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import msgspec

from inferstack.sizing.sharing.steps import REACTION, Seen, Step, StepState

IN_POINTS = 15
"""Minutes below the target before capacity is removed."""
_MOST_COPIES = 1_000_000_000
"""More than any limit; for a target of nearly nothing, their number would have too many digits."""
FAR_BELOW = Decimal("0.9")
"""The share of the target that a metric must be below before capacity is removed."""


class Tracking(msgspec.Struct, frozen=True, kw_only=True):
    """A target-tracking policy, in requests per minute and copy.

    A scale-out cooldown is not here: it holds back only what would add less than was just added.
    """

    target: Decimal
    out_points: int = 3
    """Minutes above the target before capacity is added."""
    in_cooldown: int = 5
    """Minutes after capacity was removed until more can be."""
    scales_in: bool = True


class Limits(msgspec.Struct, frozen=True):
    """The fewest and the most copies."""

    low: int
    high: int

    def clamped(self, count: int) -> int:
        """The number within the limits; a minimum above the maximum does not count."""
        return min(max(count, self.low), self.high)


class CopyScaling(msgspec.Struct, frozen=True, kw_only=True):
    """What decides how many copies there are."""

    limits: Limits
    changes: Mapping[int, Limits] = msgspec.field(default_factory=dict)
    """Limits that scheduled actions set, by the minute from which they apply."""
    tracking: tuple[Tracking, ...] = ()
    steps: tuple[Step, ...] = ()
    scales_out: bool = True
    scales_in: bool = True

    @property
    def target(self) -> Decimal | None:
        """Requests per minute that a copy is for; None if no policy says so."""
        return min((it.target for it in self.tracking), default=None)

    def at_least(self, low: int) -> "CopyScaling":
        """This scaling, but never with fewer copies."""
        return self._with(lambda it: Limits(max(it.low, low), max(it.high, low)))

    def from_one(self) -> "CopyScaling":
        """This scaling with a minimum of 1, whatever the minimum was."""
        return self._with(lambda it: Limits(1, max(it.high, 1)))

    def _with(self, change: Callable[[Limits], Limits]) -> "CopyScaling":
        changes = {minute: change(it) for minute, it in self.changes.items()}
        return msgspec.structs.replace(self, limits=change(self.limits), changes=changes)


class Copies(msgspec.Struct, frozen=True):
    """Copies minute by minute."""

    held: tuple[int, ...]
    """Those that take room on instances."""
    serving: tuple[int, ...]
    """Those that have started and answer."""


def needed(requests: Sequence[Decimal], scaling: CopyScaling) -> tuple[int, ...]:
    """The copies that each minute needs at the target, within the limits: what follows demand at once."""
    limits, found, of_amount = scaling.limits, [], dict[Decimal, int]()
    for minute, asked in enumerate(requests):
        limits = scaling.changes.get(minute, limits)
        if asked not in of_amount:
            of_amount[asked] = _for(asked, scaling.target)
        found.append(limits.clamped(of_amount[asked]))
    return tuple(found)


def _for(asked: Decimal, target: Decimal | None) -> int:
    if target is None:
        return int(asked > 0)
    if asked > _MOST_COPIES * target:
        return _MOST_COPIES
    whole, rest = divmod(asked, target)
    return int(whole) + (rest > 0)


def simulated(requests: Sequence[Decimal], scaling: CopyScaling, *, startup: int = 0) -> Copies:
    """The copies that the policies make of the traffic.

    The first minute finds as many as it needs. ``startup`` is how many minutes a copy takes to start.
    """
    if not requests:
        return Copies((), ())
    start = needed(requests[:1], scaling)[0]
    state = _PolicyState(scaling, start)
    decided, held, serving = [start] * (REACTION + 1), list[int](), list[int]()
    limits, before, settles, settled = scaling.limits, None, state.minutes_to_settle + startup, 0
    while (minute := len(held)) < len(requests):
        asked, limits = requests[minute], scaling.changes.get(minute, limits)
        state.desired = limits.clamped(state.desired)
        held.append(limits.clamped(decided[minute]))
        serving.append(min(held[max(0, minute - startup) :]) if minute >= startup else min(start, *held))
        state.see(asked, serving[-1])
        state.decide(minute, limits)
        decided.append(state.desired)
        is_same = (asked, limits, state.desired) == before and not state.is_alarmed(minute)
        settled = settled + 1 if is_same else 0
        before = asked, limits, state.desired
        if settled >= settles:
            alike = _alike(requests, scaling.changes, minute + 1)
            state.repeat(alike)
            for counts in (decided, held, serving):
                counts.extend([state.desired] * alike)
    return Copies(tuple(held), tuple(serving))


def _alike(requests: Sequence[Decimal], changes: Mapping[int, Limits], first: int) -> int:
    """How many minutes from ``first`` on are like the one before: no other traffic, no other limits."""
    minute, asked = first, requests[first - 1]
    while minute < len(requests) and requests[minute] == asked and minute not in changes:
        minute += 1
    return minute - first


class _PolicyState:
    """What the policies have seen so far, and the number of copies that they want."""

    def __init__(self, scaling: CopyScaling, start: int) -> None:
        self.desired = start
        self._scaling = scaling
        self._trackers = [_Tracker(it) for it in scaling.tracking]
        self._steps = [StepState(it) for it in scaling.steps]
        self._seen = Seen()

    @property
    def minutes_to_settle(self) -> int:
        """After so many minutes of the same, without an alarm of a step, nothing changes any more."""
        tracked = [IN_POINTS + it.in_cooldown for it in self._scaling.tracking]
        return REACTION + max([*tracked, *(it.memory for it in self._scaling.steps)], default=0)

    def is_alarmed(self, minute: int) -> bool:
        """Whether a step has an alarm at the end of a minute, which may begin a cooldown."""
        return any(it.alarmed_at == minute for it in self._steps)

    def repeat(self, minutes: int) -> None:
        """Takes in minutes that are like the last one."""
        if self._steps:
            self._seen.repeat(minutes)

    def see(self, asked: Decimal, serving: int) -> None:
        """Takes in the data points of a minute."""
        for tracker in self._trackers:
            tracker.see(asked, serving)
        if self._steps:
            self._seen.add(asked, serving)

    def decide(self, minute: int, limits: Limits) -> None:
        """Changes the number as the policies say at the end of a minute: the largest capacity wins."""
        if not self._steps and not any(it.is_above or it.is_below for it in self._trackers):
            return
        wanted = [
            it for step in self._steps if (it := step.wanted(self._seen, minute, self.desired)) is not None
        ]
        outs = [it.needs for it in self._trackers if it.is_above]
        more = limits.clamped(max([*wanted, *outs], default=self.desired))
        if more > self.desired:
            if self._scaling.scales_out:
                self.desired = more
        elif self._scaling.scales_in:
            self._decide_less(minute, limits, wanted)

    def _decide_less(self, minute: int, limits: Limits, wanted: Sequence[int]) -> None:
        removers = [it for it in self._trackers if it.policy.scales_in]
        if removers and all(it.may_remove(minute) for it in removers):
            less = limits.clamped(max(it.most_needed for it in removers))
            if less < self.desired:
                self.desired = less
                for tracker in removers:
                    tracker.removed(minute)
        if wanted:
            self.desired = limits.clamped(min(self.desired, *wanted))


class _Tracker:
    """One target-tracking policy, with its two alarms."""

    def __init__(self, policy: Tracking) -> None:
        self.policy = policy
        self.needs = 0
        self._above = self._below = 0
        self._recent = deque[int](maxlen=IN_POINTS)
        self._free_from = 0
        self._bounds: dict[Decimal, tuple[int, int]] = {}

    def see(self, asked: Decimal, serving: int) -> None:
        """Takes in a data point. Without copies there is none, and both alarms wait for data."""
        if not serving:
            self._above = self._below = 0
            self._recent.clear()
            return
        if asked not in self._bounds:
            # The same amounts occur again and again, and whole numbers are compared much faster.
            far_above = _for(asked, FAR_BELOW * self.policy.target)
            is_reached = far_above * FAR_BELOW * self.policy.target == asked
            self._bounds[asked] = _for(asked, self.policy.target), far_above + is_reached
        self.needs, far_above = self._bounds[asked]
        self._above = self._above + 1 if serving < self.needs else 0
        self._below = self._below + 1 if serving >= far_above else 0
        self._recent.append(self.needs)

    @property
    def is_above(self) -> bool:
        """Whether the alarm that adds capacity is on."""
        return self._above >= self.policy.out_points

    @property
    def is_below(self) -> bool:
        """Whether the alarm that removes capacity is on."""
        return self._below >= IN_POINTS

    @property
    def most_needed(self) -> int:
        """What the busiest of the minutes needs that the other alarm looks at."""
        return max(self._recent)

    def may_remove(self, minute: int) -> bool:
        """Whether capacity is to be removed, and no cooldown holds it back."""
        return self.is_below and minute >= self._free_from

    def removed(self, minute: int) -> None:
        """Starts the cooldown, which begins when the change takes effect."""
        self._free_from = minute + REACTION + self.policy.in_cooldown
