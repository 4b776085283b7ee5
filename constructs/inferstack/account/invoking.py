"""A deployed endpoint: what it runs on, and requests of many users at once.

It takes ``sagemaker:InvokeEndpoint`` and ``sagemaker:DescribeEndpoint`` on the endpoint, and
``sagemaker:DescribeEndpointConfig`` on its configuration.
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from inferstack.account.connection import AccountError, Connection, error_code, explained
from inferstack.account.existing import endpoint_with_config
from inferstack.triton.measuring.sending import Send

_RIGHTS = (
    "measuring needs sagemaker:InvokeEndpoint and sagemaker:DescribeEndpoint on the endpoint, and "
    "sagemaker:DescribeEndpointConfig on its configuration"
)
_IN_SERVICE = "InService"
_LONGEST_REASON = 300


class RunningVariant(msgspec.Struct, frozen=True):
    """The instances of a variant. A serverless one, or one with several types, has no ``instance_type``."""

    variant: str
    instance_type: str | None
    instances: int


class Invocation(msgspec.Struct, frozen=True):
    """What is sent to an endpoint."""

    endpoint: str
    body: bytes
    content_type: str
    component: str | None = None
    target_model: str | None = None
    variant: str | None = None
    container: str | None = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of ``InvokeEndpoint``."""
        named = {
            "InferenceComponentName": self.component,
            "TargetModel": self.target_model,
            "TargetVariant": self.variant,
            "TargetContainerHostname": self.container,
        }
        return {
            "EndpointName": self.endpoint,
            "Body": self.body,
            "ContentType": self.content_type,
            **{name: it for name, it in named.items() if it is not None},
        }


def running_variants(connection: Connection, region: str, endpoint: str) -> tuple[RunningVariant, ...]:
    """What an endpoint runs on now.

    Raises:
        AccountError: when it cannot be asked, or is not in service.
    """
    with explained(f"the endpoint {endpoint} cannot be asked", rights=_RIGHTS):
        description, config = endpoint_with_config(connection, region, endpoint)
    if description["EndpointStatus"] != _IN_SERVICE:
        raise AccountError(
            f"the endpoint {endpoint} is {description['EndpointStatus']}; wait until it is in service"
        )
    types = {it["VariantName"]: it.get("InstanceType") for it in config["ProductionVariants"]}
    return tuple(
        RunningVariant(
            it["VariantName"], types.get(it["VariantName"]), int(it.get("CurrentInstanceCount") or 0)
        )
        for it in description.get("ProductionVariants", ())
    )


@asynccontextmanager
async def invoking(
    connection: Connection, region: str, invocation: Invocation, *, users: int, seconds: float
) -> AsyncIterator[Send]:
    """A function that invokes the endpoint and returns why that failed, for so many users at once.

    Nothing is tried twice: that would hide what users see. boto3 waits, so that each user has a thread.
    """
    client = connection.runtime(region, connections=users, seconds=seconds)
    arguments = invocation.arguments
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(users) as threads:

        async def send() -> str | None:
            return await loop.run_in_executor(threads, _invoke, client, arguments)

        yield send


def _invoke(client: Any, arguments: Mapping[str, Any]) -> str | None:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - comes with an extra

    try:
        client.invoke_endpoint(**arguments)["Body"].read()
    except ClientError as error:
        said = " ".join(str(error.response.get("Error", {}).get("Message", "")).split())
        return f"{error_code(error)}: {said[:_LONGEST_REASON]}"
    except (BotoCoreError, AccountError) as error:
        return str(error)
    return None
