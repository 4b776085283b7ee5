"""Whether a deployment works, has failed, or is still under way.

The status of an endpoint does not say it: after an update that SageMaker has rolled back it is InService,
even without a FailureReason. What counts is the configuration that it serves.
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeEndpoint.html
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from inferstack.account.status.snapshot import Snapshot
from inferstack.catalog.resource_types import COMPONENT_TYPE
from inferstack.endpoint.deployed import mapping
from inferstack.endpoint.of_answers import Answer


class Standing(StrEnum):
    """How it stands."""

    WORKS = "works"
    FAILED = "failed"
    RUNNING = "running"
    UNKNOWN = "unknown"
    """AWS does not say it."""


class Outcome(msgspec.Struct, frozen=True):
    """How a deployment stands, and what says so."""

    state: Standing
    message: str


_GOOD_STACK = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"})
SERVING = frozenset({"InService", "SystemUpdating"})
"""The statuses of an endpoint that serves: during maintenance, it goes on as it is."""
_BROKEN = frozenset({"Failed", "UpdateRollbackFailed", "OutOfService"})


def outcome_of(found: Snapshot, endpoint: str) -> Outcome:
    """How a deployment stands, by its stack first, then by the endpoint, then by the components. ``endpoint``
    says which one it is.
    """
    status = "" if found.stack is None else str(found.stack["StackStatus"])
    if found.stack is not None and not found.has_begun:
        return Outcome(Standing.FAILED, "nothing is deployed: nobody has executed the stack's change set")
    if status.endswith("_IN_PROGRESS"):
        return Outcome(Standing.RUNNING, f"the stack is {status}")
    if found.stack is not None and status not in _GOOD_STACK:
        return Outcome(Standing.FAILED, f"the stack is {status}")
    if found.endpoint is None:
        if found.stack is not None:
            return Outcome(Standing.FAILED, f"the stack is there, but no {endpoint}")
        fix = "deploy it, or choose another region or other credentials"
        return Outcome(Standing.FAILED, f"nothing is deployed: there is no stack, and no {endpoint}; {fix}")
    return _of_endpoint(found, found.endpoint)


def _of_endpoint(found: Snapshot, endpoint: Answer) -> Outcome:
    status, config, wanted = (
        endpoint["EndpointStatus"],
        endpoint.get("EndpointConfigName"),
        found.wanted_config,
    )
    if status in _BROKEN:
        return Outcome(Standing.FAILED, f"the endpoint is {status}")
    if status not in SERVING:
        return Outcome(Standing.RUNNING, f"the endpoint is {status}")
    # ARNs of SageMaker's have names in small letters.
    if wanted is not None and config is not None and wanted.lower() != config.lower():
        return Outcome(
            Standing.FAILED,
            f"the endpoint serves {config}, and not {wanted} of the stack: SageMaker has rolled the update"
            " back, or somebody else has updated the endpoint since",
        )
    if config is None or (wanted is None and found.stack is not None):
        return Outcome(Standing.UNKNOWN, "nothing says which configuration the endpoint should serve")
    if found.stack is None and endpoint.get("FailureReason"):
        return Outcome(Standing.FAILED, f"the last update was rolled back to {config}")
    return _of_components(found)


def _of_components(found: Snapshot) -> Outcome:
    there = {it["InferenceComponentName"].lower(): it for it in found.components}
    missing = [it for it in found.names_of(COMPONENT_TYPE) if it.lower() not in there]
    if missing:
        return Outcome(Standing.FAILED, f"{_named(missing)} not there, although the stack has made it")
    failed = [it for it in found.components if it.get("InferenceComponentStatus") == "Failed"]
    if failed:
        return Outcome(Standing.FAILED, f"{_names(failed)} Failed")
    waiting = [it for it in found.components if it.get("InferenceComponentStatus") != "InService"]
    if waiting:
        statuses = " and ".join(dict.fromkeys(str(it.get("InferenceComponentStatus")) for it in waiting))
        return Outcome(Standing.RUNNING, f"{_names(waiting)} {statuses}")
    lacking = [it for it in found.components if lacks_copies(it)]
    if lacking:
        return Outcome(Standing.RUNNING, f"{_names(lacking)} without all copies")
    if found.stack is None:
        return Outcome(Standing.WORKS, "the endpoint serves; there is no stack to compare it with")
    return Outcome(Standing.WORKS, "the endpoint serves what the stack has")


def lacks_copies(component: Answer) -> bool:
    """Whether fewer copies of a component are there than are wanted."""
    runtime = mapping(component.get("RuntimeConfig"))
    wanted, there = runtime.get("DesiredCopyCount"), runtime.get("CurrentCopyCount")
    return wanted is not None and there is not None and there < wanted


def is_in_trouble(component: Answer) -> bool:
    """Whether a component does not do what is wanted, or not yet."""
    return component.get("InferenceComponentStatus") != "InService" or lacks_copies(component)


def _names(components: Sequence[Answer]) -> str:
    return _named([it["InferenceComponentName"] for it in components])


def _named(names: Sequence[str]) -> str:
    one = len(names) == 1
    return f"component{'' if one else 's'} {', '.join(names)} {'is' if one else 'are'}"
