"""Experiments on CloudFormation, CloudWatch and S3, which cost nothing."""

from collections.abc import Mapping
from typing import Any

from account.beliefs.lab import PREFIX, TAG, Answer, Lab, is_refused, refused
from botocore.exceptions import ClientError

_ALARM = {
    "Namespace": "AWS/SageMaker",
    "MetricName": "Invocations",
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1,
    "ComparisonOperator": "GreaterThanThreshold",
}


# ---------------------------------------------------------------- taking over what exists


def _imported(type_name: str, **properties: Any) -> dict[str, Any]:
    return {"Resources": {"It": {"Type": type_name, "DeletionPolicy": "Retain", "Properties": properties}}}


def _identified(type_name: str, **identifier: str) -> dict[str, Any]:
    return {"ResourceType": type_name, "LogicalResourceId": "It", "ResourceIdentifier": identifier}


def import_with_role_and_tags(lab: Lab) -> Answer:
    kind, name, variant = "AWS::SageMaker::EndpointConfig", lab.name(), lab.variant(ModelName=lab.model())
    made = lab.sagemaker.create_endpoint_config(
        EndpointConfigName=name, ProductionVariants=[variant], Tags=[TAG]
    )
    template = _imported(kind, ProductionVariants=[variant], Tags=[TAG])
    resource = _identified(kind, EndpointConfigArn=made["EndpointConfigArn"])
    plain = lab.refused_import(template, resource)
    if plain is not None:
        return Answer("cannot tell", f"without role and tags it is refused, too: {plain}")
    told = {
        what: lab.refused_import(template, resource, **given)
        for what, given in {"role": {"RoleARN": lab.role}, "tags": {"Tags": [TAG]}}.items()
    }
    said = "; ".join(f"with {what}: {it or 'accepted'}" for what, it in told.items())
    return Answer.of(all(it and "cannot modify or add" in it for it in told.values()), said)


def alarm_imported_without_its_name(lab: Lab) -> Answer:
    name = lab.name()
    lab.client("cloudwatch").put_metric_alarm(AlarmName=name, **_ALARM, Tags=[TAG])
    kind = "AWS::CloudWatch::Alarm"
    return is_refused(lab.refused_import(_imported(kind, **_ALARM), _identified(kind, AlarmName=name)))


# ---------------------------------------------------------------- the order of an update


def _topics(**named: str) -> dict[str, Any]:
    """Topics of which each depends on the one before it."""
    resources: dict[str, dict[str, Any]] = {}
    for logical_id, name in named.items():
        depends = {"DependsOn": [*resources][-1]} if resources else {}
        resources[logical_id] = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": name}, **depends}
    return {"Resources": resources}


def _of_update(lab: Lab, stack: str, template: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    count = len(lab.events(stack))
    status = lab.deploy(template, stack)[1]
    return status, lab.events(stack)[count:]


def cleanup_order(lab: Lab) -> Answer:
    stack, _ = lab.deploy(_topics(First=lab.name(), Second=lab.name()))
    _, events = _of_update(lab, stack, _topics(First=lab.name(), Second=lab.name()))
    order = [name for name, status in events if status == "DELETE_IN_PROGRESS"]
    return Answer.of(order == ["Second", "First"], f"deleted: {', '.join(order)}")


def revert_order(lab: Lab) -> Answer:
    kept = lab.name()
    stack, _ = lab.deploy(_topics(Kept=kept))
    wanted = _topics(Kept=kept, New=lab.name())
    wanted["Resources"]["Kept"]["Properties"]["DisplayName"] = "changed"
    no_model = {"ProductionVariants": [lab.variant(ModelName=lab.name())]}
    kind = "AWS::SageMaker::EndpointConfig"
    wanted["Resources"]["Refused"] = {"Type": kind, "DependsOn": "New", "Properties": no_model}
    status, events = _of_update(lab, stack, wanted)
    begun = next(
        (at for at, (_, it) in enumerate(events) if it == "UPDATE_ROLLBACK_IN_PROGRESS"), len(events)
    )
    order = [f"{name} {it}" for name, it in events[begun:] if name in ("Kept", "New")]
    if not {"Kept UPDATE_COMPLETE", "New DELETE_IN_PROGRESS"} <= {*order}:
        return Answer("cannot tell", f"{status}: {', '.join(order)}")
    return Answer.of(
        order.index("Kept UPDATE_COMPLETE") < order.index("New DELETE_IN_PROGRESS"), ", ".join(order)
    )


def name_under_another_id(lab: Lab) -> Answer:
    alarm = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmName": lab.name(), **_ALARM}}
    stack, _ = lab.deploy({"Resources": {"One": alarm}})
    status, _ = _of_update(lab, stack, {"Resources": {"Other": alarm}})
    return Answer.of(status == "UPDATE_ROLLBACK_COMPLETE", status)


# ---------------------------------------------------------------- alarms, and files


def composite_children_exist(lab: Lab) -> Answer:
    request = {"AlarmName": lab.name(), "AlarmRule": f'ALARM("{lab.name()}")', "Tags": [TAG]}
    return is_refused(refused(lab.client("cloudwatch").put_composite_alarm, **request))


def expression_of_an_unknown_id(lab: Lab) -> Answer:
    queries = [{"Id": "e1", "Expression": "m1 * 2", "ReturnData": True}]
    kept = ("EvaluationPeriods", "Threshold", "ComparisonOperator")
    request = {"AlarmName": lab.name(), "Metrics": queries, "Tags": [TAG], **{it: _ALARM[it] for it in kept}}
    return is_refused(refused(lab.client("cloudwatch").put_metric_alarm, **request))


def written_once(lab: Lab) -> Answer:
    s3, resource = lab.client("s3"), f"arn:aws:s3:::{lab.bucket}/once/*"
    only = f'{{"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "{resource}", '
    only += '"Condition": {"Null": {"s3:if-none-match": "true"}}}'
    s3.put_bucket_policy(Bucket=lab.bucket, Policy=f'{{"Version": "2012-10-17", "Statement": [{only}]}}')
    said = []
    for given in ({}, {"IfNoneMatch": "*"}):
        try:
            s3.put_object(Bucket=lab.bucket, Key=f"once/{lab.name().removeprefix(PREFIX)}", Body=b"", **given)
            said.append("accepted")
        except ClientError as error:
            said.append(str(error.response["ResponseMetadata"]["HTTPStatusCode"]))
    return Answer.of(said == ["403", "accepted"], "without: {}; with: {}".format(*said))
