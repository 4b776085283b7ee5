"""What happens when an alarm goes off: what it notifies or starts, and which updates it rolls back."""

from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.check.rules.alarms.custom_metrics import alarm_rules
from inferstack.check.rules.base import ALARM_PAGE, API, AWS, GUARDRAILS_PAGE, error, warning
from inferstack.facts.alarms import OwnAlarm, foreign_alarms, named_alarms, own_alarms, rollbacks, rolls_back
from inferstack.facts.composite_alarms import composite_alarms
from inferstack.facts.once import found_once
from inferstack.facts.scaling import steps
from inferstack.facts.walk import components, deployment_config, region_of, watched_name
from inferstack.format.alarms import ACTION_KEYS, AlarmRule, Alarms, CompositeAlarm
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.endpoint import AutoRollbackConfiguration, DeploymentConfig
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import choose, listed
from inferstack.texts.arns import ACTION_KINDS, ActionKind, arn_fields

_ACTIONS = f"{AWS}/AmazonCloudWatch/latest/monitoring/alarm-actions.html"
_LAMBDA = f"{AWS}/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html"
_CONFIG = f"{API}/API_AutoRollbackConfig.html"
_MISSING = f"{AWS}/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html"
_INVOKER = "lambda.alarms.cloudwatch.amazonaws.com"
_GOES_OFF = "actions"
_KEYS = tuple(ACTION_KEYS)
# CloudWatch's limit for each state of an alarm.
_MOST = 5


def _blocks(
    spec: ModelSpec,
) -> Iterator[tuple[SpecPath, Alarms | AlarmRule | CompositeAlarm | StepPolicy]]:
    if isinstance(spec.alarms, Alarms):
        yield ("alarms",), spec.alarms
    yield from alarm_rules(spec)
    yield from ((it.path, it.block) for it in composite_alarms(spec))
    for path, _, step in steps(spec):
        yield path, step


@found_once
def _actions(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, ActionKind]]:
    """Each action of an alarm: path, ARN and kind; without those known only at deployment."""
    for path, block in _blocks(spec):
        for key in _KEYS:
            for index, arn in enumerate(getattr(block, key) or ()):
                kind = ACTION_KINDS.get(next(iter(arn_fields(arn)[2:3]), ""))
                if kind is not None:
                    yield (*path, key, index), arn, kind


@error("IS810", _ACTIONS)
def actions_are_in_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """The targets of an alarm's actions must be in the alarm's own region.

    PutMetricAlarm answers "Invalid region … specified. Only … is supported", and the same for a partition:
    https://github.com/cds-snc/notification-terraform/pull/128. A response plan has no region.
    """
    region = region_of(spec)
    if region is None:
        return
    own = regions.partition(region)
    for path, arn, kind in _actions(spec):
        partition, there = arn_fields(arn)[1], arn_fields(arn)[3]
        if there not in ("", region) and "$" not in there:
            message = f"the {kind.what} is in {there}, but the stack is in {region}"
            yield Problem(path, message, f"use a {kind.what} in {region}")
        elif "$" not in partition and partition != own:
            message = f"the {kind.what} is in the partition `{partition}`, but {region} is in `{own}`"
            yield Problem(path, message, f"write `arn:{own}:…`")


@warning("IS840", _LAMBDA)
def functions_allow_it(spec: ModelSpec) -> Iterator[Problem]:
    """A function that an alarm invokes should allow CloudWatch to invoke it.

    Otherwise the alarm goes off and nothing happens. The function's policy is not in this stack, so it can be
    neither seen nor written here.
    """
    first = {arn: path for path, arn, kind in reversed(_actions(spec)) if kind.what == "function"}
    for arn, path in first.items():
        name = ":".join(arn_fields(arn)[6:])
        message = (
            f"CloudWatch needs permission to invoke the function `{name}`, which this stack does not grant"
        )
        fix = f"grant `lambda:InvokeFunction` to `{_INVOKER}`, and say so under `ignore`"
        yield Problem(path, message, fix)


@error("IS841", _ACTIONS)
def it_happens_in_this_state(spec: ModelSpec) -> Iterator[Problem]:
    """Actions that only run when an alarm goes off must be under `actions`.

    OpsItems, incidents and investigations are started by the state ALARM and by no other.
    """
    for path, _, kind in _actions(spec):
        if kind.only_when_it_goes_off and path[-2] != _GOES_OFF:
            message = f"the {kind.what} has no effect here because it only runs when an alarm goes off"
            yield Problem(path, message, f"move it to `{_GOES_OFF}`")


@error("IS847", ALARM_PAGE)
def policy_is_an_action(spec: ModelSpec) -> Iterator[Problem]:
    """The alarm of a step policy can have at most four actions of its own, since the policy is the fifth.

    An alarm calls up to five for each state.
    """
    for path, _, step in steps(spec):
        count = len(step.actions)
        if count >= _MOST:
            message = f"an alarm can have {_MOST} actions, but there are {count} besides the policy itself"
            fix = f"keep {_MOST - 1}, or let one topic notify the others"
            yield Problem((*path, _GOES_OFF), message, fix)


# ---------------------------------------------------------------- updates that alarms roll back


_MOST_THAT_ROLL_BACK = 10
_ROLLING = ("rolling_update_policy", "wait_interval_in_seconds")
_SHIFT = ("blue_green_update_policy", "traffic_routing_configuration", "wait_interval_in_seconds")
_ALL = AutoRollbackConfiguration(alarms="own")
_ADD = "add a rule for it under `alarms.rules`"
_NONE_AT_ALL = "remove `alarms: false`, or `auto_rollback_configuration` as well"


@error("IS623", _CONFIG)
def metric_or_name(spec: ModelSpec) -> Iterator[Problem]:
    """A rollback alarm must have either `metric` or `alarm_name`.

    Alarms of the spec have no names to refer to; other alarms have nothing else.
    """
    for path, rollback, _ in rollbacks(spec):
        for index, alarm in enumerate(named_alarms(rollback)):
            where = (*path, "alarms", index)
            if alarm.metric is None and alarm.alarm_name is None:
                fix = "add `metric` for alarms of this spec, or `alarm_name` for an existing one"
                yield Problem(where, "the entry does not name an alarm", fix)
            elif alarm.metric is not None and alarm.alarm_name is not None:
                fix = "keep one of them, or make two entries"
                yield Problem(where, "`metric` and `alarm_name` cannot be used together", fix)


@warning("IS622", GUARDRAILS_PAGE)
def rollback_alarms_differ(spec: ModelSpec) -> Iterator[Problem]:
    """A rollback alarm should be listed only once.

    There are 1 to 10 places, and a duplicate wastes one.
    """
    for path, rollback, _ in rollbacks(spec):
        listed = named_alarms(rollback)
        for index, alarm in enumerate(listed):
            if alarm in listed[:index]:
                what = f"on {alarm.metric} " if alarm.alarm_name is None else f"{alarm.alarm_name} "
                where = (*path, "alarms", index, "metric" if alarm.alarm_name is None else "alarm_name")
                yield Problem(where, f"the alarm {what}is listed twice", "remove one of them")


@error("IS624", _CONFIG)
def alarm_exists(spec: ModelSpec) -> Iterator[Problem]:
    """A rollback alarm with `metric` must be one that the spec has.

    Alarms of the default set count as well as those of `alarms.rules`; for a component, only its own.
    """
    for path, rollback, component in rollbacks(spec):
        there = [watched_name(alarm.rule) for alarm in _rolling_back(spec, _ALL, component)]
        add = _NONE_AT_ALL if spec.alarms is False else _ADD
        if isinstance(rollback.alarms, str) and not there:
            yield Problem((*path, "alarms"), f"the spec has no alarms {_about(component)}", add)
        for index, alarm in enumerate(named_alarms(rollback)):
            if alarm.metric is not None and alarm.metric not in there:
                message = f"the spec has no alarm on {alarm.metric} {_about(component)}"
                found = f"{choose(alarm.metric, sorted(set(there)))}; or {add}" if there else add
                yield Problem((*path, "alarms", index, "metric"), message, found)


def _about(component: str | None) -> str:
    return "of this endpoint" if component is None else f"of the component `{component}`"


def _rolling_back(
    spec: ModelSpec, rollback: AutoRollbackConfiguration, component: str | None
) -> list[OwnAlarm]:
    """The spec's own alarms that roll back an update of the endpoint, or of a component."""
    return [alarm for alarm in own_alarms(spec) if rolls_back(alarm, rollback, component)]


@error("IS625", _CONFIG)
def not_too_many(spec: ModelSpec) -> Iterator[Problem]:
    """At most 10 alarms can roll back an update.

    One metric may stand for several alarms, one for each variant or component; each of them counts.
    """
    for path, rollback, component in rollbacks(spec):
        own = [watched_name(it.rule) for it in _rolling_back(spec, rollback, component)]
        count = len(own) + len(foreign_alarms(spec, rollback))
        if count > _MOST_THAT_ROLL_BACK:
            most = f"SageMaker accepts at most {_MOST_THAT_ROLL_BACK}"
            message = f"{count} alarms would roll back an update, but {most}"
            fix = f"list fewer by their metric: {listed(sorted(set(own)), last='and')}" if own else ""
            yield Problem((*path, "alarms"), message, fix or "list fewer")


@warning("IS626", _MISSING)
def silence_is_no_trouble(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm that rolls back an update should not treat missing data as breaching.

    Without requests it would be in ALARM, and roll back every update.
    """
    seen = []
    for alarm in (it for _, rollback, name in rollbacks(spec) for it in _rolling_back(spec, rollback, name)):
        if alarm.evaluation.treat_missing_data == "breaching" and alarm.path not in seen:
            seen.append(alarm.path)
            name = watched_name(alarm.rule)
            message = f"without requests the alarm on {name} goes off and rolls back any update"
            fix = "write `notBreaching`, or leave the alarm out of `auto_rollback_configuration`"
            yield Problem((*alarm.path, "treat_missing_data"), message, fix)


@warning("IS627", GUARDRAILS_PAGE)
def update_waits_for_the_alarm(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm that rolls back an update should be able to go off while the update waits.

    SageMaker watches the alarms only while it waits, and one bad minute does not yet set off an alarm.
    """
    for path, rollback, component in rollbacks(spec):
        where, most = _wait(spec, component)
        chosen = _rolling_back(spec, rollback, component)
        own = {watched_name(it.rule): _time_to_alarm(it) for it in chosen}
        if isinstance(rollback.alarms, str):
            # With all alarms, some are slow on purpose: one that is quick enough will do.
            own = dict(sorted(own.items(), key=lambda it: it[1])[:1])
        for metric, needs in own.items():
            if most is not None and needs > most:
                message = f"the alarm on {metric} needs {needs} s, but the update waits only {most} s"
                fix = (
                    f"write `wait_interval_in_seconds` of {needs} or more, or shorten what the alarm looks at"
                )
                yield Problem((*path[:-1], *where), message, fix)


def _time_to_alarm(alarm: OwnAlarm) -> int:
    """Seconds from the first bad data point until the alarm goes off."""
    needed = alarm.rule.datapoints_to_alarm
    return (alarm.evaluation.evaluation_periods if needed is None else needed) * alarm.evaluation.period


def _wait(spec: ModelSpec, component: str | None) -> tuple[SpecPath, int | None]:
    """Where the update says how long it waits after a step, and its longest wait, if it says so."""
    for _, name, it in components(spec):
        if name == component and it.deployment_config is not None:
            return _ROLLING, it.deployment_config.rolling_update_policy.wait_interval_in_seconds
    config = deployment_config(spec)
    return ((), None) if config is None else _wait_of_endpoint(config)


def _wait_of_endpoint(config: DeploymentConfig) -> tuple[SpecPath, int | None]:
    if config.rolling_update_policy is not None:
        return _ROLLING, config.rolling_update_policy.wait_interval_in_seconds
    if config.blue_green_update_policy is None:
        return (), None
    policy = config.blue_green_update_policy
    # If the interval is missing, IS612 asks for it.
    shift = policy.traffic_routing_configuration.wait_interval_in_seconds
    return _SHIFT, None if shift is None else max(shift, policy.termination_wait_in_seconds or 0)
