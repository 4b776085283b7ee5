"""What alarms notify or start."""

from collections.abc import Iterator

from inferstack.catalog import regions
from inferstack.check.rules.alarms.queries import alarm_rules
from inferstack.check.rules.base import ALARM_PAGE, error, warning
from inferstack.facts.once import found_once
from inferstack.facts.scaling import steps
from inferstack.facts.walk import region_of
from inferstack.format.alarms import ACTION_KEYS, AlarmRule, Alarms
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.texts.arns import ACTION_KINDS, ActionKind, arn_fields

_ACTIONS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-actions.html"
_LAMBDA = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-actions-Lambda.html"
_INVOKER = "lambda.alarms.cloudwatch.amazonaws.com"
_GOES_OFF = "actions"
_KEYS = tuple(ACTION_KEYS)
# CloudWatch's limit for each state of an alarm.
_MOST = 5


def _blocks(spec: ModelSpec) -> Iterator[tuple[SpecPath, Alarms | AlarmRule | StepPolicy]]:
    if isinstance(spec.alarms, Alarms):
        yield ("alarms",), spec.alarms
    yield from alarm_rules(spec)
    for path, _, step in steps(spec):
        yield path, step


@found_once
def _actions(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, ActionKind]]:
    """Each action of an alarm: path, ARN and kind. Those known only at deployment are left out."""
    for path, block in _blocks(spec):
        for key in _KEYS:
            for index, arn in enumerate(getattr(block, key) or ()):
                kind = ACTION_KINDS.get(next(iter(arn_fields(arn)[2:3]), ""))
                if kind is not None:
                    yield (*path, key, index), arn, kind


@error("IS810", _ACTIONS)
def actions_are_in_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """What an alarm's actions call must be in the alarm's own region.

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

    The function's policy is not in this stack, so it can be neither seen nor written here.
    """
    first = {arn: path for path, arn, kind in reversed(_actions(spec)) if kind.what == "function"}
    for arn, path in first.items():
        name = ":".join(arn_fields(arn)[6:])
        message = (
            f"CloudWatch needs permission to invoke the function `{name}`, which this stack does not grant"
        )
        fix = f"grant `lambda:InvokeFunction` to `{_INVOKER}`, and say so under `ignore`"
        yield Problem(path, message, fix)


@warning("IS841", _ACTIONS)
def it_happens_in_this_state(spec: ModelSpec) -> Iterator[Problem]:
    """Actions that only run when an alarm goes off should be under `actions`.

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
