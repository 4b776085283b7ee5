"""Types that CDK's bootstrap stack and users' own stacks need: moto creates them, or they are only recorded."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from emulator.cloudformation.handlers.base import Handler, Made, Place, Properties
from emulator.cloudformation.registry import registered
from moto.cloudformation.parsing import get_model_map


class Nothing:
    """Something that is only recorded.

    These are policies of buckets, since moto obeys their denials without the conditions and locks the bucket, and
    CDK's metadata.
    """

    name_property = None

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        return Made(uuid4().hex, {})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        """There is nothing to delete."""


@dataclass(frozen=True)
class ByMoto:
    """A type that moto's own CloudFormation supports."""

    type: str

    @property
    def _model(self) -> Any:
        return get_model_map()[self.type]

    @property
    def name_property(self) -> str | None:
        name: str = self._model.cloudformation_name_type()
        return name or None

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        made = self._model.create_from_cloudformation_json(
            self._name(properties, name),
            {"Type": self.type, "Properties": dict(properties)},
            place.number,
            place.region,
            LogicalId=name,
            StackId="",
            ResourceType=self.type,
        )
        return self._made(made)

    def _name(self, properties: Properties, name: str) -> str:
        # Buckets and repositories have names in lower case.
        return name if self.name_property in properties else name.lower()

    def _made(self, model: Any) -> Made:
        readable = (registered(self.type) or {}).get("readOnlyProperties", ())
        names = [pointer.split("/properties/")[1].replace("/", ".") for pointer in readable]
        # Some of moto's models claim to have attributes but have none.
        read = getattr(model, "get_cfn_attribute", None)
        found = {} if read is None else {name: read(name) for name in names if model.has_cfn_attr(name)}
        return Made(model.physical_resource_id, found)

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        self.delete(place, made, before)
        return self.create(place, after, made.physical_id)

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        resource = {"Type": self.type, "Properties": dict(properties)}
        self._model.delete_from_cloudformation_json(made.physical_id, resource, place.number, place.region)


_BY_MOTO = (
    "AWS::ECR::Repository",
    "AWS::IAM::Policy",
    "AWS::KMS::Alias",
    "AWS::KMS::Key",
    "AWS::S3::Bucket",
    "AWS::SNS::Topic",
    "AWS::SSM::Parameter",
)
HANDLERS: dict[str, Handler] = {
    "AWS::CDK::Metadata": Nothing(),
    "AWS::S3::BucketPolicy": Nothing(),
    **{name: ByMoto(name) for name in _BY_MOTO},
}
