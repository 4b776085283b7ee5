"""The alarms of a template in plain words, and which of them an update loosens."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from inferstack.catalog import instances
from inferstack.catalog.metrics import Metric
from inferstack.catalog.resource_types import ALARM_TYPE, COMPOSITE_ALARM_TYPE, SCALING_POLICY_TYPE
from inferstack.endpoint import deployed, units
from inferstack.endpoint.deployed import Properties, entries, mapping, shown
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.place import Place
from inferstack.endpoint.rollout import alarms_that_roll_back
from inferstack.endpoint.stack import Stack, readable
from inferstack.problems.words import listed
from inferstack.texts.alarm_rules import change_of_rule


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm on a metric, or on other alarms."""

    logical_id: str
    """Its name in the template."""
    of: str
    """The part of the endpoint that it watches."""
    metric: str
    """The metric, or `an expression`, or `other alarms`."""
    threshold: str
    """The threshold in units that people use."""
    when: str
    """When it goes off, without what it watches."""
    notifies: str
    """How many it notifies."""
    sentence: str
    """All of it in words."""
    actions: int
    """How many topics or other actions it calls when it goes off."""
    recipients: tuple[str, ...]
    """What it notifies or triggers when it goes off."""
    is_muted: bool
    """Whether its actions are turned off."""
    rolls_back: bool = False
    """Whether it rolls an update back."""
    place: Place
    """Where the spec has it."""


# The other operators compare with a band, which IS811 refuses; an operator may be a token, too.
MOVES = {
    "GreaterThanOrEqualToThreshold": "reaches",
    "GreaterThanThreshold": "exceeds",
    "LessThanThreshold": "falls below",
    "LessThanOrEqualToThreshold": "falls to",
}
OTHER_ALARMS = "other alarms"
"""What a composite alarm is on."""
_PARTS = ("InferenceComponentName", "ContainerName", "VariantName", "EndpointName")
"""Dimensions that name what is watched, the most telling first."""


def alarms(stack: Stack, fleets: tuple[Fleet, ...]) -> tuple[Alarm, ...]:
    """Every alarm, those that only make capacity change left out: scaling tells of them."""
    return tuple(_alarms(stack, fleets))


def _alarms(stack: Stack, fleets: tuple[Fleet, ...]) -> Iterator[Alarm]:
    for logical_id, alarm in stack.of_type(ALARM_TYPE).items():
        if not scales(stack, alarm):
            yield _alarm(stack, logical_id, alarm, fleets)
    for logical_id, alarm in stack.of_type(COMPOSITE_ALARM_TYPE).items():
        rule = _rule(stack, alarm)
        yield Alarm(
            logical_id=logical_id,
            rolls_back=logical_id in alarms_that_roll_back(stack),
            of="several alarms",
            metric=OTHER_ALARMS,
            threshold="",
            when=rule,
            notifies=_notifies(alarm),
            sentence=f"{rule}; {_notifies(alarm)}",
            actions=len(entries(alarm.get("AlarmActions"))),
            recipients=_recipients(alarm),
            is_muted=_is_muted(alarm),
            place=stack.place_of(logical_id, ()),
        )


_REFERENCE = re.compile(r"\$\{([A-Za-z0-9]+)(?:\.Arn)?\}")


def _rule(stack: Stack, alarm: Properties) -> str:
    """The expression of a composite alarm, with what the alarms of the stack watch in place of their ids."""
    known = stack.of_type(ALARM_TYPE)

    def title(found: re.Match[str]) -> str:
        one = known.get(found[1])
        return found[0] if one is None else f"{metric_name(one)} of {part_of(one)}"

    return _REFERENCE.sub(title, shown(alarm.get("AlarmRule")))


def scales(stack: Stack, alarm: Properties) -> bool:
    """Whether an alarm sets off a step of scaling."""
    return any(stack.resources.get(it, {}).get("Type") == SCALING_POLICY_TYPE for it in _called(alarm))


def _called(alarm: Properties) -> Iterator[str]:
    for action in entries(alarm.get("AlarmActions")):
        match action:
            case {"Ref": str() as logical_id}:
                yield logical_id


def _alarm(stack: Stack, logical_id: str, alarm: Properties, fleets: tuple[Fleet, ...]) -> Alarm:
    when = _when(stack, alarm, fleets)
    return Alarm(
        logical_id=logical_id,
        rolls_back=logical_id in alarms_that_roll_back(stack),
        of=part_of(alarm),
        metric=metric_name(alarm),
        threshold=threshold(stack, alarm, fleets),
        when=when,
        notifies=_notifies(alarm),
        sentence=f"{watched(alarm)} {when}; {_notifies(alarm)}",
        actions=len(entries(alarm.get("AlarmActions"))),
        recipients=_recipients(alarm),
        is_muted=_is_muted(alarm),
        place=stack.place_of(logical_id, ("Threshold",)),
    )


def condition(stack: Stack, alarm: Properties, fleets: tuple[Fleet, ...]) -> str:
    """When an alarm goes off: `Average of CPUUtilization of AllTraffic reaches 90 % in 3 of 5 minutes`."""
    return f"{watched(alarm)} {_when(stack, alarm, fleets)}"


def watched(alarm: Properties) -> str:
    """What an alarm watches: `Average of CPUUtilization of AllTraffic`."""
    statistic = statistic_of(alarm)
    what = metric_name(alarm) if statistic is None else f"{statistic} of {metric_name(alarm)}"
    return f"{what} of {part_of(alarm)}"


def _when(stack: Stack, alarm: Properties, fleets: tuple[Fleet, ...]) -> str:
    moves = MOVES.get(str(alarm.get("ComparisonOperator")), "crosses")
    said = f"{moves} {threshold(stack, alarm, fleets)}{patience(stack, alarm) or ''}"
    return said + ("; no data counts as bad" if alarm.get("TreatMissingData") == "breaching" else "")


def metric_name(alarm: Properties) -> str:
    """The metric's name, or that it is an expression."""
    name = alarm.get("MetricName")
    return "an expression" if name is None else shown(name)


def statistic_of(alarm: Properties) -> str | None:
    """Its statistic, of either sort."""
    found = alarm.get("Statistic", alarm.get("ExtendedStatistic"))
    return None if found is None else shown(found)


def part_of(alarm: Properties) -> str:
    """The name of what it watches."""
    named = {shown(it.get("Name")): it.get("Value") for it in map(mapping, entries(alarm.get("Dimensions")))}
    return next((shown(named[name]) for name in _PARTS if name in named), "the endpoint")


def threshold(stack: Stack, alarm: Properties, fleets: tuple[Fleet, ...]) -> str:
    """The threshold in units that people use."""
    metric = units.metric_of(alarm.get("Namespace"), alarm.get("MetricName"))
    named = {shown(it.get("Value")) for it in map(mapping, entries(alarm.get("Dimensions")))}
    own = next((it for it in fleets if it.name in named), None)
    types = () if own is None else own.instance_types
    return units.amount(stack.number(alarm.get("Threshold")), metric, statistic_of(alarm), types)


class Patience(msgspec.Struct, frozen=True):
    """How long something must last: data points that have to be bad, of how many, and seconds of each."""

    bad: int
    of: int
    period: int

    def __str__(self) -> str:
        if self.period != 60:
            each = units.minutes(self.period)
            of = f" of {self.of}" if self.bad != self.of else ""
            return f" for {each}" if self.of == 1 else f" in {self.bad}{of} periods of {each}"
        if self.bad != self.of:
            return f" in {self.bad} of {self.of} minutes"
        return f" for {units.minutes(self.of * 60)}"


def patience(stack: Stack, alarm: Properties) -> Patience | None:
    """How long an alarm waits, as data; None if only the deployment knows it."""
    of = stack.count(alarm.get("EvaluationPeriods"))
    period = stack.count(alarm.get("Period", _longest_period(alarm)))
    bad = stack.count(alarm.get("DatapointsToAlarm", of))
    return None if of is None or bad is None or period is None else Patience(bad, of, period)


def _longest_period(alarm: Properties) -> Any:
    queries = map(mapping, entries(alarm.get("Metrics")))
    found = [mapping(it.get("MetricStat")).get("Period", it.get("Period")) for it in queries]
    return max((it for it in found if isinstance(it, int)), default=60)


def _recipients(alarm: Properties) -> tuple[str, ...]:
    return tuple(map(readable, entries(alarm.get("AlarmActions"))))


def _is_muted(alarm: Properties) -> bool:
    return alarm.get("ActionsEnabled") is False


def _notifies(alarm: Properties) -> str:
    count = len(_recipients(alarm))
    if not count or _is_muted(alarm):
        return "notifies nobody"
    return "notifies 1 recipient" if count == 1 else f"notifies {count} recipients"


# ---------------------------------------------------------------- alike for several parts


def alike(alarms: Iterable[Alarm]) -> list[list[Alarm]]:
    """The alarms that say the same of several parts together, if they come from one line."""
    found: dict[tuple[str, int], list[Alarm]] = {}
    for it in alarms:
        found.setdefault((_of_any(it), it.place.line), []).append(it)
    return list(found.values())


def _of_any(alarm: Alarm) -> str:
    return alarm.sentence.replace(f" of {alarm.of} ", " of \0 ", 1)


def sentence_of_all(those: Sequence[Alarm]) -> str:
    """One sentence about alarms that are alike, with the names of all parts."""
    return _of_any(those[0]).replace("\0", parts_of(those, quote=""))


def parts_of(alarms: Iterable[Alarm], *, quote: str = "`") -> str:
    """The names of the parts that alarms watch."""
    return listed(list(dict.fromkeys(it.of for it in alarms)), last="and", quote=quote)


# ---------------------------------------------------------------- looser than before


def loosened(before: tuple[Stack, Properties], after: tuple[Stack, Properties]) -> Iterator[str]:
    """In which ways an alarm goes off later than before, or never; nothing if it does not."""
    (old_stack, old), (new_stack, new) = before, after
    if "AlarmRule" in new:
        yield from _rule_loosened(shown(old.get("AlarmRule")), shown(new["AlarmRule"]))
        return
    moved = (_for_each_device(old_stack, old), _for_each_device(new_stack, new))
    if None not in moved and _is_looser(*moved, str(new.get("ComparisonOperator"))):  # type: ignore[arg-type]
        yield "its threshold is looser"
        if _never_reached(new_stack, new):
            yield "it can never go off"
    longer = (patience(old_stack, old), patience(new_stack, new))
    if longer[0] is not None and longer[1] is not None and _lasts(longer[1]) > _lasts(longer[0]):
        yield "it waits longer"
    if old.get("TreatMissingData") == "breaching" != new.get("TreatMissingData"):
        yield "missing data no longer counts as bad"


def _rule_loosened(before: str, after: str) -> Iterator[str]:
    change = change_of_rule(before, after)
    if change is None and before != after:
        yield "its rule changes, and whether it is looser is not known"
    elif change is not None and change.is_looser:
        yield "it can never go off" if change.is_never_true else "it no longer goes off in some cases"


def _is_looser(old: float, new: float, operator: str) -> bool:
    return new < old if operator.startswith("Less") else new > old


def _for_each_device(stack: Stack, alarm: Properties) -> float | None:
    """A threshold, of a metric that is summed over devices for each of them."""
    threshold = stack.number(alarm.get("Threshold"))
    metric = units.metric_of(alarm.get("Namespace"), alarm.get("MetricName"))
    devices = _devices(stack, alarm, metric)
    return threshold if threshold is None or not devices else threshold / devices[0]


def _never_reached(stack: Stack, alarm: Properties) -> bool:
    """Whether the metric can never get beyond a threshold, on the instance types that are known."""
    threshold = stack.number(alarm.get("Threshold"))
    metric = units.metric_of(alarm.get("Namespace"), alarm.get("MetricName"))
    counts = statistic_of(alarm) in ("Sum", "SampleCount")
    if metric is None or metric.most is None or threshold is None or counts:
        return False
    operator = str(alarm.get("ComparisonOperator"))
    devices = [1] if metric.per_device is None else _devices(stack, alarm, metric)
    if operator.startswith("Less") or not devices:
        return False
    most = metric.most * max(devices)
    return threshold >= most if operator == "GreaterThanThreshold" else threshold > most


def _devices(stack: Stack, alarm: Properties, metric: Metric | None) -> list[int]:
    """How many devices each type has that the metric is summed over, the preferred type first; none where
    that is not known, or the metric is no such sum.
    """
    if metric is None or metric.per_device is None:
        return []
    named = {shown(it.get("Value")) for it in map(mapping, entries(alarm.get("Dimensions")))}
    types = [
        name
        for variant, it in deployed.variants(stack.resources).items()
        if variant in named
        for name in deployed.instance_types(it)
    ]
    found = [host.devices(metric.per_device) for it in types if (host := instances.find(it)) is not None]
    return found if len(found) == len(types) and 0 not in found else []


def _lasts(patience: Patience) -> int:
    return patience.bad * patience.period
