"""One archive to S3: completely or not at all, never over something else, and only once."""

import base64
import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from boto3.s3.transfer import TransferConfig
from s3transfer.upload import UploadSeekableInputManager
from support.s3 import BUCKET, Cloud, Faults
from support.stubbed import StubbedSession

from inferstack.account import checksums, upload as uploading
from inferstack.account.bucket import Encryption, S3Place
from inferstack.account.checksums import Archive, has_the_bytes, part_size
from inferstack.account.connection import AccountError, connect
from inferstack.account.upload import COPIED, UPLOADED, WAS_THERE, Transfer, upload

PLACE = S3Place(BUCKET, "one/model-sha256-0123456789abcdef.tar.gz")
NEW = S3Place(BUCKET, "new/model.tar.gz")
MIB = 1 << 20
PART = 6 * MIB


@pytest.fixture(autouse=True)
def _parts_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Almost the smallest that S3 takes, which is 5 MiB: what is tested of parts does not depend on their size."""
    monkeypatch.setattr(checksums, "PART", PART)


def archive(folder: Path, content: bytes = b"weights") -> Archive:
    path = folder / "model.tar.gz"
    path.write_bytes(content)
    return Archive(path, len(content), hashlib.sha256(content).hexdigest())


def put(one: Archive, *asked: str, to: S3Place = PLACE, former: S3Place | None = None) -> tuple[str, int]:
    told: list[int] = []
    stored = upload(connect(None).s3(), one, to, told.append, Encryption(*asked), former)
    return stored.outcome, sum(told)


SIZES = pytest.mark.parametrize(
    "content", [b"", b"weights", bytes(PART) + b"the end"], ids=["empty", "one", "parts"]
)


@SIZES
def test_an_archive_arrives_whole_and_progress_adds_up(content: bytes, cloud: Cloud, tmp_path: Path) -> None:
    assert put(archive(tmp_path, content)) == (UPLOADED, len(content))
    assert cloud.objects() == {PLACE.key: content}
    assert cloud.unfinished() == []


@SIZES
def test_what_is_there_is_not_sent_again(content: bytes, faults: Faults, tmp_path: Path) -> None:
    one = archive(tmp_path, content)
    put(one)
    faults.seen.clear()
    assert put(one) == (WAS_THERE, 0)
    assert faults.operations() == ["GetCallerIdentity", "HeadObject"]


def test_s3_compares_the_digest_of_the_whole(faults: Faults, tmp_path: Path) -> None:
    one = archive(tmp_path)
    put(one)
    (headers,) = faults.headers("PutObject")
    assert headers["x-amz-checksum-sha256"] == base64.b64encode(bytes.fromhex(one.sha256)).decode()
    assert headers["x-amz-meta-inferstack-sha256"] == one.sha256


@pytest.mark.parametrize(("size", "count"), [(PART, 1), (PART + 1, 2)])
def test_s3_compares_the_digest_of_each_part(size: int, count: int, faults: Faults, tmp_path: Path) -> None:
    put(archive(tmp_path, bytes(size)))
    (begun,) = faults.headers("CreateMultipartUpload")
    assert begun["x-amz-checksum-algorithm"] == "SHA256"
    # Of what comes in parts, S3 computes no SHA-256 of the whole.
    assert "x-amz-checksum-type" not in begun
    parts = faults.headers("UploadPart")
    assert len(parts) == count
    assert all("sha256" in part.get("x-amz-trailer", "") + "".join(part) for part in parts)


@pytest.mark.parametrize(("size", "operation"), [(7, "PutObject"), (PART + 1, "CompleteMultipartUpload")])
def test_s3_is_told_not_to_overwrite(size: int, operation: str, faults: Faults, tmp_path: Path) -> None:
    put(archive(tmp_path, bytes(size)))
    assert [headers["if-none-match"] for headers in faults.headers(operation)] == ["*"]


KMS = ("aws:kms", "arn:aws:kms:us-east-1:111122223333:key/abc")


@pytest.mark.parametrize(("size", "operation"), [(7, "PutObject"), (PART + 1, "CreateMultipartUpload")])
def test_s3_is_told_how_to_encrypt(size: int, operation: str, faults: Faults, tmp_path: Path) -> None:
    put(archive(tmp_path, bytes(size)), *KMS)
    (headers,) = faults.headers(operation)
    assert headers["x-amz-server-side-encryption"] == KMS[0]
    assert headers["x-amz-server-side-encryption-aws-kms-key-id"] == KMS[1]


@pytest.mark.parametrize("size", [7, PART + 1])
def test_without_being_asked_the_bucket_says_how_to_encrypt(
    size: int, faults: Faults, tmp_path: Path
) -> None:
    put(archive(tmp_path, bytes(size)))
    assert not [name for _, headers in faults.seen for name in headers if "encryption" in name]


@pytest.mark.parametrize("asked", [("AES256",), (KMS[0], KMS[1].replace("abc", "xyz")), ("aws:kms", "xyz")])
def test_what_is_there_and_encrypted_otherwise_is_an_error_that_says_what_to_run(
    asked: Sequence[str], faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path)
    put(one, *KMS)
    with pytest.raises(AccountError) as raised:
        put(one, *asked)
    assert f"encrypted with aws:kms by {KMS[1]}, not as --sse {asked[0]}" in str(raised.value)
    options = f"--sse {asked[0]}" + (f" --sse-kms-key-id {asked[1]}" if len(asked) > 1 else "")
    assert str(raised.value).endswith(
        f"again: aws s3 cp {PLACE} {PLACE} {options} --checksum-algorithm SHA256"
    )
    assert faults.operations().count("PutObject") == 1


@pytest.mark.parametrize("asked", [(), ("aws:kms",), KMS, ("aws:kms", "abc"), ("aws:kms", "alias/models")])
def test_what_is_there_and_may_be_encrypted_so_stays(
    asked: Sequence[str], cloud: Cloud, tmp_path: Path
) -> None:
    one = archive(tmp_path)
    put(one, *KMS)
    assert put(one, *asked) == (WAS_THERE, 0)


def test_something_else_of_the_name_stays_and_is_reported(cloud: Cloud, tmp_path: Path) -> None:
    cloud.s3.put_object(Bucket=BUCKET, Key=PLACE.key, Body=b"another")
    with pytest.raises(
        AccountError, match=r"other content \(7 bytes, SHA-256 None\), and is not overwritten"
    ):
        put(archive(tmp_path))
    assert cloud.objects() == {PLACE.key: b"another"}


@pytest.mark.parametrize(("theirs", "same"), [(b"weights", True), (b"another", False)])
def test_who_comes_second_looks_what_came_first(
    theirs: bytes, same: bool, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    digest = hashlib.sha256(theirs).hexdigest()
    faults.before["PutObject"] = lambda: cloud.s3.put_object(
        Bucket=BUCKET, Key=PLACE.key, Body=theirs, Metadata={"inferstack-sha256": digest}
    )
    if same:
        assert put(archive(tmp_path))[0] == WAS_THERE
    else:
        said = rf"with other content \(7 bytes, SHA-256 {digest}\), and is not overwritten; find out who"
        with pytest.raises(AccountError, match=said):
            put(archive(tmp_path))
    assert cloud.objects() == {PLACE.key: theirs}


@pytest.mark.parametrize("code", ["PreconditionFailed", "ConditionalRequestConflict"])
def test_however_s3_says_that_somebody_was_first_the_place_is_looked_at_again(
    code: str, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path)
    faults.before["PutObject"] = lambda: marked(cloud, one, b"weights")
    faults.answers["PutObject"] = [(412, code, "")]
    assert put(one)[0] == WAS_THERE


@pytest.mark.parametrize("code", ["412", "409"])
def test_an_answer_without_a_body_says_by_its_number_that_somebody_was_first(
    code: str, tmp_path: Path
) -> None:
    one, session = archive(tmp_path), StubbedSession()
    session.stub("s3").add_client_error("put_object", code)
    assert not Transfer(session.stub("s3").client, one, PLACE, lambda _: None, Encryption()).send()


@pytest.mark.parametrize("code", ["404", "NoSuchKey", "NotFound"])
def test_however_s3_says_that_nothing_is_there_it_is_uploaded(code: str, tmp_path: Path) -> None:
    one, session = archive(tmp_path), StubbedSession()
    there = {"ContentLength": 7, "Metadata": {"inferstack-sha256": one.sha256}}
    digest = base64.b64encode(bytes.fromhex(one.sha256)).decode()
    s3 = session.stub("s3")
    s3.add_client_error("head_object", code)
    s3.add_response("put_object", {})
    s3.add_response("head_object", {**there, "ChecksumSHA256": digest})
    assert upload(s3.client, one, PLACE, lambda _: None).outcome == UPLOADED


def test_an_archive_that_changed_after_it_was_packed_is_not_uploaded(cloud: Cloud, tmp_path: Path) -> None:
    one = archive(tmp_path, bytes(PART + 1))
    one.path.write_bytes(bytes(PART) + b"1")
    with pytest.raises(AccountError, match="changed after it was packed"):
        put(one)
    assert cloud.objects() == {}


LARGE = bytes(2 * PART)
OTHER = bytes(PART) + b"1" * PART


def rewritten_within(monkeypatch: pytest.MonkeyPatch, path: Path, content: bytes) -> None:
    """The file gets other content when boto3 has read its first part, and before the second.

    Both are read while S3 is asked for an upload, so no request could be waited for.
    """
    bodies = UploadSeekableInputManager.yield_upload_part_bodies

    def rewritten(*them: Any) -> Iterator[Any]:
        for read, body in enumerate(bodies(*them), start=1):
            if read == 1:
                path.write_bytes(content)
            yield body

    monkeypatch.setattr(UploadSeekableInputManager, "yield_upload_part_bodies", rewritten)


@pytest.mark.parametrize("content", [OTHER, b""], ids=["other", "gone"])
def test_an_archive_that_is_rewritten_between_its_parts_leaves_nothing_in_s3(
    content: bytes, cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = archive(tmp_path, LARGE)
    rewritten_within(monkeypatch, one.path, content)
    with pytest.raises(AccountError, match="changed after it was packed"):
        put(one)
    assert cloud.objects() == {}
    assert cloud.unfinished() == []


def test_an_archive_that_grows_before_its_first_part_leaves_nothing_in_s3(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, digests = archive(tmp_path, LARGE), uploading.of_content

    def grown(*them: Any) -> tuple[str, ...]:
        found = digests(*them)
        one.path.write_bytes(LARGE + b"1")
        return found

    monkeypatch.setattr(uploading, "of_content", grown)
    with pytest.raises(AccountError, match="changed after it was packed"):
        put(one)
    assert cloud.objects() == {}
    assert cloud.unfinished() == []


@pytest.mark.parametrize(("size", "operation"), [(7, "PutObject"), (len(LARGE), "CreateMultipartUpload")])
def test_an_archive_that_another_run_replaces_is_sent_as_it_was(
    size: int, operation: str, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path, bytes(size))

    def replaced() -> None:
        (tmp_path / "new").write_bytes(OTHER)
        (tmp_path / "new").replace(one.path)

    faults.before[operation] = replaced
    assert Transfer(connect(None).s3(), one, PLACE, lambda _: None, Encryption()).send()
    assert cloud.objects() == {PLACE.key: bytes(size)}


@pytest.mark.parametrize("content", [b"short", b"another", OTHER], ids=["shorter", "other", "longer"])
def test_a_small_archive_that_changed_is_not_sent(
    content: bytes, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path)
    one.path.write_bytes(content)
    with pytest.raises(AccountError, match="changed after it was packed"):
        put(one)
    assert cloud.objects() == {}


def marked(cloud: Cloud, one: Archive, content: bytes, part: int = PART, **more: str) -> None:
    """Puts content in the archive's place that says that it is the archive."""
    config = TransferConfig(multipart_threshold=part, multipart_chunksize=part)
    arguments = {"Metadata": {"inferstack-sha256": one.sha256}, **more}
    cloud.s3.upload_fileobj(io.BytesIO(content), BUCKET, PLACE.key, arguments, Config=config)


CHECKSUMS = pytest.mark.parametrize(
    "checksum", [{"ChecksumAlgorithm": "SHA256"}, {}], ids=["sha256", "other"]
)


@CHECKSUMS
@pytest.mark.parametrize("size", [7, len(LARGE)])
def test_wrong_bytes_under_the_right_digest_are_never_taken_for_the_archive(
    size: int, checksum: dict[str, str], cloud: Cloud, tmp_path: Path
) -> None:
    one = archive(tmp_path, bytes(size))
    marked(cloud, one, b"1" * size, **checksum)
    with pytest.raises(AccountError, match="exists with other content, although it is marked"):
        put(one)
    assert put(one, to=NEW, former=PLACE) == (UPLOADED, size)
    assert cloud.objects()[NEW.key] == bytes(size)


@CHECKSUMS
@pytest.mark.parametrize("part", [PART, 5 * MIB, 64 * MIB])
def test_the_same_bytes_are_recognized_in_parts_of_any_size(
    part: int, checksum: dict[str, str], cloud: Cloud, tmp_path: Path
) -> None:
    one = archive(tmp_path, OTHER)
    marked(cloud, one, OTHER, part, **checksum)
    assert put(one) == (WAS_THERE, 0)


def test_the_number_of_parts_that_s3_puts_behind_a_digest_is_no_part_of_it(tmp_path: Path) -> None:
    # The emulated S3 leaves it out.
    one = archive(tmp_path, OTHER)
    parts = b"".join(hashlib.sha256(it).digest() for it in (OTHER[:PART], OTHER[PART:]))
    digest = base64.b64encode(hashlib.sha256(parts).digest()).decode()
    assert has_the_bytes(None, {"ChecksumSHA256": f"{digest}-2"}, one, PLACE)


def test_what_changed_since_it_was_packed_is_not_compared_either(cloud: Cloud, tmp_path: Path) -> None:
    one = archive(tmp_path, LARGE)
    put(one)
    one.path.write_bytes(OTHER)
    with pytest.raises(AccountError, match="changed after it was packed"):
        put(one)


def test_a_part_that_fails_for_good_leaves_nothing(cloud: Cloud, faults: Faults, tmp_path: Path) -> None:
    faults.answers["UploadPart"] = [None, (400, "ExpiredToken", "The provided token has expired.")]
    with pytest.raises(AccountError, match="ExpiredToken: The provided token has expired; log in again"):
        put(archive(tmp_path, bytes(3 * PART)))
    assert cloud.objects() == {}
    assert cloud.unfinished() == []


@pytest.mark.parametrize("operation", ["PutObject", "UploadPart"])
def test_a_busy_s3_is_asked_again(operation: str, cloud: Cloud, faults: Faults, tmp_path: Path) -> None:
    busy = (503, "SlowDown", "Please reduce your request rate.")
    faults.answers[operation] = [busy, busy, None]
    content = bytes(7 if operation == "PutObject" else PART + 1)
    assert put(archive(tmp_path, content)) == (UPLOADED, len(content))
    assert cloud.objects() == {PLACE.key: content}


@pytest.mark.parametrize("size", [0, 1, PART, 10_000 * PART, 10_000 * PART + 1, 5 << 40])
def test_parts_are_never_too_many(size: int) -> None:
    part = part_size(size)
    assert part % MIB == 0
    assert part * 10_000 >= size
    assert part >= PART
    # As long as it can be, a part is of the usual size; a longer one is no longer than it must be.
    assert part == PART or (part - MIB) * 10_000 < size


COPIES = pytest.mark.parametrize(
    ("size", "operation", "last"),
    [
        (7, "CopyObject", "CopyObject"),
        (PART, "UploadPartCopy", "CompleteMultipartUpload"),
        (PART + 1, "UploadPartCopy", "CompleteMultipartUpload"),
    ],
    ids=["one", "one part", "parts"],
)


@COPIES
def test_what_lies_elsewhere_in_s3_is_copied_there_and_not_sent(
    size: int, operation: str, last: str, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path, bytes(size))
    put(one)
    faults.seen.clear()
    assert put(one, to=NEW, former=PLACE) == (f"{COPIED} {PLACE}", size)
    assert not {"PutObject", "UploadPart"} & {*faults.operations()}
    assert cloud.objects()[NEW.key] == bytes(size)
    assert put(one, to=NEW) == (WAS_THERE, 0)
    etag = cloud.s3.head_object(Bucket=BUCKET, Key=PLACE.key)["ETag"]
    assert {it["x-amz-copy-source-if-match"] for it in faults.headers(operation)} == {etag}
    assert [it["if-none-match"] for it in faults.headers(last)] == ["*"]


@pytest.mark.parametrize(("size", "operation"), [(7, "CopyObject"), (PART + 1, "CreateMultipartUpload")])
def test_a_copy_is_encrypted_as_is_asked_and_compared_and_takes_no_rights_on_tags(
    size: int, operation: str, faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path, bytes(size))
    put(one)
    faults.seen.clear()
    put(one, *KMS, to=NEW, former=PLACE)
    (headers,) = faults.headers(operation)
    assert headers["x-amz-server-side-encryption-aws-kms-key-id"] == KMS[1]
    assert headers["x-amz-checksum-algorithm"] == "SHA256"
    assert headers["x-amz-meta-inferstack-sha256"] == one.sha256
    assert headers.get("x-amz-tagging-directive", "REPLACE") == "REPLACE"
    assert not [it for it in faults.operations() if "Tagging" in it]


@COPIES
def test_what_s3_does_not_copy_is_sent(
    size: int, operation: str, last: str, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    one = archive(tmp_path, bytes(size))
    put(one)
    # Of several parts, the first is copied.
    faults.answers[operation] = [*([None] if size > PART else []), (403, "AccessDenied", "")]
    said = f"{UPLOADED}; {PLACE} was not copied: AWS answers AccessDenied"
    assert put(one, to=NEW, former=PLACE) == (said, size)
    assert cloud.objects()[NEW.key] == bytes(size)
    assert cloud.unfinished() == []


def test_a_place_that_may_not_be_looked_at_is_not_copied_from(faults: Faults, tmp_path: Path) -> None:
    faults.answers["HeadObject"] = [None, (403, "", ""), None]
    assert (
        put(archive(tmp_path), to=NEW, former=PLACE)[0]
        == f"{UPLOADED}; {PLACE} was not copied: AWS answers 403"
    )


@pytest.mark.parametrize("there", [None, {}, {"inferstack-sha256": "0" * 64}])
def test_what_is_gone_or_something_else_is_not_copied(
    there: dict[str, str] | None, cloud: Cloud, faults: Faults, tmp_path: Path
) -> None:
    if there is not None:
        cloud.s3.put_object(Bucket=BUCKET, Key=PLACE.key, Body=b"another", Metadata=there)
    assert put(archive(tmp_path), to=NEW, former=PLACE) == (UPLOADED, 7)
    assert "CopyObject" not in faults.operations()
    assert cloud.objects()[NEW.key] == b"weights"


def test_who_copies_second_looks_what_came_first(cloud: Cloud, faults: Faults, tmp_path: Path) -> None:
    one = archive(tmp_path)
    put(one)
    faults.before["CopyObject"] = lambda: cloud.s3.put_object(
        Bucket=BUCKET, Key=NEW.key, Body=b"weights", Metadata={"inferstack-sha256": one.sha256}
    )
    # The emulated S3 does not support conditions on copies.
    faults.answers["CopyObject"] = [(412, "PreconditionFailed", "")]
    assert put(one, to=NEW, former=PLACE)[0].startswith(f"{WAS_THERE}; ")
