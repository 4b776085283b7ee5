"""A load test by SageMaker Inference Recommender, in the words of its API."""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.spec.blocks.base import Block, form

# AWS says no bound of these, and they count what there is at least one of.
_Count = Annotated[int, Meta(extra_json_schema={"minimum": 1})]


class LoadPhase(Block):
    """A stretch of time in which users arrive at one pace."""

    shapes: ClassVar = ("sagemaker:Phase",)

    initial_number_of_users: int
    """Users at the beginning of the phase."""
    spawn_rate: int
    """Users that arrive every minute."""
    duration_in_seconds: int
    """Length of the phase."""


class LoadStairs(Block):
    """Traffic that rises in equal steps."""

    shapes: ClassVar = ("sagemaker:Stairs",)

    duration_in_seconds: int
    """Length of each step."""
    number_of_steps: int
    """How many steps."""
    users_per_step: int
    """Users that each step adds."""


class TrafficPattern(Block):
    """How the load grows."""

    shapes: ClassVar = ("sagemaker:TrafficPattern",)

    traffic_type: str
    """`PHASES` or `STAIRS`."""
    phases: tuple[LoadPhase, ...] | None = None
    """With `PHASES`: one after the other."""
    stairs: LoadStairs | None = None
    """With `STAIRS`."""


class LatencyThreshold(Block):
    """A latency that ends the test."""

    shapes: ClassVar = ("sagemaker:ModelLatencyThreshold",)

    # AWS says so in words only.
    percentile: Annotated[str, form("^P9[59]$")]
    """`P95` or `P99`."""
    value_in_milliseconds: _Count
    """The limit, in milliseconds."""


class StoppingConditions(Block):
    """When the test ends."""

    shapes: ClassVar = ("sagemaker:RecommendationJobStoppingConditions",)

    max_invocations: _Count | None = None
    """Requests a minute above which the test ends."""
    model_latency_thresholds: tuple[LatencyThreshold, ...] | None = None
    """Latencies above which it ends."""
    flat_invocations: str | None = None
    """Whether to go on when more users bring no more requests: `Stop` or `Continue`."""


class LoadTest(Block):
    """A load test that is to size the endpoint. It is checked and kept in the spec; nothing runs it yet."""

    shapes: ClassVar = (
        "sagemaker:CreateInferenceRecommendationsJobRequest",
        "sagemaker:RecommendationJobPayloadConfig",
    )
    aws_keys: ClassVar = {
        "instance_types": ("AWS::SageMaker::EndpointConfig.ProductionVariant", "instance_type")
    }

    job_type: str
    """`Default` measures all by itself; `Advanced` takes a traffic pattern."""
    sample_payload_url: str
    """S3 URL of a `tar.gz` with sample requests."""
    supported_content_types: tuple[str, ...] | None = None
    """Content types of the samples."""
    instance_types: tuple[str, ...] | None = None
    """Instance types to compare."""
    traffic_pattern: TrafficPattern | None = None
    """How the load grows."""
    stopping_conditions: StoppingConditions | None = None
    """When the test ends."""
