"""Composite alarms: their expressions, with references to the spec's own alarms."""

from inferstack.catalog.resource_types import COMPOSITE_ALARM_TYPE
from inferstack.facts.alarms import alarms_block, with_own_actions
from inferstack.facts.composite_alarms import Composite, composite_alarms, names_of
from inferstack.format.kinds import ModelSpec
from inferstack.resolve.alarms import actions_of, alarm_ids, named_id
from inferstack.resolve.resource import Resource, Resources, Value, present, substituted
from inferstack.texts.alarm_rules import State, parsed_alarm_rule


def resolve_composite_alarms(spec: ModelSpec) -> Resources:
    """One alarm for each composite alarm of the spec."""
    block = alarms_block(spec)
    return {
        composite_id(it): Resource(
            COMPOSITE_ALARM_TYPE,
            present(
                AlarmName=it.block.alarm_name,
                AlarmDescription=it.block.alarm_description,
                AlarmRule=_rule(spec, it),
                **actions_of(with_own_actions(block, it.block)),
            ),
            it.path,
        )
        for it in composite_alarms(spec)
    }


def composite_id(it: Composite) -> str:
    """Logical id of a composite alarm: its name is its identity, or else its key."""
    return named_id("CompositeAlarm", it.key if it.block.alarm_name is None else it.block.alarm_name)


def _rule(spec: ModelSpec, it: Composite) -> Value:
    text = ""
    for part in parsed_alarm_rule(it.block.alarm_rule):
        space = "" if text.endswith("(") or part == ")" else " "
        text += space + (part if isinstance(part, str) else _asked(spec, part))
    ids = [*alarm_ids(spec), *map(composite_id, composite_alarms(spec))]
    return substituted(text.lstrip(), attributes=ids)


def _asked(spec: ModelSpec, state: State) -> str:
    """A state of one alarm; of several, whether any of them is in it."""
    asked = [f'{state.function}("{name}")' for name in _meant(spec, state.alarm)]
    return asked[0] if len(asked) == 1 else f"({' OR '.join(asked)})"


def _meant(spec: ModelSpec, name: str) -> list[str]:
    """The alarms that a name stands for: references to those of the spec, or another as it is named."""
    keys = {it.key: it for it in composite_alarms(spec)}
    if name in keys:
        return [f"${{{composite_id(keys[name])}}}"]
    own = [f"${{{it}}}" for it, alarm in alarm_ids(spec).items() if name in names_of(alarm)]
    return own or [name]
