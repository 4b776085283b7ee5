"""Everything that SageMaker hosting can do, with one spec each: those of `tests/shapes` and the examples."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.checking import check_file
from support.strict_walk import api_problems
from support.validators import cfn_lint_findings, validate_findings

from inferstack.check.load import load_spec
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template

ROOT = Path(__file__).parents[2]
SHAPES = sorted((ROOT / "tests/shapes").glob("*.yaml"))
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda path: path.stem)


def resolved(path: Path) -> dict[str, Any]:
    loaded = load_spec(path, region="us-east-1")
    region = None if loaded.spec.env is None else loaded.spec.env.region
    return resolve_template(loaded.spec, region=region, source_of=loaded.source_of)


@each_shape
def test_nothing_is_said_against_a_shape(shape: Path) -> None:
    assert check_file(shape) == []


@each_shape
def test_aws_accepts_the_template_of_a_shape(shape: Path) -> None:
    template = resolved(shape)
    assert validate_findings(template) == []
    assert api_problems(template) == []


@each_shape
def test_cfn_lint_finds_nothing_in_the_template_of_a_shape(shape: Path) -> None:
    assert cfn_lint_findings(resolved(shape)) == []


# What hosting can do, a file that does so, and properties of the template that show it.
COVERED = {
    "A/B with weights": ("sentiment-ab", "InitialVariantWeight=9 InitialVariantWeight=1"),
    "shadow variants": ("shadow", "ShadowProductionVariants"),
    "serverless": ("serverless", "ServerlessConfig MemorySizeInMB=2048"),
    "serverless with provisioned concurrency and its scaling": (
        "serverless",
        "ProvisionedConcurrency=2 ScalableDimension=sagemaker:variant:DesiredProvisionedConcurrency",
    ),
    "asynchronous with topics": ("asynchronous", "SuccessTopic ErrorTopic S3FailurePath"),
    "bucket and topics that the stack makes": (
        "asynchronous-made",
        "SSEAlgorithm=aws:kms BlockPublicPolicy=True ExpirationInDays=30 DestinationBucketName=acme-access-logs "
        "TopicName=dubbing-done KmsMasterKeyId=alias/studio aws:SecureTransport=false Sid=ReadRequests",
    ),
    "named and composite alarms, and tags of single resources": (
        "asynchronous-made",
        "AlarmName=dubbing-slow ActionsEnabled=False AlarmName=dubbing-sick AlarmRule Value=speech Value=studio",
    ),
    "scaling on backlog down to zero": (
        "asynchronous",
        "MetricName=ApproximateBacklogSizePerInstance MinCapacity=0 MetricName=HasBacklogWithoutCapacity",
    ),
    "serial pipeline": ("fraud-pipeline", "Containers Mode=Serial"),
    "direct multi-container": ("direct", "Containers Mode=Direct"),
    "models that exist already": ("existing-models", "ModelName=ranker-2026-11-20 InitialVariantWeight=9"),
    "model package": ("model-package", "ModelPackageName InferenceSpecificationName"),
    "uncompressed source": ("uncompressed", "S3DataType=S3Prefix CompressionType=None"),
    "uncompressed source of a component's model": (
        "uncompressed-components",
        "S3DataType=S3Prefix CompressionType=None ModelName InferenceComponentName BaseInferenceComponentName",
    ),
    "Triton models of components' models": (
        "triton-models",
        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME=encode SAGEMAKER_TRITON_DEFAULT_MODEL_NAME=reranker ModelName "
        "RepositoryAccessMode=Vpc InferenceComponentName",
    ),
    "Triton models of variants": (
        "triton-ab",
        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME=ranker SAGEMAKER_TRITON_DEFAULT_MODEL_NAME=ranker-v2 InitialVariantWeight=9",
    ),
    "hub access": ("uncompressed", "HubContentArn AcceptEula"),
    "private registry": ("private-registry", "RepositoryAccessMode=Vpc RepositoryCredentialsProviderArn"),
    "data capture": ("observed", "DataCaptureConfig CaptureContentTypeHeader"),
    "explainer": ("observed", "ClarifyExplainerConfig ShapBaselineUri"),
    "KMS": ("locked-down", "KmsKeyId"),
    "VPC": ("locked-down", "VpcConfig"),
    "network isolation": ("locked-down", "EnableNetworkIsolation=True"),
    "VPC and isolation of components": (
        "locked-down-components",
        "VpcConfig EnableNetworkIsolation=True InferenceComponentName",
    ),
    "core dumps": ("observed", "CoreDumpConfig"),
    "metrics config": ("observed", "EnableEnhancedMetrics=True MetricPublishFrequencyInSeconds=10"),
    "logs of an endpoint": ("observed", "LogGroupName=/aws/sagemaker/Endpoints/observed RetentionInDays=90"),
    "encrypted logs of components": (
        "locked-down-components",
        "LogGroupName=/aws/sagemaker/InferenceComponents/ranker RetentionInDays=30",
    ),
    "instance pools": ("pools", "InstancePools ModelNameOverride"),
    "capacity reservations": ("reserved", "MlReservationArn CapacityReservationPreference"),
    "AMI version": ("reserved", "InferenceAmiVersion"),
    "LEAST_OUTSTANDING_REQUESTS": ("reserved", "RoutingStrategy=LEAST_OUTSTANDING_REQUESTS"),
    "RANDOM": ("random-routing", "RoutingStrategy=RANDOM"),
    "PREFIX_AWARE": ("prefix-routing", "RoutingStrategy=PREFIX_AWARE PrefixAwareRoutingConfig"),
    "adapters": ("support-adapters", "BaseInferenceComponentName"),
    "one specification per instance type": ("packed", "Specifications"),
    "data caching": ("packed", "EnableCaching=True"),
    "placement and zone balance": ("packed", "PlacementStrategy=BINPACK AvailabilityZoneBalance"),
    "metrics of the container": ("packed", "MetricsEndpoints"),
    "managed instance scaling with scale-in policy": ("packed", "ScaleInPolicy Strategy=CONSOLIDATION"),
    "target tracking, steps and schedules": (
        "fraud-pipeline",
        "PolicyType=TargetTrackingScaling PolicyType=StepScaling Timezone=Europe/Berlin",
    ),
    "scaling on metrics of your own": ("own-metrics", "MetricName=QueueDepthPerInstance Expression"),
    "alarms on metrics of your own": ("own-metrics", "MetricName=AgeOfOldestRequest Id=wrong_share"),
    "scale to zero of components": (
        "to-zero",
        "MinInstanceCount=0 MinCapacity=0 PolicyType=TargetTrackingScaling PolicyType=StepScaling "
        "MetricName=NoCapacityInvocationFailures ComparisonOperator=GreaterThanOrEqualToThreshold Threshold=1",
    ),
    "canary": ("passage-ranker", "Type=CANARY CanarySize"),
    "linear": ("linear", "Type=LINEAR LinearStepSize"),
    "all at once": ("all-at-once", "Type=ALL_AT_ONCE AutoRollbackConfiguration"),
    "rolling": ("fraud-pipeline", "RollingUpdatePolicy"),
    "rolling of a component": ("support-adapters", "RollingUpdatePolicy AutoRollbackConfiguration"),
    "multi-model": ("resnet-mme", "Mode=MultiModel"),
    "values from elsewhere": ("elsewhere", "Fn::ImportValue Fn::Split Ref=Groups"),
    "a policy and a role for invokers": ("elsewhere", "ManagedPolicyName=from-elsewhere-invoke RoleName"),
}


def words(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                yield key
                if not isinstance(item, dict | list):
                    yield f"{key}={item}"
                yield from words(item)
        case list():
            for item in value:
                yield from words(item)


@pytest.mark.parametrize("shape", COVERED)
def test_a_spec_shows(shape: str) -> None:
    name, wanted = COVERED[shape]
    (path,) = (p for p in (*SHAPES, *(ROOT / "model_specs").glob("*.yaml")) if p.stem == name)
    assert set(wanted.split()) - set(words(resolved(path)["Resources"])) == set()


def test_every_shape_is_there_for_something() -> None:
    assert {path.stem for path in SHAPES} - {name for name, _ in COVERED.values()} == set()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (
            "uncompressed",
            "      compression_type",
            "      manifest_s3_uri: s3://x/manifest\n      compression_type",
        ),
        ("prefix-routing", "routing_strategy: PREFIX_AWARE", "routing_strategy: KV_AWARE"),
        (
            "packed",
            "{number_of_accelerator_devices_required: 2,",
            "{accelerator_partition_type: mig-1g.5gb,",
        ),
    ],
)
def test_what_only_the_api_has_is_said_to_be_so(name: str, old: str, new: str, tmp_path: Path) -> None:
    text = (ROOT / f"tests/shapes/{name}.yaml").read_text("utf-8")
    assert old in text
    (tmp_path / "spec.yaml").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(SpecError, match="SageMaker's API has it, but CloudFormation does not yet"):
        load_spec(tmp_path / "spec.yaml")
