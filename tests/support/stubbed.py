"""A session of boto3 whose clients answer what a test gives, with answers that AWS could give."""

from typing import Any

import boto3
from botocore.stub import Stubber

from inferstack.account.connection import Connection

ACCOUNT = "123456789012"


class StubbedSession:
    """``made`` lists service and region of each client that was asked for."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []
        self._stubs: dict[str, Stubber] = {}

    def stub(self, service: str) -> Stubber:
        """The answers of a service, each of which is given once, in this order."""
        if service not in self._stubs:
            keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
            self._stubs[service] = Stubber(boto3.client(service, "us-east-1", **keys))
            self._stubs[service].activate()
        return self._stubs[service]

    def client(self, service: str, *, region_name: str, config: Any) -> Any:
        self.made.append((service, region_name))
        return self.stub(service).client

    def get_partition_for_region(self, region: str) -> str:
        return boto3.Session().get_partition_for_region(region)

    def connection(self, region: str = "us-east-1") -> Connection:
        return Connection(ACCOUNT, region, self)

    def assert_all_asked(self) -> None:
        for stub in self._stubs.values():
            stub.assert_no_pending_responses()
