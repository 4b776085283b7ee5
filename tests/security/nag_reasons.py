"""Why findings of cdk-nag on a stack of inferstack are acceptable, each bound to what makes it so.

The reasons are here and not in the templates: cdk-nag 3 reads no metadata of a template, and whoever deploys has to
say whether a finding is acceptable. docs/security.md shows how they can say it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from inferstack.check.load import LoadedSpec
from inferstack.facts.async_inference import created
from inferstack.facts.walk import components, every_variant, hosts, is_async
from inferstack.resolve import resolve_template

POLICY = "ExecutionPolicy[0-9A-F]{8}"
NO_KEY = "NIST.800.53.R5-SageMakerEndpointConfigurationKMSKeyConfigured"
NO_ACTION = "NIST.800.53.R5-CloudWatchAlarmAction"
_HERE = "<AWS::Region>:<AWS::AccountId>"


@dataclass(frozen=True, order=True)
class Nag:
    """A finding: the stack, the resource in it, the rule, and the detail that cdk-nag gives (or nothing)."""

    stack: str
    resource: str
    rule: str
    detail: str = ""


@dataclass(frozen=True)
class Reason:
    """What is accepted: the rule, a pattern of the resource and of the detail, and where that is valid."""

    rule: str
    resource: str
    detail: str
    holds: Callable[[LoadedSpec, str], bool]
    because: str

    def explains(self, nag: Nag, loaded: LoadedSpec) -> bool:
        if nag.rule != self.rule or re.fullmatch(self.resource, nag.resource) is None:
            return False
        found = re.fullmatch(self.detail, nag.detail)
        return found is not None and self.holds(loaded, found[found.lastindex or 0])


def _of_the_role(detail: str, holds: Callable[[LoadedSpec, str], bool], because: str) -> Reason:
    pattern = f"Resource::{detail}"
    return Reason("AwsSolutions-IAM5", POLICY, pattern, holds, because)


def _arn(service: str, where: str) -> str:
    return re.escape(f"arn:<AWS::Partition>:{service}:{where}:")


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)


def _spec_has(loaded: LoadedSpec, *texts: str) -> bool:
    return any(text in texts for text in _texts(msgspec.to_builtins(loaded.spec)))


def statements(loaded: LoadedSpec) -> list[dict[str, Any]]:
    template = resolve_template(loaded.spec, region=None, source_of=str)
    policies = [it["Properties"] for name, it in template["Resources"].items() if re.fullmatch(POLICY, name)]
    return [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]


def _stars_know_no_resource(loaded: LoadedSpec, _: str) -> bool:
    return all(_knows_no_resource(it) for it in statements(loaded) if "*" in it["Resource"])


def _knows_no_resource(statement: dict[str, Any]) -> bool:
    match statement["Action"]:
        case ["cloudwatch:PutMetricData"]:
            (names,) = statement["Condition"]["StringLike"].values()
            return all(name.lower().lstrip("/").startswith("aws/sagemaker") for name in names)
        case actions:
            known = ("ecr:GetAuthorizationToken", "ec2:Describe", "ssmmessages:")
            return all(action.startswith(known) for action in actions)


def _is_own_log(loaded: LoadedSpec, name: str) -> bool:
    return name in (loaded.spec.endpoint_name, *(name for _, name, _ in components(loaded.spec)))


def _names_alias(loaded: LoadedSpec, _: str) -> bool:
    keys = [it for it in statements(loaded) if "key/*" in str(it["Resource"])]
    return all("kms:ResourceAliases" in str(it.get("Condition")) for it in keys)


def _holds_requests(loaded: LoadedSpec, place: str) -> bool:
    granted = [it for it in statements(loaded) if place in it["Resource"]]
    return is_async(loaded.spec) and [it["Action"] for it in granted] == [["s3:GetObject"]]


def has_only_local_disks(loaded: LoadedSpec, _: str = "") -> bool:
    machines = [list(hosts(variant)) for _, variant in every_variant(loaded.spec)]
    return all(found and all(machine.has_local_nvme for machine in found) for found in machines)


def _names_no_key(loaded: LoadedSpec, _: str) -> bool:
    config = loaded.spec.endpoint_config
    return config is None or config.kms_key_id is None


def _tells_nobody(loaded: LoadedSpec, _: str) -> bool:
    alarms = msgspec.to_builtins(loaded.spec).get("alarms", {})
    return not alarms.get("actions")


def _takes_from_elsewhere(loaded: LoadedSpec, _: str) -> bool:
    return any("${import:" in text or "${ssm:" in text for text in _texts(msgspec.to_builtins(loaded.spec)))


def _takes_lists_from_elsewhere(loaded: LoadedSpec, _: str) -> bool:
    return any(text.startswith("#{") for text in _texts(msgspec.to_builtins(loaded.spec)))


OF_THE_ROLE = (
    _of_the_role(
        r"\*",
        _stars_know_no_resource,
        "ECR's login, PutMetricData (bound to SageMaker's namespaces), EC2's Describe calls and the"
        " channels of Session Manager know no resources.",
    ),
    _of_the_role(
        _arn("logs", _HERE) + r"log-group:/aws/sagemaker/(?:Endpoints|InferenceComponents)/([\w-]+):\*",
        _is_own_log,
        "SageMaker names the streams in the log group of this endpoint or component when an instance starts.",
    ),
    _of_the_role(
        _arn("s3", ":") + r"(.+)/\*",
        lambda loaded, place: _spec_has(loaded, f"s3://{place}", f"s3://{place}/"),
        "The spec names this prefix: archives of a multi-model endpoint, or results that SageMaker names.",
    ),
    _of_the_role(
        _arn("ec2", _HERE) + r"network-interface/\*",
        lambda loaded, _: any("ec2:CreateNetworkInterface" in it["Action"] for it in statements(loaded)),
        "EC2 chooses the ids of the interfaces that instances get in the subnets of the spec.",
    ),
    _of_the_role(
        _arn("kms", _HERE) + r"key/\*",
        _names_alias,
        "The spec knows the key by its alias, which IAM takes as a condition only: the statement has it.",
    ),
)
FROM_ELSEWHERE = (
    _of_the_role(
        r"(?:\[\"arn:\$\{AWS::Partition\}:s3:::\$\{Import1\}/.+|arn:<AWS::Partition>:s3:::<Ssm\w+>/.+/\*)",
        _takes_from_elsewhere,
        "The spec names this prefix, and another stack or the Parameter Store its bucket.",
    ),
    _of_the_role(
        r"\[\"arn:\$\{In\}:kms:.+:key/\*.+",
        _names_alias,
        "A key from elsewhere may be known by its alias, which IAM takes as a condition only.",
    ),
    _of_the_role(
        _arn("ec2", _HERE) + r"(?:subnet|security-group)/\*",
        _takes_lists_from_elsewhere,
        "No function makes an ARN of each entry of a list that comes from elsewhere.",
    ),
    Reason(
        "AwsSolutions-IAM5",
        "InvokerPolicy",
        r"Resource::\*",
        lambda loaded, _: loaded.spec.invokers is not None,
        "IAM knows no resource of CallWithBearerToken.",
    ),
)
REQUESTS = _of_the_role(
    r"(arn:aws:s3:::[\w-]+/[\w/-]+/\*)",
    _holds_requests,
    "Clients of an asynchronous endpoint name their requests; the spec lets the role read under one prefix.",
)
_OF_THE_BUCKET = r"Resource::<AsyncBucket\.Arn>/(requests|responses|failures)/\*"
MADE_FOR_REQUESTS = (
    Reason(
        "AwsSolutions-IAM5",
        POLICY,
        _OF_THE_BUCKET,
        lambda loaded, _: created(loaded.spec).bucket is not None,
        "Clients and SageMaker name the objects in these folders of the bucket that the stack makes.",
    ),
    *(
        Reason(
            f"NIST.800.53.R5-S3Bucket{what}Enabled",
            "AsyncBucket",
            "",
            lambda loaded, _: created(loaded.spec).bucket is not None,
            because,
        )
        for what, because in {
            "Replication": "Responses are read where they are made, and can be made again from the requests.",
            "Versioning": "Each response has a name of its own, and is never overwritten.",
        }.items()
    ),
)
LOCAL_DISK = Reason(
    NO_KEY,
    "EndpointConfig",
    "",
    has_only_local_disks,
    "The instances have local NVMe, which the hardware encrypts and which no key of SageMaker's reaches.",
)
# One line of the spec avoids these: `test_one_line_each_leaves_no_finding_that_a_spec_can_avoid`.
OF_THE_EXAMPLES = (
    Reason(
        NO_KEY,
        "EndpointConfig",
        "",
        _names_no_key,
        "An example has no key of the reader's; SageMaker encrypts the volume with one of its own.",
    ),
    Reason(
        "NIST.800.53.R5-CloudWatchLogGroupEncrypted",
        r"LogGroup\w*",
        "",
        lambda loaded, _: loaded.spec.log_groups is not None and loaded.spec.log_groups.kms_key_id is None,
        "An example has no key of the reader's; CloudWatch encrypts logs with one of its own.",
    ),
    Reason(
        NO_ACTION,
        r"Alarm\w+",
        "",
        _tells_nobody,
        "An example without `alarms.actions` has nobody on call: its alarms colour the dashboard.",
    ),
)
REASONS = (*OF_THE_ROLE, *FROM_ELSEWHERE, REQUESTS, *MADE_FOR_REQUESTS, LOCAL_DISK, *OF_THE_EXAMPLES)
