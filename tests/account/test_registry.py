"""What the model registry says about a version, in each form that its answers have."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from inferstack.account.connection import AccountError
from inferstack.account.registry import described
from inferstack.check.lock.file import Pin

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


def test_a_pin_says_when_it_was_made() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    made = datetime.strptime(answered().pinned, "%Y-%m-%dT%H:%M:%S%z")
    assert before <= made <= datetime.now(UTC)
