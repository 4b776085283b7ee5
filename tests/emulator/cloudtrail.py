"""CloudTrail: nothing was recorded. The CDK CLI asks after every failed deployment."""

from emulator.answering import Answering
from moto.cloudtrail.responses import CloudTrailResponse


class CloudTrail(Answering, CloudTrailResponse):
    """moto has no LookupEvents."""

    operations = {"LookupEvents": lambda _account, _request: {"Events": []}}
