"""CloudTrail has no events. The CDK CLI asks for them after every failed deployment."""

from emulator.answering import Answering
from moto.cloudtrail.responses import CloudTrailResponse


class CloudTrail(Answering, CloudTrailResponse):
    """moto has no LookupEvents."""

    operations = {"LookupEvents": lambda _account, _request: {"Events": []}}
