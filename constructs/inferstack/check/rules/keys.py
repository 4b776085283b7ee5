"""Keys that cannot be used where they are: one row for each rule.

A row says where to look, which keys cannot be set there, and under which conditions. Anything more complex is
a function, in the module of its topic.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from inferstack.check.rules.base import (
    API,
    CONFIG_PAGE,
    CONTAINER_PAGE,
    GUARDRAILS_PAGE,
    GUIDE,
    MULTI_MODEL_PAGE,
    POOLS_PAGE,
    RULES,
    SERVERLESS_PAGE,
)
from inferstack.facts.kinds import hosts_components
from inferstack.facts.triton import triton_blocks
from inferstack.facts.walk import is_async, model_containers, models, shadow_variants, variants
from inferstack.format.endpoint import EndpointConfig
from inferstack.format.kinds import (
    InferenceComponentsSpec,
    ModelBackedSpec,
    ModelSpec,
    MultiModelSpec,
    PipelineSpec,
)
from inferstack.format.model import Container, Model, Triton
from inferstack.format.variant import Variant
from inferstack.problems import Problem, Severity, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.rules import Rule

SET = object()
"""Any value, in a condition."""


class Excluded(msgspec.Struct, frozen=True):
    """A rule: none of these keys can be set in the blocks that ``at`` finds.

    Keys may be dotted. In message and fix, ``{key}`` is the key that was found, ``{kind}`` the spec's kind.
    """

    code: str
    source: str
    sentence: str
    at: Callable[[Any], Iterable[tuple[Any, ...]]]
    """Yields tuples that begin with a path and end with the block that is there."""
    keys: tuple[str, ...]
    message: str
    fix: str
    when: Mapping[str, object] = {}
    """Applies only where these keys of the block have these values: None for a key that is not set."""
    of: type[ModelSpec] = ModelSpec
    severity: Severity = Severity.ERROR

    def problems(self, spec: ModelSpec) -> Iterator[Problem]:
        """Every key that is set where it cannot be."""
        for path, *_, block in self.at(spec):
            for key in self.keys:
                if _value(block, key) is not None and self._applies_to(block):
                    said = self._said(self.message, key, spec), self._said(self.fix, key, spec)
                    yield Problem((*path, *key.split(".")), *said)

    @staticmethod
    def _said(text: str, key: str, spec: ModelSpec) -> str:
        return text.replace("{key}", key).replace("{kind}", spec.kind)

    def _applies_to(self, block: object) -> bool:
        found = ((_value(block, key), wanted) for key, wanted in self.when.items())
        return all(it is not None if wanted is SET else it == wanted for it, wanted in found)


def _value(block: object, key: str) -> object:
    for name in key.split("."):
        if block is None:
            return None
        block = getattr(block, name)
    return block


def _top(spec: ModelSpec) -> Iterator[tuple[SpecPath, ModelSpec]]:
    yield (), spec


def _serverless_variants(spec: ModelSpec) -> Iterator[tuple[SpecPath, Variant]]:
    return ((path, it) for path, it in variants(spec) if it.serverless_config is not None)


def _top_if_serverless(spec: ModelSpec) -> Iterator[tuple[SpecPath, ModelSpec]]:
    if any(_serverless_variants(spec)):
        yield (), spec


def _models_on_serverless(spec: ModelBackedSpec) -> Iterator[tuple[SpecPath, Model]]:
    hosted = {variant.model_name for _, variant in _serverless_variants(spec)}
    return ((path, model) for path, name, model in models(spec) if name in hosted)


def _top_if_several_variants(spec: ModelSpec) -> Iterator[tuple[SpecPath, ModelSpec]]:
    if len(variants(spec)) > 1:
        yield (), spec


def _one_of_several_variants(spec: ModelSpec) -> Iterable[tuple[SpecPath, Variant]]:
    return variants(spec) if len(variants(spec)) > 1 else ()


def _asynchronous_variants(spec: ModelSpec) -> Iterable[tuple[SpecPath, Variant]]:
    return variants(spec) if is_async(spec) else ()


def _variants_without_components(spec: ModelSpec) -> Iterable[tuple[SpecPath, Variant]]:
    return () if hosts_components(spec) else variants(spec)


def _config_without_components(spec: ModelSpec) -> Iterator[tuple[SpecPath, EndpointConfig]]:
    if spec.endpoint_config is not None and not hosts_components(spec):
        yield ("endpoint_config",), spec.endpoint_config


def _blocks_with_archives(spec: ModelBackedSpec) -> Iterator[tuple[SpecPath, Triton]]:
    return ((it.path, it.block) for it in triton_blocks(spec) if it.multi_model)


_FILES = "model_data_source.s3_data_source"
_UPDATE = "endpoint.deployment_config"
_OF_INSTANCES = (
    "instance_type",
    "instance_pools",
    "initial_instance_count",
    "managed_instance_scaling",
    "volume_size_in_gb",
    "inference_ami_version",
    "routing_config",
    "variant_instance_provision_timeout_in_seconds",
    "enable_ssm_access",
    "core_dump_config",
    "capacity_reservation_config",
)
_NOT_WITH_SERVERLESS = "`{key}` cannot be used with a serverless variant"
_USE_INSTANCES = "remove it, or use instances"
_WARNING = Severity.WARNING

ROWS = (
    # Models: each of these says what the other one says, too, or means nothing without it.
    Excluded("IS233", CONTAINER_PAGE,
        "A model package already has an image and files: the model should not set its own.",
        at=model_containers, keys=("image", "model_data_url", "model_data_source"),
        when={"model_package_name": SET}, severity=_WARNING,  # Which of the two wins is not documented.
        message="`{key}` should not be used with a model package", fix="keep one of them"),
    Excluded("IS293", CONTAINER_PAGE, "A model has one model package: a group with a version, or a name.",
        at=model_containers, keys=("model_package",), when={"model_package_name": SET},
        message="`model_package` and `model_package_name` both name a model package",
        fix="keep one of them"),
    Excluded("IS234", CONTAINER_PAGE, "`model_data_url` and `model_data_source` cannot be used together.",
        at=model_containers, keys=("model_data_source",), when={"model_data_url": SET},
        message="`model_data_url` and `model_data_source` both say where the files are",
        fix="keep one of them"),
    Excluded("IS235", CONTAINER_PAGE, "`inference_specification_name` needs a model package.",
        at=model_containers, keys=("inference_specification_name",), when={"model_package_name": None},
        message="`{key}` cannot be used without a model package",
        fix="add `model_package` or `model_package_name`, or remove it"),
    Excluded("IS242", f"{API}/API_S3ModelDataSource.html",
        "Compressed files should be a single object: `Gzip` needs `S3Object`.",
        at=model_containers, keys=(f"{_FILES}.compression_type",), severity=_WARNING,
        when={f"{_FILES}.compression_type": "Gzip", f"{_FILES}.s3_data_type": "S3Prefix"},
        message="`Gzip` should not be used with `S3Prefix`",
        fix="write `compression_type: None` for plain files, or `s3_data_type: S3Object` for one archive"),
    Excluded("IS243", f"{API}/API_ModelAccessConfig.html",
        "A gated model can only be used once its license is accepted.",
        at=model_containers, keys=(f"{_FILES}.model_access_config.accept_eula",),
        when={f"{_FILES}.model_access_config.accept_eula": False},
        message="the model's license is not accepted", fix="read it, then write `accept_eula: true`"),
    Excluded("IS322", f"{API}/API_CreateModel.html",
        "In a pipeline, what a container runs must be written in `containers`.",
        of=PipelineSpec, at=models, keys=Container.__struct_fields__,
        message="`{key}` cannot be used with `containers`", fix="move it into the container it is for"),

    # Triton's models: each request names an archive (`TargetModel`), and thereby a model.
    Excluded("IS252", MULTI_MODEL_PAGE,
        "A multi-model endpoint must declare its Triton models by archive.",
        of=ModelBackedSpec, at=_blocks_with_archives, keys=("models",),
        message="`models` does not say which archive holds which model",
        fix="write them under `triton.archives.<name>.tar.gz.models`"),
    Excluded("IS256", MULTI_MODEL_PAGE,
        "`default_model` cannot be used where each request names an archive.",
        of=ModelBackedSpec, at=_blocks_with_archives, keys=("default_model",),
        message="`{key}` cannot be used where each request names an archive", fix="remove it"),

    # Serverless endpoints have no instances, and lack the features that AWS lists.
    Excluded("IS602", SERVERLESS_PAGE, "A serverless variant cannot have instance settings.",
        at=_serverless_variants, keys=_OF_INSTANCES,
        message="`{key}` cannot be used with `serverless_config`",
        fix="remove `{key}`, or `serverless_config`"),
    Excluded("IS603", SERVERLESS_PAGE, "A serverless endpoint cannot be in a VPC.",
        of=ModelBackedSpec, at=_models_on_serverless, keys=("vpc_config",),
        message=_NOT_WITH_SERVERLESS, fix=_USE_INSTANCES),
    Excluded("IS604", SERVERLESS_PAGE, "A serverless endpoint cannot have network isolation.",
        of=ModelBackedSpec, at=_models_on_serverless, keys=("enable_network_isolation",),
        when={"enable_network_isolation": True}, message=_NOT_WITH_SERVERLESS, fix=_USE_INSTANCES),
    Excluded("IS275", CONTAINER_PAGE, "A serverless endpoint cannot use `model_data_source`.",
        of=ModelBackedSpec, at=_models_on_serverless, keys=("model_data_source",),
        message=_NOT_WITH_SERVERLESS,
        fix="pack the files into a tar.gz and write `model_data_url`, or use instances"),
    Excluded("IS605", SERVERLESS_PAGE, "A serverless endpoint cannot capture data.",
        at=_top_if_serverless, keys=("endpoint_config.data_capture_config",),
        message="`data_capture_config` cannot be used with a serverless variant", fix=_USE_INSTANCES),
    Excluded("IS606", SERVERLESS_PAGE, "A serverless endpoint can have only one variant.",
        at=_one_of_several_variants, keys=("serverless_config",),
        message="the serverless variant is one of several",
        fix="make it the only one, or use instances"),
    Excluded("IS607", CONFIG_PAGE, "An asynchronous endpoint must run on instances.",
        at=_asynchronous_variants, keys=("serverless_config",),
        message="`{key}` cannot be used with `async_inference_config`", fix="keep one of them"),
    Excluded("IS302", SERVERLESS_PAGE, "A multi-model endpoint cannot be serverless.",
        of=MultiModelSpec, at=variants, keys=("serverless_config",),
        message="a multi-model endpoint cannot be serverless",
        fix="use `instance_type` and `initial_instance_count`, or an endpoint for each model"),
    Excluded("IS325", SERVERLESS_PAGE, "A pipeline must run on instances.",
        of=PipelineSpec, at=variants, keys=("serverless_config",),
        message="a serverless variant cannot host a pipeline",
        fix="write `instance_type` and `initial_instance_count`"),
    Excluded("IS628", f"{GUIDE}/deployment-guardrails.html",
        "Guardrails are only for real-time and asynchronous endpoints.",
        at=_top_if_serverless, keys=(_UPDATE,),
        when={f"{_UPDATE}.rolling_update_policy": None},  # IS620 refuses such a policy.
        message="the endpoint is serverless, but guardrails are only for real-time and asynchronous ones",
        fix="remove `deployment_config`: traffic moves all at once"),

    # Variants, asynchronous requests and updates.
    Excluded("IS284", f"{GUIDE}/shadow-tests.html", "A shadow variant cannot have `autoscaling`.",
        of=ModelBackedSpec, at=shadow_variants, keys=("autoscaling",),
        message="`{key}` cannot be used in a shadow variant",
        fix="remove it, and set `initial_instance_count`"),
    # https://github.com/deepgram-devs/dg-sagemaker, whose endpoints run in many accounts.
    Excluded("IS633", "user reports",
        "An asynchronous endpoint should not set `enable_ssm_access`.",
        at=_asynchronous_variants, keys=("enable_ssm_access",), severity=_WARNING,
        when={"enable_ssm_access": True},
        message="SageMaker may refuse `{key}` with `async_inference_config`", fix="keep one of them"),
    Excluded("IS309", MULTI_MODEL_PAGE,
        "AWS does not document multi-model endpoints that are asynchronous.",
        of=MultiModelSpec, at=_top, keys=("endpoint_config.async_inference_config",), severity=_WARNING,
        message="AWS does not document asynchronous multi-model endpoints",
        fix="use `kind: single-model`, or remove `async_inference_config`"),
    Excluded("IS310", POOLS_PAGE,
        "AWS documents instance pools only for single models and inference components.",
        of=MultiModelSpec, at=variants, keys=("instance_pools",), severity=_WARNING,
        message="AWS does not document instance pools for multi-model endpoints",
        fix="write one `instance_type`"),
    Excluded("IS416", f"{API}/API_runtime_InvokeEndpointAsync.html",
        "Inference components should not be used asynchronously: such a request cannot name a component.",
        of=InferenceComponentsSpec, at=_top, keys=("endpoint_config.async_inference_config",),
        severity=_WARNING, message="asynchronous requests cannot name an inference component",
        fix="remove it, or use another `kind` for asynchronous inference"),
    # https://github.com/hashicorp/terraform-provider-aws/pull/44977, a provider that is tested on AWS.
    Excluded("IS417", "user reports",
        "A variant for inference components should not set `enable_ssm_access`.",
        of=InferenceComponentsSpec, at=variants, keys=("enable_ssm_access",), severity=_WARNING,
        message="SageMaker may refuse `{key}` with inference components", fix="remove it"),
    # "ManagedInstanceScaling is only supported for inference component endpoints":
    # https://github.com/hashicorp/terraform-provider-aws/pull/45926.
    Excluded("IS401", f"{API}/API_ProductionVariantManagedInstanceScaling.html",
        "`managed_instance_scaling` is only for endpoints with inference components.",
        at=_variants_without_components, keys=("managed_instance_scaling",),
        message="`{key}` cannot be used with `kind: {kind}`",
        fix="use `autoscaling`, or `kind: inference-components`"),
    Excluded("IS608", CONFIG_PAGE,
        "Network settings go on the model, or for inference components on the endpoint configuration.",
        at=_config_without_components, keys=("vpc_config", "enable_network_isolation"),
        message="`endpoint_config.{key}` is only for inference components", fix="move it to `model.{key}`"),
    Excluded("IS502", OWN_FORMAT, "Top-level `autoscaling` is for a spec with one variant.",
        at=_top_if_several_variants, keys=("autoscaling",),
        message="`autoscaling` does not say which of the variants it scales",
        fix="move it into the variant that it is for"),
    Excluded("IS610", GUARDRAILS_PAGE,
        "An update can have only one policy: blue/green or rolling.",
        at=_top, keys=(f"{_UPDATE}.rolling_update_policy",),
        when={f"{_UPDATE}.blue_green_update_policy": SET},
        message="`blue_green_update_policy` and `rolling_update_policy` cannot be used together",
        fix="keep one of them"),
    # Without one, all traffic moves at once, and the old fleet is gone before an alarm can go off.
    Excluded("IS619", GUARDRAILS_PAGE,
        "An update that alarms may roll back should have an update policy, which makes it wait.",
        at=_top, keys=(f"{_UPDATE}.auto_rollback_configuration",), severity=_WARNING,
        when={f"{_UPDATE}.{it}_update_policy": None for it in ("blue_green", "rolling")},
        message="without an update policy all traffic moves at once and nothing waits for the alarms",
        fix="add `blue_green_update_policy` with `termination_wait_in_seconds`, or `rolling_update_policy`"),
)  # fmt: skip

for _row in ROWS:
    RULES.enter(
        Rule(_row.code, _row.severity, _row.sentence, _row.source, _row.of, _row.problems, partial=False)
    )
