"""The stack's account and region, and whether what the ARNs of a spec name can be used from there.

ARNs that alarms call have a rule of their own, IS810, and so have images, IS702.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from inferstack.catalog import regions
from inferstack.check.rules.base import AWS, GUIDE, error, warning
from inferstack.facts.once import found_once
from inferstack.facts.role import (
    Named,
    hub_contents,
    login_functions,
    model_packages,
    storage_keys,
    topics,
    volume_keys,
)
from inferstack.facts.walk import every_variant, region_of
from inferstack.format.kinds import ExecutionRole, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import did_you_mean
from inferstack.texts.arns import arn_fields
from inferstack.texts.placeholders import is_settled

# ---------------------------------------------------------------- the stack's region


_ENVIRONMENTS = f"{AWS}/cdk/v2/guide/environments.html"
_ENDPOINTS_OF_REGIONS = f"{AWS}/general/latest/gr/sagemaker.html"
_PARTITIONS = f"{AWS}/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html"
_PASS_ROLE = f"{AWS}/IAM/latest/UserGuide/id_roles_use_passrole.html"
_KMS = f"{AWS}/kms/latest/developerguide/key-policies.html"
_REGIONS = f"{GUIDE}/regions-quotas.html"


@error("IS710", _ENDPOINTS_OF_REGIONS)
def region_has_the_form(spec: ModelSpec) -> Iterator[Problem]:
    """`env.region` must have the form of a region's name.

    A region too new to be known passes here.
    """
    region = _region(spec)
    if region is not None and not regions.has_form(region):
        yield Problem(("env", "region"), f'"{region[:60]}" is not a valid AWS region', _suggestion(region))


@warning("IS711", _ENDPOINTS_OF_REGIONS)
def region_is_known(spec: ModelSpec) -> Iterator[Problem]:
    """`env.region` should be a region that this version of inferstack knows.

    A new region may be right, but a typo is more likely.
    """
    region = _region(spec)
    if region is not None and not regions.is_region(region) and regions.has_form(region):
        yield Problem(("env", "region"), f"{region} is not a known region", _suggestion(region))


@error("IS712", _ENVIRONMENTS)
def place_is_plain(spec: ModelSpec) -> Iterator[Problem]:
    """`env` must have a plain account and region, known before the deployment.

    CDK and its CLI read it before anything is deployed, so no placeholder will do.
    """
    for key, value in (("account", spec.account), ("region", spec.region)):
        if value is not None and not is_settled(value):
            message = f'"{value[:60]}" is known only at deployment'
            yield Problem(("env", key), message, f"remove it to use the {key} of the deployment")


def _region(spec: ModelSpec) -> str | None:
    region = spec.region
    return region if region is not None and is_settled(region) else None


def _suggestion(region: str) -> str:
    return did_you_mean(region, regions.names(), "write a name such as `us-east-1`")


# ---------------------------------------------------------------- what ARNs name


class _Kind(NamedTuple):
    """What an ARN names, whether AWS refuses one from another account or region, and whether it has a policy
    of its own that may let another account use it."""

    what: str
    of_own_account: bool = False
    of_own_region: bool = False
    may_be_shared: bool = False


_ROLE = _Kind("role", of_own_account=True)
_POLICY = _Kind("policy", of_own_account=True)
# RDS's API reference says of KMS in general that a region cannot use another region's keys:
# https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstanceReadReplica.html
_VOLUME_KEY = _Kind("key", of_own_region=True, may_be_shared=True)
# SageMaker answers "ARN should be scoped to correct region":
# https://github.com/aws/amazon-sagemaker-examples/issues/1444
_PACKAGE = _Kind("model package", of_own_region=True)
# For these it is not documented. A key that S3 uses is in the bucket's region, which may be another one.
_KEY = _Kind("key", may_be_shared=True)
_TOPIC = _Kind("topic", may_be_shared=True)
_FUNCTION = _Kind("function")
_HUB_CONTENT = _Kind("hub content")
_RESERVATION = _Kind("reservation")
_USED: Mapping[_Kind, Callable[[ModelSpec], Iterator[Named]]] = {
    _VOLUME_KEY: volume_keys,
    _KEY: storage_keys,
    _TOPIC: topics,
    _PACKAGE: model_packages,
    _FUNCTION: login_functions,
    _HUB_CONTENT: hub_contents,
}


class _Arn(NamedTuple):
    path: SpecPath
    kind: _Kind
    partition: str
    region: str
    account: str


@found_once
def _arns(spec: ModelSpec) -> Iterator[_Arn]:
    for path, text, kind in _texts(spec):
        match arn_fields(text or ""):
            case ["arn", partition, _, region, account, *_]:
                yield _Arn(path, kind, partition, region, account)
            case _:
                # A name, or an ARN that only the deployment knows.
                pass


_Text = tuple[SpecPath, str | None, _Kind]


def _texts(spec: ModelSpec) -> Iterator[_Text]:
    yield from _of_role(spec.execution_role)
    for path, variant in every_variant(spec):
        if variant.capacity_reservation_config is not None:
            reservation = variant.capacity_reservation_config.ml_reservation_arn
            yield (*path, "capacity_reservation_config", "ml_reservation_arn"), reservation, _RESERVATION
    for kind, named in _USED.items():
        yield from ((path, text, kind) for path, text in named(spec))


def _of_role(role: str | ExecutionRole | None) -> Iterator[_Text]:
    if isinstance(role, str):
        yield ("execution_role",), role, _ROLE
    elif role is not None:
        yield ("execution_role", "permissions_boundary"), role.permissions_boundary, _POLICY
        for key, kind in (("managed_policy_arns", _POLICY), ("kms_key_arns", _KEY)):
            for index, arn in enumerate(getattr(role, key)):
                yield ("execution_role", key, index), arn, kind


@error("IS713", _PARTITIONS)
def arns_are_in_the_partition(spec: ModelSpec) -> Iterator[Problem]:
    """The resource of an ARN must be in the stack's partition.

    Partitions have neither accounts nor resources in common.
    """
    region = region_of(spec)
    if region is None:
        return
    own = regions.partition(region)
    for arn in _arns(spec):
        if is_settled(arn.partition) and arn.partition != own:
            message = f"the {arn.kind.what} is in the partition `{arn.partition}`, but {region} is in `{own}`"
            yield Problem(arn.path, message, f"write `arn:{own}:…`, or `arn:${{AWS::Partition}}:…`")


@error("IS714", _PASS_ROLE)
def roles_are_of_the_account(spec: ModelSpec) -> Iterator[Problem]:
    """The role and its policies must belong to the stack's account.

    A role can only be passed to services of its own account, and only have that account's policies:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html
    """
    own = spec.account
    for arn in _arns(spec) if own is not None and is_settled(own) else ():
        # AWS's own policies belong to the account `aws`.
        if arn.kind.of_own_account and is_settled(arn.account) and arn.account not in (own, "aws"):
            message = f"the {arn.kind.what} belongs to account {arn.account}, but the stack to {own}"
            yield Problem(arn.path, message, f"use a {arn.kind.what} of {own}")


@warning("IS717", _KMS)
def keys_and_topics_are_of_the_account(spec: ModelSpec) -> Iterator[Problem]:
    """KMS keys and SNS topics should belong to the stack's account.

    Another account's are allowed if their policies let this one use them, which nothing here can see.
    """
    own = spec.account
    for arn in _arns(spec) if own is not None and is_settled(own) else ():
        if arn.kind.may_be_shared and is_settled(arn.account) and arn.account != own:
            message = f"the {arn.kind.what} belongs to account {arn.account}, but the stack to {own}"
            fix = f"use a {arn.kind.what} of {own}, or let its policy allow {own}, then ignore IS717"
            yield Problem(arn.path, message, fix)


@error("IS715", _KMS)
def keys_and_packages_are_in_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """Model packages, and the KMS key of volumes, must be in the stack's region.

    A replica of a multi-region key has an ARN of its own in each region.
    """
    return _elsewhere(spec, lambda kind: kind.of_own_region)


@warning("IS716", _REGIONS)
def arns_are_in_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """The resource of an ARN should be in the stack's region. Whether AWS accepts another is not documented.

    A key that S3 uses is in the region of the bucket, and model files are in that of the endpoint.
    """
    return _elsewhere(spec, lambda kind: not kind.of_own_region)


def _elsewhere(spec: ModelSpec, of_kind: Callable[[_Kind], bool]) -> Iterator[Problem]:
    region = region_of(spec)
    if region is None:
        return
    for arn in _arns(spec):
        # IAM has no region.
        elsewhere = arn.region not in ("", region) and is_settled(arn.region)
        # In another partition, more is wrong than the region.
        near = not is_settled(arn.partition) or arn.partition == regions.partition(region)
        if elsewhere and near and of_kind(arn.kind):
            message = f"the {arn.kind.what} is in {arn.region}, but the stack is in {region}"
            yield Problem(arn.path, message, f"use a {arn.kind.what} in {region}")
