"""Every opinion that inferstack has where a spec is silent: the value, why, and the page it rests on.

What is here can be overridden in the spec; what cannot be overridden is not a default.
"""

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar

import msgspec

from inferstack.catalog.metrics import Hosting
from inferstack.catalog.triton_container import LOG_VERBOSE, PING_MODE
from inferstack.spec.blocks.alarms import AlarmRule
from inferstack.spec.blocks.autoscaling import ScalingPolicy, StepAdjustment, StepPolicy
from inferstack.spec.blocks.base import Block
from inferstack.spec.blocks.endpoint import VariantProperty
from inferstack.spec.blocks.inference_component import ComponentRuntimeConfig, InferenceComponent
from inferstack.spec.blocks.variant import ManagedInstanceScaling

T = TypeVar("T")

_METRICS = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
_ALARMS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html"
_ZERO = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html"
_TRITON = "https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html"


class Default(msgspec.Struct, Generic[T], frozen=True):
    """One opinion."""

    value: T
    reason: str
    source: str


RUNTIME_CONFIG = Default(
    ComponentRuntimeConfig(copy_count=1), "SageMaker refuses to create a component with no copy.", _ZERO
)
RETAIN_WHEN_SCALED = Default(
    True,
    "Without it every update of a scaled endpoint resets the instance count to the initial one.",
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html",
)
WEIGHTS_WHEN_SCALED = Default(
    VariantProperty(variant_property_type="DesiredWeight"),
    "What is retained with the count is the weight, too: a new one in the spec would have no effect.",
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VariantProperty.html",
)
ALARM_PERIOD = Default(60, "SageMaker publishes these metrics every minute.", _METRICS)
ALARM_EVALUATION_PERIODS = Default(3, "One bad minute is noise, three are a problem.", _ALARMS)
ALARM_OPERATOR = Default("GreaterThanOrEqualToThreshold", "A limit that is reached is a limit.", _ALARMS)
ALARM_MISSING_DATA = Default(
    "notBreaching", "An endpoint without traffic publishes nothing and is well.", _ALARMS
)


def _one_more(metric: str) -> StepPolicy:
    return StepPolicy(
        policy_name="WakeUp",
        metric=metric,
        threshold=1,
        statistic="Maximum",
        evaluation_periods=1,
        treat_missing_data="missing",
        adjustment_type="ChangeInCapacity",
        metric_aggregation_type="Maximum",
        cooldown=60,
        step_adjustments=(StepAdjustment(metric_interval_lower_bound=0, scaling_adjustment=1),),
    )


WAKE_COMPONENT = Default(
    _one_more("NoCapacityInvocationFailures"),
    "From zero copies there is nothing to track: the first refused request starts one. AWS's own example "
    "compares with `> 1`, which waits for a second request in the same minute.",
    _ZERO,
)
TRACK_COMPONENT = Default(
    ScalingPolicy(metric="SageMakerInferenceComponentInvocationsPerCopy", target_value=5),
    "A component that goes to zero copies follows its traffic above that; AWS's example has this target.",
    _ZERO,
)
EMPTY_FLEET = Default(
    ManagedInstanceScaling(status="ENABLED", min_instance_count=0),
    "Where all components go to zero copies, instances without any would be paid for nothing.",
    _ZERO,
)
WAKE_ASYNC_VARIANT = Default(
    _one_more("HasBacklogWithoutCapacity"),
    "From zero instances there is no backlog per instance: the first waiting request starts one.",
    "https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-autoscale.html",
)
STEP_EVALUATION_PERIODS = Default(1, "A step that waits is a step too late.", _ALARMS)
STEP_MISSING_DATA = Default("missing", "Without data the capacity stays as it is.", _ALARMS)

FIELD_DEFAULTS: Mapping[type[Block], Mapping[str, Default[Any]]] = {
    AlarmRule: {
        "period": ALARM_PERIOD,
        "evaluation_periods": ALARM_EVALUATION_PERIODS,
        "comparison_operator": ALARM_OPERATOR,
        "treat_missing_data": ALARM_MISSING_DATA,
    },
    StepPolicy: {
        "period": ALARM_PERIOD,
        "evaluation_periods": STEP_EVALUATION_PERIODS,
        "comparison_operator": ALARM_OPERATOR,
        "treat_missing_data": STEP_MISSING_DATA,
    },
    InferenceComponent: {"runtime_config": RUNTIME_CONFIG},
}
"""What stands for a field that a block leaves out. The JSON Schema and docs/spec.md say so, too."""

TRITON_ENVIRONMENT = Default(
    {LOG_VERBOSE: "false"},
    "The container logs every request in full unless told otherwise, which costs time and money.",
    _TRITON,
)
TRITON_MULTI_MODEL_ENVIRONMENT = Default(
    {PING_MODE: "live"},
    "Otherwise one archive that does not load makes the health check of the whole instance fail.",
    _TRITON,
)

_TGI = Default(
    1.0,
    "TGI's `CUDA_MEMORY_FRACTION`: the batches that it warms up with fill what the weights leave.",
    "https://huggingface.co/docs/text-generation-inference/reference/launcher",
)
_LMI = Default(
    0.9,
    "`option.gpu_memory_utilization` of LMI's vLLM and lmi-dist; its DeepSpeed images bring both, too.",
    "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/user_guides/vllm_user_guide.html",
)
GPU_MEMORY_TAKEN = {
    "vllm": Default(
        0.9,
        "vLLM's `gpu_memory_utilization`.",
        "https://docs.vllm.ai/en/latest/models/engine_args.html",
    ),
    "lmi": _LMI,
    "deepspeed": _LMI,
    "sglang": Default(
        0.9,
        "SGLang's `mem_fraction_static`.",
        "https://docs.sglang.io/docs/advanced_features/server_arguments",
    ),
    "tgi": _TGI,
    "huggingface-llm": _TGI,
    "tensorrtllm": Default(
        0.9,
        "TensorRT-LLM's `free_gpu_memory_fraction`, of what the weights leave.",
        "https://nvidia.github.io/TensorRT-LLM/llm-api/reference/KvCacheConfig.html",
    ),
}
"""Servers that take most of a GPU's memory when they start, by a word in their image's name, with the share
that they take unless told otherwise. The CUDA context and CUDA graphs come on top of it. The use of such a
GPU's memory stays where it is whatever the traffic: an alarm on it would ring for ever.
"""
VARIABLES_OF_GPU_MEMORY_TAKERS = (
    "OPTION_GPU_MEMORY_UTILIZATION",
    "OPTION_MAX_MODEL_LEN",
    "OPTION_ROLLING_BATCH",
    "OPTION_TENSOR_PARALLEL_DEGREE",
    "SM_NUM_GPUS",
    "SM_SGLANG_",
    "SM_VLLM_",
    "VLLM_",
)
"""How environment variables begin that only such servers read: in a registry of one's own an image may have
any name.
"""


OfAdapters = Literal["all", "none", "of bases that go to zero"]


class DefaultAlarm(msgspec.Struct, frozen=True):
    """An alarm that an endpoint gets unless its spec has a rule of its own for the metric."""

    rule: AlarmRule
    hostings: frozenset[Hosting]
    reason: str
    not_where_taken: bool = False
    """Not for what runs a server of :data:`GPU_MEMORY_TAKEN`."""
    of_adapters: OfAdapters = "all"
    """Which adapters get one, too. An adapter is files in its base's container and on its base's copies: an
    alarm on these says what the base's says, and AWS documents utilization only of what a component reserves.
    """


_INSTANCES: frozenset[Hosting] = frozenset({"instances", "multi-model", "async"})
_ALL: frozenset[Hosting] = frozenset({*_INSTANCES, "inference-components", "serverless"})

DEFAULT_ALARMS: tuple[DefaultAlarm, ...] = (
    DefaultAlarm(
        AlarmRule(
            metric="Invocation5XXErrors",
            statistic="Sum",
            threshold=1,
            evaluation_periods=5,
            datapoints_to_alarm=3,
        ),
        _ALL,
        "Requests fail on the server's side in most minutes.",
    ),
    DefaultAlarm(
        AlarmRule(metric="MemoryUtilization", statistic="Maximum", threshold="90 %"),
        _INSTANCES,
        "A container that runs out of memory is killed with all its requests.",
    ),
    DefaultAlarm(
        AlarmRule(metric="DiskUtilization", statistic="Maximum", threshold="90 %"),
        _INSTANCES,
        "Model downloads and logs fail on a full disk.",
    ),
    DefaultAlarm(
        AlarmRule(metric="GPUMemoryUtilization", statistic="Maximum", threshold="95 %", evaluation_periods=5),
        _INSTANCES,
        "The next batch or model will not fit into the GPU's memory.",
        not_where_taken=True,
    ),
    DefaultAlarm(
        AlarmRule(metric="ModelLoadingWaitTime", statistic="p90", threshold="30 s", evaluation_periods=5),
        frozenset({"multi-model"}),
        "Requests wait for models to be loaded: more models are in use than fit into memory.",
    ),
    DefaultAlarm(
        AlarmRule(metric="NoCapacityInvocationFailures", statistic="Sum", threshold=1, evaluation_periods=15),
        frozenset({"inference-components"}),
        "Requests are refused for longer than a component takes to wake from zero copies.",
        of_adapters="of bases that go to zero",
    ),
    DefaultAlarm(
        AlarmRule(
            metric="GPUMemoryUtilizationNormalized",
            statistic="Maximum",
            threshold="95 %",
            evaluation_periods=5,
        ),
        frozenset({"inference-components"}),
        "The next batch will not fit into the GPU's memory.",
        not_where_taken=True,
        of_adapters="none",
    ),
    DefaultAlarm(
        AlarmRule(metric="MemoryUtilizationNormalized", statistic="Maximum", threshold="90 %"),
        frozenset({"inference-components"}),
        "A container that runs out of memory is killed with all its requests.",
        of_adapters="none",
    ),
    DefaultAlarm(
        AlarmRule(
            metric="HasBacklogWithoutCapacity", statistic="Maximum", threshold=1, evaluation_periods=15
        ),
        frozenset({"async"}),
        "Requests wait in the queue and no instance works on them.",
    ),
)
