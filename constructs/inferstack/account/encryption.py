"""How S3 is asked to encrypt archives, and whether an archive is encrypted in that way.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/serv-side-encryption.html
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from inferstack.catalog.kms import KMS_KEY

S3_KEY = "AES256"
ALGORITHMS = (S3_KEY, "aws:kms", "aws:kms:dsse")
"""What S3 can encrypt an object of a bucket with; its API's other values are for file systems and backups."""


class Encryption(NamedTuple):
    """What is asked for, under the AWS CLI's names; None leaves it to the bucket."""

    sse: str | None = None
    sse_kms_key_id: str | None = None

    @property
    def arguments(self) -> dict[str, str]:
        """boto3's arguments for every request that makes an object."""
        asked = {"ServerSideEncryption": self.sse, "SSEKMSKeyId": self.sse_kms_key_id}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def options(self) -> str:
        """The options for it, which the AWS CLI and ours have in common."""
        asked = {"--sse": self.sse, "--sse-kms-key-id": self.sse_kms_key_id}
        return " ".join(f"{name} {value}" for name, value in asked.items() if value is not None)

    def is_of(self, there: Mapping[str, Any]) -> bool:
        """Whether S3 says this about an object. For an alias any key passes: only KMS knows which it is."""
        key, asked = there.get("SSEKMSKeyId"), self.sse_kms_key_id
        same_key = asked is None or key is None or "alias/" in asked or _id(key) == _id(asked)
        return self.sse in (None, there.get("ServerSideEncryption")) and same_key


AS_THE_BUCKET_SAYS = Encryption()


def is_key(text: str) -> bool:
    """Whether a text has the form of a key's id or ARN, or of an alias or its ARN."""
    # Compiled when a key is named: every command imports this.
    return re.fullmatch(KMS_KEY, text) is not None


def described(there: Mapping[str, Any]) -> str:
    """What an object is encrypted with, from S3's answer about it."""
    algorithm, key = there.get("ServerSideEncryption"), there.get("SSEKMSKeyId")
    return f"{algorithm}" if key is None else f"{algorithm} by {key}"


def _id(key: str) -> str:
    return key.rpartition("/")[2]
