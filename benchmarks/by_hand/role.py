"""The execution role and its policy."""

from collections.abc import Sequence
from typing import Any

from aws_cdk import Stack, aws_iam as iam

from benchmarks.by_hand.components import Component
from benchmarks.family import Endpoint

_ALARM = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:"
_LOGS = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:"
_PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
_LOG = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
_NAMESPACES = {"StringLike": {"cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/*"]}}


def execution_role(stack: Stack, endpoint: Endpoint, parts: Sequence[Component]) -> iam.CfnRole:
    """The role that the containers run under."""
    trust = _allow("AssumedBySageMaker", ["sts:AssumeRole"])
    role = iam.CfnRole(
        stack,
        "ExecutionRole",
        description=f"Execution role of the SageMaker endpoint {endpoint.name}",
        assume_role_policy_document=_document(
            [trust | {"Principal": {"Service": "sagemaker.amazonaws.com"}}]
        ),
    )
    iam.CfnManagedPolicy(
        stack,
        "ExecutionPolicy",
        description=f"What the SageMaker endpoint {endpoint.name} needs",
        policy_document=_document(_statements(endpoint, parts)),
        roles=[role.ref],
    )
    return role


def _statements(endpoint: Endpoint, parts: Sequence[Component]) -> list[Any]:
    keys = _model_files(endpoint, parts)
    files = [_sub(f"arn:${{AWS::Partition}}:s3:::acme-models/{key}") for key in keys]
    bucket = [_sub("arn:${AWS::Partition}:s3:::acme-models")]
    listed = {"StringLike": {"s3:prefix": keys}}
    repository = "djl-inference" if parts else "sagemaker-tritonserver"
    image = [_sub(f"arn:${{AWS::Partition}}:ecr:us-east-1:763104351884:repository/{repository}")]
    return [
        _allow("ReadModelFiles", ["s3:GetObject"], files),
        _allow("ListModelFiles", ["s3:ListBucket"], bucket) | {"Condition": listed},
        *_captures(endpoint),
        _allow("PullImage", _PULL, image),
        _allow("LogInToRegistry", ["ecr:GetAuthorizationToken"], ["*"]),
        *_rollback(endpoint),
        _allow("WriteLogs", _LOG, _log_groups(endpoint, parts)),
        _allow("PublishMetrics", ["cloudwatch:PutMetricData"], ["*"]) | {"Condition": _NAMESPACES},
    ]


def _model_files(endpoint: Endpoint, parts: Sequence[Component]) -> list[str]:
    if parts:
        return [f"{part.name}/model.tar.gz" for part in parts]
    return [f"{endpoint.name}/{'*' if endpoint.kind == 'multi-model' else 'model.tar.gz'}"]


def _captures(endpoint: Endpoint) -> list[Any]:
    if endpoint.kind != "single-model":
        return []
    where = [_sub(f"arn:${{AWS::Partition}}:s3:::acme-captured/{endpoint.name}/*")]
    return [_allow("WriteResults", ["s3:PutObject", "s3:AbortMultipartUpload"], where)]


def _rollback(endpoint: Endpoint) -> list[Any]:
    if endpoint.kind != "ensemble":
        return []
    alarm = _sub(f"{_ALARM}{endpoint.name}-slo")
    return [_allow("LookAtRollbackAlarms", ["cloudwatch:DescribeAlarms"], [alarm])]


def _log_groups(endpoint: Endpoint, parts: Sequence[Component]) -> list[Any]:
    groups = [f"/aws/sagemaker/Endpoints/{endpoint.name}"]
    groups += [f"/aws/sagemaker/InferenceComponents/{part.name}" for part in parts]
    return [_sub(f"{_LOGS}{group}{end}") for group in groups for end in ("", ":*")]


def _document(statements: list[Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def _allow(sid: str, actions: list[str], resources: list[Any] | None = None) -> dict[str, Any]:
    statement = {"Sid": sid, "Effect": "Allow", "Action": actions}
    return statement if resources is None else {**statement, "Resource": resources}


def _sub(text: str) -> dict[str, str]:
    # Plain data, since `Fn.sub` would ask Node for each of them.
    return {"Fn::Sub": text}
