"""What a rule is: one small function with a code, a sentence and a source.

A rule sees a spec whose structure is already right, for one stage, and yields a finding for each
place that breaks it. Rules never raise.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from inferstack.format.kinds import ModelSpec
from inferstack.problems import Severity, SpecPath
from inferstack.problems.codes import Code

ALARM_PAGE = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"
CONFIG_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html"
CONTAINER_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html"
METRICS_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
POOLS_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-heterogeneous.html"
SERVERLESS_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html"
TRACKING_PAGE = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_TargetTrackingScalingPolicyConfiguration.html"
"""AWS's pages that rules in three or more modules cite. All others are beside their rules."""


class Finding(msgspec.Struct, frozen=True):
    """One place that breaks a rule: where it is, what was found or is allowed, and how to fix it."""

    path: SpecPath
    message: str
    fix: str
    lacks: str = ""
    """The missing key, if that is what is wrong: a stage may have removed it."""
    of_key: bool = False
    """Whether the last key of the path is wrong, and not its value."""

    @property
    def about(self) -> SpecPath:
        """What it is about, whether that exists or not."""
        return (*self.path, self.lacks) if self.lacks else self.path


class Rule(Code, frozen=True):
    """A rule for specs of one class, or of all.

    ``about`` are keys: a spec that has none of them anywhere cannot break the rule. Without any, it is about
    every spec.
    """

    applies_to: type[ModelSpec]
    check: Callable[[Any], Iterator[Finding]]
    about: frozenset[str]


RULES: dict[str, Rule] = {}
"""All rules by code, filled as the rule modules are imported."""

S = TypeVar("S", bound=ModelSpec)
Check = Callable[[S], Iterator[Finding]]


Keys = str | tuple[str, ...]
"""A key of the spec format, or several."""


def error(
    code: str, sentence: str, source: str, on: type[S], about: Keys = ()
) -> Callable[[Check[S]], Check[S]]:
    """Registers a rule that AWS enforces: breaking it stops synthesis."""
    return _register(code, Severity.ERROR, sentence, source, on, about)


def warning(
    code: str, sentence: str, source: str, on: type[S], about: Keys = ()
) -> Callable[[Check[S]], Check[S]]:
    """Registers advice, or a fact that AWS does not confirm; a spec can ignore it."""
    return _register(code, Severity.WARNING, sentence, source, on, about)


def _register(
    code: str, severity: Severity, sentence: str, source: str, on: type[S], about: Keys
) -> Callable[[Check[S]], Check[S]]:
    keys = frozenset((about,) if isinstance(about, str) else about)

    def register(check: Check[S]) -> Check[S]:
        if code in RULES:
            raise ValueError(f"{code} is taken by {RULES[code].check.__name__}")
        RULES[code] = Rule(code, severity, sentence, source, on, check, keys)
        return check

    return register
