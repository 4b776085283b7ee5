"""Whether S3 has exactly the bytes of an archive, by the checksums that S3 itself computes.

Of an object that came as a whole, S3 has the SHA-256. Of one that came in parts, it has the SHA-256 of each
part, and of these together, followed by their number:
https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from inferstack.account.bucket import S3Place
from inferstack.account.connection import AccountError

# ---------------------------------------------------------------- The archive on this machine


_CHUNK = 1 << 20
_MIB = 1 << 20
_MOST_PARTS = 10_000
PART = 16 << 20
"""Bytes of a part; more where an archive would have too many parts. A smaller archive is sent as a whole."""


class Archive(NamedTuple):
    """A file to upload: its size in bytes and SHA-256 in hex."""

    path: Path
    size: int
    sha256: str


def part_size(size: int) -> int:
    """Bytes of each part of an archive: whole MiB, and not more parts than S3 takes.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
    """
    least = -(-size // _MOST_PARTS)
    return max(PART, -(-least // _MIB) * _MIB)


def of_whole(archive: Archive) -> str:
    """The SHA-256 of an archive in S3's notation."""
    return _written(bytes.fromhex(archive.sha256))


def of_parts(archive: Archive, part: int) -> tuple[str, ...]:
    """As :func:`of_content`, of the file."""
    with archive.path.open("rb") as file:
        return of_content(file, archive, part)


def of_content(file: BinaryIO, archive: Archive, part: int) -> tuple[str, ...]:
    """The SHA-256 of each part in S3's notation, from one pass over the open archive.

    Raises:
        AccountError: when it is no longer what was packed.
    """
    whole, parts = hashlib.sha256(), []
    while first := file.read(_CHUNK):
        digest = hashlib.sha256()
        for chunk in _rest_of_part(first, file, part):
            whole.update(chunk)
            digest.update(chunk)
        parts.append(_written(digest.digest()))
    if whole.hexdigest() != archive.sha256:
        raise changed(archive)
    return tuple(parts)


def changed(archive: Archive) -> AccountError:
    """Says that a file is no longer the one that was packed."""
    return AccountError(f"{archive.path} changed after it was packed; run the command again")


def _rest_of_part(first: bytes, file: BinaryIO, part: int) -> Iterator[bytes]:
    yield first
    left = part - len(first)
    while left and (chunk := file.read(min(_CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _written(digest: bytes) -> str:
    return base64.b64encode(digest).decode()


def _of_digests(parts: tuple[str, ...]) -> str:
    return _written(hashlib.sha256(b"".join(map(base64.b64decode, parts))).digest())


# ---------------------------------------------------------------- The object in S3


def has_the_bytes(client: Any, there: Mapping[str, Any], archive: Archive, place: S3Place) -> bool:
    """Whether an object holds the archive; ``there`` is S3's answer about it, with checksums.

    Raises:
        AccountError: when the archive is no longer the one that was packed.
    """
    checksum = there.get("ChecksumSHA256")
    if checksum is None:
        # Another checksum may have been chosen when S3 encrypted the object again.
        return _read_back(client, place) == archive.sha256
    digest = str(checksum).partition("-")[0]
    return digest == of_whole(archive) or any(
        digest == _of_digests(of_parts(archive, part)) for part in _part_sizes(client, archive, place)
    )


def _part_sizes(client: Any, archive: Archive, place: S3Place) -> Iterator[int]:
    """The size of the parts that it should have come in, then of those that it did come in."""
    ours = part_size(archive.size)
    yield ours
    first = client.head_object(Bucket=place.bucket, Key=place.key, PartNumber=1)
    size = first.get("ContentLength")
    if first.get("PartsCount") and size not in (None, 0, ours):
        yield size


def _read_back(client: Any, place: S3Place) -> str:
    digest = hashlib.sha256()
    for chunk in client.get_object(Bucket=place.bucket, Key=place.key)["Body"].iter_chunks(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
