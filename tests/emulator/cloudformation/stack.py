"""A stack: what it consists of, and what happened to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from emulator.account import Account
from emulator.cloudformation.evaluation import Evaluation, ResourceValue, symbol
from emulator.cloudformation.handlers.base import Made, Place
from emulator.cloudformation.refusals import ResourceFailedError
from emulator.cloudformation.template import NO_TEMPLATE, Parameter, Template


@dataclass(frozen=True)
class Provisioned:
    """A resource that exists."""

    type: str
    written: Any
    """As written in the template."""
    properties: dict[str, Any]
    """The same, evaluated."""
    made: Made

    @property
    def physical_id(self) -> str:
        """What `Ref` returns."""
        return self.made.physical_id


@dataclass
class Stack:
    """One stack, which may be deleted."""

    name: str
    account: Account
    place: Place
    tags: list[dict[str, str]] = field(default_factory=list)
    status: str = ""
    reason: str | None = None
    template: Template = NO_TEMPLATE
    parameters: dict[str, Parameter] = field(default_factory=dict)
    resources: dict[str, Provisioned] = field(default_factory=dict)
    outputs: list[dict[str, str]] = field(default_factory=list)
    change_sets: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    protected: bool = False
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.id = self.account.arn("cloudformation", f"stack/{self.name}/{uuid4()}")

    @property
    def is_busy(self) -> bool:
        """Whether something is being done to it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    @property
    def is_gone(self) -> bool:
        """Whether it was deleted."""
        return self.status == "DELETE_COMPLETE"

    def become(self, status: str, reason: str | None = None) -> None:
        """Takes on a status, and records that as an event."""
        self.status, self.reason = status, reason
        self.event(self.name, "AWS::CloudFormation::Stack", self.id, status, reason)

    def event(
        self,
        logical_id: str,
        type_name: str,
        physical_id: str,
        status: str,
        reason: str | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> None:
        """Keeps what happened to a resource, and the properties that it got."""
        told = {} if reason is None else {"ResourceStatusReason": reason}
        if properties is not None:
            told["ResourceProperties"] = json.dumps(properties)
        self.events.append(
            {
                "StackId": self.id,
                "StackName": self.name,
                "EventId": str(uuid4()),
                "Timestamp": datetime.now(UTC),
                "LogicalResourceId": logical_id,
                "ResourceType": type_name,
                "PhysicalResourceId": physical_id,
                "ResourceStatus": status,
                **told,
            }
        )

    def evaluation(
        self, template: Template, parameters: dict[str, Parameter], value: ResourceValue = symbol
    ) -> Evaluation:
        """Evaluates a template's values in this stack; by default, references to resources stay symbols."""
        pseudo = {
            "AWS::AccountId": self.account.number,
            "AWS::Region": self.account.region,
            "AWS::StackId": self.id,
            "AWS::StackName": self.name,
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::Partition": "aws",
            "AWS::NotificationARNs": [],
        }
        values = {name: parameter.value for name, parameter in parameters.items()}
        return Evaluation(template.data, pseudo | values, value, self.known_exports())

    def known_exports(self) -> dict[str, str]:
        """What any stack of the account and region exports."""
        outputs = [it for stack in self.account.stacks if not stack.is_gone for it in stack.outputs]
        return {it["ExportName"]: it["OutputValue"] for it in outputs if "ExportName" in it}

    def resource_value(self, logical_id: str, attribute: str | None) -> Any:
        """What a resource's `Ref` or attribute is now."""
        found = self.resources[logical_id]
        if attribute is None:
            return found.physical_id
        if attribute not in found.made.attributes:
            told = f"resource {logical_id} does not support attribute type {attribute} in Fn::GetAtt"
            raise ResourceFailedError(f"Template error: {told}")
        return found.made.attributes[attribute]
