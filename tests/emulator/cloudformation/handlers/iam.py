"""Roles and managed policies."""

import json
from typing import Any

from emulator.cloudformation.handlers.base import (
    Handler,
    Made,
    Place,
    Properties,
    as_list,
    differ,
    request_of,
    tag_changes,
)

_SERVICE = "iam"


class Role:
    """A role with its attached and its inline policies."""

    name_property = "RoleName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        trust = {"AssumeRolePolicyDocument": json.dumps(properties["AssumeRolePolicyDocument"])}
        request = request_of(_SERVICE, "CreateRole", properties, kept=("ManagedPolicyArns", "Policies"))
        role = place.call(_SERVICE, "CreateRole", request | trust | {"RoleName": name})["Role"]
        self._grant(place, name, {}, properties)
        return Made(name, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        name = {"RoleName": made.physical_id}
        trust = {"PolicyDocument": json.dumps(after["AssumeRolePolicyDocument"])}
        place.call(_SERVICE, "UpdateAssumeRolePolicy", name | trust)
        told = {key: after[key] for key in ("Description", "MaxSessionDuration") if key in after}
        place.call(_SERVICE, "UpdateRole", name | told)
        self._bound(place, name, before, after)
        self._grant(place, made.physical_id, before, after)
        added, removed = tag_changes(before, after)
        if added:
            place.call(_SERVICE, "TagRole", name | {"Tags": as_list(added)})
        if removed:
            place.call(_SERVICE, "UntagRole", name | {"TagKeys": removed})
        return made

    def _bound(self, place: Place, name: dict[str, str], before: Properties, after: Properties) -> None:
        if "PermissionsBoundary" in after:
            bound = {"PermissionsBoundary": after["PermissionsBoundary"]}
            place.call(_SERVICE, "PutRolePermissionsBoundary", name | bound)
        elif "PermissionsBoundary" in before:
            place.call(_SERVICE, "DeleteRolePermissionsBoundary", name)

    def _grant(self, place: Place, name: str, before: Properties, after: Properties) -> None:
        """Attaches and writes what is new, and removes what is gone."""
        role = {"RoleName": name}
        old, new = _attached(before), _attached(after)
        for arn in sorted(new - old):
            place.call(_SERVICE, "AttachRolePolicy", role | {"PolicyArn": arn})
        for arn in sorted(old - new):
            place.call(_SERVICE, "DetachRolePolicy", role | {"PolicyArn": arn})
        written = _inline(after)
        for policy, document in written.items():
            text = {"PolicyName": policy, "PolicyDocument": json.dumps(document)}
            place.call(_SERVICE, "PutRolePolicy", role | text)
        for policy in _inline(before).keys() - written.keys():
            place.call(_SERVICE, "DeleteRolePolicy", role | {"PolicyName": policy})

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        self._grant(place, made.physical_id, properties, {})
        place.call(_SERVICE, "DeleteRole", {"RoleName": made.physical_id})


def _attached(properties: Properties) -> set[str]:
    return {*properties.get("ManagedPolicyArns", ())}


def _inline(properties: Properties) -> dict[str, Any]:
    return {it["PolicyName"]: it["PolicyDocument"] for it in properties.get("Policies", ())}


class ManagedPolicy:
    """A managed policy; a new document becomes a new version of it."""

    name_property = "ManagedPolicyName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        request = request_of(_SERVICE, "CreatePolicy", properties, kept=("ManagedPolicyName", "Roles"))
        document = {"PolicyName": name, "PolicyDocument": json.dumps(properties["PolicyDocument"])}
        arn = place.call(_SERVICE, "CreatePolicy", request | document)["Policy"]["Arn"]
        self._attach(place, arn, {}, properties)
        return Made(arn, {"PolicyArn": arn})

    def _attach(self, place: Place, arn: str, before: Properties, after: Properties) -> None:
        """Attaches the policy to existing roles; a template may also name the policy in a role."""
        old, new = ({*it.get("Roles", ())} for it in (before, after))
        for role in sorted(new - old):
            place.call(_SERVICE, "AttachRolePolicy", {"RoleName": role, "PolicyArn": arn})
        for role in sorted(old - new):
            place.call(_SERVICE, "DetachRolePolicy", {"RoleName": role, "PolicyArn": arn})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        policy = {"PolicyArn": made.physical_id}
        self._attach(place, made.physical_id, before, after)
        if not differ(before, after, but=("Roles",)):
            return made
        versions = place.call(_SERVICE, "ListPolicyVersions", policy)["Versions"]
        new = {"PolicyDocument": json.dumps(after["PolicyDocument"]), "SetAsDefault": True}
        place.call(_SERVICE, "CreatePolicyVersion", policy | new)
        for version in versions:
            # A policy can have at most five versions.
            place.call(_SERVICE, "DeletePolicyVersion", policy | {"VersionId": version["VersionId"]})
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        self._attach(place, made.physical_id, properties, {})
        place.call(_SERVICE, "DeletePolicy", {"PolicyArn": made.physical_id})


HANDLERS: dict[str, Handler] = {"AWS::IAM::Role": Role(), "AWS::IAM::ManagedPolicy": ManagedPolicy()}
