"""What the model registry says about a version, in each form that its answers have."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from msgspec.structs import replace
from support.stubbed import StubbedSession

from inferstack.account.connection import AccountError
from inferstack.account.registry import described, latest_approved
from inferstack.check.lock.file import Pin
from inferstack.format.model import ModelPackage

ARN = "arn:aws:sagemaker:us-east-1:123456789012:model-package/churn/1"
IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/churn:1"
ALWAYS: dict[str, Any] = {
    "ModelPackageName": "churn",
    "ModelPackageArn": ARN,
    "ModelPackageVersion": 1,
    "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
    "ModelPackageStatus": "Completed",
    "ModelPackageStatusDetails": {"ValidationStatuses": []},
}


def answered(**more: Any) -> Pin:
    """The version as it is described by an answer, which must be one that SageMaker could give."""
    client = boto3.client("sagemaker", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stub:
        stub.add_response("describe_model_package", {**ALWAYS, **more}, {"ModelPackageName": ARN})
        return described(ARN, client)


def files_of(**container: Any) -> tuple[str | None, str | None]:
    types = {"SupportedContentTypes": ["text/csv"], "SupportedResponseMIMETypes": ["text/csv"]}
    said = {"Containers": [{"Image": IMAGE, **container}], **types}
    [found] = answered(InferenceSpecification=said).containers
    assert (found.image, found.image_digest) == (IMAGE, container.get("ImageDigest"))
    return found.model_data_url, found.model_data_etag


@pytest.mark.parametrize("status", ["Pending", "InProgress", "Failed", "Deleting"])
def test_what_is_not_complete_is_not_taken(status: str) -> None:
    with pytest.raises(AccountError, match=f"^{ARN} is not complete, but {status}; register it again$"):
        answered(ModelPackageStatus=status)


def test_a_version_without_an_approval_waits_for_one() -> None:
    assert answered().approval == "PendingManualApproval"
    assert answered(ModelApprovalStatus="Rejected").approval == "Rejected"


def test_a_container_may_have_no_files_or_name_them_in_one_of_two_ways() -> None:
    source = {"S3DataType": "S3Prefix", "CompressionType": "None", "S3Uri": "s3://acme-models/churn/"}
    assert files_of() == (None, None)
    assert files_of(
        ModelDataUrl="s3://acme-models/churn.tar.gz", ModelDataETag="e1", ImageDigest="sha256:1"
    ) == (
        "s3://acme-models/churn.tar.gz",
        "e1",
    )
    assert files_of(ModelDataSource={"S3DataSource": source}) == ("s3://acme-models/churn/", None)
    assert files_of(ModelDataSource={"S3DataSource": {**source, "ETag": "e2"}}) == (
        "s3://acme-models/churn/",
        "e2",
    )


def test_a_version_without_containers_has_none() -> None:
    assert answered().containers == ()


# ---------------------------------------------------------------- Groups


def group(name: str = "churn") -> ModelPackage:
    return ModelPackage(group=name, version="latest-approved")


def versions(*numbers: int) -> dict[str, Any]:
    always = {name: it for name, it in ALWAYS.items() if name != "ModelPackageStatusDetails"}
    listed = [{**always, "ModelPackageVersion": it, "ModelPackageArn": f"{ARN[:-1]}{it}"} for it in numbers]
    return {"ModelPackageSummaryList": listed}


def test_the_newest_approved_version_is_asked_for_and_the_first_one_taken() -> None:
    session = StubbedSession()
    asked = {"SortBy": "CreationTime", "SortOrder": "Descending", "ModelApprovalStatus": "Approved"}
    session.stub("sagemaker").add_response(
        "list_model_packages", versions(3, 2), {"ModelPackageGroupName": "churn", **asked}
    )
    assert latest_approved(group(), session.connection("eu-west-1"), None) == f"{ARN[:-1]}3"
    assert session.made == [("sagemaker", "eu-west-1")]


def test_a_group_that_is_named_by_its_arn_is_asked_for_where_it_is() -> None:
    session, arn = StubbedSession(), "arn:aws:sagemaker:eu-west-3:444455556666:model-package-group/churn"
    asked = {"SortBy": "CreationTime", "SortOrder": "Descending", "ModelApprovalStatus": "Approved"}
    session.stub("sagemaker").add_response(
        "list_model_packages", versions(1), {"ModelPackageGroupName": arn, **asked}
    )
    assert latest_approved(group(arn), session.connection(), "444455556666") == ARN
    assert session.made == [("sagemaker", "eu-west-3")]


def test_a_group_without_a_region_is_looked_up_nowhere() -> None:
    nowhere = replace(StubbedSession().connection(), region=None)
    with pytest.raises(
        AccountError, match=r"^churn needs a region; set AWS_REGION, or `env: {region: …}` in"
    ):
        latest_approved(group(), nowhere, None)


def test_a_pin_says_when_it_was_made() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    made = datetime.strptime(answered().pinned, "%Y-%m-%dT%H:%M:%S%z")
    assert before <= made <= datetime.now(UTC)
