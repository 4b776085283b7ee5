"""Asynchronous inference: what a spec names for it, and what it lets the stack make."""

from collections.abc import Iterator

from inferstack.facts.walk import endpoint_config
from inferstack.format.async_inference import (
    AsyncInferenceConfig,
    AsyncNotificationConfig,
    AsyncOutputConfig,
    AsyncResources,
)
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath

CONFIG: SpecPath = ("endpoint_config", "async_inference_config")
OUTPUT: SpecPath = (*CONFIG, "output_config")
NOTIFICATION: SpecPath = (*OUTPUT, "notification_config")
CREATE: SpecPath = (*CONFIG, "create")
TOPIC_KEYS = ("success_topic", "error_topic")
BUCKET_NAME = "bucket_name"

_NOTHING, _NO_OUTPUT, _NO_TOPICS = AsyncResources(), AsyncOutputConfig(), AsyncNotificationConfig()


def async_config(spec: ModelSpec) -> AsyncInferenceConfig | None:
    """The block `async_inference_config`; None for an endpoint that is not asynchronous."""
    return endpoint_config(spec).async_inference_config


def output_config(spec: ModelSpec) -> AsyncOutputConfig:
    """The block `output_config`; an empty one if there is none."""
    config = async_config(spec)
    return _NO_OUTPUT if config is None or config.output_config is None else config.output_config


def notification_config(spec: ModelSpec) -> AsyncNotificationConfig:
    """The block `notification_config`; an empty one if there is none."""
    found = output_config(spec).notification_config
    return _NO_TOPICS if found is None else found


def created(spec: ModelSpec) -> AsyncResources:
    """The block `create`; an empty one if there is none."""
    config = async_config(spec)
    return _NOTHING if config is None or config.create is None else config.create


def made_names(spec: ModelSpec) -> Iterator[tuple[SpecPath, str]]:
    """The names that the spec gives to the bucket and the topics that the stack makes."""
    made = created(spec)
    if made.bucket is not None and made.bucket.bucket_name is not None:
        yield (*CREATE, "bucket", BUCKET_NAME), made.bucket.bucket_name
    for key in TOPIC_KEYS:
        topic = getattr(made, key)
        if topic is not None and topic.topic_name is not None:
            yield (*CREATE, key, "topic_name"), topic.topic_name
