"""Rules on what a stack gives to others, and on what whoever deploys gives to it."""

from collections.abc import Iterator, Mapping
from typing import Any

from inferstack.catalog.resource_types import ENDPOINT_TYPE
from inferstack.endpoint import deployed
from inferstack.problems import Problem
from inferstack.updates.rules import USER_GUIDE, update_rule
from inferstack.updates.update import Fate, Update

_OF_THE_ENDPOINT = ("EndpointName", "EndpointArn")


@update_rule("IS832", effect="doubtful", source=f"{USER_GUIDE}/using-cfn-stack-exports.html")
def exports_gone(update: Update) -> Iterator[Problem]:
    """An export is removed, renamed or gets another value, which CloudFormation refuses while a stack imports
    it.
    """
    before, after = _exports(update.sections_before), _exports(update.sections_after)
    replaced = update.fate(ENDPOINT_TYPE) is Fate.REPLACED
    for output, name in before.items():
        gone = name not in after.values()
        if gone or (replaced and output in _OF_THE_ENDPOINT):
            what = "is no longer exported" if gone else "gets another value with the new endpoint"
            message = f"`{name}` {what}, which CloudFormation refuses while a stack imports it"
            fix = "first let the stacks that import it use something else: `aws cloudformation list-imports`"
            yield Problem(update.written(("exports",)), message, fix)


def _exports(template: Mapping[str, Any]) -> dict[str, str]:
    """Names of exports, by the output."""
    outputs = deployed.mapping(template.get("Outputs"))
    found = {
        key: deployed.mapping(deployed.mapping(it).get("Export")).get("Name") for key, it in outputs.items()
    }
    return {key: deployed.shown(name) for key, name in found.items() if name is not None}


@update_rule(
    "IS182",
    effect="no-effect",
    source="https://docs.aws.amazon.com/cli/latest/reference/cloudformation/deploy/",
)
def defaults_change(update: Update) -> Iterator[Problem]:
    """The default of a parameter changes or is removed, which reaches no existing stack.

    A default counts when a stack is created. Every later deployment keeps the value of the last one.
    """
    before, after = (
        deployed.mapping(it.get("Parameters")) for it in (update.sections_before, update.sections_after)
    )
    for name, parameter in after.items():
        old, new = (deployed.mapping(it).get("Default") for it in (before.get(name), parameter))
        path = update.written(("parameters", name, "default"))
        if old is None or str(old) == str(new):
            continue
        if new is None:
            message = f"the default of `{name}`, {old}, is removed, but the stack keeps its value"
            fix = f"deploy with `--parameters {name}=VALUE` for another value, and when a stack is new"
        else:
            message = f"the default of `{name}` changes from {old} to {new}, but the stack keeps its value"
            fix = f"deploy with `--parameters {name}={new}` where the new value is meant"
        yield Problem(path, message, fix)
