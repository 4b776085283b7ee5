"""Answers of AWS about endpoints that somebody made by hand, with all that AWS adds to what was asked for."""

from datetime import UTC, datetime
from typing import Any

from inferstack.endpoint.of_answers import EndpointAnswers

ARN = "arn:aws:sagemaker:us-east-1:123456789012"
ROLE = "arn:aws:iam::123456789012:role/service-role/by-hand"
IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/ranker"
WHERE = {
    "AWS::AccountId": "123456789012",
    "AWS::Region": "us-east-1",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_LINKED = (
    "arn:aws:iam::123456789012:role/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint"
)


def model(name: str, **more: Any) -> dict[str, Any]:
    """A description of a model with one container."""
    url = f"s3://acme-models/{name}/model.tar.gz"
    return {
        "ModelName": name,
        "ModelArn": f"{ARN}:model/{name}",
        "ExecutionRoleArn": ROLE,
        "CreationTime": _NOW,
        "EnableNetworkIsolation": False,
        "PrimaryContainer": {
            "Image": f"{IMAGE}:1",
            "Mode": "SingleModel",
            "ModelDataUrl": url,
            "ModelDataSource": {
                "S3DataSource": {"S3Uri": url, "S3DataType": "S3Object", "CompressionType": "Gzip"}
            },
            "Environment": {"WORKERS": "2"},
        },
        **more,
    }


def target(resource_id: str, dimension: str, low: int, high: int) -> dict[str, Any]:
    """A description of a scalable target."""
    return {
        "ServiceNamespace": "sagemaker",
        "ResourceId": resource_id,
        "ScalableDimension": dimension,
        "MinCapacity": low,
        "MaxCapacity": high,
        "RoleARN": _LINKED,
        "CreationTime": _NOW,
        "SuspendedState": {
            "DynamicScalingInSuspended": False,
            "DynamicScalingOutSuspended": False,
            "ScheduledScalingSuspended": False,
        },
        "ScalableTargetARN": f"arn:aws:application-autoscaling:us-east-1:123456789012:scalable-target/{resource_id}",
    }


def policy(of: dict[str, Any], name: str, **config: Any) -> dict[str, Any]:
    """A description of a policy."""
    arn = "arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy"
    step = "StepAdjustments" in config
    kind = "StepScaling" if step else "TargetTrackingScaling"
    return {
        **{key: of[key] for key in ("ServiceNamespace", "ResourceId", "ScalableDimension")},
        "PolicyARN": f"{arn}:6d8972f3:resource/sagemaker/{of['ResourceId']}:policyName/{name}",
        "PolicyName": name,
        "PolicyType": kind,
        f"{kind}PolicyConfiguration": config,
        "Alarms": [],
        "CreationTime": _NOW,
    }


def alarm(name: str, metric: str, threshold: float, **more: Any) -> dict[str, Any]:
    """A description of an alarm on a variant."""
    return {
        "AlarmName": name,
        "AlarmArn": f"arn:aws:cloudwatch:us-east-1:123456789012:alarm:{name}",
        "ActionsEnabled": True,
        "AlarmActions": [],
        "OKActions": [],
        "InsufficientDataActions": [],
        "Namespace": "AWS/SageMaker",
        "MetricName": metric,
        "Dimensions": [{"Name": "EndpointName", "Value": "ranker"}, {"Name": "VariantName", "Value": "blue"}],
        "Statistic": "Average",
        "Period": 300,
        "EvaluationPeriods": 2,
        "Threshold": threshold,
        "ComparisonOperator": "GreaterThanThreshold",
        "StateValue": "OK",
        **more,
    }


def by_hand() -> dict[str, Any]:
    """What AWS says of an endpoint with one variant, as the fields of :class:`Answers`."""
    fleet = target("endpoint/ranker/variant/blue", "sagemaker:variant:DesiredInstanceCount", 2, 6)
    steps = policy(
        fleet,
        "slow",
        AdjustmentType="ChangeInCapacity",
        StepAdjustments=[
            {"MetricIntervalLowerBound": 0.0, "MetricIntervalUpperBound": 250000.0, "ScalingAdjustment": 1},
            {"MetricIntervalLowerBound": 250000.0, "ScalingAdjustment": 2},
        ],
    )
    return {
        "endpoint": {
            "EndpointName": "ranker",
            "EndpointArn": f"{ARN}:endpoint/ranker",
            "EndpointConfigName": "ranker-7",
            "EndpointStatus": "InService",
            "CreationTime": _NOW,
            "ProductionVariants": [
                {
                    "VariantName": "blue",
                    "DeployedImages": [
                        {"SpecifiedImage": f"{IMAGE}:1", "ResolvedImage": f"{IMAGE}@sha256:{'a' * 64}"}
                    ],
                    "CurrentInstanceCount": 4,
                    "DesiredInstanceCount": 4,
                    "CurrentWeight": 1.0,
                    "DesiredWeight": 1.0,
                }
            ],
        },
        "config": {
            "EndpointConfigName": "ranker-7",
            "EndpointConfigArn": f"{ARN}:endpoint-config/ranker-7",
            "CreationTime": _NOW,
            "EnableNetworkIsolation": False,
            "ProductionVariants": [
                {
                    "VariantName": "blue",
                    "ModelName": "ranker-2026",
                    "InstanceType": "ml.m5.xlarge",
                    "InitialInstanceCount": 2,
                    "InitialVariantWeight": 1.0,
                    "VolumeSizeInGB": 30,
                }
            ],
        },
        "models": [model("ranker-2026")],
        "components": [],
        "targets": [fleet],
        "policies": [
            policy(
                fleet,
                "follow",
                TargetValue=700.0,
                PredefinedMetricSpecification={
                    "PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"
                },
                DisableScaleIn=False,
            ),
            steps,
        ],
        "alarms": [
            alarm(
                "ranker-errors",
                "Invocation5XXErrors",
                0.05,
                AlarmActions=["arn:aws:sns:us-east-1:123456789012:ops"],
            ),
            alarm(
                "ranker-slow",
                "ModelLatency",
                1500000.0,
                Unit="Microseconds",
                AlarmActions=[steps["PolicyARN"]],
            ),
        ],
    }


def answers(**instead: Any) -> EndpointAnswers:
    """What AWS says of it, with other values for some fields."""
    return EndpointAnswers(**{**by_hand(), **instead})
