"""Asynchronous inference: where requests wait, where responses are stored, and who is notified.

AWS::SageMaker::EndpointConfig, with the bucket and the topics that a stack can make for it.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from inferstack.format.base import Block, Items, KmsKey, form

_CONFIG = "AWS::SageMaker::EndpointConfig"
_BUCKET = "AWS::S3::Bucket"

# ---------------------------------------------------------------- AWS::SageMaker::EndpointConfig


class AsyncClientConfig(Block):
    """How SageMaker calls the container of an asynchronous endpoint."""

    shapes: ClassVar = (f"{_CONFIG}.AsyncInferenceClientConfig",)

    max_concurrent_invocations_per_instance: int | None = None
    """Maximum number of requests that an instance processes at a time."""


class AsyncNotificationConfig(Block):
    """SNS topics that are notified of finished requests."""

    shapes: ClassVar = (f"{_CONFIG}.AsyncInferenceNotificationConfig",)

    success_topic: str | None = None
    """ARN of the SNS topic for requests that succeed, unless the stack makes it."""
    error_topic: str | None = None
    """ARN of the SNS topic for requests that fail, unless the stack makes it."""
    include_inference_response_in: Items[str] | None = None
    """Topics whose messages contain the response itself."""


class AsyncOutputConfig(Block):
    """Where the responses of an asynchronous endpoint are stored."""

    shapes: ClassVar = (f"{_CONFIG}.AsyncInferenceOutputConfig",)

    s3_output_path: str | None = None
    """S3 prefix for responses, unless the stack makes the bucket."""
    s3_failure_path: str | None = None
    """S3 prefix for failures, unless the stack makes the bucket."""
    kms_key_id: KmsKey | None = None
    """KMS key that encrypts the responses and failures, and what the stack makes under `create`."""
    notification_config: AsyncNotificationConfig | None = None
    """SNS topics to notify."""


# ---------------------------------------------------------------- what the stack makes


class LoggingConfiguration(Block):
    """Where S3 logs who used the bucket."""

    shapes: ClassVar = (f"{_BUCKET}.LoggingConfiguration",)

    destination_bucket_name: str
    """Name of an existing bucket, which must allow `logging.s3.amazonaws.com` to write."""
    log_file_prefix: str | None = None
    """How the names of the logs begin."""


# A positive number: https://docs.aws.amazon.com/AmazonS3/latest/API/API_LifecycleExpiration.html
Days = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 2**31 - 1})]


class AsyncBucket(Block):
    """A bucket that the stack makes: clients put requests under `requests/`, and the endpoint stores
    responses under `responses/` and failures under `failures/`. It is private, encrypted, and only reached by
    TLS. It outlives the stack with all that is in it: CloudFormation could only delete an empty bucket."""

    shapes: ClassVar = (_BUCKET, f"{_BUCKET}.Rule")

    bucket_name: Annotated[str, form(min_length=3)] | None = None
    """Name of the bucket, unique in all of AWS; if left out, CloudFormation chooses one."""
    expiration_in_days: Days | None = None
    """How many days requests, responses and failures are kept; if left out, until somebody deletes them."""
    logging_configuration: LoggingConfiguration | None = None
    """Where S3 logs who used the bucket; if left out, it does not."""


class AsyncTopic(Block):
    """An SNS topic that the stack makes. It is encrypted with `output_config.kms_key_id`, or else with AWS's
    own key for SNS, and only takes messages that come by TLS."""

    shapes: ClassVar = ("AWS::SNS::Topic",)

    topic_name: str | None = None
    """Name of the topic; if left out, CloudFormation chooses one."""
    display_name: str | None = None
    """Name that e-mails of the topic are sent under."""


class AsyncResources(Block):
    """What the stack makes for an asynchronous endpoint: `{}` for one with all defaults."""

    bucket: AsyncBucket | None = None
    """A bucket for requests, responses and failures, instead of `s3_output_path` and `s3_failure_path`."""
    success_topic: AsyncTopic | None = None
    """A topic for requests that succeed, instead of `notification_config.success_topic`."""
    error_topic: AsyncTopic | None = None
    """A topic for requests that fail, instead of `notification_config.error_topic`."""


class AsyncInferenceConfig(Block):
    """Makes the endpoint asynchronous: requests wait in a queue, and responses are stored in S3."""

    shapes: ClassVar = (f"{_CONFIG}.AsyncInferenceConfig",)

    output_config: AsyncOutputConfig | None = None
    """Where responses are stored. Required unless the stack makes the bucket."""
    client_config: AsyncClientConfig | None = None
    """How SageMaker calls the container."""
    s3_input_path: str | None = None
    """S3 prefix of an existing bucket under which clients put requests; the endpoint's role may read them."""
    create: AsyncResources | None = None
    """Bucket and topics that the stack makes. The endpoint's role gets its rights to them."""
