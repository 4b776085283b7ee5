"""The network that containers are in, and containers without network access."""

import re
from collections.abc import Iterator

from inferstack.spec.blocks.inference_component import ComponentContainer
from inferstack.spec.blocks.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.spec.blocks.model import VpcConfig
from inferstack.spec.parts.walk import PlacedContainer, containers, every_variant, hosting, models
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import describe
from inferstack.spec.rules.base import CONFIG_PAGE, Finding, error, warning
from inferstack.spec.rules.model.artifacts import MODEL_IN_ENVIRONMENT
from inferstack.spec.texts.placeholders import PLACEHOLDER, is_opaque

_VPC = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VpcConfig.html"
_ISOLATION = "https://docs.aws.amazon.com/sagemaker/latest/dg/mkt-algo-model-internet-free.html"
# A hub's models are named by owner and name; what begins with `/` is a folder in the container.
_ELSEWHERE = re.compile(r"s3://.*|\w[\w.\-]*/\w[\w.\-]*")
_SSM = "https://docs.aws.amazon.com/sagemaker/latest/dg/ssm-access.html"
_BEGINNINGS = {"security_group_ids": ("sg-", "security group"), "subnets": ("subnet-", "subnet")}


@error(
    "IS608",
    "Network settings go on the model, or for inference components on the endpoint configuration.",
    CONFIG_PAGE,
    ModelSpec,
    about=("vpc_config", "enable_network_isolation"),
)
def network_where_it_counts(spec: ModelSpec) -> Iterator[Finding]:
    """The endpoint configuration's own VPC is only for inference components."""
    config = spec.endpoint_config
    if config is None or isinstance(spec, InferenceComponentsSpec):
        return
    for key in ("vpc_config", "enable_network_isolation"):
        if getattr(config, key) is not None:
            message = f"`endpoint_config.{key}` is only for inference components"
            yield Finding(("endpoint_config", key), message, f"move it to `model.{key}`")


@warning(
    "IS249",
    "Security groups and subnets are named by their IDs: `sg-…`, `subnet-…`.",
    _VPC,
    ModelSpec,
    about="vpc_config",
)
def networks_are_named_by_ids(spec: ModelSpec) -> Iterator[Finding]:
    """The API's own pattern allows their names, but a deployment does not find them."""
    for path, network in _networks(spec):
        for key, (beginning, what) in _BEGINNINGS.items():
            for index, found in enumerate(getattr(network, key)):
                if not (found.startswith(beginning) or is_opaque(found) or PLACEHOLDER.search(found)):
                    fix = f"write the ID, such as {beginning}0a1b2c3d4e5f60718"
                    yield Finding((*path, key, index), f"{describe(found)} is not a valid {what} ID", fix)


def _networks(spec: ModelSpec) -> Iterator[tuple[SpecPath, VpcConfig]]:
    found = [(path, model.vpc_config) for path, _, model in models(spec)]
    if spec.endpoint_config is not None:
        found.append((("endpoint_config",), spec.endpoint_config.vpc_config))
    for path, network in found:
        if network is not None:
            yield (*path, "vpc_config"), network


@warning(
    "IS219",
    "A container without network access needs its model files, since it cannot download any.",
    _ISOLATION,
    ModelSpec,
    about="enable_network_isolation",
)
def isolated_containers_have_their_model(spec: ModelSpec) -> Iterator[Finding]:
    """SageMaker itself still fetches the files that the model names."""
    for placed in _isolated(spec):
        environment = placed.environment
        for name in sorted(MODEL_IN_ENVIRONMENT & environment.keys()):
            if _ELSEWHERE.fullmatch(environment[name]):
                component = isinstance(placed.container, ComponentContainer)
                key = "artifact_url" if component else "model_data_source"
                message = f"the container has no network access to download {environment[name][:60]}"
                fix = (
                    f"name the files in `{key}` and write {name}: /opt/ml/model, "
                    "or remove `enable_network_isolation`"
                )
                yield Finding((*placed.path, "environment", name), message, fix)


def _isolated(spec: ModelSpec) -> Iterator[PlacedContainer]:
    """The containers of isolated models; all components' if the endpoint's configuration says so."""
    if _isolates_components(spec) and isinstance(spec, InferenceComponentsSpec):
        yield from containers(spec)
        return
    isolated = [path for path, _, model in models(spec) if model.enable_network_isolation]
    for placed in containers(spec):
        if any(placed.path[: len(path)] == path for path in isolated):
            yield placed


def _isolates_components(spec: ModelSpec) -> bool:
    return spec.endpoint_config is not None and spec.endpoint_config.enable_network_isolation is True


@warning(
    "IS827",
    "A Systems Manager shell in a container needs network access.",
    _SSM,
    ModelSpec,
    about="enable_ssm_access",
)
def shells_have_a_network(spec: ModelSpec) -> Iterator[Finding]:
    """Systems Manager is called from inside the container."""
    isolated = [name for _, name, model in models(spec) if model.enable_network_isolation]
    cut_off = [variant for name in isolated for variant in hosting(spec, name)]
    for path, variant in every_variant(spec):
        if variant.enable_ssm_access and (variant in cut_off or _isolates_components(spec)):
            message = "with `enable_network_isolation`, no Systems Manager session can begin"
            fix = "remove it while you need a shell, or remove `enable_ssm_access`"
            yield Finding((*path, "enable_ssm_access"), message, fix)
