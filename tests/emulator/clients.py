"""The emulated AWS as tests see it: clients, and the environment that programs need to find it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from emulator.runtime import CONTAINER

ACCOUNT = "123456789012"
"""The account of moto; the CDK CLI asks STS for it."""
_KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True)
class EmulatedAws:
    """A running emulator."""

    url: str
    region: str = "us-east-1"

    def client(self, service: str) -> Any:
        """A boto3 client, which does not retry."""
        return client_of(service, self.url, self.region)

    def environment(self) -> dict[str, str]:
        """Variables for programs that know nothing of emulators: the AWS CLI, the CDK CLI, boto3."""
        return {
            **_KEYS,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    @contextmanager
    def container(self, url: str) -> Iterator[None]:
        """Makes a model server answer the invocations of all endpoints."""
        os.environ[CONTAINER] = url
        try:
            yield
        finally:
            del os.environ[CONTAINER]


@cache
def client_of(service: str, url: str, region: str) -> Any:
    """A boto3 client of an emulated service, which does not retry."""
    return boto3.client(
        service,
        region_name=region,
        endpoint_url=url,
        aws_access_key_id=_KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=_KEYS["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 1}, proxies={}),
    )
