"""Types that users' apps have around an endpoint, and that are only recorded in their stack.

CloudFormation's registry says which properties they may have, and what `Ref` and `Fn::GetAtt` return. Nothing else of
their services is emulated: a subnet may lie outside its network.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from emulator.cloudformation.handlers.base import Handler, Made, Place, Properties
from emulator.cloudformation.registry import registered


@dataclass(frozen=True)
class Recorded:
    """Resources of one type; ``prefix`` is what their ids begin with, unless they have names."""

    type: str
    prefix: str = ""

    @property
    def name_property(self) -> str | None:
        """The identifier, if it is one that a template may set."""
        [first, *others] = self._names("primaryIdentifier")
        return None if others or first in self._made_by_aws else first

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        own = self._own_id(properties, name)
        return Made(own, {it: self._value(place, it, own) for it in self._texts()})

    def _own_id(self, properties: Properties, name: str) -> str:
        """What `Ref` returns: the part of the identifier that AWS makes up, or else its last part."""
        identifier = self._names("primaryIdentifier")
        if self._made_by_aws & {*identifier}:
            return f"{self.prefix or 'id'}-{uuid4().hex[:17]}"
        return str(properties.get(identifier[-1], name))

    def _value(self, place: Place, attribute: str, own: str) -> str:
        identifier = self._names("primaryIdentifier")
        if attribute.endswith("Arn"):
            _, service, kind = self.type.lower().split("::")
            return f"arn:aws:{service}:{place.region}:{place.number}:{kind}:{own}"
        # Where the identifier is plainly called `Id`, the type has an older name for the same.
        if attribute in identifier or (identifier == ["Id"] and attribute.endswith("Id")):
            return own
        return f"{attribute.lower()}-{uuid4().hex[:17]}"

    def _texts(self) -> Iterator[str]:
        """The attributes that are texts. Another one cannot be asked for."""
        declared = self._schema["properties"]
        return (it for it in self._made_by_aws if declared.get(it, {}).get("type") == "string")

    @property
    def _made_by_aws(self) -> set[str]:
        return {*self._names("readOnlyProperties")}

    def _names(self, key: str) -> list[str]:
        """Properties of the type itself, in the registry's list of that name."""
        pointers = (pointer.split("/")[2:] for pointer in self._schema.get(key, ()))
        return [path[0] for path in pointers if len(path) == 1]

    @property
    def _schema(self) -> Any:
        schema = registered(self.type)
        assert schema is not None, f"the registry has no {self.type}"
        return schema

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        """There is nothing to delete."""


_TYPES = {
    "AWS::ApiGateway::Deployment": "",
    "AWS::ApiGateway::Method": "",
    "AWS::ApiGateway::Resource": "",
    "AWS::ApiGateway::RestApi": "",
    "AWS::ApiGateway::Stage": "",
    "AWS::CodeBuild::Project": "",
    "AWS::CodePipeline::Pipeline": "",
    "AWS::EC2::EIP": "eip",
    "AWS::EC2::InternetGateway": "igw",
    "AWS::EC2::NatGateway": "nat",
    "AWS::EC2::Route": "",
    "AWS::EC2::RouteTable": "rtb",
    "AWS::EC2::SecurityGroup": "sg",
    "AWS::EC2::Subnet": "subnet",
    "AWS::EC2::SubnetRouteTableAssociation": "rtbassoc",
    "AWS::EC2::VPC": "vpc",
    "AWS::EC2::VPCEndpoint": "vpce",
    "AWS::EC2::VPCGatewayAttachment": "",
    "AWS::Events::Rule": "",
    "AWS::Lambda::Function": "",
}
HANDLERS: dict[str, Handler] = {name: Recorded(name, prefix) for name, prefix in _TYPES.items()}
