"""CloudWatch alarms: the default set for the endpoint's kind, and the spec's own rules."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from inferstack.catalog import metrics
from inferstack.catalog.metrics import Metric, simple_statistics
from inferstack.catalog.resource_types import ALARM_TYPE
from inferstack.endpoint.alarms import MOVES
from inferstack.facts.alarms import (
    Evaluation,
    OwnAlarm,
    alarms_block,
    foreign_alarms,
    own_alarms,
    rolls_back,
    with_own_actions,
)
from inferstack.facts.once import found_once
from inferstack.facts.publications import Publisher
from inferstack.facts.quantity import absolute_threshold, as_counted, is_time
from inferstack.facts.walk import watched_name
from inferstack.format.alarms import AlarmRule, Alarms, Watched
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.endpoint import AutoRollbackConfiguration, DeploymentConfig
from inferstack.format.inference_component import ComponentDeploymentConfig
from inferstack.format.kinds import ModelSpec
from inferstack.resolve.convert import properties
from inferstack.resolve.resource import (
    Resource,
    Resources,
    Value,
    get_att,
    logical_id,
    pascal,
    present,
    ref,
    short_hash,
)
from inferstack.texts.arns import without_wildcards
from inferstack.texts.placeholders import is_opaque

# ----------------------------------------------------------------
# How CloudFormation names a metric: its dimensions, its unit.


def dimensions(values: dict[str, str], metric: Metric) -> list[Value]:
    """The metric's dimensions as CloudFormation wants them."""
    return [{"Name": name, "Value": values[name]} for name in metrics.DIMENSION_NAMES[metric.dimensions]]


def named_unit(metric: Metric) -> str | None:
    """The unit to name in an alarm or a policy, or None to take any."""
    # CloudWatch finds no data for an alarm that names another unit than the publisher did, so only the
    # units that matter for reading the number are named.
    return metric.unit if metric.unit == "Percent" or is_time(metric) else None


# ----------------------------------------------------------------
# CloudWatch alarms: the default set for the endpoint's kind, and the spec's own rules.


ALARM_ARN = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:"
_BESIDE_WATCHED = frozenset((*AlarmRule.__struct_fields__, *StepPolicy.__struct_fields__)) - frozenset(
    Watched.__struct_fields__
)


def resolve_alarms(spec: ModelSpec) -> Resources:
    """One alarm for each rule and each part of the endpoint that publishes its metric."""
    block = alarms_block(spec)
    of_all = actions_of(block)
    made: Resources = {}
    for name, alarm in _by_id(spec):
        chosen = with_own_actions(block, alarm.rule)
        actions = of_all if chosen is block else actions_of(chosen)
        made[name] = Resource(ALARM_TYPE, {**_properties(spec, alarm), **actions}, alarm.path)
    return made


def alarm_ids(spec: ModelSpec) -> Mapping[str, OwnAlarm]:
    """The spec's own alarms on metrics, by logical id."""
    return dict(_by_id(spec))


@found_once
def _by_id(spec: ModelSpec) -> Iterator[tuple[str, OwnAlarm]]:
    seen: Counter[str] = Counter()
    for alarm in own_alarms(spec):
        if alarm.rule.alarm_name is not None:
            # Its name is its identity: whatever else changes, it is updated and not made a second time.
            yield named_id("Alarm", alarm.rule.alarm_name), alarm
            continue
        # The usual statistic, too, so that it makes no other alarm when it is written out.
        statistic = pascal(_statistic_of(alarm.rule, alarm.metric) or "")
        name = f"Alarm{pascal(watched_name(alarm.rule))}{statistic}{_suffix(alarm.part)}"
        seen[name] += 1
        # A second rule on the same number (a warning below the alarm, say) gets the next number.
        yield logical_id(name if seen[name] == 1 else f"{name}{seen[name]}"), alarm


def named_id(what: str, name: str) -> str:
    """Logical id of something whose name is its identity; the hash keeps `a-b` and `ab` apart."""
    return logical_id(f"{what}{pascal(name)}{short_hash(name)}")


def _statistic_of(rule: AlarmRule | StepPolicy, metric: Metric | None) -> str | None:
    return metric.statistic if rule.statistic is None and metric is not None else rule.statistic


def deployment_config(
    spec: ModelSpec,
    config: DeploymentConfig | ComponentDeploymentConfig | None,
    component: str | None = None,
) -> Value | None:
    """How the endpoint, or a component given by its name, is updated, and which alarms roll an update back.

    The spec's own alarms are named by ``Ref``, so that they are made before the endpoint and deleted after
    it. This is not a cycle, since an alarm has the endpoint's name as plain text.
    """
    if config is None:
        return None
    chosen = config.auto_rollback_configuration
    if chosen is None:
        return properties(config)
    own = map(ref, rollback_alarm_ids(spec, chosen, component))
    names = (*own, *foreign_alarms(spec, chosen))
    alarms = [{"AlarmName": name} for name in names]
    return {**properties(config), "AutoRollbackConfiguration": {"Alarms": alarms}}


def rollback_alarm_ids(
    spec: ModelSpec, chosen: AutoRollbackConfiguration, component: str | None
) -> tuple[str, ...]:
    """Logical ids of the alarms of :func:`deployment_config` that are the spec's own."""
    return tuple(logical_id for logical_id, it in _by_id(spec) if rolls_back(it, chosen, component))


def rollback_alarm_arns(
    spec: ModelSpec, chosen: AutoRollbackConfiguration, component: str | None
) -> Iterator[Value]:
    """ARNs of all alarms of :func:`deployment_config`, for the role under which SageMaker looks at them."""
    yield from (get_att(logical_id, "Arn") for logical_id in rollback_alarm_ids(spec, chosen, component))
    yield from (f"{ALARM_ARN}{without_wildcards(name)}" for name in foreign_alarms(spec, chosen))


def _properties(spec: ModelSpec, alarm: OwnAlarm) -> dict[str, Value]:
    made = present(AlarmName=alarm.rule.alarm_name)
    made |= alarm_properties(spec, alarm.rule, alarm.evaluation, alarm.part, alarm.metric, alarm.reason)
    if alarm.rule.alarm_description is not None:
        made["AlarmDescription"] = alarm.rule.alarm_description
    return made


def _suffix(part: Publisher) -> str:
    """Part of the logical id that says what is watched; the hash keeps `a-b` and `ab` apart."""
    return f"{pascal(part.title)}{short_hash(*part.values.values())}"


def alarm_properties(
    spec: ModelSpec,
    rule: AlarmRule | StepPolicy,
    evaluation: Evaluation,
    part: Publisher,
    metric: Metric | None,
    reason: str,
) -> dict[str, Value]:
    """The alarm of a rule or of a step policy on one part of the endpoint, without actions."""
    period = evaluation.period
    watched = _watched(rule, period) if metric is None else _published(rule, period, part, metric)
    threshold = rule.threshold
    if metric is not None:
        counted = as_counted(metric, rule.statistic)
        threshold = absolute_threshold(threshold, counted, part.devices(counted))
    return {
        "AlarmDescription": f"{_crossing(rule, evaluation, _named(spec, part), metric)} {reason}".strip(),
        **watched,
        **present(
            EvaluationPeriods=evaluation.evaluation_periods,
            DatapointsToAlarm=rule.datapoints_to_alarm,
            ComparisonOperator=evaluation.comparison_operator,
            Threshold=threshold,
            TreatMissingData=evaluation.treat_missing_data,
        ),
    }


def _published(
    rule: AlarmRule | StepPolicy, period: int, part: Publisher, metric: Metric
) -> dict[str, Value]:
    """A metric that SageMaker publishes: the catalog has all its properties."""
    return present(
        Namespace=metric.namespace,
        MetricName=metric.name,
        Dimensions=dimensions(part.values, metric),
        **_statistic(_statistic_of(rule, metric)),
        Unit=named_unit(metric),
        Period=period,
    )


def _watched(rule: AlarmRule | StepPolicy, period: int) -> dict[str, Value]:
    """A custom metric: the spec has all its properties, under CloudFormation's names."""
    written = properties(rule, leave_out=_BESIDE_WATCHED)
    if rule.metrics is not None:
        return written
    return {**written, **_statistic(rule.statistic), "Period": period}


def _statistic(statistic: str | None) -> dict[str, Value]:
    if statistic is None:
        return {}
    return {"Statistic" if statistic in simple_statistics() else "ExtendedStatistic": statistic}


def actions_of(block: Alarms | StepPolicy, *before: Value) -> dict[str, Value]:
    """What an alarm calls in each state; actions in ``before`` come first when it goes off."""
    return present(
        ActionsEnabled=block.actions_enabled if isinstance(block, Alarms) else None,
        AlarmActions=_listed((*before, *block.actions)),
        OKActions=_listed(block.ok_actions),
        InsufficientDataActions=_listed(block.insufficient_data_actions),
    )


def _listed(actions: Sequence[Value]) -> list[Value] | None:
    return list(actions) if actions else None


def _named(spec: ModelSpec, part: Publisher) -> str:
    """The part with its endpoint: the reader of an e-mail with the description may have many endpoints."""
    return part.title if part.title == spec.endpoint_name else f"{part.title} in {spec.endpoint_name}"


def _crossing(rule: AlarmRule | StepPolicy, evaluation: Evaluation, part: str, metric: Metric | None) -> str:
    moves = MOVES.get(evaluation.comparison_operator, "crosses")
    statistic = _statistic_of(rule, metric)
    watched = watched_name(rule) if statistic is None else f"{statistic} of {watched_name(rule)}"
    # A description is plain text, and cannot hold a number that only the deployment knows.
    is_token = not isinstance(rule.threshold, str) and is_opaque(rule.threshold)
    threshold = "its threshold" if is_token else rule.threshold
    return f"{watched} of {part} {moves} {threshold}."
