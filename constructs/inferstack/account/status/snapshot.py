"""What AWS says at one moment of a stack, its endpoint, components and alarms.

The events of a stack are read from DescribeStackEvents, which every boto3 and most roles have, back to where
the last operation began: that is the time from which logs count, too. What failed since then, DescribeEvents
names at once, with what hooks and validations have refused, which no event of the stack has.
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackEvents.html
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeEvents.html
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.account.existing import described, described_stack, pages
from inferstack.account.status.logs import Log, log_of
from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    COMPONENT_TYPE,
    COMPOSITE_ALARM_TYPE,
    CONFIG_TYPE,
)
from inferstack.diagnosis.reading import failed_status, failure_reason
from inferstack.endpoint.of_answers import Answer

RIGHTS = (
    "status needs cloudformation:DescribeStacks, cloudformation:ListStackResources, "
    "cloudformation:DescribeStackEvents, cloudformation:DescribeEvents, sagemaker:DescribeEndpoint, "
    "sagemaker:ListInferenceComponents, "
    "sagemaker:DescribeInferenceComponent, cloudwatch:DescribeAlarms, logs:DescribeLogStreams and "
    "logs:FilterLogEvents"
)
_BEGINNINGS = frozenset(
    {"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "IMPORT_IN_PROGRESS", "DELETE_IN_PROGRESS"}
)
_MAY_HAVE_FAILED = re.compile("FAILED|ROLLBACK|REVIEW")
"""In the status of a stack: a change set that was refused leaves one that nobody has executed."""
_ARN = re.compile(r"^arn:(?:[^:]*:){4}[\w-]+[/:]")
"""What a physical id has before the name, for many types."""
_MOST_NAMES = 100
"""Of alarms in one request."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """AWS's answers. What is not there is None."""

    stack: Answer | None = None
    resources: Sequence[Answer] = ()
    """Of the stack, with those that its last operation has deleted."""
    events: Sequence[Answer] = ()
    """Of the stack's last operation, the oldest first."""
    named_failures: Sequence[Answer] = ()
    """The events that CloudFormation itself names as failures; none where it cannot be asked for them."""
    endpoint: Answer | None = None
    components: Sequence[Answer] = ()
    alarms: tuple[str, ...] = ()
    """Names of those in ALARM."""
    unread: tuple[str, ...] = ()
    """What AWS does not let these credentials read, and is not needed to judge."""

    @property
    def began(self) -> datetime | None:
        """When the last deployment began; None if nothing says it."""
        if self.events:
            began: datetime = self.events[0]["Timestamp"]
            return began
        told = (self.stack or {}).get("LastUpdatedTime", (self.stack or {}).get("CreationTime"))
        return told if told is not None else (self.endpoint or {}).get("CreationTime")

    @property
    def has_begun(self) -> bool:
        """Whether anything was ever deployed: a stack may have a change set that nobody has executed."""
        if self.stack is None:
            return self.endpoint is not None
        return bool(self.stack["StackStatus"] != "REVIEW_IN_PROGRESS")

    @property
    def failures(self) -> list[Answer]:
        """Events of what has failed, the oldest first, without what CloudFormation has then cancelled."""
        failed = (it for it in self.named_failures or self.events if failed_status(it))
        return [it for it in failed if "cancelled" not in failure_reason(it)]

    @property
    def wanted_config(self) -> str | None:
        """Name of the endpoint configuration in the stack."""
        return next(iter(self.names_of(CONFIG_TYPE)), None)

    @property
    def component_names(self) -> list[str]:
        """Components that are there, or that the stack has or had."""
        there = [it["InferenceComponentName"] for it in self.components]
        return [*dict.fromkeys([*there, *self.names_of(COMPONENT_TYPE, deleted=True)])]

    def names_of(self, type_name: str, *, deleted: bool = False) -> list[str]:
        """Names of the stack's resources of a type."""
        return [
            _ARN.sub("", it["PhysicalResourceId"])
            for it in self.resources
            if it.get("ResourceType") == type_name
            and it.get("PhysicalResourceId")
            and (deleted or it.get("ResourceStatus") != "DELETE_COMPLETE")
        ]


class WatchedStack(msgspec.Struct, frozen=True, kw_only=True):
    """A stack and its endpoint, which may be read again and again."""

    connection: Connection
    region: str
    stack: str
    endpoint: str

    @property
    def title(self) -> str:
        """Which endpoint it is."""
        return f"endpoint {self.endpoint} in {self.region} of the account {self.connection.account}"

    def read(self) -> Snapshot:
        """Everything about it as it is now.

        Raises:
            AccountError: when AWS does not say what is needed to judge.
        """
        with explained(f"the status of {self.endpoint} is not known", rights=RIGHTS):
            stack = self._stack()
            found = Snapshot(
                stack=stack,
                resources=[]
                if stack is None
                else [*self._of_stack("list_stack_resources", "StackResourceSummaries")],
            )
            endpoint = described(self._client("sagemaker").describe_endpoint, EndpointName=self.endpoint)
            components = [] if endpoint is None else [*self._components()]
        unread: list[str] = []
        events = [] if stack is None else self._optional(unread, "the stack's events", self._events, stack)
        names = [*found.names_of(ALARM_TYPE), *found.names_of(COMPOSITE_ALARM_TYPE)]
        alarms = self._optional(unread, "alarms", self._alarms, names)
        found = msgspec.structs.replace(found, events=events[::-1])
        failed: list[Answer] = []
        if stack is not None and _MAY_HAVE_FAILED.search(stack["StackStatus"]):
            # Where they are not told, the events of the stack have to do.
            failed = self._optional([], "what failed", self._failed, found.began)
        return msgspec.structs.replace(
            found,
            named_failures=sorted(failed, key=lambda it: it["Timestamp"]),
            endpoint=endpoint,
            components=components,
            alarms=tuple(alarms),
            unread=tuple(unread),
        )

    def log(self, group: str, since: datetime | None) -> Log:
        """What containers have logged in a group since a deployment began.

        Raises:
            AccountError: when AWS does not say it.
        """
        with explained(f"the log {group} cannot be read", rights=RIGHTS):
            return log_of(self._client("logs"), group, since)

    def _client(self, service: str) -> Any:
        return self.connection.client(service, self.region)

    def _stack(self) -> Answer | None:
        return described_stack(self._client("cloudformation"), self.stack)

    def _of_stack(self, operation: str, key: str) -> Iterator[Answer]:
        return pages(self._client("cloudformation"), operation, key, StackName=self.stack)

    def _components(self) -> Iterator[Answer]:
        client = self._client("sagemaker")
        listed = pages(
            client, "list_inference_components", "InferenceComponents", EndpointNameEquals=self.endpoint
        )
        for it in listed:
            found = described(
                client.describe_inference_component, InferenceComponentName=it["InferenceComponentName"]
            )
            if found is not None:
                yield found

    def _events(self, stack: Answer) -> Iterator[Answer]:
        """The events of the last operation, the newest first, as AWS has them."""
        for it in self._of_stack("describe_stack_events", "StackEvents"):
            yield it
            is_of_stack = it.get("PhysicalResourceId") == it["StackId"] == stack.get("StackId", it["StackId"])
            if is_of_stack and it.get("ResourceStatus") in _BEGINNINGS:
                return

    def _failed(self, since: datetime | None) -> Iterator[Answer]:
        """What has failed since then, without what hooks and validations only warn of."""
        client = self._client("cloudformation")
        if not hasattr(client, "describe_events"):
            return  # An older boto3.
        request = {"StackName": self.stack, "Filters": {"FailedEvents": True}}
        for it in pages(client, "describe_events", "OperationEvents", **request):
            at, modes = it.get("Timestamp"), (it.get("HookFailureMode"), it.get("ValidationFailureMode"))
            if at is not None and (since is None or at >= since) and "WARN" not in modes:
                yield it

    def _alarms(self, names: Sequence[str]) -> Iterator[str]:
        for start in range(0, len(names), _MOST_NAMES):
            request = {
                "AlarmNames": [*names[start : start + _MOST_NAMES]],
                "AlarmTypes": ["MetricAlarm", "CompositeAlarm"],
                "StateValue": "ALARM",
            }
            for page in self._client("cloudwatch").get_paginator("describe_alarms").paginate(**request):
                for kind in ("MetricAlarms", "CompositeAlarms"):
                    yield from (it["AlarmName"] for it in page.get(kind, ()))

    @staticmethod
    def _optional(unread: list[str], what: str, read: Any, about: Any) -> list[Any]:
        try:
            with explained(f"{what} cannot be read", rights=RIGHTS):
                return [*read(about)]
        except AccountError as error:
            unread.append(str(error))
            return []
