"""The model registry: which version of a group a spec means, and whether it is still approved.

https://docs.aws.amazon.com/sagemaker/latest/dg/model-registry-approve.html
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.check.lock.file import Pin, PinnedContainer
from inferstack.check.lock.pins import LATEST
from inferstack.format.model import ModelPackage
from inferstack.texts.arns import arn_fields

APPROVED = "Approved"
_COMPLETED = "Completed"
_RIGHTS = (
    "pinning needs sagemaker:ListModelPackages on the group and sagemaker:DescribeModelPackage on its"
    " versions; a group of another account also needs a resource policy that allows both"
)


def pinned(package: ModelPackage, connection: Connection, account: str | None) -> Pin:
    """The version that a spec's model package stands for. ``account`` is the one that the spec names.

    Raises:
        AccountError: when there is no such version, it is not approved, or AWS cannot be asked.
    """
    group, client = _group(package, connection, account)
    version = described(_arn(package, group, client), client)
    if version.approval != APPROVED:
        how = f"aws sagemaker update-model-package --model-package-arn {version.arn}"
        message = f"{version.arn} is not approved, but {version.approval}"
        raise AccountError(f"{message}; approve it: {how} --model-approval-status {APPROVED}")
    return version


def latest_approved(package: ModelPackage, connection: Connection, account: str | None) -> str:
    """The ARN of the newest approved version of a group.

    Raises:
        AccountError: when there is none, or AWS cannot be asked.
    """
    return _latest(*_group(package, connection, account))


def client_of(arn: str, connection: Connection) -> Any:
    """A boto3 client for the region of a model package."""
    return connection.sagemaker(arn_fields(arn)[3])


def described(arn: str, client: Any) -> Pin:
    """A version as the registry describes it now.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeModelPackage.html

    Raises:
        AccountError: when AWS does not describe it, or it is not complete.
    """
    with explained(f"{arn} cannot be looked at", rights=_RIGHTS):
        description = client.describe_model_package(ModelPackageName=arn)
    if description["ModelPackageStatus"] != _COMPLETED:
        raise AccountError(
            f"{arn} is not complete, but {description['ModelPackageStatus']}; register it again"
        )
    containers = description.get("InferenceSpecification", {}).get("Containers", ())
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Pin(
        arn=description["ModelPackageArn"],
        version=description["ModelPackageVersion"],
        approval=description.get("ModelApprovalStatus", "PendingManualApproval"),
        pinned=now,
        containers=tuple(map(_container, containers)),
    )


def _container(found: Mapping[str, Any]) -> PinnedContainer:
    source = found.get("ModelDataSource", {}).get("S3DataSource", {})
    return PinnedContainer(
        image=found["Image"],
        image_digest=found.get("ImageDigest"),
        model_data_url=found.get("ModelDataUrl", source.get("S3Uri")),
        model_data_etag=found.get("ModelDataETag", source.get("ETag")),
    )


# ---------------------------------------------------------------- Groups and their versions


def _group(package: ModelPackage, connection: Connection, account: str | None) -> tuple[str, Any]:
    """The group as AWS's requests name it, and a client for its region."""
    group = connection.filled(package.group)
    if group.startswith("arn:"):
        return group, client_of(group, connection)
    if account not in (None, connection.account):
        message = f"{group} is in the account {account}, but the credentials are for {connection.account}"
        raise AccountError(f"{message}; use credentials for {account}, or name the group by its ARN")
    if connection.region is None:
        raise AccountError(f"{group} needs a region; set AWS_REGION, or `env: {{region: …}}` in the spec")
    return group, connection.sagemaker(connection.region)


def _arn(package: ModelPackage, group: str, client: Any) -> str:
    if package.version == LATEST:
        return _latest(group, client)
    newest = None
    for version in _versions(group, client):
        number = version.get("ModelPackageVersion")
        if str(number) == str(package.version):
            return str(version["ModelPackageArn"])
        newest = number if newest is None else newest
    has = "none" if newest is None else f"{newest} as the newest"
    raise AccountError(f"{group} has no version {package.version}, but {has}; correct `version` in the spec")


def _latest(group: str, client: Any) -> str:
    for version in _versions(group, client, ModelApprovalStatus=APPROVED):
        if version["ModelPackageStatus"] == _COMPLETED:
            return str(version["ModelPackageArn"])
    fix = "approve one with `aws sagemaker update-model-package`"
    raise AccountError(f"no version of {group} is approved; {fix}")


def _versions(group: str, client: Any, **asked: str) -> Iterator[Mapping[str, Any]]:
    """The versions of a group, the newest first. A page may be empty and yet not be the last.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListModelPackages.html
    """
    pages = client.get_paginator("list_model_packages")
    newest_first = {"SortBy": "CreationTime", "SortOrder": "Descending"}
    with explained(f"the versions of {group} cannot be listed", rights=_RIGHTS):
        for page in pages.paginate(ModelPackageGroupName=group, **newest_first, **asked):
            yield from page["ModelPackageSummaryList"]
