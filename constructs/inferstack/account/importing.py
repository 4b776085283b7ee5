"""Change sets that let a stack take an endpoint over: the import, and the deployment after it.

An import refuses tags of the stack and a role, and both are left to the next deployment.
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.account.existing import stack_with
from inferstack.endpoint.deployed import Properties

_RIGHTS = (
    "importing needs cloudformation:CreateChangeSet, cloudformation:DescribeChangeSet, "
    "cloudformation:ExecuteChangeSet, cloudformation:DeleteChangeSet, cloudformation:DescribeStacks and "
    "cloudformation:DescribeStackResources, and the rights to read and to tag what is imported"
)
_MOST_BYTES = 51_200
"""Of a template in a request."""
_CAPABILITIES = ["CAPABILITY_NAMED_IAM"]
_EMPTY = ("didn't contain changes", "No updates are to be performed")


class ChangeSet(msgspec.Struct, frozen=True):
    """A change set that waits to be executed."""

    arn: str
    kind: str
    stack: str
    changes: tuple[Properties, ...]

    @property
    def replaced(self) -> list[str]:
        """The logical ids of resources that it would make anew."""
        kinds = ("True", "Conditional")
        return [it["LogicalResourceId"] for it in self.changes if it.get("Replacement") in kinds]


class Stacks:
    """The stacks of an account and region."""

    def __init__(self, connection: Connection, region: str) -> None:
        self._client = connection.client("cloudformation", region)

    def owner(self, arn: str) -> str | None:
        """The name of the stack that a resource belongs to.

        Raises:
            AccountError: when AWS cannot be asked.
        """
        with explained(f"the stack of {arn} cannot be found", rights=_RIGHTS):
            return stack_with(self._client, arn)

    def prepare(
        self, stack: str, template: Mapping[str, Any], imported: Sequence[Mapping[str, Any]] = ()
    ) -> ChangeSet | None:
        """Makes a change set; None if it would change nothing. Nothing is deployed.

        Raises:
            AccountError: when CloudFormation refuses it.
        """
        from botocore.exceptions import WaiterError  # noqa: PLC0415 - comes with an extra

        kind = "IMPORT" if imported else "UPDATE"
        body = json.dumps(template, separators=(",", ":"))
        if len(body.encode()) > _MOST_BYTES:
            fix = (
                "deploy the spec as usual, which uploads the template"
                if not imported
                else "split the endpoint in two"
            )
            raise AccountError(
                f"the template has {len(body.encode()):,} bytes, and a request holds {_MOST_BYTES:,}; {fix}"
            )
        resources = {"ResourcesToImport": [*imported]} if imported else {}
        with explained(f"the change set of {stack} cannot be made", rights=_RIGHTS):
            arn = self._client.create_change_set(
                StackName=stack,
                ChangeSetName=f"inferstack-{kind.lower()}-{uuid4()}",
                ChangeSetType=kind,
                Capabilities=_CAPABILITIES,
                TemplateBody=body,
                **resources,
            )["Id"]
            try:
                self._client.get_waiter("change_set_create_complete").wait(
                    ChangeSetName=arn, WaiterConfig={"Delay": 5, "MaxAttempts": 120}
                )
            except WaiterError:
                reason = self._client.describe_change_set(ChangeSetName=arn).get("StatusReason", "")
                self._client.delete_change_set(ChangeSetName=arn)
                if any(it in reason for it in _EMPTY):
                    return None
                raise AccountError(f"CloudFormation refuses the change set of {stack}: {reason}") from None
            pages = self._client.get_paginator("describe_change_set").paginate(ChangeSetName=arn)
            changes = tuple(it["ResourceChange"] for page in pages for it in page["Changes"])
        return ChangeSet(arn, kind, stack, changes)

    def discard(self, change_set: ChangeSet) -> None:
        """Deletes a change set.

        Raises:
            AccountError: when AWS does not do it.
        """
        with explained(f"the change set of {change_set.stack} cannot be deleted", rights=_RIGHTS):
            self._client.delete_change_set(ChangeSetName=change_set.arn)

    def execute(self, change_set: ChangeSet) -> None:
        """Deploys a change set, and waits until the stack is done.

        Raises:
            AccountError: when the deployment fails.
        """
        from botocore.exceptions import WaiterError  # noqa: PLC0415 - comes with an extra

        stack, what = change_set.stack, change_set.kind.lower()
        with explained(f"the {what} of {stack} fails", rights=_RIGHTS):
            self._client.execute_change_set(ChangeSetName=change_set.arn)
            try:
                self._client.get_waiter(f"stack_{what}_complete").wait(StackName=stack)
            except WaiterError as error:
                [found] = self._client.describe_stacks(StackName=stack)["Stacks"]
                reason = found.get("StackStatusReason", str(error))
                raise AccountError(
                    f"the {what} of {stack} ends as {found['StackStatus']}: {reason}"
                ) from None
