"""How much one CloudFormation template can hold."""

from collections.abc import Iterator

from inferstack.catalog.metrics import COMPONENT_NAME
from inferstack.check.rules.base import error
from inferstack.facts.alarms import most_own_alarms, own_alarms
from inferstack.facts.scaling import policies_of, scaled_parts, steps_of
from inferstack.facts.walk import bases_of_adapters, components, models
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, Severity, SpecPath
from inferstack.problems.codes import Code, by_code
from inferstack.texts.placeholders import is_settled

_LIMITS = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"
_DESCRIPTION = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-description-structure.html"
)
_MOST_RESOURCES, _MOST_OUTPUTS = 500, 200
_LONGEST_DESCRIPTION = 1024
LARGEST_TEMPLATE = 1_000_000
"""Bytes. The page says 1 MB; CloudFormation itself, `Template may not exceed 1000000 bytes in size`.
https://github.com/aws-samples/aws-vpc-cidr-mgmt/issues/10
"""
TEMPLATE_TOO_LARGE = "IS218"
TEMPLATE_CODES = by_code(
    Code(TEMPLATE_TOO_LARGE, Severity.ERROR, "A template can have at most 1,000,000 bytes.", _LIMITS)
)
"""Problems that show only once a template was made."""


def resource_count(spec: ModelSpec) -> dict[str, int]:
    """How many resources a spec becomes, by what needs them; its packed policies count as one at least."""
    return {**_besides_alarms(spec), "alarms": len(own_alarms(spec))}


def _besides_alarms(spec: ModelSpec) -> dict[str, int]:
    scaled = scaled_parts(spec)
    policies = [policy for it in scaled for policy in policies_of(it)]
    steps = [step for it in scaled for step in steps_of(it)]
    return {
        "role, configuration, endpoint": 2 if isinstance(spec.execution_role, str) else 4,
        "models": len(models(spec)),
        "inference components": len(components(spec)),
        # A step comes with the alarm that sets it off.
        "scaling": len(scaled) + len(policies) + 2 * len(steps),
        "dashboard": int(spec.dashboard is not False),
    }


def output_count(spec: ModelSpec) -> int:
    """Name and ARN of the endpoint, the name of each component, the dashboard's address."""
    return 2 + len(components(spec)) + int(spec.dashboard is not False)


@error("IS225", _DESCRIPTION)
def description_is_plain(spec: ModelSpec) -> Iterator[Problem]:
    """The description of a stack must be plain text of at most 1,024 bytes.

    CloudFormation fills in nothing there and counts bytes; CDK takes 512 characters.
    """
    if spec.description is None:
        return
    if not is_settled(spec.description):
        message = "the description has a part known only at deployment, which would be shown as it is written"
        yield Problem(("description",), message, "remove that part; only `${stage}` is allowed")
    size = len(spec.description.encode("utf-8", "replace"))
    if size > _LONGEST_DESCRIPTION:
        message = f"the description has {size:,} bytes in UTF-8"
        yield Problem(("description",), message, f"write at most {_LONGEST_DESCRIPTION:,}")


@error("IS208", _LIMITS)
def not_too_many_resources(spec: ModelSpec) -> Iterator[Problem]:
    """A template can have at most 500 resources.

    A spec is one stack.
    """
    # Problem the alarms takes ten times as long as seeing that there cannot be so many.
    if sum(_besides_alarms(spec).values()) + most_own_alarms(spec) <= _MOST_RESOURCES:
        return
    parts = resource_count(spec)
    if sum(parts.values()) > _MOST_RESOURCES:
        most = max(parts, key=lambda it: parts[it])
        message = f"the spec makes {sum(parts.values())} resources, {parts[most]} of them {most}"
        fix = f"at most {_MOST_RESOURCES} are allowed: {_fewer_alarms(spec)}, or split the endpoint in two"
        yield Problem(_place(spec), message, fix)


def _fewer_alarms(spec: ModelSpec) -> str:
    """Only those of adapters, if most alarms are theirs: those of their bases are worth more."""
    bases, alarms = bases_of_adapters(spec), own_alarms(spec)
    of_adapters = [it for it in alarms if it.part.values.get(COMPONENT_NAME) in bases]
    if 2 * len(of_adapters) <= len(alarms):
        return "write `alarms: false`"
    named = f"`inference_component: {next(iter(bases.values()))}`"
    return f"write `alarms: {{defaults: false}}` and `rules` that leave the adapters out ({named})"


@error("IS209", _LIMITS)
def not_too_many_outputs(spec: ModelSpec) -> Iterator[Problem]:
    """A template can have at most 200 outputs.

    Every inference component has one.
    """
    count = output_count(spec)
    if count > _MOST_OUTPUTS:
        message = f"the spec makes {count} outputs, one for each inference component"
        fix = f"at most {_MOST_OUTPUTS} are allowed: split the endpoint in two"
        yield Problem(_place(spec), message, fix)


def _place(spec: ModelSpec) -> SpecPath:
    return ("inference_components",) if components(spec) else ("endpoint_name",)
