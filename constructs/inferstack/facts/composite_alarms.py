"""Composite alarms: which alarms the spec has them look at; and the names that alarms are given."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from inferstack.facts.alarms import OwnAlarm, alarms_block, own_alarms
from inferstack.facts.once import answered_once, found_once
from inferstack.facts.walk import watched_name
from inferstack.format.alarms import CompositeAlarm
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath
from inferstack.texts.alarm_rules import AlarmRuleError, State, parsed_alarm_rule
from inferstack.texts.placeholders import is_opaque

_PATH: SpecPath = ("alarms", "composite_alarms")


class Composite(msgspec.Struct, frozen=True):
    """One composite alarm: its path and key, and its block."""

    path: SpecPath
    key: str
    block: CompositeAlarm

    @property
    def states(self) -> list[State]:
        """What its expression asks of other alarms; nothing if it is not an expression."""
        try:
            return [it for it in parsed_alarm_rule(self.block.alarm_rule) if isinstance(it, State)]
        except AlarmRuleError:
            return []


@found_once
def composite_alarms(spec: ModelSpec) -> Iterator[Composite]:
    """The composite alarms, in the spec's order; none with `alarms: false`."""
    if spec.alarms is not False:
        for key, block in (alarms_block(spec).composite_alarms or {}).items():
            yield Composite((*_PATH, key), key, block)


def is_elsewhere(name: str) -> bool:
    """Whether an expression names an alarm outside the spec: by its ARN, or by a token."""
    return name.startswith("arn:") or is_opaque(name)


def names_of(alarm: OwnAlarm) -> list[str]:
    """The names by which an expression means this alarm: its metric's, `Metric/part`, and its own."""
    metric = watched_name(alarm.rule)
    return [it for it in (metric, f"{metric}/{alarm.part.title}", alarm.rule.alarm_name) if it]


@answered_once
def alarms_by_name(spec: ModelSpec) -> Mapping[str, Sequence[Composite | OwnAlarm]]:
    """Every name that an expression of the spec may have in it, with the alarms that it means."""
    keys: dict[str, list[Composite | OwnAlarm]] = {it.key: [it] for it in composite_alarms(spec)}
    found = dict(keys)
    for alarm in own_alarms(spec):
        for name in names_of(alarm):
            if name not in keys:
                found.setdefault(name, []).append(alarm)
    return found


def chosen_names(spec: ModelSpec) -> Iterator[tuple[SpecPath, str]]:
    """The name of each alarm that has one in the spec, once for each alarm that is made."""
    for alarm in own_alarms(spec):
        if alarm.rule.alarm_name is not None:
            yield (*alarm.path, "alarm_name"), alarm.rule.alarm_name
    for it in composite_alarms(spec):
        if it.block.alarm_name is not None:
            yield (*it.path, "alarm_name"), it.block.alarm_name
