"""How S3 is asked to encrypt archives, and whether an archive is encrypted so.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/serv-side-encryption.html
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from inferstack.catalog.kms import KMS_KEY

S3_KEY = "AES256"
ALGORITHMS = (S3_KEY, "aws:kms", "aws:kms:dsse")
"""What S3 encrypts an object of a bucket with; what else its API knows is for file systems and backups."""


class Encryption(NamedTuple):
    """What is asked for, under the AWS CLI's names; None leaves it to the bucket."""

    sse: str | None = None
    sse_kms_key_id: str | None = None

    @property
    def arguments(self) -> dict[str, str]:
        """What every request that makes an object says."""
        asked = {"ServerSideEncryption": self.sse, "SSEKMSKeyId": self.sse_kms_key_id}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def options(self) -> str:
        """As it is written for the AWS CLI and for ours."""
        asked = {"--sse": self.sse, "--sse-kms-key-id": self.sse_kms_key_id}
        return " ".join(f"{name} {value}" for name, value in asked.items() if value is not None)

    def is_of(self, there: Mapping[str, Any]) -> bool:
        """Whether S3 says so of an object; only KMS knows which key an alias means."""
        key, asked = there.get("SSEKMSKeyId"), self.sse_kms_key_id
        same_key = asked is None or key is None or "alias/" in asked or _id(key) == _id(asked)
        return self.sse in (None, there.get("ServerSideEncryption")) and same_key


AS_THE_BUCKET_SAYS = Encryption()


def is_key(text: str) -> bool:
    """Whether a text has the form of a key's id or ARN, or of an alias or its ARN."""
    # Compiled when a key is named: every command imports this.
    return re.fullmatch(KMS_KEY, text) is not None


def described(there: Mapping[str, Any]) -> str:
    """What S3 says that an object is encrypted with."""
    algorithm, key = there.get("ServerSideEncryption"), there.get("SSEKMSKeyId")
    return f"{algorithm}" if key is None else f"{algorithm} by {key}"


def _id(key: str) -> str:
    return key.rpartition("/")[2]
