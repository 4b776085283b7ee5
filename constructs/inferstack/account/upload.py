"""Uploads archives to S3: complete or not at all, never over something else, and only once."""

import base64
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from inferstack.account.bucket import AS_THE_BUCKET_SAYS, Encryption, S3Place, described
from inferstack.account.connection import AccountError, error_code, explained

# ---------------------------------------------------------------- Transfers
#
# An archive moves in parts, by boto3's own transfers; there is no object before the last part has arrived.
# Each part has its SHA-256, which S3 checks on arrival, and no transfer overwrites an object of the same
# name: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html


PART = 16 << 20
"""Bytes of a part; more where an archive would have too many parts. A smaller archive is sent as a whole."""
DIGEST = "inferstack-sha256"
"""Metadata with an archive's SHA-256: S3 has no digest of the whole of an object that came in parts."""
_MOST_PARTS = 10_000
_MIB = 1 << 20
_TAKEN = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}
_MAKING = ("PutObject", "CopyObject", "CompleteMultipartUpload")


class Archive(NamedTuple):
    """A file to upload: its size in bytes and SHA-256 in hex."""

    path: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """``progress`` gets the number of bytes that arrived, or a negative one when some are sent again."""

    client: Any
    archive: Archive
    place: S3Place
    progress: Callable[[int], None]
    encryption: Encryption

    def send(self) -> bool:
        """Sends the archive from this machine; False when somebody else took the place in the meantime.

        Raises:
            AccountError: when the file changed after it was packed.
            S3UploadFailedError: when S3 refuses it; the cause is its context.
        """
        from boto3.exceptions import S3UploadFailedError  # noqa: PLC0415 - comes with an extra

        arguments = {**self._of_the_object(), **self._checksum()}
        told, config = _one_at_a_time(self.progress), self._config()
        try:
            self.client.upload_file(str(self.archive.path), *self.place, arguments, told, config)
        except S3UploadFailedError as error:
            if error_code(error.__context__) in _TAKEN:
                return False
            raise
        return True

    def copy(self, source: S3Place, etag: str) -> None:
        """Has S3 copy the archive from another place, on condition that the object there has this ETag.

        Raises:
            ClientError: when S3 does not copy it, or somebody else took the place meanwhile.
        """
        from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

        # Copying tags would take more rights, and archives that are sent from here have no tags.
        arguments = {**self._of_the_object(), "ChecksumAlgorithm": "SHA256", "CopySourceIfMatch": etag}
        arguments |= {"MetadataDirective": "REPLACE", "TaggingDirective": "REPLACE"}
        named = {"Bucket": source.bucket, "Key": source.key}
        copied: list[int] = []

        def tell(done: int) -> None:
            copied.append(done)
            self.progress(done)

        told, config = _one_at_a_time(tell), self._config()
        try:
            self.client.copy(named, *self.place, arguments, told, None, config)
        except ClientError:
            self.progress(-sum(copied))
            raise

    def _of_the_object(self) -> dict[str, Any]:
        return {"Metadata": {DIGEST: self.archive.sha256}, **self.encryption.arguments}

    def _checksum(self) -> dict[str, str]:
        if self.archive.size < part_size(self.archive.size):
            return {"ChecksumSHA256": base64.b64encode(bytes.fromhex(self.archive.sha256)).decode()}
        _expect_unchanged(self.archive)
        return {"ChecksumAlgorithm": "SHA256"}

    def _config(self) -> Any:
        from boto3.s3.transfer import TransferConfig  # noqa: PLC0415 - comes with an extra

        for operation in _MAKING:
            event = f"provide-client-params.s3.{operation}"
            # The name makes sure that it is registered only once for each client.
            self.client.meta.events.register(event, _if_absent, f"if-absent-{event}")
        part = part_size(self.archive.size)
        # The other kind of transfer client, which some machines have, does not know the condition.
        return TransferConfig(
            multipart_threshold=part, multipart_chunksize=part, preferred_transfer_client="classic"
        )


def part_size(size: int) -> int:
    """Bytes of each part of an archive: whole MiB, and not more parts than S3 takes.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
    """
    least = -(-size // _MOST_PARTS)
    return max(PART, -(-least // _MIB) * _MIB)


def _if_absent(params: dict[str, Any], **_: object) -> dict[str, Any]:
    """Adds the condition that boto3's transfers do not support yet."""
    return {**params, "IfNoneMatch": "*"}


def _one_at_a_time(progress: Callable[[int], None]) -> Callable[[int], None]:
    lock = threading.Lock()

    def tell(done: int) -> None:
        with lock:
            progress(done)

    return tell


def _expect_unchanged(archive: Archive) -> None:
    """Compares the digest of the whole archive here, since S3 only knows those of its parts."""
    with archive.path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != archive.sha256:
        raise AccountError(f"{archive.path} changed after it was packed; run the command again")


# ---------------------------------------------------------------- One archive


UPLOADED, WAS_THERE, COPIED = "uploaded", "was there already", "copied from"


class Stored(NamedTuple):
    """An archive in S3: how it got there, and the KMS key that encrypts it, if one does."""

    outcome: str
    key: str | None


def upload(
    client: Any,
    archive: Archive,
    place: S3Place,
    progress: Callable[[int], None],
    encryption: Encryption = AS_THE_BUCKET_SAYS,
    former: S3Place | None = None,
) -> Stored:
    """Puts an archive in its place, unless it is there already.

    ``progress`` gets the number of bytes that were sent, or a negative one when some are sent again.
    ``former`` is a place that may have the same archive: S3 then copies it, and if S3 does not, it is sent.

    Raises:
        AccountError: when S3 refuses it, something else has the name, or it is there but encrypted otherwise.
    """
    with explained(f"{place} cannot be uploaded"):
        there, outcome = _look(client, place), WAS_THERE
        if there is None:
            outcome = _brought(Transfer(client, archive, place, progress, encryption), former)
            there = _look(client, place)
    if there is None:
        raise AccountError(f"{place} was uploaded, but is gone; find out who else writes to the bucket")
    _expect(there, archive, place)
    _expect_encrypted(there, encryption, place)
    return Stored(outcome, there.get("SSEKMSKeyId"))


def _look(client: Any, place: S3Place) -> Any:
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    try:
        return client.head_object(Bucket=place.bucket, Key=place.key)
    except ClientError as error:
        if error_code(error) in ("404", "NoSuchKey", "NotFound"):
            return None
        raise


def _brought(transfer: Transfer, former: S3Place | None) -> str:
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    refused = ""
    if former is not None:
        try:
            if _copied(transfer, former):
                return f"{COPIED} {former}"
        except ClientError as error:
            refused = f"; {former} was not copied: AWS answers {error_code(error)}"
    return f"{UPLOADED if transfer.send() else WAS_THERE}{refused}"


def _copied(transfer: Transfer, former: S3Place) -> bool:
    there = _look(transfer.client, former)
    if there is None or not _holds(there, transfer.archive):
        return False
    transfer.copy(former, there["ETag"])
    return True


def _holds(there: Any, archive: Archive) -> bool:
    found = (there["ContentLength"], there.get("Metadata", {}).get(DIGEST))
    return found == (archive.size, archive.sha256)


def _expect(there: Any, archive: Archive, place: S3Place) -> None:
    if _holds(there, archive):
        return
    digest = there.get("Metadata", {}).get(DIGEST)
    message = f"{place} exists with other content ({there['ContentLength']:,} bytes, SHA-256 {digest})"
    raise AccountError(f"{message}, and is not overwritten; find out who put it there, and remove it")


def _expect_encrypted(there: Any, encryption: Encryption, place: S3Place) -> None:
    if not encryption.is_of(there):
        message = f"{place} exists, encrypted with {described(there)}, not as {encryption.options} says"
        again = f"aws s3 cp {place} {place} {encryption.options}"
        raise AccountError(f"{message}, and is not uploaded again; have S3 encrypt it again: {again}")
