"""The endpoint's role: what SageMaker uses under it besides files and images, and what the spec adds to it.

Also which models come from AWS Marketplace, since that affects what the role must allow.
"""

import re
from collections.abc import Iterator
from math import ceil
from typing import Literal, get_args

import msgspec

from inferstack.catalog.regions import MARKETPLACE_ACCOUNTS
from inferstack.facts.async_inference import (
    CONFIG,
    NOTIFICATION,
    OUTPUT,
    TOPIC_KEYS,
    async_config,
    notification_config,
    output_config,
)
from inferstack.facts.kinds import hosts_components
from inferstack.facts.once import found_once
from inferstack.facts.walk import (
    components,
    containers,
    endpoint_config,
    every_variant,
    model_containers,
    models,
)
from inferstack.format.kinds import ExecutionRole, ModelSpec
from inferstack.problems import SpecPath
from inferstack.texts.arns import arn_fields

MOST_POLICIES = 10
"""How many managed policies a role may have unless AWS raises the quota."""

# ---------------------------------------------------------------- what is used under the role

Named = tuple[SpecPath, str]

_CONFIG = ("endpoint_config",)
_BASELINE = ("explainer_config", "clarify_explainer_config", "shap_config", "shap_baseline_config")
_LOGIN = ("image_config", "repository_auth_config", "repository_credentials_provider_arn")
_HUB = ("model_data_source", "s3_data_source", "hub_access_config", "hub_content_arn")


def results(spec: ModelSpec) -> Iterator[Named]:
    """S3 URLs that SageMaker writes captured data and asynchronous answers to."""
    config = endpoint_config(spec)
    if config.data_capture_config is not None:
        capture = config.data_capture_config
        yield (*_CONFIG, "data_capture_config", "destination_s3_uri"), capture.destination_s3_uri
    for key in ("s3_output_path", "s3_failure_path"):
        url = getattr(output_config(spec), key)
        if url is not None:
            yield (*OUTPUT, key), url


def requests(spec: ModelSpec) -> Iterator[Named]:
    """S3 URL under which clients put asynchronous requests."""
    config = async_config(spec)
    if config is not None and config.s3_input_path is not None:
        yield (*CONFIG, "s3_input_path"), config.s3_input_path


def core_dumps(spec: ModelSpec) -> Iterator[Named]:
    """S3 URLs that SageMaker writes core dumps to."""
    for path, variant in every_variant(spec):
        if variant.core_dump_config is not None:
            yield (
                (*path, "core_dump_config", "destination_s3_uri"),
                variant.core_dump_config.destination_s3_uri,
            )


def baselines(spec: ModelSpec) -> Iterator[Named]:
    """S3 URLs of the data that an explainer compares requests with."""
    explainer = endpoint_config(spec).explainer_config
    clarify = None if explainer is None else explainer.clarify_explainer_config
    url = None if clarify is None else clarify.shap_config.shap_baseline_config.shap_baseline_uri
    if url is not None:
        yield (*_CONFIG, *_BASELINE, "shap_baseline_uri"), url


def volume_keys(spec: ModelSpec) -> Iterator[Named]:
    """The KMS key of the instances' volumes."""
    key = endpoint_config(spec).kms_key_id
    if key is not None:
        yield (*_CONFIG, "kms_key_id"), key


def storage_keys(spec: ModelSpec) -> Iterator[Named]:
    """KMS keys for what is written to S3."""
    config = endpoint_config(spec)
    capture = config.data_capture_config
    found: list[tuple[SpecPath, str | None]] = []
    if capture is not None:
        found.append(((*_CONFIG, "data_capture_config"), capture.kms_key_id))
    found.append((OUTPUT, output_config(spec).kms_key_id))
    for path, variant in every_variant(spec):
        if variant.core_dump_config is not None:
            found.append(((*path, "core_dump_config"), variant.core_dump_config.kms_key_id))
    return (((*path, "kms_key_id"), key) for path, key in found if key is not None)


def file_keys(spec: ModelSpec) -> Iterator[Named]:
    """KMS keys that encrypt the model files."""
    for index, key in enumerate(additions(spec).kms_key_arns):
        yield ("execution_role", "kms_key_arns", index), key


def topics(spec: ModelSpec) -> Iterator[Named]:
    """SNS topics that are notified of asynchronous responses."""
    for key in TOPIC_KEYS:
        topic = getattr(notification_config(spec), key)
        if topic is not None:
            yield (*NOTIFICATION, key), topic


def login_functions(spec: ModelSpec) -> Iterator[Named]:
    """Lambda functions that return the credentials for private registries."""
    for path, _, container in model_containers(spec):
        config = container.image_config
        if config is not None and config.repository_auth_config is not None:
            yield (*path, *_LOGIN), config.repository_auth_config.repository_credentials_provider_arn


def model_packages(spec: ModelSpec) -> Iterator[Named]:
    """Model packages, by ARN or name."""
    for path, _, container in model_containers(spec):
        if container.model_package_name is not None:
            yield (*path, "model_package_name"), container.model_package_name


def hub_contents(spec: ModelSpec) -> Iterator[Named]:
    """Contents of model hubs."""
    for path, _, container in model_containers(spec):
        source = container.model_data_source
        access = None if source is None else source.s3_data_source.hub_access_config
        if access is not None:
            yield (*path, *_HUB), access.hub_content_arn


# ---------------------------------------------------------------- what the spec adds

OurSid = Literal[
    "ReadModelFiles",
    "ListModelFiles",
    "ReadRequests",
    "WriteResults",
    "PullImage",
    "LogInToRegistry",
    "UseKeys",
    "GrantKeys",
    "UseKeysByAlias",
    "GrantKeysByAlias",
    "DecryptFiles",
    "DecryptFilesByAlias",
    "JoinVpc",
    "LookAtVpc",
    "NotifyTopics",
    "AskRegistryCredentials",
    "ReadModelPackages",
    "ReadHubContent",
    "LookAtRollbackAlarms",
    "OpenSessions",
    "WriteLogs",
    "PublishMetrics",
]
"""Names of the statements that are made. Buckets after the first have a `ListModelFiles…Part…` each."""
LONGEST_POLICY = 6000
"""IAM allows a managed policy 6144 characters, not counting blanks; pseudo parameters only become shorter.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""
# How many of those characters are used on average if there are several policies.
_IN_ONE_OF_SEVERAL = 5000
# Characters that every role needs, and that each ARN needs in addition to the user's own text.
_ALWAYS, _OF_LOG_GROUP, _OF_FILES = 1800, 115, 40

_NO_ADDITIONS = ExecutionRole()


def additions(spec: ModelSpec) -> ExecutionRole:
    """What the spec adds to the created role; an empty block if it adds nothing, or names a role."""
    return spec.execution_role if isinstance(spec.execution_role, ExecutionRole) else _NO_ADDITIONS


def needs_role(spec: ModelSpec) -> bool:
    """Whether anything of the stack runs under the endpoint's role: a model that it makes, or components. A
    model that exists already has a role of its own.
    """
    return hosts_components(spec) or bool(models(spec))


def makes_role(spec: ModelSpec) -> bool:
    """Whether the stack makes the endpoint's role, instead of using one that the spec names."""
    return needs_role(spec) and not isinstance(spec.execution_role, str)


def is_our_sid(sid: str) -> bool:
    """Whether a created statement has this `sid`, or may have it."""
    return sid in get_args(OurSid) or re.fullmatch("ListModelFiles[0-9]+Part[0-9]+", sid) is not None


def policies_made(spec: ModelSpec) -> int:
    """Roughly how many policies are created; none if the role is not."""
    if not makes_role(spec):
        return 0
    length = _ALWAYS + sum(_lengths(spec))
    return 1 if length <= LONGEST_POLICY else ceil(length / _IN_ONE_OF_SEVERAL)


def _lengths(spec: ModelSpec) -> Iterator[int]:
    for _, name, _ in components(spec):
        yield _OF_LOG_GROUP + len(name)
    for placed in containers(spec):
        if placed.url is not None:
            # The URL occurs twice: in the right to read it and in the right to list it.
            yield _OF_FILES + 2 * len(placed.url)
    for statement in additions(spec).statements:
        yield len(msgspec.json.encode(statement))


# ---------------------------------------------------------------- models from AWS Marketplace


@found_once
def marketplace_packages(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None]]:
    """The path of each container from AWS Marketplace, and the name of its model under `models`."""
    for path, name, container in model_containers(spec):
        if container.model_package_name is not None and _is_sold(container.model_package_name, spec.account):
            yield path, name


def _is_sold(package: str, own_account: str | None) -> bool:
    """Whether a package is in Marketplace's account, or looks like one of its packages if that is not known.

    Marketplace's packages belong to no group and so have no version; packages that accounts share with each
    other mostly have one.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModelPackage.html
    """
    match arn_fields(package):
        case ["arn", _, "sagemaker", region, account, name]:
            is_of_another = own_account is not None and account.isdigit() and account != own_account
            has_the_form = name.count("/") == 1 and is_of_another
            where_unknown = region not in MARKETPLACE_ACCOUNTS
            return account in MARKETPLACE_ACCOUNTS.values() or (where_unknown and has_the_form)
        case _:
            return False
