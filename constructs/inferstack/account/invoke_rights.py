"""The least rights for invoking the endpoints of specs, as IAM's policy."""

from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.account.preflight.keys import arn_of_key
from inferstack.account.preflight.policy import policy_of, target_of_policy
from inferstack.account.preflight.verdict import Target, open_arn
from inferstack.check.load import LoadedSpec
from inferstack.facts.async_inference import created, output_config
from inferstack.facts.walk import components, is_async
from inferstack.resolve.async_inference import FAILURES, RESPONSES
from inferstack.resolve.images import key_arn
from inferstack.resolve.invokers import STREAM, invoke_actions


def invoke_policy(specs: Sequence[LoadedSpec], *, stream: bool) -> dict[str, Any]:
    """The policy; AWS is not asked. Where a spec leaves account or region open, it is for any."""
    return policy_of(right for it in specs for right in _rights(target_of_policy(it), stream=stream))


def _rights(target: Target, *, stream: bool) -> Iterator[tuple[str, str]]:
    named = [f"endpoint/{target.name}"]
    named += [f"inference-component/{target.filled(name)}" for _, name, _ in components(target.spec)]
    actions = [it for it in invoke_actions(target.spec) if stream or it != STREAM]
    yield from ((it, target.arn("sagemaker", name.lower())) for name in named for it in actions)
    if is_async(target.spec):
        yield from _of_answers(target)


def _of_answers(target: Target) -> Iterator[tuple[str, str]]:
    """Reading answers and failures. Without the right to list, S3 does not say that one is not there yet."""
    config, made = output_config(target.spec), created(target.spec).bucket
    urls = [it for it in (config.s3_output_path, config.s3_failure_path) if it is not None]
    if made is not None:
        urls += [f"s3://{made.bucket_name or '*'}/{folder}/" for folder in (RESPONSES, FAILURES)]
    for url in urls:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        arn = target.arn("s3", target.filled(bucket), region="", account="")
        yield "s3:ListBucket", arn
        yield "s3:GetObject", f"{arn}/{open_arn(target.filled(prefix)).rstrip('/*')}/*".replace("//", "/")
    if config.kms_key_id is not None:
        yield "kms:Decrypt", arn_of_key(key_arn(target.filled(config.kms_key_id))[0], target)
