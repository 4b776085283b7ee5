"""ARNs and what can replace one: their fields, IAM's wildcards, the targets of alarms, names of KMS keys."""

import re
from typing import NamedTuple

from inferstack.catalog.cloudformation import text_form
from inferstack.texts.placeholders import DYNAMIC_REFERENCE, PSEUDO_PARAMETERS, TOKEN

_OUTER_COLON = re.compile(r":(?![^{}]*\})")


def arn_fields(arn: str) -> list[str]:
    """The fields of an ARN between its colons; a placeholder, which has colons of its own, stays whole."""
    return _OUTER_COLON.split(arn)


# ---------------------------------------------------------------- what IAM does not take literally
#
# Wildcards and policy variables.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html

_PSEUDO = "|".join(map(re.escape, PSEUDO_PARAMETERS))
# The first three match what the deployment fills in as a whole, so nothing inside it counts as a wildcard.
_PART = re.compile(rf"{DYNAMIC_REFERENCE}|{TOKEN}|\$\{{(?:{_PSEUDO})\}}|(?P<wild>[*?]|\$\{{[^{{}}]*\}})")


def wildcard_in(text: str) -> str | None:
    """The first IAM wildcard or variable in a text; None if there is none."""
    return next(iter(wildcards_in(text)), None)


def wildcards_in(text: str) -> list[str]:
    """The IAM wildcards and variables in a text, each once. What the deployment fills in does not count."""
    return list(dict.fromkeys(found["wild"] for found in _PART.finditer(text) if found["wild"] is not None))


def without_wildcards(text: str) -> str:
    """The text as a policy must write it so that IAM takes it literally: `${*}` is an asterisk."""
    return _PART.sub(lambda found: found[0] if found["wild"] is None else _plain(found["wild"]), text)


def _plain(wild: str) -> str:
    return f"${{$}}{wild[1:]}" if wild.startswith("$") else f"${{{wild}}}"


# ---------------------------------------------------------------- what an alarm can notify or trigger
#
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html

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


# ---------------------------------------------------------------- how a KMS key can be named
#
# By its ID, its ARN, an alias, or the alias's ARN.
# https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html#key-id

_ALIAS = "alias/[A-Za-z0-9/_-]+"
# An alias can stand for an ID, and the registry's form of IDs has it, too.
_ID = text_form("AWS::KMS::Key.Id").removeprefix("^").removesuffix("$")
KMS_KEY = rf"(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{{12}}:(key/[A-Za-z0-9-]+|{_ALIAS})|{_ID})"
"""A pattern for all four, to match a whole text."""
