"""Keys that have another name here, and keys of CloudFormation and similar tools that a spec expresses in
another way than by a key.

:mod:`inferstack.check.structure.words_of_aws` has the keys that have another name.
"""

from collections.abc import Collection

from inferstack.catalog.cloudformation import snake
from inferstack.check.structure.words_of_aws import ELSEWHERE_CALLED
from inferstack.format.kinds import KINDS
from inferstack.problems import Fix
from inferstack.problems.words import nearest

NAMED_BY = {
    "Variant": "variant_name",
    "ScalingPolicy": "policy_name",
    "StepPolicy": "policy_name",
    "ScheduledAction": "scheduled_action_name",
    "RollbackAlarm": "alarm_name",
    "Dashboard": "dashboard_name",
    **dict.fromkeys((kind.__name__ for kind in KINDS), "endpoint_name"),
}
"""The key that `name` stands for in a block; likeness would suggest the name of something else."""

_ONE_MODEL = "write `kind: single-model`"
_SEVERAL_CONTAINERS = "write `kind: pipeline`, and its containers under `model.containers`"
OTHER_KINDS = {
    **dict.fromkeys(("real-time", "realtime", "single"), _ONE_MODEL),
    **dict.fromkeys(
        ("async", "asynchronous", "async-inference"),
        f"{_ONE_MODEL}, or another kind, and `async_inference_config` under `endpoint_config`",
    ),
    **dict.fromkeys(
        ("serverless", "serverless-inference"), f"{_ONE_MODEL}, and `serverless_config` in the `variant`"
    ),
    **dict.fromkeys(("shadow", "shadow-test"), f"{_ONE_MODEL}, and `shadow_variants` next to `variant`"),
    **dict.fromkeys(
        ("ab", "a/b", "ab-test", "multi-variant"), f"{_ONE_MODEL}, and `variants` instead of `variant`"
    ),
    **dict.fromkeys(("mme", "multimodel"), "write `kind: multi-model`"),
    **dict.fromkeys(("mce", "multi-container", "serial", "inference-pipeline"), _SEVERAL_CONTAINERS),
    **dict.fromkeys(
        ("llm", "vllm", "lmi", "tgi"),
        f"{_ONE_MODEL} for one model on all GPUs of an instance, or `kind: inference-components` for several "
        "that share instances",
    ),
    "triton": (
        f"{_ONE_MODEL}, `kind: ensemble` or `kind: multi-model`, with `image: {{framework: triton, …}}`"
    ),
}
"""What to write instead of what people call an endpoint, where AWS has no kind of that name."""

_NO_NAME = "remove it: {} are not named, so that an update can create the new one alongside the old one"
_NO_MODEL_NAME = f"{_NO_NAME.format('models')}; under `models`, the key is what variants and components name"
_NO_CONFIG_NAME = _NO_NAME.format("endpoint configurations")
_ITS_KEY = "remove it: its name is the key it is written under"
_FOR_A_MODEL = "for a model under `models`, which `model_name` names instead of `container`"
_ENDPOINT_NAME = "write `endpoint_name` at the top of the spec"
_ONE_ROLE = "write the role's ARN as `execution_role` at the top of the spec"
_NO_TARGET = "remove it: where `autoscaling` is written decides what it scales"
_JUMPSTART = (
    "JumpStart IDs are not looked up: write its `image`, and its files as `model_data_source`, where "
    "`model_access_config: {accept_eula: true}` under `s3_data_source` accepts a license"
)
_KIND = "remove it: `kind` sets it, `kind: multi-model` for MultiModel, `kind: single-model` for SingleModel"
_IN_THE_POLICY = "write its contents in the policy itself"
_IN_THE_MODEL = "write its contents in the model itself"
_UNWRAPPED = (_IN_THE_POLICY, _IN_THE_MODEL)
_A_POLICY = "an entry of `policies` under `autoscaling`"
_A_STEP_POLICY = "an entry of `step_policies` under `autoscaling`"
_AN_ALARM = "an entry of `rules` under `alarms`, or of `step_policies` under `autoscaling`"
_IN_A_POLICY = "write it in an entry of `policies`"
_IN_A_RULE = "write it in an entry of `rules`"
_PREDEFINED = ("predefined_metric_specification", "predefined_metric_type")
_ALARMS_NAME = "remove it: CloudFormation gives the alarm its name"
_NOT_DESCRIBED = "remove it: an alarm is described by its rule"
_NOTIFIES = "write its ARN as `actions: [ARN]`"
_TOPICS = dict.fromkeys(("sns_topic", "sns_topic_arn", "topic", "topics", "topic_arn"), _NOTIFIES)
_NO_ALARMS = "write `alarms: false` for no alarms, or `actions: []` for alarms that notify nobody"
_NO_BAND = "remove it: there is no anomaly detection, each alarm is compared with its `threshold`"
_STEPS = (
    "steps go under `step_policies`, next to `policies`: `{metric: …, threshold: …, adjustment_type: …, "
    "step_adjustments: […]}`"
)
_SCALING_OF_COPIES = "write it under the component's `autoscaling`"
_OF_A_CUSTOM_METRIC = (
    "remove it if SageMaker publishes the metric: `metric` is its name; write any other one, with its "
    "namespace, under `customized_metric_specification`"
)
_OF_A_POLICY = {
    "type": "remove it: `policies` track a target, and `step_policies` take steps",
    "policy_type": "remove it: `policies` track a target, and `step_policies` take steps",
    "scaling_target_id": _NO_TARGET,
    "resource_id": _NO_TARGET,
    "scalable_dimension": _NO_TARGET,
    "service_namespace": _NO_TARGET,
}
# Both `model` and `endpoint_config` have these keys, and each kind of spec uses only one of the two.
_NETWORK = ("vpc_config", "enable_network_isolation")
_NO_LOGS = "remove it: SageMaker creates the log groups; `aws logs put-retention-policy` sets their retention"
_OF_THE_STACK = "remove it: `aws cloudformation update-termination-protection` sets it on the stack"
_LOGS = ("log_group", "log_group_name", "logs", "log_retention", "retention_in_days")
# What the SDK packs into the archive, and what it writes into the environment.
_CODE = "put the code into the archive, as `code/inference.py`: a spec names only the archive"
_OF_THE_SDK = {
    **dict.fromkeys(("entry_point", "source_dir", "code_location", "inference_script"), _CODE),
    "model_server_workers": "write `SAGEMAKER_MODEL_SERVER_WORKERS` in the container's `environment`",
}
_OF_A_SPEC = {
    **_OF_THE_SDK,
    "endpoint_config_name": _NO_CONFIG_NAME,
    "jumpstart_model_id": _JUMPSTART,
    "model_id": _JUMPSTART,
    "scalable_target": "write its `min_capacity` and `max_capacity` under `autoscaling`",
    "scaling_policy": f"write its contents as {_A_POLICY}, or of `step_policies` there",
    "target_tracking_scaling_policy_configuration": f"write its contents as {_A_POLICY}",
    "step_scaling_policy_configuration": f"write its contents as {_A_STEP_POLICY}",
    "scheduled_action": "write it as an entry of `scheduled_actions` under `autoscaling`",
    "customized_metric_specification": f"write it in {_A_POLICY}",
    **dict.fromkeys(_PREDEFINED, f"write the type of the metric as `metric` in {_A_POLICY}"),
    **dict.fromkeys(_TOPICS, f"{_NOTIFIES} under `alarms`"),
    "alarm_actions": "write them as `actions` under `alarms`, for all alarms",
    "alarm_name": "write it in an entry of `rules` under `alarms`",
    "alarm": "write its contents as an entry of `rules` under `alarms`",
    **dict.fromkeys(("metrics", "metric_query", "dimensions"), f"write it in {_AN_ALARM}"),
    "auto_rollback": (
        "write `auto_rollback_configuration: {alarms: own}` under `endpoint.deployment_config`, with a policy"
    ),
    **dict.fromkeys(_LOGS, _NO_LOGS),
    "termination_protection": _OF_THE_STACK,
    "inference_component": (
        "write its contents under its name in `inference_components`, with `kind: inference-components`"
    ),
}
_OF_A_SPEC_WITH_A_MODEL = {
    **_OF_A_SPEC,
    **dict.fromkeys(_NETWORK, "write it under `model`"),
    **dict.fromkeys(("primary_container", "container"), "write its contents under `model`"),
    "containers": "write it under `model`, with `kind: pipeline`",
    "model_name": _NO_MODEL_NAME,
    "mode": _KIND,
}
_OF_A_SPEC_WITH_COMPONENTS = {
    **_OF_A_SPEC,
    **dict.fromkeys(_NETWORK, "write it under `endpoint_config`"),
    **dict.fromkeys(
        ("primary_container", "container", "containers"),
        "write its contents as `container` under the `specification` of an inference component",
    ),
    "model_name": "write it under the `specification` of an inference component",
    **dict.fromkeys(
        ("image", "image_uri"), "write it as `image` in the `container` of an inference component"
    ),
    "mode": "remove it: `kind` sets it",
    "shadow_production_variants": "remove it: it is called `shadow_variants`, which this kind does not have",
}
_ROLE = ("execution_role_arn", "execution_role", "role_arn", "role")
_OF_A_MODEL = {
    **_OF_THE_SDK,
    **dict.fromkeys(("primary_container", "container"), _IN_THE_MODEL),
    "mode": _KIND,
    **dict.fromkeys(("name", "model_name"), _NO_MODEL_NAME),
    **dict.fromkeys(("model_id", "jumpstart_model_id", "model_version", "accept_eula"), _JUMPSTART),
    **dict.fromkeys(_ROLE, _ONE_ROLE),
    "version": "write it under `image` or `model_package`",
}
_VARIABLE = "`env` is the stack's account and region; a container's variables go in its `environment`"
NOT_A_KEY_HERE: dict[str, dict[str, str]] = {
    **{kind.__name__: _OF_A_SPEC_WITH_A_MODEL for kind in KINDS},
    "InferenceComponentsSpec": _OF_A_SPEC_WITH_COMPONENTS,
    "Model": _OF_A_MODEL,
    "NamedModel": _OF_A_MODEL,
    "FrameworkImage": {"image_scope": "remove it: only images for inference are meant"},
    "EndpointConfig": {
        **dict.fromkeys(("name", "endpoint_config_name"), _NO_CONFIG_NAME),
        "production_variants": "write them at the top of the spec, as `variants`",
        "shadow_production_variants": "write them at the top of the spec, as `shadow_variants`",
        **dict.fromkeys(_ROLE, _ONE_ROLE),
    },
    "Endpoint": {
        **dict.fromkeys(("name", "endpoint_name"), _ENDPOINT_NAME),
        "endpoint_config_name": _NO_CONFIG_NAME,
    },
    "ComponentContainer": {
        "model_data_source": f"write the URL of a tar.gz as `artifact_url`; plain files are {_FOR_A_MODEL}",
        **dict.fromkeys(("model_package", "model_package_name"), f"a model package is {_FOR_A_MODEL}"),
        "image_config": f"a private registry is {_FOR_A_MODEL}",
    },
    "InferenceComponent": {
        **dict.fromkeys(("name", "inference_component_name"), _ITS_KEY),
        **dict.fromkeys(("endpoint_name", "endpoint_arn"), "remove it: it is the endpoint of the spec"),
        "model": "write `specification: {model_name: …}` for a model under `models`, or a `container` there",
        **dict.fromkeys(("policies", "step_policies", "scheduled_actions"), _SCALING_OF_COPIES),
    },
    "Autoscaling": {
        **dict.fromkeys(("resource_id", "scalable_dimension", "service_namespace"), _NO_TARGET),
        "role_arn": "remove it: AWS uses a role of its own to scale SageMaker",
        "target": "write it as `target_value` in an entry of `policies`",
        **dict.fromkeys(("metric", "target_value", "scale_in_cooldown", "scale_out_cooldown"), _IN_A_POLICY),
        **dict.fromkeys(("customized_metric_specification", "disable_scale_in"), _IN_A_POLICY),
        **dict.fromkeys(
            (*_PREDEFINED, "metric_name"),
            "write the type of the metric as `metric` in an entry of `policies`",
        ),
    },
    "Alarms": {
        **dict.fromkeys(("metric", "threshold", "statistic", "period", "evaluation_periods"), _IN_A_RULE),
        **_TOPICS,
        "enabled": _NO_ALARMS,
    },
    "ScalingPolicy": {
        **_OF_A_POLICY,
        **dict.fromkeys(("namespace", "dimensions", "statistic", "unit"), _OF_A_CUSTOM_METRIC),
        "predefined_metric_specification": "write its `predefined_metric_type` as `metric`",
        "target_tracking_scaling_policy_configuration": _IN_THE_POLICY,
        "step_scaling_policy_configuration": "write its contents under `step_policies`",
        **dict.fromkeys(("adjustment_type", "step_adjustments", "steps", "threshold"), _STEPS),
    },
    "StepPolicy": {
        **_OF_A_POLICY,
        **dict.fromkeys(("step_scaling_policy_configuration", "alarm"), _IN_THE_POLICY),
        "alarm_name": _ALARMS_NAME,
        "alarm_description": _NOT_DESCRIBED,
        "threshold_metric_id": _NO_BAND,
    },
    "AlarmRule": {
        "threshold_metric_id": _NO_BAND,
        **_TOPICS,
        "severity": "write what an alarm of this severity notifies as `actions`",
    },
    "ExecutionRole": {
        **dict.fromkeys(("arn", "role_arn"), "write the ARN itself: `execution_role: ARN`"),
        **dict.fromkeys(
            ("name", "role_name"), "remove it: the role is not named; for a role that exists, write its ARN"
        ),
        "assume_role_policy_document": "remove it: only SageMaker assumes this role",
    },
    "PolicyStatement": {
        "effect": "remove it: each statement allows",
        "principal": "remove it: the policy is that of the role itself",
    },
}
"""By the name of a block's class: keys that it does not have, and what to do about each of them."""

INSTEAD_OF_FUNCTIONS = (
    "a spec has no CloudFormation functions or parameters: write the value itself; text may contain "
    "`${AWS::Region}` and the like"
)


def is_intrinsic(*keys: object) -> bool:
    """Whether a mapping's keys are those of a CloudFormation function, such as `Ref` or `Fn::Sub`."""
    return len(keys) == 1 and (keys[0] == "Ref" or str(keys[0]).startswith("Fn::"))


def called_here(key: str, block: str, known: Collection[str]) -> str | None:
    """The key of a block that has this other name elsewhere; ``block`` is the name of the block's class."""
    name = ELSEWHERE_CALLED.get(block, {}).get(key, NAMED_BY.get(block) if key == "name" else None)
    return name if name in known else None


def said_otherwise(key: str, block: str, known: Collection[str]) -> str | None:
    """How to express in this block what a key of another tool means."""
    if block == "Environment" and nearest(key, list(known)) is None:
        return _VARIABLE
    name = called_here(key, block, known)
    if name is not None:
        said = f"it is called `{name}` here"
        # Under a name with a unit, the same number may mean something else.
        return said if "_in_" in name else Fix(said, key, name)
    path = ELSEWHERE_CALLED.get(block, {}).get(key)
    return NOT_A_KEY_HERE.get(block, {}).get(key) if path is None else _write_at(path, key)


def _write_at(path: str, word: str) -> str:
    home, _, key = path.rpartition(".")
    named = "" if key == word else f" as `{key}`"
    return f"write it{named} under `{home}`" if home else f"write it{named} at the top of the spec"


def belongs_unwrapped(key: str, block: str, known: Collection[str]) -> bool:
    """Whether a key is a block in AWS's format whose contents are keys of this block itself."""
    return said_otherwise(key, block, known) in _UNWRAPPED


def meant_key(key: str, block: str, known: Collection[str]) -> str | None:
    """The key of a block that an unknown key may stand for, or that has what it stands for."""
    ours = snake(key)
    first = ELSEWHERE_CALLED.get(block, {}).get(ours, "").partition(".")[0]
    if first in known:
        return first
    return called_here(ours, block, known) or nearest(ours, list(known))
