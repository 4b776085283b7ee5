"""Alarms and dashboards."""

import json
from dataclasses import dataclass

from emulator.cloudformation.handlers.base import (
    Handler,
    Made,
    Place,
    Properties,
    as_list,
    request_of,
    tag_changes,
)
from emulator.cloudformation.refusals import ResourceFailedError

_SERVICE = "cloudwatch"


@dataclass(frozen=True)
class Alarm:
    """An alarm, whose name no other in the account and region has; ``operation`` makes it."""

    operation: str
    name_property = "AlarmName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        # By default, DescribeAlarms returns alarms on metrics only.
        asked = {"AlarmNames": [name], "AlarmTypes": ["MetricAlarm", "CompositeAlarm"]}
        there = place.call(_SERVICE, "DescribeAlarms", asked)
        if there["MetricAlarms"] or there.get("CompositeAlarms"):
            raise ResourceFailedError(f"Resource with identifier '{name}' already exists.")
        return self._put(place, properties, name)

    def _put(self, place: Place, properties: Properties, name: str) -> Made:
        request = request_of(_SERVICE, self.operation, properties)
        place.call(_SERVICE, self.operation, request | {"AlarmName": name})
        arn = f"arn:aws:cloudwatch:{place.region}:{place.number}:alarm:{name}"
        return Made(name, {"Arn": arn})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        self._put(place, {key: it for key, it in after.items() if key != "Tags"}, made.physical_id)
        added, removed = tag_changes(before, after)
        if added:
            tags = {"ResourceARN": made.attributes["Arn"], "Tags": as_list(added)}
            place.call(_SERVICE, "TagResource", tags)
        if removed:
            place.call(_SERVICE, "UntagResource", {"ResourceARN": made.attributes["Arn"], "TagKeys": removed})
        return made

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        place.call(_SERVICE, "DeleteAlarms", {"AlarmNames": [made.physical_id]})


class Dashboard:
    """A dashboard; moto does not store its tags."""

    name_property = "DashboardName"

    def create(self, place: Place, properties: Properties, name: str) -> Made:
        try:
            json.loads(properties["DashboardBody"])
        except ValueError as error:
            raise ResourceFailedError(f"The dashboard body is no JSON: {error}") from None
        request = request_of(_SERVICE, "PutDashboard", properties, kept=("Tags",))
        place.call(_SERVICE, "PutDashboard", request | {"DashboardName": name})
        return Made(name, {})

    def update(self, place: Place, made: Made, before: Properties, after: Properties) -> Made:
        return self.create(place, after, made.physical_id)

    def delete(self, place: Place, made: Made, properties: Properties) -> None:
        place.call(_SERVICE, "DeleteDashboards", {"DashboardNames": [made.physical_id]})


HANDLERS: dict[str, Handler] = {
    "AWS::CloudWatch::Alarm": Alarm("PutMetricAlarm"),
    "AWS::CloudWatch::CompositeAlarm": Alarm("PutCompositeAlarm"),
    "AWS::CloudWatch::Dashboard": Dashboard(),
}
