"""Archives into S3: complete or not at all, never over something else, and only once.

Parts travel in parallel by boto3's own transfers, each with its SHA-256, which S3 compares on arrival. An
object has its name when the last part is there, and only if none had that name before:
https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
"""

import base64
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from inferstack.account.bucket import Place
from inferstack.account.encryption import AS_THE_BUCKET_SAYS, Encryption, described
from inferstack.account.errors import AccountError, error_code, explained

PART = 16 << 20
"""Bytes of a part; more where an archive would have too many. An archive of one part travels whole."""
UPLOADED, WAS_THERE = "uploaded", "was there already"
_MOST_PARTS = 10_000
_MIB = 1 << 20
_DIGEST = "inferstack-sha256"
_TAKEN = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}
_CONDITIONAL = tuple(f"provide-client-params.s3.{it}" for it in ("PutObject", "CompleteMultipartUpload"))


class Archive(NamedTuple):
    """A file to upload: its size in bytes and SHA-256 in hex."""

    path: Path
    size: int
    sha256: str


class Stored(NamedTuple):
    """An archive in S3: what was done for that, and the KMS key that encrypts it, if one does."""

    outcome: str
    key: str | None


def upload(
    client: Any,
    archive: Archive,
    place: Place,
    progress: Callable[[int], None],
    encryption: Encryption = AS_THE_BUCKET_SAYS,
) -> Stored:
    """Puts an archive to its place, unless it is there already.

    ``progress`` is told of bytes sent, and of less than none when some are sent again.

    Raises:
        AccountError: when S3 refuses it, something else has the name, or it is there and encrypted otherwise.
    """
    with explained(f"{place} cannot be uploaded"):
        there = _look(client, place)
        outcome = WAS_THERE
        if there is None:
            outcome = UPLOADED if _send(client, archive, place, progress, encryption) else WAS_THERE
            there = _look(client, place)
    if there is None:
        raise AccountError(f"{place} was uploaded and is gone; see who else writes to the bucket")
    _expect(there, archive, place)
    _expect_encrypted(there, encryption, place)
    return Stored(outcome, there.get("SSEKMSKeyId"))


def _look(client: Any, place: Place) -> Any:
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    try:
        return client.head_object(Bucket=place.bucket, Key=place.key)
    except ClientError as error:
        if error_code(error) in ("404", "NoSuchKey", "NotFound"):
            return None
        raise


def _send(
    client: Any, archive: Archive, place: Place, progress: Callable[[int], None], encryption: Encryption
) -> bool:
    from boto3.exceptions import S3UploadFailedError  # noqa: PLC0415 - comes with an extra
    from boto3.s3.transfer import TransferConfig  # noqa: PLC0415

    part = part_size(archive.size)
    arguments: dict[str, Any] = {"Metadata": {_DIGEST: archive.sha256}, **encryption.arguments}
    if archive.size < part:
        arguments["ChecksumSHA256"] = base64.b64encode(bytes.fromhex(archive.sha256)).decode()
    else:
        _expect_unchanged(archive)
        arguments["ChecksumAlgorithm"] = "SHA256"
    # The other kind of transfer, which some machines have, knows nothing of the condition.
    config = TransferConfig(
        multipart_threshold=part, multipart_chunksize=part, preferred_transfer_client="classic"
    )
    for event in _CONDITIONAL:
        # Under a name of its own, which registers it once for each client.
        client.meta.events.register(event, _if_absent, f"if-absent-{event}")
    try:
        client.upload_file(str(archive.path), *place, arguments, _one_at_a_time(progress), config)
    except S3UploadFailedError as error:
        if error_code(error.__context__) in _TAKEN:
            # Somebody else uploads the same; who is second looks whether it is.
            return False
        raise
    return True


def part_size(size: int) -> int:
    """Bytes of each part of an archive: whole MiB, and not more parts than S3 takes.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
    """
    least = -(-size // _MOST_PARTS)
    return max(PART, -(-least // _MIB) * _MIB)


def _if_absent(params: dict[str, Any], **_: object) -> dict[str, Any]:
    """The condition that boto3's transfers do not know yet."""
    return {**params, "IfNoneMatch": "*"}


def _one_at_a_time(progress: Callable[[int], None]) -> Callable[[int], None]:
    lock = threading.Lock()

    def tell(done: int) -> None:
        with lock:
            progress(done)

    return tell


def _expect_unchanged(archive: Archive) -> None:
    """Of parts S3 knows the digest of each, not that of the whole, so that is compared here."""
    with archive.path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != archive.sha256:
        raise AccountError(f"{archive.path} changed after it was packed; run the command again")


def _expect(there: Any, archive: Archive, place: Place) -> None:
    digest = there.get("Metadata", {}).get(_DIGEST)
    if there["ContentLength"] == archive.size and digest == archive.sha256:
        return
    message = f"{place} is there with other content ({there['ContentLength']:,} bytes, SHA-256 {digest})"
    raise AccountError(f"{message}, and nothing is overwritten; find out who put it there, and remove it")


def _expect_encrypted(there: Any, encryption: Encryption, place: Place) -> None:
    if not encryption.is_of(there):
        message = f"{place} is there, encrypted with {described(there)} and not as {encryption.options} says"
        again = f"aws s3 cp {place} {place} {encryption.options}"
        raise AccountError(f"{message}, and nothing is sent twice; have S3 encrypt it again: {again}")
