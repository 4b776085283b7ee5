"""Scaling targets with their schedules, and scaling policies."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError
from emulator.cloudformation.handlers.base import (
    Handler,
    Made,
    Place,
    Properties,
    request_of,
    tag_changes,
    tags_of,
)

_SERVICE = "application-autoscaling"
_OWN = ("ServiceNamespace", "ResourceId", "ScalableDimension")


class ScalableTarget:
    """`Ref` returns the resource id, the dimension and the namespace in one."""

    name_property = None

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        made = self._register(place, properties)
        self._schedule(place, properties)
        return made

    def _register(self, place: Place, properties: Properties) -> Made:
        kept = ("ScheduledActions", "Tags")
        request = request_of(_SERVICE, "RegisterScalableTarget", properties, kept=kept)
        if tags := tags_of(properties):
            request["Tags"] = tags
        arn = place.call(_SERVICE, "RegisterScalableTarget", request)["ScalableTargetARN"]
        own = (properties[key] for key in ("ResourceId", "ScalableDimension", "ServiceNamespace"))
        physical_id = "|".join(own)
        return Made(physical_id, {"Id": physical_id, "ARN": arn})

    def _schedule(self, place: Place, properties: Properties) -> None:
        target = {key: properties[key] for key in _OWN}
        for action in properties.get("ScheduledActions", ()):
            place.call(_SERVICE, "PutScheduledAction", {**action, **target})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        self._register(place, {key: value for key, value in after.items() if key != "Tags"})
        kept = {it["ScheduledActionName"] for it in after.get("ScheduledActions", ())}
        for action in before.get("ScheduledActions", ()):
            if action["ScheduledActionName"] not in kept:
                gone = {key: after[key] for key in _OWN}
                gone["ScheduledActionName"] = action["ScheduledActionName"]
                place.call(_SERVICE, "DeleteScheduledAction", gone)
        self._schedule(place, after)
        added, removed = tag_changes(before, after)
        if added:
            place.call(_SERVICE, "TagResource", {"ResourceARN": made.attributes["ARN"], "Tags": added})
        if removed:
            place.call(_SERVICE, "UntagResource", {"ResourceARN": made.attributes["ARN"], "TagKeys": removed})
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        place.call(_SERVICE, "DeregisterScalableTarget", {key: properties[key] for key in _OWN})


class ScalingPolicy:
    """Belongs to a target, which is named by reference or by its three parts."""

    # The name is unique only within its target, so a template always sets it.
    name_property = None

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        arn = place.call(_SERVICE, "PutScalingPolicy", self._request(properties))["PolicyARN"]
        return Made(arn, {"Arn": arn})

    def _request(self, properties: Properties) -> dict[str, Any]:
        request = request_of(_SERVICE, "PutScalingPolicy", properties, kept=("ScalingTargetId",))
        return request | self._target(properties)

    def _target(self, properties: Properties) -> Mapping[str, str]:
        if "ScalingTargetId" not in properties:
            return {key: properties[key] for key in _OWN}
        resource, dimension, namespace = properties["ScalingTargetId"].split("|")
        return {"ServiceNamespace": namespace, "ResourceId": resource, "ScalableDimension": dimension}

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        return self.create(place, after, "")

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        name = {"PolicyName": properties["PolicyName"]}
        try:
            place.call(_SERVICE, "DeleteScalingPolicy", name | dict(self._target(properties)))
        except ClientError as failure:
            # CloudFormation considers what does not exist as deleted:
            # https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract.html
            if failure.response["Error"]["Code"] != "ObjectNotFoundException":
                raise


HANDLERS: dict[str, Handler] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": ScalableTarget(),
    "AWS::ApplicationAutoScaling::ScalingPolicy": ScalingPolicy(),
}
