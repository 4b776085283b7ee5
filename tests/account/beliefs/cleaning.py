"""Removes what experiments have made: by the names of experiments, and only what has their tag, too.

The tag alone would not do: the service that finds resources by tags is minutes behind, and has none of IAM's.
"""

from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic, sleep
from typing import Any

from account.beliefs.lab import PREFIX, TAG, Lab
from botocore.exceptions import ClientError

from inferstack.account.existing import pages

_MINUTES = 30
_SECONDS = 15
_GONE = ("Could not find", "NoSuch", "does not exist", "ObjectNotFound", "ResourceNotFound")
Removal = tuple[str, str, Callable[[], Any]]
"""What it is, its name, and what removes it."""


def clean(lab: Lab, say: Callable[[str], None]) -> list[str]:
    """Removes everything, and returns what is left: that, too, costs."""
    end = monotonic() + _MINUTES * 60
    while True:
        # What is still being made, or used by something else, can be removed later.
        left: list[str] = []
        for kind in (
            _stacks,
            _targets,
            _hosted,
            partial(_hosted, kind="EndpointConfig"),
            partial(_hosted, kind="Model"),
            _alarms,
            _logs,
            _buckets,
            _roles,
        ):
            for what, name, remove in kind(lab):
                try:
                    remove()
                    say(f"removed: {what} {name}")
                except ClientError as error:
                    if not any(it in str(error) for it in _GONE):
                        left.append(f"{what} {name}: {error}")
        left += [
            f"{what} {name}: it is still being removed" for what, name, _ in (*_stacks(lab), *_hosted(lab))
        ]
        if not left or monotonic() > end:
            return left
        sleep(_SECONDS)


def _stacks(lab: Lab) -> Iterator[Removal]:
    for it in pages(lab.cloudformation, "describe_stacks", "Stacks"):
        # An import takes no tags, so that a stack that was made for one has only the name.
        ours = TAG in it.get("Tags", ()) or it["StackStatus"] == "REVIEW_IN_PROGRESS"
        if it["StackName"].startswith(PREFIX) and ours and it["StackStatus"] != "DELETE_COMPLETE":
            yield (
                "stack",
                it["StackName"],
                partial(lab.cloudformation.delete_stack, StackName=it["StackName"]),
            )


def _targets(lab: Lab) -> Iterator[Removal]:
    # A target has the name of its endpoint, and is not removed with it.
    for it in [
        *pages(lab.scaling, "describe_scalable_targets", "ScalableTargets", ServiceNamespace="sagemaker")
    ]:
        if it["ResourceId"].startswith(f"endpoint/{PREFIX}"):
            key = {name: it[name] for name in ("ServiceNamespace", "ResourceId", "ScalableDimension")}
            yield "target", it["ResourceId"], partial(lab.scaling.deregister_scalable_target, **key)


def _hosted(lab: Lab, kind: str = "Endpoint") -> Iterator[Removal]:
    word = kind.replace("EndpointConfig", "Endpoint_Config").lower()
    for it in [*pages(lab.sagemaker, f"list_{word}s", f"{kind}s", NameContains=PREFIX)]:
        name = it[f"{kind}Name"]
        if name.startswith(PREFIX) and TAG in lab.sagemaker.list_tags(ResourceArn=it[f"{kind}Arn"])["Tags"]:
            yield kind, name, partial(getattr(lab.sagemaker, f"delete_{word}"), **{f"{kind}Name": name})


def _alarms(lab: Lab) -> Iterator[Removal]:
    client = lab.client("cloudwatch")
    found = client.describe_alarms(AlarmNamePrefix=PREFIX, AlarmTypes=["MetricAlarm", "CompositeAlarm"])
    for it in [*found["MetricAlarms"], *found["CompositeAlarms"]]:
        if TAG in client.list_tags_for_resource(ResourceARN=it["AlarmArn"])["Tags"]:
            yield "alarm", it["AlarmName"], partial(client.delete_alarms, AlarmNames=[it["AlarmName"]])


def _logs(lab: Lab) -> Iterator[Removal]:
    # SageMaker makes these, without tags, for endpoints of these names.
    client = lab.client("logs")
    for it in [
        *pages(
            client,
            "describe_log_groups",
            "logGroups",
            logGroupNamePrefix=f"/aws/sagemaker/Endpoints/{PREFIX}",
        )
    ]:
        yield (
            "log",
            it["logGroupName"],
            partial(client.delete_log_group, logGroupName=it["logGroupName"]),
        )


def _buckets(lab: Lab) -> Iterator[Removal]:
    client, name = lab.client("s3"), lab.bucket_name
    if TAG in _tags(lambda: client.get_bucket_tagging(Bucket=name)["TagSet"]):

        def remove() -> None:
            client.delete_bucket_policy(Bucket=name)
            for it in pages(client, "list_objects_v2", "Contents", Bucket=name):
                client.delete_object(Bucket=name, Key=it["Key"])
            client.delete_bucket(Bucket=name)

        yield "bucket", name, remove


def _roles(lab: Lab) -> Iterator[Removal]:
    client, name = lab.client("iam"), lab.role_name
    if TAG in _tags(lambda: client.list_role_tags(RoleName=name)["Tags"]):

        def remove() -> None:
            for it in client.list_role_policies(RoleName=name)["PolicyNames"]:
                client.delete_role_policy(RoleName=name, PolicyName=it)
            client.delete_role(RoleName=name)

        yield "role", name, remove


def _tags(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except ClientError as error:
        if any(it in str(error) for it in _GONE):
            return []
        raise
