"""How a stack takes an endpoint over: the template of its first deployment, and what that imports.

An import only takes resources as they are, each with a DeletionPolicy: the first template has nothing else.
The second one is that of the spec.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from inferstack.catalog.cloudformation import create_only
from inferstack.endpoint.deployed import entries, properties_of, references, type_of
from inferstack.endpoint.of_answers import Existing
from inferstack.updates.drift import Drifts

_KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
"""So that an import that fails, or is reverted, deletes nothing."""


class UnfitForImportError(ValueError):
    """Why a stack of the spec cannot take the endpoint over; its text says what helps."""


class ImportPlan(msgspec.Struct, frozen=True):
    """The first of two deployments."""

    template: Mapping[str, Any]
    resources: tuple[Mapping[str, Any], ...]
    """What to import, as CreateChangeSet takes it."""


def import_plan(template: Mapping[str, Any], comparison: Drifts) -> ImportPlan:
    """What to import into the stack of a template.

    Raises:
        UnfitForImportError: when the template would replace something that exists, or refers to what is only
            made later.
    """
    matched = comparison.matched
    changed: dict[str, set[str]] = {}
    for it in comparison.drift:
        if it.logical_id in matched and it.path:
            changed.setdefault(it.logical_id, set()).add(str(it.path[0]))
    fixed = {
        f"{logical_id}.{name}"
        for logical_id, names in changed.items()
        for name in names & create_only(matched[logical_id].type)
    }
    if fixed:
        how = "make the spec say what is there: `inferstack drift` shows it"
        raise UnfitForImportError(
            f"the next deployment would replace resources: {', '.join(sorted(fixed))} differ; {how}"
        )
    resources = {
        logical_id: _as_it_is(
            template["Resources"][logical_id], there, changed.get(logical_id, set()), matched
        )
        for logical_id, there in matched.items()
    }
    for logical_id, resource in resources.items():
        beyond = references(properties_of(resource)).keys() - matched.keys()
        if beyond := {it for it in beyond if not it.startswith("AWS::")}:
            how = "name what exists: `execution_role: ARN`, and paths and ARNs of buckets and topics"
            raise UnfitForImportError(
                f"{logical_id} refers to {', '.join(sorted(beyond))}, which the stack would make; {how}"
            )
    first = {key: template[key] for key in ("AWSTemplateFormatVersion", "Description")}
    listed = tuple(
        {
            "ResourceType": there.type,
            "LogicalResourceId": logical_id,
            "ResourceIdentifier": dict(there.identifier),
        }
        for logical_id, there in matched.items()
    )
    return ImportPlan({**first, "Resources": resources}, listed)


def _as_it_is(
    resource: Mapping[str, Any], there: Existing, changed: set[str], matched: Mapping[str, Existing]
) -> dict[str, Any]:
    """A resource with what it has now where the template wants something else."""
    differs = {*changed, "Tags"}
    properties = {key: it for key, it in properties_of(resource).items() if key not in differs}
    properties |= {key: there.properties[key] for key in differs if key in there.properties}
    waits = [it for it in entries(resource.get("DependsOn")) if it in matched]
    made = {"Type": type_of(resource), "Properties": properties, **_KEPT}
    made |= {"DependsOn": waits} if waits else {}
    return made | {key: it for key, it in resource.items() if key == "Metadata"}
