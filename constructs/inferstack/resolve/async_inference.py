"""Asynchronous inference: its part of the endpoint configuration, and the bucket and topics for it.

https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-create-endpoint-prerequisites.html
"""

from collections.abc import Iterator

from inferstack.catalog.resource_types import BUCKET_POLICY_TYPE, BUCKET_TYPE, TOPIC_POLICY_TYPE, TOPIC_TYPE
from inferstack.facts.async_inference import (
    CREATE,
    TOPIC_KEYS,
    async_config,
    created,
    notification_config,
    output_config,
)
from inferstack.format.async_inference import AsyncBucket, AsyncTopic
from inferstack.format.defaults import ABORT_UPLOADS_AFTER_DAYS, TOPIC_KEY
from inferstack.format.kinds import ModelSpec
from inferstack.resolve.convert import properties
from inferstack.resolve.resource import Resource, Resources, Value, get_att, present, ref

ASYNC_BUCKET = "AsyncBucket"
REQUESTS, RESPONSES, FAILURES = "requests", "responses", "failures"
"""Folders of the bucket."""
_POLICY = "Policy"
_NAMES = {"success_topic": "SuccessTopic", "error_topic": "ErrorTopic"}

# ---------------------------------------------------------------- the endpoint configuration


def async_inference_config(spec: ModelSpec) -> Value | None:
    """The property of the endpoint configuration, with references to what the stack makes."""
    config = async_config(spec)
    if config is None:
        return None
    rest = properties(config, leave_out=frozenset({"output_config"}))
    return {"OutputConfig": _output(spec), **rest}


def _output(spec: ModelSpec) -> Value:
    rest = properties(output_config(spec), leave_out=frozenset({"notification_config"}))
    notification = _notification(spec)
    own = {"NotificationConfig": notification} if notification else {}
    if created(spec).bucket is None:
        return rest | own
    return {"S3OutputPath": _url(RESPONSES), "S3FailurePath": _url(FAILURES), **rest, **own}


def _notification(spec: ModelSpec) -> dict[str, Value]:
    made = {_NAMES[key]: ref(topic_id(key)) for key, _ in _topics(spec)}
    return made | properties(notification_config(spec))


def _url(folder: str) -> Value:
    return {"Fn::Sub": f"s3://${{{ASYNC_BUCKET}}}/{folder}/"}


# ---------------------------------------------------------------- what the endpoint's role may do


def requests_arns(spec: ModelSpec) -> Iterator[Value]:
    """ARNs of the requests in the bucket that the stack makes."""
    if created(spec).bucket is not None:
        yield _objects(REQUESTS)


def results_arns(spec: ModelSpec) -> Iterator[Value]:
    """ARNs of responses and failures in the bucket that the stack makes."""
    if created(spec).bucket is not None:
        yield from (_objects(folder) for folder in (RESPONSES, FAILURES))


def topic_arns(spec: ModelSpec) -> Iterator[Value]:
    """ARNs of the topics that the stack makes."""
    return (ref(topic_id(key)) for key, _ in _topics(spec))


def _objects(folder: str) -> Value:
    return {"Fn::Sub": f"${{{ASYNC_BUCKET}.Arn}}/{folder}/*"}


# ---------------------------------------------------------------- bucket and topics


def resolve_async_resources(spec: ModelSpec) -> Resources:
    """The bucket and the topics that the spec lets the stack make, each with its policy."""
    made: Resources = {}
    bucket, key = created(spec).bucket, output_config(spec).kms_key_id
    if bucket is not None:
        made |= _bucket(bucket, key)
    for name, topic in _topics(spec):
        made |= _topic(name, topic, key)
    return made


def topic_id(key: str) -> str:
    """Logical id of a topic, by its key in the spec."""
    return f"Async{_NAMES[key]}"


def _topics(spec: ModelSpec) -> Iterator[tuple[str, AsyncTopic]]:
    for key in TOPIC_KEYS:
        topic = getattr(created(spec), key)
        if topic is not None:
            yield key, topic


def _bucket(bucket: AsyncBucket, key: str | None) -> Resources:
    path = (*CREATE, "bucket")
    made = {
        **properties(bucket, leave_out=frozenset({"expiration_in_days"})),
        "BucketEncryption": {"ServerSideEncryptionConfiguration": [_encryption(key)]},
        "LifecycleConfiguration": {"Rules": list(_lifecycle(bucket))},
        "PublicAccessBlockConfiguration": dict.fromkeys(
            ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True
        ),
    }
    arn = get_att(ASYNC_BUCKET, "Arn")
    policy = {
        "Bucket": ref(ASYNC_BUCKET),
        "PolicyDocument": _only_tls("s3:*", [arn, {"Fn::Sub": f"${{{ASYNC_BUCKET}.Arn}}/*"}]),
    }
    return {
        ASYNC_BUCKET: Resource(BUCKET_TYPE, made, path, stays=True),
        # A bucket that stays keeps its policy, too.
        f"{ASYNC_BUCKET}{_POLICY}": Resource(BUCKET_POLICY_TYPE, policy, path, stays=True),
    }


def _encryption(key: str | None) -> Value:
    if key is None:
        return {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    # With a bucket key, S3 asks KMS once for many objects instead of once for each.
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    return {"ServerSideEncryptionByDefault": default, "BucketKeyEnabled": True}


def _lifecycle(bucket: AsyncBucket) -> Iterator[Value]:
    abort = {"DaysAfterInitiation": ABORT_UPLOADS_AFTER_DAYS.value}
    yield {"Id": "Uploads", "Status": "Enabled", "AbortIncompleteMultipartUpload": abort}
    if bucket.expiration_in_days is not None:
        yield {"Id": "Expiration", "Status": "Enabled", "ExpirationInDays": bucket.expiration_in_days}


def _topic(name: str, topic: AsyncTopic, key: str | None) -> Resources:
    path, logical_id = (*CREATE, name), topic_id(name)
    made = {**properties(topic), "KmsMasterKeyId": TOPIC_KEY.value if key is None else key}
    # This takes the place of a policy that lets the account use the topic; its own policies still do.
    policy = {"Topics": [ref(logical_id)], "PolicyDocument": _only_tls("sns:Publish", [ref(logical_id)])}
    return {
        logical_id: Resource(TOPIC_TYPE, made, path),
        f"{logical_id}{_POLICY}": Resource(TOPIC_POLICY_TYPE, policy, path),
    }


def _only_tls(action: str, resources: list[Value]) -> Value:
    """A policy of the resource that allows nothing, and denies what does not come by TLS."""
    statement = present(
        Sid="OnlyByTls",
        Effect="Deny",
        Principal="*",
        Action=action,
        Resource=resources,
        Condition={"Bool": {"aws:SecureTransport": "false"}},
    )
    return {"Version": "2012-10-17", "Statement": [statement]}


# ---------------------------------------------------------------- outputs


def async_outputs(spec: ModelSpec) -> dict[str, Value]:
    """What clients need to know of it: where requests go, and which topics to subscribe to."""
    outputs: dict[str, Value] = {}
    if created(spec).bucket is not None:
        text = "Bucket of asynchronous requests, responses and failures"
        outputs[f"{ASYNC_BUCKET}Name"] = {"Description": text, "Value": ref(ASYNC_BUCKET)}
        text = "S3 prefix to put asynchronous requests under"
        outputs["AsyncRequestsPath"] = {"Description": text, "Value": _url(REQUESTS)}
    for key, _ in _topics(spec):
        text = f"ARN of the topic for asynchronous requests that {_EVENTS[key]}"
        outputs[f"{topic_id(key)}Arn"] = {"Description": text, "Value": ref(topic_id(key))}
    return outputs


_EVENTS = {"success_topic": "succeed", "error_topic": "fail"}
