"""CloudWatch: moto's, with requests checked against the service's model and its page.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
"""

from typing import Any

from emulator.answering import Answering, Refused
from moto.cloudwatch.responses import CloudWatchResponse


class CloudWatch(Answering, CloudWatchResponse):
    """Alarms and dashboards."""

    checked = frozenset({"PutMetricAlarm", "PutDashboard", "DeleteAlarms", "DeleteDashboards"})

    def put_metric_alarm(self) -> Any:
        """moto's operation, for an alarm with exactly one statistic."""
        request = self.params
        if "MetricName" in request and ("Statistic" in request) == ("ExtendedStatistic" in request):
            raise Refused("ValidationError", "Exactly one of Statistic and ExtendedStatistic must be given.")
        return super().put_metric_alarm()
