"""Composite alarms, and the names that alarms are given."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from inferstack.check.rules.base import ALARM_PAGE, AWS, error, warning
from inferstack.facts.alarms import (
    OwnAlarm,
    alarms_block,
    foreign_alarms,
    named_alarms,
    own_alarms,
    rollbacks,
)
from inferstack.facts.composite_alarms import (
    Composite,
    alarms_by_name,
    chosen_names,
    composite_alarms,
    is_elsewhere,
)
from inferstack.format.alarms import ACTION_KEYS
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import did_you_mean_then, likest, listed
from inferstack.texts.alarm_rules import AlarmRuleError, parsed_alarm_rule
from inferstack.texts.arns import ACTION_KINDS, arn_fields

_PAGE = f"{AWS}/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html"
_DESCRIBE = f"{AWS}/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html"
# CloudWatch's limits.
_MOST_CHILDREN, _MOST_ELEMENTS = 100, 500


@error("IS834", _PAGE)
def rule_is_an_expression(spec: ModelSpec) -> Iterator[Problem]:
    """The `alarm_rule` of a composite alarm must be an expression as CloudWatch reads it, and not too large.

    It has functions on other alarms, words and parentheses; at most 100 alarms and 500 elements.
    """
    for alarm in composite_alarms(spec):
        path = (*alarm.path, "alarm_rule")
        try:
            parts = parsed_alarm_rule(alarm.block.alarm_rule)
        except AlarmRuleError as error:
            fix = "write it as in `ALARM(ModelLatency) AND NOT ALARM(CPUUtilization)`"
            yield Problem(path, f"the expression is wrong: {error}", fix)
            continue
        children = {name for state in alarm.states for name in _children(spec, state.alarm)}
        elements = sum(part not in ("AND", "OR", "NOT") for part in parts)
        elements += sum(len(_children(spec, state.alarm)) - 1 for state in alarm.states)
        if len(children) > _MOST_CHILDREN or elements > _MOST_ELEMENTS:
            message = f"the expression has {len(children)} alarms and {elements} elements"
            fix = (
                f"at most {_MOST_CHILDREN} and {_MOST_ELEMENTS} are allowed: put some into a composite alarm"
            )
            yield Problem(path, message, fix)


def _children(spec: ModelSpec, name: str) -> list[object]:
    """The alarms that a name in an expression stands for."""
    own: list[object] = [id(alarm) for alarm in alarms_by_name(spec).get(name, ())]
    return own or ([name] if is_elsewhere(name) else [])


@error("IS124", OWN_FORMAT)
def rule_names_alarms(spec: ModelSpec) -> Iterator[Problem]:
    """The `alarm_rule` of a composite alarm must name alarms that exist.

    By metric, by name or by key in this spec; any other alarm by its ARN.
    """
    for alarm in composite_alarms(spec):
        for name in dict.fromkeys(state.alarm for state in alarm.states):
            if not _children(spec, name):
                known = list(alarms_by_name(spec))
                rest = f"it has {likest(name, known)}" if known else "it has none"
                fix = f"{did_you_mean_then(name, known, rest)}; an alarm of another stack is named by its ARN"
                yield Problem((*alarm.path, "alarm_rule"), f"the spec has no alarm `{name}`", fix)


@error("IS144", _PAGE)
def composites_end(spec: ModelSpec) -> Iterator[Problem]:
    """Composite alarms cannot look at one another in a circle.

    CloudWatch would stop to evaluate them, and could delete none; CloudFormation would make none.
    """
    by_key = {it.key: it for it in composite_alarms(spec)}
    graph = {key: [s.alarm for s in it.states if s.alarm in by_key] for key, it in by_key.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        circle = found.args[1]
        message = f"{listed(circle[1:], last='and')} look at one another in a circle"
        if len(circle) == 2:
            message = f"`{circle[0]}` looks at itself"
        fix = "remove one of these names from the expression it is in"
        yield Problem((*by_key[circle[-1]].path, "alarm_rule"), message, fix)


@error("IS134", _PAGE)
def composites_notify(spec: ModelSpec) -> Iterator[Problem]:
    """A composite alarm cannot trigger a scaling policy.

    It may notify topics, invoke functions, and make OpsItems, incidents and investigations.
    """
    policy = ACTION_KINDS["autoscaling"].what
    for path, arn in _actions_of_composites(spec):
        if arn_fields(arn)[2:3] == ["autoscaling"]:
            message = f"a composite alarm cannot trigger a {policy}"
            fix = "let an alarm of `step_policies` trigger it"
            if isinstance(path[-1], str):
                fix = "write `actions` of its own: it has those of all alarms, and one is a scaling policy"
            yield Problem(path, message, fix)


def _actions_of_composites(spec: ModelSpec) -> Iterator[tuple[SpecPath, str]]:
    """Each action of a composite alarm; where it has none of its own, those of all alarms are its actions."""
    for alarm in composite_alarms(spec):
        for key in ACTION_KEYS:
            own = getattr(alarm.block, key)
            if own is None:
                yield from ((alarm.path, arn) for arn in getattr(alarms_block(spec), key))
            else:
                yield from (((*alarm.path, key, index), arn) for index, arn in enumerate(own))


@error("IS294", ALARM_PAGE)
def names_of_alarms_differ(spec: ModelSpec) -> Iterator[Problem]:
    """No two alarms can have the same `alarm_name`.

    A rule without `variant_name` or `inference_component` makes an alarm for each part that has its metric.
    """
    first: dict[str, SpecPath] = {}
    for path, name in chosen_names(spec):
        before = first.setdefault(name, path)
        if before != path:
            message = f"two alarms have the name `{name}`"
            yield Problem(path, message, "give one of them another name")
    for path, alarms in _of_one_rule(spec).items():
        if len(alarms) > 1:
            titles = listed([alarm.part.title for alarm in alarms], last="and")
            message = f"the rule makes {len(alarms)} alarms of one name, for {titles}"
            fix = (
                "write a rule for each, with `variant_name` or `inference_component`, or remove `alarm_name`"
            )
            yield Problem((*path, "alarm_name"), message, fix)


def _of_one_rule(spec: ModelSpec) -> dict[SpecPath, list[OwnAlarm]]:
    found: dict[SpecPath, list[OwnAlarm]] = {}
    for alarm in own_alarms(spec):
        if alarm.rule.alarm_name is not None:
            found.setdefault(alarm.path, []).append(alarm)
    return found


@warning("IS654", _DESCRIBE)
def composites_roll_nothing_back(spec: ModelSpec) -> Iterator[Problem]:
    """An update should be rolled back by alarms on metrics, not by a composite alarm.

    SageMaker looks at alarms with DescribeAlarms under the endpoint's role. Unless it is asked for composite
    alarms, that call returns none, and with rights to single alarms, as this role has, it never does.
    """
    composites: dict[str, Composite] = {
        it.block.alarm_name: it for it in composite_alarms(spec) if it.block.alarm_name is not None
    }
    for path, rollback, _ in rollbacks(spec):
        foreign = foreign_alarms(spec, rollback)
        for index, alarm in enumerate(named_alarms(rollback)):
            if alarm.alarm_name in foreign and alarm.alarm_name in composites:
                message = f"`{alarm.alarm_name}` is a composite alarm, which SageMaker may not find"
                fix = "list the metrics of the alarms that it looks at"
                yield Problem((*path, "alarms", index, "alarm_name"), message, fix)
