"""The networks that containers are in, and secrets in environment variables."""

import re
from collections.abc import Iterator

from inferstack.catalog.cloudformation import AS_WRITTEN, text_form
from inferstack.check.rules.base import API, AWS, GUIDE, error, warning
from inferstack.check.rules.containers.artifacts import MODEL_IN_ENVIRONMENT
from inferstack.facts.kinds import hosts_components
from inferstack.facts.walk import (
    PlacedContainer,
    containers,
    environment_variables,
    every_variant,
    hosting,
    models,
)
from inferstack.format.inference_component import ComponentContainer
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import VpcConfig
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import describe
from inferstack.texts.placeholders import DYNAMIC_REFERENCE, PLACEHOLDER, is_opaque
from inferstack.texts.secrets import is_named_secret, known_kind

# ---------------------------------------------------------------- networks


_VPC = f"{API}/API_VpcConfig.html"
_ISOLATION = f"{GUIDE}/mkt-algo-model-internet-free.html"
# A hub's models are named by owner and name; what begins with `/` is a folder in the container.
_ELSEWHERE = re.compile(r"s3://.*|\w[\w.\-]*/\w[\w.\-]*")
_REFERENCES = f"{AWS}/AWSCloudFormation/latest/UserGuide/dynamic-references.html"
_SSM = f"{GUIDE}/ssm-access.html"
_CODE = f"{AWS}/secretsmanager/latest/userguide/hardcoded.html"
_IDS = {
    "security_group_ids": ("sg-", "security group", "AWS::EC2::SecurityGroup.Id"),
    "subnets": ("subnet-", "subnet", "AWS::EC2::Subnet.Id"),
}


@warning("IS249", _VPC)
def networks_are_named_by_ids(spec: ModelSpec) -> Iterator[Problem]:
    """Security groups and subnets are named by their IDs: `sg-…`, `subnet-…`.

    The API's own pattern allows their names, but a deployment does not find them. The registry has the form.
    """
    for path, network in _networks(spec):
        for key, (beginning, what, form) in _IDS.items():
            is_id = re.compile(text_form(form)).fullmatch
            for index, found in enumerate(getattr(network, key)):
                if not (is_id(found) or is_opaque(found) or PLACEHOLDER.search(found)):
                    fix = f"write the ID, such as {beginning}0a1b2c3d4e5f60718"
                    yield Problem((*path, key, index), f"{describe(found)} is not a valid {what} ID", fix)


@error("IS229", _VPC)
def references_stand_for_one_id(spec: ModelSpec) -> Iterator[Problem]:
    """An entry of `subnets` or `security_group_ids` cannot be a list with commas.

    CloudFormation fills in references when its functions have run, so nothing splits the text.
    """
    for path, key, index, text in _references(spec):
        if "," in re.sub(DYNAMIC_REFERENCE, "", text):
            message = f"this entry of `{key}` has several IDs"
            yield Problem((*path, key, index), message, "write each as an entry of its own")


@warning("IS277", _REFERENCES)
def a_reference_is_no_list(spec: ModelSpec) -> Iterator[Problem]:
    """A parameter reference that is the only entry of `subnets` should stand for one subnet.

    If the parameter is a list, its text is not split, and the deployment fails.
    """
    for path, key, index, text in _references(spec):
        alone = re.fullmatch(DYNAMIC_REFERENCE, text) is not None and _is_all(spec, path, key)
        if key == "subnets" and alone:
            message = "this reference stands for a single subnet: a list in the parameter is not split"
            fix = "write a reference for each subnet, or ignore IS277 if one is all there is"
            yield Problem((*path, key, index), message, fix)


def _is_all(spec: ModelSpec, path: SpecPath, key: str) -> bool:
    return any(where == path and len(getattr(network, key)) == 1 for where, network in _networks(spec))


def _references(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, int, str]]:
    """Each entry of a network that only the deployment knows: its network's path, its key and its place."""
    for path, network in _networks(spec):
        for key in _IDS:
            for index, text in enumerate(getattr(network, key)):
                if re.search(DYNAMIC_REFERENCE, text):
                    yield path, key, index, text


def _networks(spec: ModelSpec) -> Iterator[tuple[SpecPath, VpcConfig]]:
    found = [(path, model.vpc_config) for path, _, model in models(spec)]
    if spec.endpoint_config is not None:
        found.append((("endpoint_config",), spec.endpoint_config.vpc_config))
    for path, network in found:
        if network is not None:
            yield (*path, "vpc_config"), network


@warning("IS219", _ISOLATION)
def isolated_containers_have_their_model(spec: ModelSpec) -> Iterator[Problem]:
    """A container without network access needs its model files, since it cannot download any.

    SageMaker itself still fetches the files that the model names.
    """
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
                yield Problem((*placed.path, "environment", name), message, fix)


def _isolated(spec: ModelSpec) -> Iterator[PlacedContainer]:
    """The containers of isolated models; all components' if the endpoint's configuration says so."""
    if _isolates_components(spec) and hosts_components(spec):
        yield from containers(spec)
        return
    isolated = [path for path, _, model in models(spec) if model.enable_network_isolation]
    for placed in containers(spec):
        if any(placed.path[: len(path)] == path for path in isolated):
            yield placed


def _isolates_components(spec: ModelSpec) -> bool:
    return spec.endpoint_config is not None and spec.endpoint_config.enable_network_isolation is True


@warning("IS827", _SSM)
def shells_have_a_network(spec: ModelSpec) -> Iterator[Problem]:
    """A Systems Manager shell in a container needs network access.

    Systems Manager is called from inside the container.
    """
    isolated = [name for _, name, model in models(spec) if model.enable_network_isolation]
    cut_off = [variant for name in isolated for variant in hosting(spec, name)]
    for path, variant in every_variant(spec):
        if variant.enable_ssm_access and (variant in cut_off or _isolates_components(spec)):
            message = "with `enable_network_isolation`, no Systems Manager session can start"
            fix = "remove it while you need a shell, or remove `enable_ssm_access`"
            yield Problem((*path, "enable_ssm_access"), message, fix)


# ---------------------------------------------------------------- secrets in environment variables
#
# All who may read the file, the template or the model (`sagemaker:DescribeModel`) can read its environment.
# Nothing that is found here is ever repeated: a message names the kind of secret and, of the value, at most
# the beginning that all secrets of that kind share.


_INSTEAD = f"'{AS_WRITTEN['secretsmanager']}'"
_FIX = f"keep it in Secrets Manager and write {_INSTEAD}, or let the container's code fetch it"


@warning("IS214", _CODE)
def no_known_secrets(spec: ModelSpec) -> Iterator[Problem]:
    """An environment variable should not have a value that looks like a secret.

    Parts that CloudFormation fills in at deployment are not secrets in the file.
    """
    for path, name, value in environment_variables(spec):
        kind = known_kind(value)
        if kind is not None:
            yield Problem(path, f"`{name}` contains {kind} in plain text", _FIX)


@warning("IS215", _CODE)
def no_named_secrets(spec: ModelSpec) -> Iterator[Problem]:
    """An environment variable that is named like a secret should not contain one.

    Under the name of a password any text counts; under that of a token or key, only what looks random.
    """
    for path, name, value in environment_variables(spec):
        if is_named_secret(name, value.strip()) and known_kind(value) is None:
            message = f"`{name}` contains what looks like a secret in plain text"
            yield Problem(path, message, _FIX)
