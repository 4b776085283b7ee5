"""Whether model files are there, where SageMaker can read them, and whether the role may decrypt them.

https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
"""

from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.account.bucket import S3Place, region_of, s3_place
from inferstack.account.connection import AccountError
from inferstack.account.keys import advice
from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import DESCRIBE_KEY, HEAD_BUCKET, HEAD_OBJECT, LIST_OBJECTS
from inferstack.account.preflight.keys import state_of_key
from inferstack.account.preflight.verdict import (
    Checked,
    Result,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    open_arn,
    problem,
)
from inferstack.resolve.images import s3_location
from inferstack.resolve.needs import named_files
from inferstack.texts.placeholders import is_settled

_UPLOAD = "upload it, such as with `inferstack package --upload`, or correct the URL"
# Until they are restored, nobody can read them. "Glacier Instant Retrieval" is none of these.
_ARCHIVED = frozenset({"GLACIER", "DEEP_ARCHIVE"})


def files(targets: Sequence[Target]) -> Iterator[Subject]:
    """The URLs of all files, each with whether it is a prefix."""
    for target in targets:
        for path, url, is_prefix in named_files(target.spec):
            yield Subject(target, path, (target.filled(url), is_prefix))


def are_there(subject: Subject, asking: Asking) -> Checked:
    """Whether an object is there, or any under a prefix."""
    url, is_prefix = subject.what
    if not is_settled(url):
        return only_deployment_knows(url)
    place = s3_place(url, asking.connection, account=subject.target.spec.account)
    try:
        where = asking.once(("bucket", place.bucket), lambda: region_of(place.bucket, asking.connection))
    except AccountError as error:
        if error.code == "404":
            return problem(f"there is no bucket {place.bucket}", "create it, or correct its name in the spec")
        raise
    if where is None:
        return cannot_tell(f"AWS does not say in which region the bucket {place.bucket} is")
    if where != asking.region:
        said = f"the bucket {place.bucket} is in {where}, but the endpoint is in {asking.region}"
        return problem(f"{said}: SageMaker reads models in its own region only", "name a bucket there")
    return _under(place, asking) if is_prefix else _object(place, subject, asking)


def _under(place: S3Place, asking: Asking) -> Checked:
    found = asking.ask(LIST_OBJECTS, Bucket=place.bucket, Prefix=place.key, MaxKeys=1)
    if found is None or (not found.get("Contents") and found["KeyCount"] == 0):
        return problem(f"nothing is under {place}", _UPLOAD)
    return ok(f"{place} has files") if found.get("Contents") else cannot_tell(f"{place} was not listed")


def _object(place: S3Place, subject: Subject, asking: Asking) -> Checked:
    found = asking.ask(HEAD_OBJECT, Bucket=place.bucket, Key=place.key)
    if found is None:
        return problem(f"{place} is not there", _UPLOAD)
    if found["ContentLength"] == 0:
        return problem(f"{place} is empty", _UPLOAD)
    storage = found.get("StorageClass")
    if storage in _ARCHIVED:
        return problem(f"{place} is archived ({storage})", "restore it into another storage class")
    return _encryption(place, found, subject, asking)


def _encryption(place: S3Place, found: Any, subject: Subject, asking: Asking) -> Checked:
    key, algorithm = found.get("SSEKMSKeyId"), found.get("ServerSideEncryption")
    if key is None:
        if algorithm in (None, "AES256"):
            return ok(f"{place}, {found['ContentLength']:,} bytes")
        return cannot_tell(f"{place} is there, but AWS does not say which key encrypts it ({algorithm})")
    state = state_of_key(key, asking)
    if state.state is not Result.OK:
        return Checked(state.state, f"{place} is encrypted: {state.message}", state.fix)
    helps = asking.once(
        ("role and key", key, subject.target.loaded.document.file, subject.target.loaded.stage),
        lambda: advice(key, subject.target.spec, asking.connection),
    )
    if helps is None:
        return ok(f"{place}, {found['ContentLength']:,} bytes, encrypted with a key that the role may use")
    said = f"{place} is encrypted with {key}"
    if helps.is_certain:
        return problem(said, helps.text)
    return cannot_tell(f"{said}; whether the endpoint's role may use it was not checked", helps.text)


def file_rights(subject: Subject) -> Iterator[Right]:
    """Looking at the file, and listing its bucket: without that, S3 does not say that a file is missing."""
    url, is_prefix = subject.what
    location = s3_location(url)
    key = location.path.partition("/")[2] if location.key is None else location.key
    bucket = open_arn(subject.target.arn("s3", location.bucket, region="", account=""))
    yield HEAD_BUCKET, bucket
    if is_prefix:
        yield LIST_OBJECTS, bucket
    else:
        yield HEAD_OBJECT, f"{bucket}/{open_arn(key)}"
        # Which key it is, only the file says.
        yield DESCRIBE_KEY, subject.target.arn("kms", "key/*", account="*")
