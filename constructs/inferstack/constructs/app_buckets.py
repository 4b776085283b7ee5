"""Buckets of the app in the S3 URLs of a spec: their keys, and URLs that are only the name of one."""

from __future__ import annotations

from collections.abc import Iterator

import aws_cdk as cdk
from msgspec.structs import replace

from inferstack.check.load import LoadedSpec
from inferstack.check.rules.containers.artifacts import every_url, model_urls
from inferstack.constructs.handles import reference_in
from inferstack.facts.role import additions, baselines, makes_role, requests
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecError
from inferstack.problems.file_codes import NO_URL
from inferstack.texts.placeholders import tokens
from inferstack.texts.s3_urls import s3_url


def refuse_names_for_urls(loaded: LoadedSpec) -> None:
    """Refuses a bucket's name, or another of its attributes, where an S3 URL is wanted.

    Raises:
        SpecError: with each of them.
    """
    problems = list(_names_for_urls(loaded))
    if problems:
        raise SpecError(problems)


def _names_for_urls(loaded: LoadedSpec) -> Iterator[Problem]:
    for path, url in every_url(loaded.spec):
        parts = s3_url(url)
        if parts is not None and parts.url and _bucket(parts.url) is not None:
            message, fix = "a bucket's name is not a URL", "pass the bucket's `s3_url_for_object(…)`"
            yield loaded.document.problem(path, NO_URL, message, fix)


def _bucket(token: str) -> cdk.aws_s3.CfnBucket | None:
    """The bucket of the app that the token is an attribute of."""
    found = reference_in(token)
    return found.target if found is not None and isinstance(found.target, cdk.aws_s3.CfnBucket) else None


def with_keys_of_buckets(loaded: LoadedSpec) -> LoadedSpec:
    """The spec, with rights of the role that it makes to the keys of buckets that files are read from."""
    if not makes_role(loaded.spec):
        return loaded
    known = additions(loaded.spec)
    keys = dict.fromkeys((*known.kms_key_arns, *_keys(loaded.spec)))
    if len(keys) == len(known.kms_key_arns):
        return loaded
    role = replace(known, kms_key_arns=tuple(keys))
    return replace(loaded, spec=replace(loaded.spec, execution_role=role))


def _keys(spec: ModelSpec) -> Iterator[str]:
    for _, url in (*model_urls(spec), *baselines(spec), *requests(spec)):
        for token in tokens(url):
            made = _bucket(token)
            bucket = None if made is None else made.node.scope
            if isinstance(bucket, cdk.aws_s3.Bucket) and bucket.encryption_key is not None:
                yield bucket.encryption_key.key_arn
