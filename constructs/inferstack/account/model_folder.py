"""The folder of a model in S3: its small files, and parts of the large ones."""

from collections.abc import Mapping
from typing import Any

from inferstack.account.bucket import S3Place, client_for
from inferstack.account.connection import AccountError, Connection, explained

_RIGHTS = "reading needs s3:ListBucket on the bucket, and s3:GetObject on its objects"
_MOST_PAGES = 50


class S3Folder:
    """The objects under a prefix.

    Raises:
        AccountError: from its methods, when S3 cannot be asked.
    """

    def __init__(self, place: S3Place, connection: Connection) -> None:
        self.place = place
        self.client: Any = client_for(place.bucket, connection, region=None)

    def sizes(self) -> Mapping[str, int]:
        """The bytes of each object directly under the prefix."""
        found: dict[str, int] = {}
        more: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            with explained(f"the objects under {self.place} cannot be listed", rights=_RIGHTS):
                page = self.client.list_objects_v2(
                    Bucket=self.place.bucket, Prefix=self.place.key, Delimiter="/", **more
                )
                for it in page.get("Contents", ()):
                    found[str(it["Key"]).removeprefix(self.place.key)] = int(it["Size"])
            if not page.get("IsTruncated") or not page.get("NextContinuationToken"):
                return found
            more = {"ContinuationToken": str(page["NextContinuationToken"])}
        raise AccountError(f"{self.place} has more objects than a model; name the folder of one model")

    def read(self, name: str, start: int, length: int) -> bytes:
        """A part of an object; shorter at its end."""
        if not length:
            return b""
        key = f"{self.place.key}{name}"
        with explained(f"s3://{self.place.bucket}/{key} cannot be read", rights=_RIGHTS):
            part = f"bytes={start}-{start + length - 1}"
            answer = self.client.get_object(Bucket=self.place.bucket, Key=key, Range=part)
            content: bytes = answer["Body"].read()
        return content[:length]
