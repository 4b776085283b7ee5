"""Types that CDK's bootstrap stack and users' own stacks need: moto creates them, or they are only recorded."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from emulator.cloudformation.handlers.base import Handler, Made, Place, Properties, as_list, tags_of
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


class TopicPolicy:
    """The policy of topics, in place of the one that a topic has when it is made."""

    name_property = None

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        self._put(place, properties)
        return Made(uuid4().hex, {})

    def _put(self, place: Place, properties: Properties) -> None:
        text = json.dumps(properties["PolicyDocument"])
        for topic in properties["Topics"]:
            request = {"TopicArn": topic, "AttributeName": "Policy", "AttributeValue": text}
            place.call("sns", "SetTopicAttributes", request)

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        self._put(place, after)
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        """The topics are deleted next, or have another policy already."""


class Topic:
    """A topic; moto's own model drops its key and its tags."""

    name_property = "TopicName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        attributes = {key: properties[key] for key in ("DisplayName", "KmsMasterKeyId") if key in properties}
        request = {"Name": name, "Attributes": attributes, "Tags": as_list(tags_of(properties))}
        arn = place.call("sns", "CreateTopic", request)["TopicArn"]
        return Made(arn, {"TopicArn": arn, "TopicName": name})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        for key in ("DisplayName", "KmsMasterKeyId"):
            if before.get(key) != after.get(key):
                request = {"TopicArn": made.physical_id, "AttributeName": key}
                place.call("sns", "SetTopicAttributes", request | {"AttributeValue": after.get(key, "")})
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        place.call("sns", "DeleteTopic", {"TopicArn": made.physical_id})


class LogGroup:
    """A log group, which cannot be made where SageMaker has made it already."""

    name_property = "LogGroupName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        key = {"kmsKeyId": properties["KmsKeyId"]} if "KmsKeyId" in properties else {}
        place.call("logs", "CreateLogGroup", {"logGroupName": name, "tags": tags_of(properties), **key})
        self._keep(place, name, properties)
        return Made(name, {"Arn": f"arn:aws:logs:{place.region}:{place.number}:log-group:{name}:*"})

    def _keep(self, place: Place, name: str, properties: Properties) -> None:
        request = {"logGroupName": name, "retentionInDays": properties["RetentionInDays"]}
        place.call("logs", "PutRetentionPolicy", request)

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        self._keep(place, made.physical_id, after)
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        place.call("logs", "DeleteLogGroup", {"logGroupName": made.physical_id})


class Bucket:
    """A bucket with its settings; one that is not empty cannot be deleted."""

    name_property = "BucketName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        bucket = {"Bucket": name.lower()}
        where = {} if place.region == "us-east-1" else {"LocationConstraint": place.region}
        located = {"CreateBucketConfiguration": where} if where else {}
        place.client("s3").create_bucket(**bucket, **located)
        self._set(place, bucket, properties)
        arn = f"arn:aws:s3:::{bucket['Bucket']}"
        return Made(
            bucket["Bucket"], {"Arn": arn, "RegionalDomainName": f"{bucket['Bucket']}.s3.amazonaws.com"}
        )

    def _set(self, place: Place, bucket: dict[str, str], properties: Properties) -> None:
        s3 = place.client("s3")
        if "BucketEncryption" in properties:
            rules = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            said = [
                {
                    "ApplyServerSideEncryptionByDefault": it["ServerSideEncryptionByDefault"],
                    "BucketKeyEnabled": it.get("BucketKeyEnabled", False),
                }
                for it in rules
            ]
            s3.put_bucket_encryption(**bucket, ServerSideEncryptionConfiguration={"Rules": said})
        if "LifecycleConfiguration" in properties:
            written = [_lifecycle_rule(it) for it in properties["LifecycleConfiguration"]["Rules"]]
            s3.put_bucket_lifecycle_configuration(**bucket, LifecycleConfiguration={"Rules": written})
        if "PublicAccessBlockConfiguration" in properties:
            blocked = properties["PublicAccessBlockConfiguration"]
            s3.put_public_access_block(**bucket, PublicAccessBlockConfiguration=blocked)

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        self._set(place, {"Bucket": made.physical_id}, after)
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        place.client("s3").delete_bucket(Bucket=made.physical_id)


def _lifecycle_rule(written: Properties) -> dict[str, Any]:
    rule = {key: it for key, it in written.items() if key not in ("Id", "ExpirationInDays")}
    if "ExpirationInDays" in written:
        rule["Expiration"] = {"Days": written["ExpirationInDays"]}
    return {"ID": written["Id"], "Filter": {"Prefix": ""}, **rule}


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
    "AWS::SSM::Parameter",
)
HANDLERS: dict[str, Handler] = {
    "AWS::CDK::Metadata": Nothing(),
    "AWS::Logs::LogGroup": LogGroup(),
    "AWS::S3::Bucket": Bucket(),
    "AWS::S3::BucketPolicy": Nothing(),
    "AWS::SNS::Topic": Topic(),
    "AWS::SNS::TopicPolicy": TopicPolicy(),
    **{name: ByMoto(name) for name in _BY_MOTO},
}
