"""Uploads archives to S3: complete or not at all, never over something else, and only once."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

import msgspec

from inferstack.account.bucket import AS_THE_BUCKET_SAYS, Encryption, S3Place, encryption_of
from inferstack.account.checksums import (
    Archive,
    changed,
    has_the_bytes,
    of_content,
    of_parts,
    of_whole,
    part_size,
)
from inferstack.account.connection import AccountError, error_code, explained

# ---------------------------------------------------------------- Transfers
#
# An archive moves in parts, by boto3's own transfers; there is no object before the last part has arrived.
# The file is opened once, for its digests and for all parts: by then another may have its name. There is no
# object either unless what arrived, by S3's own SHA-256 of each part, is what was packed. And no transfer
# overwrites an object of the same name:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html


DIGEST = "inferstack-sha256"
"""Metadata with an archive's SHA-256: S3 has no digest of the whole of an object that came in parts."""
_TAKEN = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}
_MAKING = ("PutObject", "CopyObject", "CompleteMultipartUpload")


class Transfer(msgspec.Struct, frozen=True):
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
            ClientError: when S3 refuses it.
        """
        from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

        part = part_size(self.archive.size)
        with self.archive.path.open("rb") as file:
            content = file if self.archive.size >= part else BytesIO(file.read(part))
            parts = of_content(content, self.archive, part)
            content.seek(0)
            try:
                with self._prepared(parts) as (arguments, progress, config):
                    self.client.upload_fileobj(content, *self.place, arguments, progress, config)
            except ClientError as error:
                if error_code(error) in _TAKEN:
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
        of_a_copy = {"CopySourceIfMatch": etag, "MetadataDirective": "REPLACE", "TaggingDirective": "REPLACE"}
        named = {"Bucket": source.bucket, "Key": source.key}
        part = part_size(self.archive.size)
        parts = of_parts(self.archive, part) if self.archive.size >= part else ()
        copied: list[int] = []
        try:
            with self._prepared(parts, copied.append) as (arguments, progress, config):
                self.client.copy(named, *self.place, {**arguments, **of_a_copy}, progress, None, config)
        except ClientError:
            self.progress(-sum(copied))
            raise

    @contextmanager
    def _prepared(
        self, parts: Sequence[str], count: Callable[[int], None] = lambda _: None
    ) -> Iterator[tuple[Any, ...]]:
        """What a transfer needs: arguments, progress, configuration, and checks of the client's requests."""
        from boto3.s3.transfer import TransferConfig  # noqa: PLC0415 - comes with an extra

        part = part_size(self.archive.size)
        # The other kind of transfer client, which some machines have, does not know the condition.
        config = TransferConfig(
            multipart_threshold=part, multipart_chunksize=part, preferred_transfer_client="classic"
        )
        lock = threading.Lock()

        def report(done: int) -> None:
            with lock:
                count(done)
                self.progress(done)

        metadata = {"Metadata": {DIGEST: self.archive.sha256}, "ChecksumAlgorithm": "SHA256"}
        with _on_requests(self.client, partial(_checked, self.archive, parts)):
            yield {**metadata, **self.encryption.arguments}, report, config


@contextmanager
def _on_requests(client: Any, change: Callable[..., Any]) -> Iterator[None]:
    """Changes the parameters of each request that makes an object."""
    names = [f"provide-client-params.s3.{operation}" for operation in _MAKING]
    for name in names:
        client.meta.events.register(name, change)
    try:
        yield
    finally:
        for name in names:
            client.meta.events.unregister(name, change)


def _checked(
    archive: Archive, parts: Sequence[str], params: dict[str, Any], model: Any, **_: object
) -> dict[str, Any]:
    """Parameters with the condition that boto3's transfers do not support yet, and with the digests that the
    object must have.

    Raises:
        AccountError: when S3 has other parts than the archive's.
    """
    digests: dict[str, Any] = {}
    match model.name:
        case "PutObject":
            digests["ChecksumSHA256"] = of_whole(archive)
        case "CompleteMultipartUpload":
            digests["MultipartUpload"] = {
                "Parts": _as_packed(archive, parts, params["MultipartUpload"]["Parts"])
            }
    return {**params, **digests, "IfNoneMatch": "*"}


def _as_packed(
    archive: Archive, digests: Sequence[str], arrived: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The parts with the digests that they must have, whether or not S3 says those that they do have."""
    if len(arrived) != len(digests):
        raise changed(archive)
    parts = [{**part, "ChecksumSHA256": digest} for part, digest in zip(arrived, digests, strict=True)]
    if any(part | one != part for part, one in zip(parts, arrived, strict=True)):
        raise changed(archive)
    return parts


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
    with explained(f"{place} cannot be compared"):
        _expect(client, there, archive, place)
    _expect_encrypted(there, encryption, place)
    return Stored(outcome, there.get("SSEKMSKeyId"))


def _look(client: Any, place: S3Place) -> Any:
    from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

    try:
        return client.head_object(Bucket=place.bucket, Key=place.key, ChecksumMode="ENABLED")
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
    if there is None or "ETag" not in there or not _is_marked(there, transfer.archive):
        return False
    if not has_the_bytes(transfer.client, there, transfer.archive, former):
        return False
    transfer.copy(former, there["ETag"])
    return True


def _is_marked(there: Any, archive: Archive) -> bool:
    found = (there["ContentLength"], there.get("Metadata", {}).get(DIGEST))
    return found == (archive.size, archive.sha256)


def _expect(client: Any, there: Any, archive: Archive, place: S3Place) -> None:
    if not _is_marked(there, archive):
        digest = there.get("Metadata", {}).get(DIGEST)
        difference = f"exists with other content ({there['ContentLength']:,} bytes, SHA-256 {digest})"
    elif not has_the_bytes(client, there, archive, place):
        difference = f"exists with other content, although it is marked as SHA-256 {archive.sha256}"
    else:
        return
    message = f"{place} {difference}, and is not overwritten"
    raise AccountError(f"{message}; find out who put it there, and remove it")


def _expect_encrypted(there: Any, encryption: Encryption, place: S3Place) -> None:
    if not encryption.is_of(there):
        message = f"{place} exists, encrypted with {encryption_of(there)}, not as {encryption.options} says"
        again = f"aws s3 cp {place} {place} {encryption.options} --checksum-algorithm SHA256"
        raise AccountError(f"{message}, and is not uploaded again; have S3 encrypt it again: {again}")
