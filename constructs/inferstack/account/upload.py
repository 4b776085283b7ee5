"""Uploads archives to S3: complete or not at all, never over something else, and only once."""

from collections.abc import Callable
from typing import Any, NamedTuple

from inferstack.account.bucket import S3Place
from inferstack.account.encryption import AS_THE_BUCKET_SAYS, Encryption, described
from inferstack.account.errors import AccountError, error_code, explained
from inferstack.account.transfer import DIGEST, Archive, Transfer

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
        raise AccountError(f"{place} was uploaded and is gone; see who else writes to the bucket")
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
    message = f"{place} is there with other content ({there['ContentLength']:,} bytes, SHA-256 {digest})"
    raise AccountError(f"{message}, and nothing is overwritten; find out who put it there, and remove it")


def _expect_encrypted(there: Any, encryption: Encryption, place: S3Place) -> None:
    if not encryption.is_of(there):
        message = f"{place} is there, encrypted with {described(there)} and not as {encryption.options} says"
        again = f"aws s3 cp {place} {place} {encryption.options}"
        raise AccountError(f"{message}, and nothing is sent twice; have S3 encrypt it again: {again}")
