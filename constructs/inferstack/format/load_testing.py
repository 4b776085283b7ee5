"""A load test by SageMaker Inference Recommender, in the words of its API."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.format.base import Block, form

# AWS gives no bounds for these, but each of them is a count that is at least 1.
_Count = Annotated[int, Meta(extra_json_schema={"minimum": 1})]


class LoadPhase(Block):
    """A period of time in which new users arrive at a constant rate."""

    shapes: ClassVar = ("sagemaker:Phase",)

    initial_number_of_users: int
    """Number of simulated users at the start of the phase."""
    spawn_rate: int
    """Number of users that are added each minute."""
    duration_in_seconds: int
    """Length of the phase, in seconds."""


class LoadStairs(Block):
    """Traffic that rises in equal steps."""

    shapes: ClassVar = ("sagemaker:Stairs",)

    duration_in_seconds: int
    """Length of each step, in seconds."""
    number_of_steps: int
    """Number of steps."""
    users_per_step: int
    """Number of users that each step adds."""


class TrafficPattern(Block):
    """How the load grows during the test."""

    shapes: ClassVar = ("sagemaker:TrafficPattern",)

    traffic_type: str
    """`PHASES` or `STAIRS`."""
    phases: tuple[LoadPhase, ...] | None = None
    """Only with `PHASES`: the phases, one after the other."""
    stairs: LoadStairs | None = None
    """Only with `STAIRS`: the steps."""


class LatencyThreshold(Block):
    """A model latency above which the test ends."""

    shapes: ClassVar = ("sagemaker:ModelLatencyThreshold",)

    # AWS names these two values only in its prose.
    percentile: Annotated[str, form("^P9[59]$")]
    """Percentile of the latency that is compared: `P95` or `P99`."""
    value_in_milliseconds: _Count
    """The latency limit, in milliseconds."""


class StoppingConditions(Block):
    """When the test ends."""

    shapes: ClassVar = ("sagemaker:RecommendationJobStoppingConditions",)

    max_invocations: _Count | None = None
    """Number of requests per minute above which the test ends."""
    model_latency_thresholds: tuple[LatencyThreshold, ...] | None = None
    """Model latencies above which the test ends."""
    flat_invocations: str | None = None
    """Whether to `Stop` or `Continue` when more users no longer lead to more requests."""


class LoadTest(Block):
    """A load test for sizing the endpoint. It is checked and kept in the spec, but nothing runs it yet."""

    shapes: ClassVar = (
        "sagemaker:CreateInferenceRecommendationsJobRequest",
        "sagemaker:RecommendationJobPayloadConfig",
    )
    aws_keys: ClassVar = {
        "instance_types": ("AWS::SageMaker::EndpointConfig.ProductionVariant", "instance_type")
    }

    job_type: str
    """`Default` runs measurements of its own; `Advanced` follows your traffic pattern."""
    sample_payload_url: str
    """S3 URL of a `tar.gz` with sample requests."""
    supported_content_types: tuple[str, ...] | None = None
    """Content types of the sample requests."""
    instance_types: tuple[str, ...] | None = None
    """Instance types to compare."""
    traffic_pattern: TrafficPattern | None = None
    """How the load grows."""
    stopping_conditions: StoppingConditions | None = None
    """When the test ends."""
