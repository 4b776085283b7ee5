"""Models, endpoint configurations, endpoints and inference components."""

from dataclasses import dataclass

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

_SERVICE = "sagemaker"


@dataclass(frozen=True)
class Hosted:
    """A resource whose operations are all named the same way; its physical id is its ARN."""

    kind: str
    only_in_updates: frozenset[str] = frozenset()
    only_on_creation: frozenset[str] = frozenset({"Tags"})

    @property
    def name_property(self) -> str:
        return f"{self.kind}Name"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        operation = f"Create{self.kind}"
        request = request_of(_SERVICE, operation, properties, kept=self.only_in_updates)
        arn = place.call(_SERVICE, operation, request | {self.name_property: name})[f"{self.kind}Arn"]
        return Made(arn, {self.name_property: name, f"{self.kind}Arn": arn})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        if differ(before, after):
            operation = f"Update{self.kind}"
            request = request_of(_SERVICE, operation, after, kept=self.only_on_creation)
            name = made.attributes[self.name_property]
            place.call(_SERVICE, operation, request | {self.name_property: name})
        added, removed = tag_changes(before, after)
        if added:
            place.call(_SERVICE, "AddTags", {"ResourceArn": made.physical_id, "Tags": as_list(added)})
        if removed:
            place.call(_SERVICE, "DeleteTags", {"ResourceArn": made.physical_id, "TagKeys": removed})
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        name = made.attributes[self.name_property]
        place.call(_SERVICE, f"Delete{self.kind}", {self.name_property: name})


HANDLERS: dict[str, Handler] = {
    "AWS::SageMaker::Model": Hosted("Model"),
    "AWS::SageMaker::EndpointConfig": Hosted("EndpointConfig"),
    "AWS::SageMaker::Endpoint": Hosted(
        "Endpoint", frozenset({"RetainAllVariantProperties", "ExcludeRetainedVariantProperties"})
    ),
    "AWS::SageMaker::InferenceComponent": Hosted(
        "InferenceComponent",
        only_in_updates=frozenset({"DeploymentConfig"}),
        only_on_creation=frozenset({"Tags", "EndpointName", "VariantName"}),
    ),
}
