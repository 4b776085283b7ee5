"""What a resource type's handler does, and how it calls the emulated services: with boto3, like any client."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from botocore import xform_name
from emulator.clients import client_of
from emulator.cloudformation.refusals import ResourceFailedError
from emulator.strictness import coerced, request_shape

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class Made:
    """What exists after a creation or update: what `Ref` and `Fn::GetAtt` return."""

    physical_id: str
    attributes: dict[str, Any]


@dataclass
class Place:
    """Where a stack is created."""

    url: str
    number: str
    region: str

    def client(self, service: str) -> Any:
        """A client of an emulated service, which does not retry."""
        return client_of(service, self.url, self.region)

    def call(self, service: str, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Calls an operation; numbers and texts are converted to the types of the service's model."""
        typed = coerced(dict(request), request_shape(service, operation))
        answer: dict[str, Any] = getattr(self.client(service), xform_name(operation))(**typed)
        return answer


class Handler(Protocol):
    """Creates, updates and deletes resources of one type."""

    @property
    def name_property(self) -> str | None:
        """The property that holds the resource's name, if a template may set it."""

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        """Creates a resource, with that name if it has one."""

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        """Changes properties other than those that can only be set on creation."""

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        """Deletes what was created."""


def physical_name(stack: str, logical_id: str) -> str:
    """A name like those that CloudFormation makes up, short enough for every service."""
    return f"{stack[:20].rstrip('-')}-{logical_id[:24]}-{uuid4().hex[:12]}"


def request_of(
    service: str, operation: str, properties: Properties, *, kept: Collection[str] = ()
) -> dict[str, Any]:
    """The properties as an operation takes them.

    Args:
        service: botocore's name of the service.
        operation: the operation.
        properties: what the template says.
        kept: properties that are handled elsewhere. Any other that the operation does not take is an error.
    """
    members = request_shape(service, operation).members
    unknown = sorted(properties.keys() - members.keys() - {*kept})
    if unknown:
        raise ResourceFailedError(f"{operation} takes no {', '.join(unknown)}")
    return {key: value for key, value in properties.items() if key in members and key not in kept}


def tags_of(properties: Properties) -> dict[str, str]:
    """Tags as a mapping, from either form in which templates write them."""
    written = properties.get("Tags", [])
    return dict(written) if isinstance(written, dict) else {it["Key"]: str(it["Value"]) for it in written}


def tag_changes(before: Properties, after: Properties) -> tuple[dict[str, str], list[str]]:
    """Tags to set, and keys to remove."""
    old, new = tags_of(before), tags_of(after)
    return {key: it for key, it in new.items() if old.get(key) != it}, sorted(old.keys() - new.keys())


def differ(before: Properties, after: Properties, *, but: Collection[str] = ("Tags",)) -> bool:
    """Whether anything differs, apart from these properties."""
    return any(before.get(key) != after.get(key) for key in {**before, **after} if key not in but)


def as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as a list of keys and values."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]
