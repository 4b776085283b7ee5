"""The alarms that roll back an update."""

from collections.abc import Iterator

from inferstack.check.rules.base import error, warning
from inferstack.facts.alarms import OwnAlarm, named_alarms, own_alarms, rollbacks, rolls_back
from inferstack.facts.walk import components, deployment_config, watched_name
from inferstack.format.endpoint import AutoRollbackConfiguration, DeploymentConfig
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import choose, listed

_GUARDRAILS = "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html"
_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AutoRollbackConfig.html"
_MISSING = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html"
_MOST = 10
_ROLLING = ("rolling_update_policy", "wait_interval_in_seconds")
_SHIFT = ("blue_green_update_policy", "traffic_routing_configuration", "wait_interval_in_seconds")


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


@error("IS624", _CONFIG)
def alarm_exists(spec: ModelSpec) -> Iterator[Problem]:
    """A rollback alarm with `metric` must be one that the spec has.

    From the default set or from `alarms.rules`; for a component, one of its own alarms.
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


_ALL = AutoRollbackConfiguration(alarms="own")
_ADD = "add a rule for it under `alarms.rules`"
_NONE_AT_ALL = "remove `alarms: false`, or `auto_rollback_configuration` as well"


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
        count = len(own) + sum(it.alarm_name is not None for it in named_alarms(rollback))
        if count > _MOST:
            message = f"{count} alarms would roll back an update, but SageMaker accepts at most {_MOST}"
            fix = f"list fewer by their metric: {listed(sorted(set(own)), last='and')}" if own else ""
            yield Problem((*path, "alarms"), message, fix or "list fewer")


@warning("IS626", _MISSING)
def silence_is_no_trouble(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm that rolls back an update should not treat missing data as breaching.

    Without requests it would be in ALARM, and roll back every update before anyone has seen it.
    """
    seen = []
    for alarm in (it for _, rollback, name in rollbacks(spec) for it in _rolling_back(spec, rollback, name)):
        if alarm.evaluation.treat_missing_data == "breaching" and alarm.path not in seen:
            seen.append(alarm.path)
            name = watched_name(alarm.rule)
            message = f"without requests the alarm on {name} goes off and rolls back any update"
            fix = "write `notBreaching`, or leave the alarm out of `auto_rollback_configuration`"
            yield Problem((*alarm.path, "treat_missing_data"), message, fix)


@warning("IS627", _GUARDRAILS)
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
