"""Every default that inferstack chooses where a spec is silent: the value, why, and the page it is based on.

Everything here can be overridden in the spec; what cannot be overridden is not a default.
"""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from inferstack.catalog.instances import CUDA_13_AMI, NEWEST_AL2_AMI
from inferstack.catalog.triton_container import LOG_VERBOSE, PING_MODE
from inferstack.format.alarms import AlarmRule
from inferstack.format.autoscaling import ScalingPolicy, StepAdjustment, StepPolicy
from inferstack.format.base import Block
from inferstack.format.endpoint import VariantProperty
from inferstack.format.inference_component import ComponentRuntimeConfig, InferenceComponent
from inferstack.format.variant import ManagedInstanceScaling

T = TypeVar("T")

_METRICS = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
_ALARMS = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html"
_ZERO = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html"
_TRITON = "https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html"


class Default(msgspec.Struct, Generic[T], frozen=True):
    """One default: its value, the reason for it, and the page that it is based on."""

    value: T
    reason: str
    source: str


RUNTIME_CONFIG = Default(
    ComponentRuntimeConfig(copy_count=1), "SageMaker refuses to create a component with no copy.", _ZERO
)
RETAIN_WHEN_SCALED = Default(
    True,
    "Otherwise every update of an endpoint that scales resets the instance count to the initial one.",
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html",
)
WEIGHTS_WHEN_SCALED = Default(
    VariantProperty(variant_property_type="DesiredWeight"),
    "Retaining the count also retains the weight, so that a new weight in the spec would have no effect.",
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VariantProperty.html",
)
ALARM_PERIOD = Default(60, "SageMaker publishes these metrics every minute.", _METRICS)
ALARM_EVALUATION_PERIODS = Default(3, "One bad minute is noise, three are a problem.", _ALARMS)
ALARM_OPERATOR = Default("GreaterThanOrEqualToThreshold", "Reaching a limit counts as exceeding it.", _ALARMS)
ALARM_MISSING_DATA = Default(
    "notBreaching", "Without requests, an endpoint may publish no data, and is healthy.", _ALARMS
)


def _one_more(metric: str, *, cooldown: int) -> StepPolicy:
    return StepPolicy(
        policy_name="WakeUp",
        metric=metric,
        threshold=1,
        statistic="Maximum",
        evaluation_periods=1,
        treat_missing_data="missing",
        adjustment_type="ChangeInCapacity",
        metric_aggregation_type="Maximum",
        cooldown=cooldown,
        step_adjustments=(StepAdjustment(metric_interval_lower_bound=0, scaling_adjustment=1),),
    )


_START_UP = 900
"""Seconds for which a wake-up adds nothing to what it has started.

The metric of a wake-up stays high until the first copy answers, which takes an LLM ten minutes and more, and
a policy adds its step again after each cooldown. This one is as long as the silence that target tracking
waits for before it removes the last copy (15 data points of a minute), so it never delays the next wake-up.
An `ExactCapacity` of 1 would not climb either, but it lowers the capacity to 1 whenever requests are refused
while further copies start.
https://docs.aws.amazon.com/autoscaling/application/APIReference/API_StepScalingPolicyConfiguration.html
"""

WAKE_COMPONENT = Default(
    _one_more("NoCapacityInvocationFailures", cooldown=_START_UP),
    "At zero copies there is nothing to track, so the first refused request starts one. AWS's own example "
    "compares with `> 1`, which waits for a second request in the same minute, and has a cooldown of a "
    "minute: until the first copy answers, each minute would add another one.",
    _ZERO,
)
TRACK_COMPONENT = Default(
    ScalingPolicy(
        metric="SageMakerInferenceComponentInvocationsPerCopy",
        target_value=5,
        scale_in_cooldown=300,
        scale_out_cooldown=300,
    ),
    "A component that can go to zero copies follows its traffic above zero. AWS's example has these "
    "cooldowns: copies take minutes to start.",
    _ZERO,
)
TRACK_LANGUAGE_MODEL = Default(
    ScalingPolicy(
        metric="SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution",
        target_value=5,
        scale_in_cooldown=300,
        scale_out_cooldown=300,
    ),
    "A language model works on many requests at once, each for seconds to minutes: five of them a minute "
    "keep no copy busy. The target is that of AWS's example; with what the model's memory holds, write more.",
    "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-add-code-define.html",
)
EMPTY_FLEET = Default(
    ManagedInstanceScaling(status="ENABLED", min_instance_count=0),
    "If all components can go to zero copies, instances without any copy would cost money for nothing.",
    _ZERO,
)
WAKE_ASYNC_VARIANT = Default(
    _one_more("HasBacklogWithoutCapacity", cooldown=_START_UP),
    "At zero instances there is no backlog per instance, so the first waiting request starts one. AWS's "
    "example has a cooldown of five minutes, and a large model takes longer to start.",
    "https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-autoscale.html",
)
TOPIC_KEY = Default(
    "alias/aws/sns",
    "Without a key of the spec's, AWS's own for SNS encrypts the topics that the stack makes. SageMaker "
    "publishes as the endpoint's role, which may use that key without any right to it.",
    "https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html",
)
ABORT_UPLOADS_AFTER_DAYS = Default(
    7,
    "Parts of an upload that was never completed are stored and charged for, and no listing shows them.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpu-abort-incomplete-mpu-lifecycle-config.html",
)
STEP_EVALUATION_PERIODS = Default(1, "A step that waits for more data comes too late.", _ALARMS)
STEP_MISSING_DATA = Default("missing", "Without data, the capacity stays as it is.", _ALARMS)
_DRIVERS = "https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html"
AMI_FOR_CUDA_13 = Default(
    CUDA_13_AMI,
    "An image with CUDA 13 dies without a log on an older driver. AWS's SDK sets this AMI for such an image "
    "on the same families, where the user has set none.",
    "https://pypi.org/project/sagemaker-serve/1.27.0/",
)
AMI_FOR_CUDA_12 = Default(
    NEWEST_AL2_AMI,
    "The default driver of ml.g4dn, ml.g5 and ml.p4d is for CUDA 11.4, and too old for an image with CUDA "
    "12.5 and above, unless a label of the image makes SageMaker choose another one.",
    _DRIVERS,
)

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
"""What applies if a block leaves a field out. The JSON Schema and docs/spec.md show these, too."""

TRITON_ENVIRONMENT = Default(
    {LOG_VERBOSE: "false"},
    "By default the container logs every request in full, which costs time and money.",
    _TRITON,
)
TRITON_MULTI_MODEL_ENVIRONMENT = Default(
    {PING_MODE: "live"},
    "Otherwise a single archive that does not load makes the health check of the whole instance fail.",
    _TRITON,
)

_TGI = Default(
    1.0,
    "TGI's `CUDA_MEMORY_FRACTION`: its warm-up batches fill the memory that the weights leave free.",
    "https://huggingface.co/docs/text-generation-inference/reference/launcher",
)
_LMI = Default(
    0.9,
    "`option.gpu_memory_utilization` of vLLM and lmi-dist in LMI; LMI's DeepSpeed images contain both, too.",
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
    "nim": Default(
        0.9,
        "NVIDIA's NIM runs vLLM, SGLang or TensorRT-LLM, and leaves them their default.",
        "https://docs.nvidia.com/nim/large-language-models/latest/configuration.html",
    ),
    "tgi": _TGI,
    "huggingface-llm": _TGI,
    "tensorrtllm": Default(
        0.9,
        "TensorRT-LLM's `free_gpu_memory_fraction`, of the memory that the weights leave free.",
        "https://nvidia.github.io/TensorRT-LLM/llm-api/reference/KvCacheConfig.html",
    ),
    "tensorflow": Default(
        1.0,
        "TensorFlow's `per_process_gpu_memory_fraction`: it takes nearly all memory of every GPU it sees.",
        "https://www.tensorflow.org/guide/gpu",
    ),
}
"""Servers that take most of a GPU's memory when they start, by a word in their image's name, with the share
that they take by default. The CUDA context and CUDA graphs come on top of it. Memory use on such a GPU stays
the same whatever the traffic, so an alarm on it would never stop.
"""
VARIABLES_OF_GPU_MEMORY_TAKERS = (
    "NGC_API_KEY",
    "NIM_",
    "OPTION_GPU_MEMORY_UTILIZATION",
    "OPTION_MAX_MODEL_LEN",
    "OPTION_ROLLING_BATCH",
    "OPTION_TENSOR_PARALLEL_DEGREE",
    "SM_NUM_GPUS",
    "SM_SGLANG_",
    "SM_VLLM_",
    "VLLM_",
)
"""Prefixes of environment variables that only such servers read. They count because an image in a user's own
registry may have any name.
"""
