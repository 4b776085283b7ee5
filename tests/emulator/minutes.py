"""Application Auto Scaling minute by minute: what the policies of a template ask for while copies take time to start.

A step policy adds its step when its alarm goes off, and again after each cooldown, in which what it has added counts as
part of the next step. A target is tracked by copies in service: more are asked for after three minutes above it, fewer
after fifteen minutes below nine tenths of it. The largest capacity that any policy asks for wins. That the metrics of a base
count requests to its adapters is the belief "adapters-count-for-base"; ``counted`` says what becomes of it otherwise.
https://docs.aws.amazon.com/autoscaling/application/userguide/application-auto-scaling-step-scaling-policies.html
https://docs.aws.amazon.com/autoscaling/application/userguide/application-auto-scaling-target-tracking.html
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Copies:
    """The copies of one component: how many are asked for and in service, and when those under way get ready."""

    least: int
    most: int
    start_minutes: int
    asked: int = 0
    ready_at: list[int] = field(default_factory=list)

    def in_service(self, minute: int) -> int:
        return sum(at <= minute for at in self.ready_at)

    def ask(self, count: int, minute: int) -> None:
        self.asked = min(max(count, self.least), self.most)
        self.ready_at = sorted(self.ready_at)[: self.asked]
        self.ready_at += [minute + self.start_minutes] * (self.asked - len(self.ready_at))

    def lose_all(self, minute: int) -> None:
        """What was in service has to start again."""
        self.ready_at = [minute + self.start_minutes if at <= minute else at for at in self.ready_at]


def simulate(
    policies: list[Mapping[str, Any]],
    copies: Copies,
    requests: Callable[[int], float],
    minutes: int,
    *,
    counted: Callable[[int], float] | None = None,
    lost_at: int | None = None,
) -> list[int]:
    """How many copies are asked for in each minute. At ``lost_at`` all copies in service are lost.

    Of the requests, the metric that is tracked has those that are ``counted``: all of them, unless something else is said.
    """
    asked, woken, above, below = [], -math.inf, 0, 0
    step = next(it["StepScalingPolicyConfiguration"] for it in policies if it["PolicyType"] == "StepScaling")
    target = next(
        it["TargetTrackingScalingPolicyConfiguration"]["TargetValue"]
        for it in policies
        if it["PolicyType"] == "TargetTrackingScaling"
    )
    for minute in range(minutes):
        if minute == lost_at:
            copies.lose_all(minute)
        serving, load = copies.in_service(minute), requests(minute)
        tracked = load if counted is None else counted(minute)
        above = above + 1 if serving and tracked / serving > target else 0
        below = (
            below + 1 if copies.asked and (not serving or tracked / serving < 0.9 * target) and serving else 0
        )
        wanted = copies.asked
        if load and not serving and (minute - woken) * 60 >= step["Cooldown"]:
            wanted, woken = _stepped(step, copies.asked), minute
        if above >= 3:
            wanted = max(wanted, math.ceil(tracked / target))
        elif below >= 15:
            wanted, below = math.ceil(tracked / target), 0
        if wanted != copies.asked:
            copies.ask(wanted, minute)
        asked.append(copies.asked)
    return asked


def _stepped(step: Mapping[str, Any], asked: int) -> int:
    by = step["StepAdjustments"][0]["ScalingAdjustment"]
    return int(by if step["AdjustmentType"] == "ExactCapacity" else asked + by)
