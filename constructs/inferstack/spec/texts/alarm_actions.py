"""What an alarm can notify or trigger, by the ARN that names it.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
"""

from typing import NamedTuple

_PLACE = r"[a-z0-9\-]+:[0-9]{12}"
_OPSITEM = r"opsitem:[1-4](#CATEGORY=(Availability|Cost|Performance|Recovery|Security))?"


class ActionKind(NamedTuple):
    """One kind of action: what its ARN names, the ARN after the partition, and when the action can happen."""

    what: str
    form: str
    only_when_it_goes_off: bool = False


ACTION_KINDS = {
    "sns": ActionKind("topic", rf"sns:{_PLACE}:[A-Za-z0-9_.\-]+"),
    # The function itself (its latest version), another version, or an alias.
    "lambda": ActionKind("function", rf"lambda:{_PLACE}:function:[A-Za-z0-9_\-]+(:[A-Za-z0-9_$\-]+)?"),
    # https://docs.aws.amazon.com/systems-manager/latest/userguide/OpsCenter-configuring-an-existing-alarm-programmatically.html
    "ssm": ActionKind("OpsItem", rf"ssm:{_PLACE}:{_OPSITEM}", True),
    # CloudWatch's page and Incident Manager's own ARNs spell it differently; likewise for the next one.
    "ssm-incidents": ActionKind(
        "response plan", r"ssm-incidents::[0-9]{12}:response-?plan/[A-Za-z0-9_\-]+", True
    ),
    "aiops": ActionKind(
        "investigation group", rf"aiops:{_PLACE}:investigation-group[:/][A-Za-z0-9\-]+", True
    ),
    # A policy of an EC2 Auto Scaling group, or of a target of Application Auto Scaling.
    "autoscaling": ActionKind(
        "scaling policy",
        rf"autoscaling:{_PLACE}:scalingPolicy:[^:]+:(autoScalingGroupName|resource)/[^:]+:policyName/.+",
    ),
}
"""By the service in the ARN. Actions on EC2 instances are left out, as they need a metric of the instance."""

ALARM_ACTION = rf"^arn:aws[a-z\-]*:({'|'.join(kind.form for kind in ACTION_KINDS.values())})$"
