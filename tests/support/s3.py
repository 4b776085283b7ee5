"""An S3 on this machine, and what goes wrong on the way to it."""

import io
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto.kms.models import kms_backends

BUCKET = "acme-models"
ACCOUNT = "123456789012"

Answer = tuple[int, str, str]
"""Status, code and message that AWS answers with; of SageMaker, with status 200, the answer itself."""


class _Body(io.BytesIO):
    def stream(self, **_: object) -> Any:
        while chunk := self.read(4096):
            yield chunk


@dataclass
class Faults:
    """What clients made from now on meet: answers by operation, each of them once, but the last one forever."""

    answers: dict[str, list[Answer | None]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    headers_of_answers: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def operations(self) -> list[str]:
        """The operations that were requested, in order."""
        return [operation for operation, _ in self.seen]

    def headers(self, operation: str) -> list[dict[str, str]]:
        """The headers of each request of an operation."""
        return [headers for seen, headers in self.seen if seen == operation]

    def meet(self, request: Any, event_name: str, **_: object) -> AWSResponse | None:
        """Replaces the network: None lets a request through."""
        operation = event_name.rpartition(".")[2]
        with self._lock:
            headers = {name.lower(): _text(value) for name, value in request.headers.items()}
            self.seen.append((operation, headers))
            waiting = self.answers.get(operation, [])
            answer = waiting.pop(0) if len(waiting) > 1 else next(iter(waiting), None)
        if operation in self.before:
            self.before.pop(operation)()
        return None if answer is None else _response(request, answer, self.headers_of_answers)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _response(request: Any, answer: Answer, headers: dict[str, str]) -> AWSResponse:
    status, code, message = answer
    if "SageMaker" in _text(request.headers.get("X-Amz-Target", "")):
        body = message if status == 200 else json.dumps({"__type": code, "message": message})
        return AWSResponse(request.url, status, {"content-type": "application/json"}, _Body(body.encode()))
    body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    if "GetCallerIdentity" in str(request.body):
        body = f"<ErrorResponse>{body}<RequestId>1</RequestId></ErrorResponse>"
    content = b"" if request.method == "HEAD" else body.encode()
    return AWSResponse(request.url, status, {"content-type": "text/xml", **headers}, _Body(content))


def install(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Every boto3 session made from now on meets the faults that are put into what this returns."""
    faults, session = Faults(), boto3.Session

    def faulty(*args: Any, **kwargs: Any) -> Any:
        made = session(*args, **kwargs)
        made.events.register("before-send", faults.meet)
        return made

    monkeypatch.setattr(boto3, "Session", faulty)
    return faults


@dataclass
class Cloud:
    """S3 and KMS as another user sees them."""

    url: str
    s3: Any
    kms: Any

    def bucket(self, name: str, region: str = "us-east-1") -> None:
        """Creates a bucket."""
        where = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        self.s3.create_bucket(Bucket=name, **where)

    def key(self, alias: str | None = None, *, of_aws: bool = False) -> str:
        """Creates a KMS key and returns its ARN."""
        made = self.kms.create_key()["KeyMetadata"]
        if alias is not None:
            self.kms.create_alias(AliasName=alias, TargetKeyId=made["KeyId"])
        if of_aws:
            # No API creates such a key, but the server is in this process.
            kms_backends[ACCOUNT]["us-east-1"].keys[made["KeyId"]].key_manager = "AWS"
        return str(made["Arn"])

    def encrypt(self, key: str) -> None:
        """Gives the bucket a key for everything that is put into it."""
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
        self.s3.put_bucket_encryption(Bucket=BUCKET, ServerSideEncryptionConfiguration=rules)

    def objects(self, bucket: str = BUCKET) -> dict[str, bytes]:
        """All objects of a bucket, by key."""
        keys = [it["Key"] for it in self.s3.list_objects_v2(Bucket=bucket).get("Contents", ())]
        return {key: self.s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}

    def unfinished(self) -> list[str]:
        """Keys of uploads that were begun and not finished."""
        return [it["Key"] for it in self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ())]
