"""Where archives go: the bucket and key that a URL means, and how S3 encrypts what is put there."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from inferstack.account.connection import AccountError, Connection, error_code, explained
from inferstack.resolve.images import s3_location
from inferstack.texts.arns import KMS_KEY
from inferstack.texts.placeholders import PLACEHOLDER
from inferstack.texts.s3_urls import ARCHIVE_SUFFIX

# ---------------------------------------------------------------- Encryption
#
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/serv-side-encryption.html


S3_KEY = "AES256"
ALGORITHMS = (S3_KEY, "aws:kms", "aws:kms:dsse")
"""What S3 can encrypt an object of a bucket with; its API's other values are for file systems and backups."""


class Encryption(NamedTuple):
    """The requested encryption, under the AWS CLI's names; None leaves it to the bucket."""

    sse: str | None = None
    sse_kms_key_id: str | None = None

    @property
    def arguments(self) -> dict[str, str]:
        """boto3's arguments for every request that makes an object."""
        asked = {"ServerSideEncryption": self.sse, "SSEKMSKeyId": self.sse_kms_key_id}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def options(self) -> str:
        """The command-line options for it, which are the same in the AWS CLI and in ours."""
        asked = {"--sse": self.sse, "--sse-kms-key-id": self.sse_kms_key_id}
        return " ".join(f"{name} {value}" for name, value in asked.items() if value is not None)

    def is_of(self, there: Mapping[str, Any]) -> bool:
        """Whether S3 reports this for an object. For an alias any key passes: only KMS can resolve it."""
        key, asked = there.get("SSEKMSKeyId"), self.sse_kms_key_id
        same_key = asked is None or key is None or "alias/" in asked or _id(key) == _id(asked)
        return self.sse in (None, there.get("ServerSideEncryption")) and same_key


AS_THE_BUCKET_SAYS = Encryption()


def is_key(text: str) -> bool:
    """Whether a text has the form of a key's id or ARN, or of an alias or its ARN."""
    # Compiled when a key is named: every command imports this.
    return re.fullmatch(KMS_KEY, text) is not None


def encryption_of(there: Mapping[str, Any]) -> str:
    """What an object is encrypted with, according to S3's answer."""
    algorithm, key = there.get("ServerSideEncryption"), there.get("SSEKMSKeyId")
    return f"{algorithm}" if key is None else f"{algorithm} by {key}"


def _id(key: str) -> str:
    return key.rpartition("/")[2]


# ---------------------------------------------------------------- Buckets and places


_HEADER = "x-amz-bucket-region"


class S3Place(NamedTuple):
    """A bucket and a key in it."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def s3_place(url: str, connection: Connection, *, account: str | None) -> S3Place:
    """The place that a spec's URL means, with ``${AWS::AccountId}`` and other pseudo parameters filled in.

    ``account`` is the one that the spec names, None if it names none.

    Raises:
        AccountError: when the URL needs a region and none is known, or when it has ``${AWS::AccountId}`` and
            the credentials are of another account than ``account``.
    """
    values = connection.pseudo_parameters
    names = [name for name in PLACEHOLDER.findall(url) if name.startswith("AWS::")]
    if "AWS::AccountId" in names and account not in (None, connection.account):
        message = f"{url} is in the account {account}, but the credentials are for {connection.account}"
        raise AccountError(f"{message}; use credentials for {account}")
    if any(name not in values for name in names):
        raise AccountError(f"{url} needs a region; set AWS_REGION, or `env: {{region: …}}` in the spec")
    place = s3_location(connection.filled(url))
    return S3Place(place.bucket, place.key or "")


def client_for(bucket: str, connection: Connection, *, region: str | None) -> Any:
    """A boto3 client of S3 in the bucket's own region.

    ``region`` is the endpoint's, None if the spec does not name it: SageMaker only reads models in its own
    region, see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html

    Raises:
        AccountError: when there is no such bucket, S3 cannot be asked, or the bucket is in another region.
    """
    bucket_region = region_of(bucket, connection)
    if region is not None and bucket_region is not None and bucket_region != region:
        message = f"the bucket {bucket} is in {bucket_region}, but the endpoint is in {region}"
        raise AccountError(f"{message}: SageMaker only reads models in its own region; name a bucket there")
    return connection.s3(bucket_region)


def archives_under(place: S3Place, client: Any) -> tuple[str, ...]:
    """Names, without the prefix, of the `.tar.gz` archives directly under it: at most the first thousand keys
    are looked at.

    https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html

    Raises:
        AccountError: when the bucket cannot be listed.
    """
    with explained(f"the objects under {place} cannot be listed"):
        listing = client.list_objects_v2(Bucket=place.bucket, Prefix=place.key, Delimiter="/")
    names = (str(entry.get("Key", "")).removeprefix(place.key) for entry in listing.get("Contents", ()))
    return tuple(name for name in names if name.endswith(ARCHIVE_SUFFIX))


def region_of(bucket: str, connection: Connection) -> str | None:
    """The region that a bucket is in; None if the answer does not say it.

    Raises:
        AccountError: when there is no such bucket, or S3 cannot be asked.
    """
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    with explained(f"the bucket {bucket} cannot be used"):
        try:
            answer = connection.s3().head_bucket(Bucket=bucket)
        except ClientError as error:
            if error_code(error) != "403":
                raise
            # Without the right to list a bucket one may put objects into it, and the answer says where it is.
            answer = error.response
    headers = answer["ResponseMetadata"].get("HTTPHeaders", {})
    region = answer.get("BucketRegion", headers.get(_HEADER))
    return None if region is None else str(region)
