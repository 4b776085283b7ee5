"""Rules on updates: functions with a code, an effect and a source. The docstring says what is reported, then
why.

A rule gets an :class:`Update` and yields a problem for each thing to know; it never raises. What it reports
is an error where AWS refuses the update, information where the effect is that of a routine change, else a
warning.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from inferstack.problems import Problem, Severity
from inferstack.problems.codes import Code
from inferstack.updates.effects import ROUTINE, Effect
from inferstack.updates.update import Update

_AWS = "https://docs.aws.amazon.com"
DG = f"{_AWS}/sagemaker/latest/dg"
API = f"{_AWS}/sagemaker/latest/APIReference"
CREATE_ENDPOINT = f"{API}/API_CreateEndpoint.html"
UPDATE_ENDPOINT = f"{API}/API_UpdateEndpoint.html"
UPDATE_COMPONENT = f"{API}/API_UpdateInferenceComponent.html"
SCALED_UPDATE = f"{DG}/endpoint-scaling-update.html"
SERVERLESS = f"{DG}/serverless-endpoints.html"
USER_GUIDE = f"{_AWS}/AWSCloudFormation/latest/UserGuide"
REPLACEMENT = f"{USER_GUIDE}/using-cfn-updating-stacks-update-behaviors.html"
SCALING_API = f"{_AWS}/autoscaling/application/APIReference"

Check = TypeVar("Check", bound=Callable[[Update], Iterator[Problem]])


class UpdateRule(Code, frozen=True):
    """A rule on updates."""

    effect: Effect
    check: Callable[[Update], Iterator[Problem]]


UPDATE_RULES: dict[str, UpdateRule] = {}
"""The rules on updates by their codes, in the order in which they are asked. :mod:`inferstack.updates` fills
it.
"""


def update_rule(code: str, *, effect: Effect, source: str) -> Callable[[Check], Check]:
    """Registers a rule on updates.

    Raises:
        ValueError: when its code is another rule's.
    """
    severity = Severity.ERROR if effect == "refused" else Severity.WARNING
    if effect in ROUTINE:
        severity = Severity.INFO

    def enter(check: Check) -> Check:
        if code in UPDATE_RULES:
            raise ValueError(f"{code} is taken: {UPDATE_RULES[code].sentence}")
        sentence = " ".join((check.__doc__ or "").partition("\n\n")[0].split())
        UPDATE_RULES[code] = UpdateRule(code, severity, sentence, source, effect, check)
        return check

    return enter


def update_problems(update: Update) -> Iterator[tuple[UpdateRule, Problem]]:
    """Everything to know about an update, each with its rule; also what the spec ignores."""
    for rule in UPDATE_RULES.values():
        for problem in rule.check(update):
            yield rule, problem
