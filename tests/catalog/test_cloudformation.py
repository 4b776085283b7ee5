import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from botocore import xform_name
from botocore.session import get_session

from inferstack.catalog import cloudformation, document
from inferstack.catalog.cloudformation import Property

CONFIG = "AWS::SageMaker::EndpointConfig"
COMPONENT = "AWS::SageMaker::InferenceComponent"
MODEL = "AWS::SageMaker::Model"
TAG = "AWS::SageMaker::Endpoint", "Tag"


TYPE_NAMES = tuple(
    name for name, resource in document("cloudformation.json").items() if "definitions" in resource
)


def every_property() -> Iterator[tuple[str, Property]]:
    for type_name in TYPE_NAMES:
        for definition in ("", *cloudformation.definitions(type_name)):
            for found in cloudformation.shape(type_name, definition).values():
                yield type_name, found


def schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for word in ("items", "additionalProperties", "propertyNames"):
            yield from schemas(schema.get(word))


def test_the_types_of_a_stack_and_the_structures_of_a_load_test_have_shapes() -> None:
    assert TYPE_NAMES == (
        "AWS::ApplicationAutoScaling::ScalableTarget",
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::CompositeAlarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::IAM::Role",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SNS::Topic",
        "AWS::SageMaker::Endpoint",
        CONFIG,
        COMPONENT,
        MODEL,
        "application-autoscaling:PutScheduledActionRequest",
        "application-autoscaling:ScalableTargetAction",
        "iam:CreatePolicyRequest",
        "sagemaker:AIAdapterModelPackageEntry",
        "sagemaker:AIAdapterS3Entry",
        "sagemaker:AIAdapterSource",
        "sagemaker:AIBenchmarkEndpoint",
        "sagemaker:AIBenchmarkInferenceComponent",
        "sagemaker:AIBenchmarkNetworkConfig",
        "sagemaker:AIBenchmarkOutputConfig",
        "sagemaker:AICapacityReservationConfig",
        "sagemaker:AIDatasetConfig",
        "sagemaker:AIMlflowConfig",
        "sagemaker:AIModelSourceS3",
        "sagemaker:AIRecommendationComputeSpec",
        "sagemaker:AIRecommendationConstraint",
        "sagemaker:AIRecommendationInferenceSpecification",
        "sagemaker:AIRecommendationOutputConfig",
        "sagemaker:AIRecommendationPerformanceTarget",
        "sagemaker:AIWorkloadInputDataConfig",
        "sagemaker:AIWorkloadS3DataSource",
        "sagemaker:CategoricalParameter",
        "sagemaker:CreateAIBenchmarkJobRequest",
        "sagemaker:CreateAIRecommendationJobRequest",
        "sagemaker:CreateInferenceRecommendationsJobRequest",
        "sagemaker:DescribeModelPackageGroupInput",
        "sagemaker:EndpointInfo",
        "sagemaker:EndpointInputConfiguration",
        "sagemaker:EnvironmentParameterRanges",
        "sagemaker:ModelLatencyThreshold",
        "sagemaker:Phase",
        "sagemaker:RecommendationJobCompiledOutputConfig",
        "sagemaker:RecommendationJobContainerConfig",
        "sagemaker:RecommendationJobInputConfig",
        "sagemaker:RecommendationJobOutputConfig",
        "sagemaker:RecommendationJobPayloadConfig",
        "sagemaker:RecommendationJobResourceLimit",
        "sagemaker:RecommendationJobStoppingConditions",
        "sagemaker:Stairs",
        "sagemaker:TrafficPattern",
        "sagemaker:TrainingRepositoryAuthConfig",
    )


def test_an_api_structure_is_looked_up_like_a_resource() -> None:
    stairs = cloudformation.shape("sagemaker:Stairs")["users_per_step"]
    assert stairs == Property("UsersPerStep", {"type": "integer", "minimum": 1, "maximum": 3})
    phases = cloudformation.shape("sagemaker:TrafficPattern")["phases"]
    assert phases.schema == {"type": "array", "minItems": 1, "items": {"type": "object"}}
    assert cloudformation.shape("sagemaker:CreateInferenceRecommendationsJobRequest")["job_type"].required
    assert cloudformation.api_only_properties("sagemaker:Stairs") == {}
    assert not cloudformation.is_taggable("sagemaker:Stairs")


@pytest.mark.parametrize(
    ("cfn_name", "key"),
    [
        ("VolumeSizeInGB", "volume_size_in_gb"),
        ("EnableSSMAccess", "enable_ssm_access"),
        ("S3OutputPath", "s3_output_path"),
        ("DestinationS3Uri", "destination_s3_uri"),
        ("MaxPayloadInMB", "max_payload_in_mb"),
        ("RoleARN", "role_arn"),
        ("Type", "type"),
    ],
)
def test_a_key_is_the_name_in_snake_case(cfn_name: str, key: str) -> None:
    assert cloudformation.snake(cfn_name) == key


def test_keys_are_those_that_boto3_users_know() -> None:
    for _, found in every_property():
        assert cloudformation.snake(found.name) == xform_name(found.name)


def test_every_reference_leads_to_a_definition() -> None:
    for type_name, found in every_property():
        if found.definition is not None:
            assert found.definition in cloudformation.definitions(type_name)


def test_every_pattern_is_one_that_python_understands() -> None:
    for _, found in every_property():
        for schema in schemas(found.schema):
            re.compile(schema.get("pattern", ""))


def test_every_schema_has_only_words_that_constrain() -> None:
    words = {word for _, found in every_property() for schema in schemas(found.schema) for word in schema}
    assert words <= {
        "$ref",
        "additionalProperties",
        "enum",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "propertyNames",
        "type",
        "uniqueItems",
    }


@pytest.mark.parametrize(("text", "fits"), [("Équipe 4: 日本-x@y=z/+_.", True), ("", True), ("a#b", False)])
def test_tags_may_use_letters_of_every_script(text: str, fits: bool) -> None:
    pattern = cloudformation.shape(*TAG)["value"].schema["pattern"]
    assert (re.search(pattern, text) is not None) is fits


@pytest.mark.parametrize(
    ("type_name", "definition", "key", "word", "value"),
    [
        # Only in the registry.
        (CONFIG, "ServerlessConfig", "memory_size_in_mb", "maximum", 6144),
        (
            COMPONENT,
            "InferenceComponentComputeResourceRequirements",
            "number_of_cpu_cores_required",
            "minimum",
            0.25,
        ),
        (COMPONENT, "", "specifications", "minItems", 2),
        (
            "AWS::CloudWatch::Alarm",
            "",
            "treat_missing_data",
            "enum",
            ["breaching", "ignore", "missing", "notBreaching"],
        ),
        # The API is stricter than the registry.
        ("AWS::SageMaker::Endpoint", "", "endpoint_name", "maxLength", 63),
        (COMPONENT, "InferenceComponentCapacitySize", "value", "minimum", 1),
        # Only in the API.
        (MODEL, "ContainerDefinition", "environment", "maxProperties", 100),
        (
            MODEL,
            "ContainerDefinition",
            "environment",
            "additionalProperties",
            {"maxLength": 1024, "type": "string"},
        ),
        ("AWS::SageMaker::Endpoint", "", "exclude_retained_variant_properties", "maxItems", 3),
    ],
)
def test_constraints_are_the_tightest_of_registry_and_api(
    type_name: str, definition: str, key: str, word: str, value: object
) -> None:
    assert cloudformation.shape(type_name, definition)[key].schema[word] == value


@pytest.mark.parametrize(
    ("type_name", "definition"),
    [
        (CONFIG, "ProductionVariant"),
        (CONFIG, "InstancePool"),
        (COMPONENT, "InferenceComponentSpecificationForInstanceType"),
    ],
)
def test_every_instance_type_of_the_api_is_allowed(type_name: str, definition: str) -> None:
    known = get_session().get_service_model("sagemaker").shape_for("ProductionVariantInstanceType")
    allowed = cloudformation.shape(type_name, definition)["instance_type"].schema["enum"]
    assert set(allowed) >= set(known.enum)


def test_a_property_knows_its_kind() -> None:
    variants = cloudformation.shape(CONFIG)["production_variants"]
    assert variants == Property("ProductionVariants", variants.schema, required=True)
    assert variants.definition == "ProductionVariant"
    plain = cloudformation.shape(CONFIG, "ProductionVariant")["initial_instance_count"]
    assert (plain.required, plain.definition) == (False, None)


def test_what_only_the_api_has_is_told_apart() -> None:
    assert cloudformation.api_only_values(CONFIG, "RoutingConfig", "RoutingStrategy") == ("KV_AWARE",)
    allowed = cloudformation.shape(CONFIG, "RoutingConfig")["routing_strategy"].schema["enum"]
    assert "KV_AWARE" not in allowed
    only = cloudformation.api_only_properties(CONFIG, "ProductionVariant")
    assert only["accelerator_partition_layouts"] == "AcceleratorPartitionLayouts"


def test_what_cloudformation_has_elsewhere_is_not_the_apis_alone() -> None:
    assert cloudformation.api_only_properties(COMPONENT, "InferenceComponentSpecification") == {}
    assert cloudformation.api_only_values(CONFIG, "", "KmsKeyId") == ()


@pytest.mark.parametrize(
    ("type_name", "taggable"),
    [
        (MODEL, True),
        ("AWS::IAM::Role", True),
        ("AWS::CloudWatch::Dashboard", True),
        ("AWS::IAM::ManagedPolicy", False),
        ("AWS::ApplicationAutoScaling::ScalingPolicy", False),
    ],
)
def test_taggable_types_are_known(type_name: str, taggable: bool) -> None:
    assert cloudformation.is_taggable(type_name) is taggable


def test_what_replaces_a_resource_is_known() -> None:
    assert cloudformation.create_only("AWS::SageMaker::Endpoint") == {"EndpointName"}
    assert cloudformation.create_only(COMPONENT) == frozenset()
    assert "PrimaryContainer" in cloudformation.create_only(MODEL)


def test_what_cannot_be_set_is_known() -> None:
    assert cloudformation.read_only(MODEL) == {"ModelArn"}
    assert "RuntimeConfig/CurrentCopyCount" in cloudformation.read_only(COMPONENT)
    assert "Specifications/*/CurrentDataCacheConfig" in cloudformation.read_only(COMPONENT)
