"""Asynchronous inference: where its responses go, and whom it notifies."""

from collections.abc import Iterator

from inferstack.check.rules.base import API, error
from inferstack.facts.async_inference import (
    CONFIG,
    CREATE,
    NOTIFICATION,
    OUTPUT,
    TOPIC_KEYS,
    async_config,
    created,
    notification_config,
    output_config,
)
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT

_PATHS = ("s3_output_path", "s3_failure_path")


@error("IS634", f"{API}/API_AsyncInferenceConfig.html")
def responses_have_a_place(spec: ModelSpec) -> Iterator[Problem]:
    """An asynchronous endpoint must say where its responses go.

    AWS requires `output_config`; a bucket that the stack makes stands for it.
    """
    config = async_config(spec)
    if config is not None and config.output_config is None and created(spec).bucket is None:
        fix = "add `output_config: {s3_output_path: s3://…}`, or `create: {bucket: {}}` for a new bucket"
        yield Problem(CONFIG, "nothing says where responses are stored", fix, lacks="output_config")


@error("IS644", OWN_FORMAT)
def named_or_made(spec: ModelSpec) -> Iterator[Problem]:
    """A bucket or topic is either named or made by the stack.

    Only one of the two would be used.
    """
    for path, key, made in _named(spec):
        if getattr(created(spec), made) is not None:
            at = ".".join(map(str, CREATE[2:]))
            message = f"`{key}` names what `{at}.{made}` makes"
            yield Problem((*path, key), message, f"remove it, or remove `{made}` under `{at}`")


def _named(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, str]]:
    """Each key that names something, and the key under `create` that makes it."""
    for key in _PATHS:
        if getattr(output_config(spec), key) is not None:
            yield OUTPUT, key, "bucket"
    for key in TOPIC_KEYS:
        if getattr(notification_config(spec), key) is not None:
            yield NOTIFICATION, key, key
