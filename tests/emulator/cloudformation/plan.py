"""What a deployment would do, known before it is done: change sets, and "No updates are to be performed".

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from emulator.cloudformation.evaluation import Evaluation
from emulator.cloudformation.references import references
from emulator.cloudformation.registry import create_only
from emulator.cloudformation.stack import Stack
from emulator.cloudformation.template import Parameter, Template

Replacement = Literal["True", "False", "Conditional"]


@dataclass(frozen=True)
class Planned:
    """What will happen to one resource."""

    action: Literal["Add", "Modify", "Remove"]
    logical_id: str
    type: str
    replacement: Replacement | None = None
    details: list[dict[str, Any]] = field(default_factory=list)
    scope: tuple[str, ...] = ()


def plan(stack: Stack, template: Template, parameters: dict[str, Parameter]) -> list[Planned]:
    """Everything that changes, in the template's order."""
    after = stack.evaluation(template, parameters)
    wanted = {name: it for name, it in template.resources.items() if after.is_there(it)}
    changes: dict[str, Planned] = {}
    for name, resource in wanted.items():
        if name not in stack.resources:
            changes[name] = Planned("Add", name, resource["Type"])
        elif (change := _own_change(stack, name, resource, after)) is not None:
            changes[name] = change
    _follow(stack, wanted, changes)
    ordered = [changes[name] for name in wanted if name in changes]
    return ordered + [
        Planned("Remove", name, it.type) for name, it in stack.resources.items() if name not in wanted
    ]


def is_no_change(stack: Stack, template: Template, changes: list[Planned]) -> bool:
    """Whether there is nothing to do."""
    return not changes and template.part("Outputs") == stack.template.part("Outputs")


def _own_change(stack: Stack, name: str, resource: Mapping[str, Any], after: Evaluation) -> Planned | None:
    deployed = stack.resources[name]
    before = stack.evaluation(stack.template, stack.parameters)
    old, new = (
        before.value(deployed.written.get("Properties", {})),
        after.value(resource.get("Properties", {})),
    )
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    fixed = create_only(resource["Type"])
    if changed:
        details = [
            _detail(key, "Always" if key in fixed else "Never", "DirectModification") for key in changed
        ]
        replaced: Replacement = "True" if fixed.intersection(changed) else "False"
        return Planned("Modify", name, resource["Type"], replaced, details, ("Properties",))
    if deployed.written.get("Metadata") != resource.get("Metadata"):
        return Planned("Modify", name, resource["Type"], "False", scope=("Metadata",))
    return None


def _follow(stack: Stack, wanted: Mapping[str, Mapping[str, Any]], changes: dict[str, Planned]) -> None:
    """Adds what changes only because something that it refers to is replaced."""
    while True:
        replaced = {it.logical_id for it in changes.values() if it.replacement in ("True", "Conditional")}
        found = [
            _following(name, resource, replaced)
            for name, resource in wanted.items()
            if name in stack.resources and (name not in changes or changes[name].scope == ("Metadata",))
        ]
        new = {it.logical_id: it for it in found if it is not None}
        if not new:
            return
        changes |= new


def _following(name: str, resource: Mapping[str, Any], replaced: set[str]) -> Planned | None:
    written = resource.get("Properties", {})
    referring = [key for key, value in written.items() if replaced.intersection(references(value))]
    if not referring:
        return None
    fixed = create_only(resource["Type"])
    details = [
        _detail(key, "Conditionally" if key in fixed else "Never", "ResourceReference", "Dynamic")
        for key in referring
    ]
    replacement: Replacement = "Conditional" if fixed.intersection(referring) else "False"
    return Planned("Modify", name, resource["Type"], replacement, details, ("Properties",))


def _detail(key: str, recreation: str, source: str, evaluation: str = "Static") -> dict[str, Any]:
    target = {"Attribute": "Properties", "Name": key, "RequiresRecreation": recreation}
    return {"Target": target, "Evaluation": evaluation, "ChangeSource": source}
