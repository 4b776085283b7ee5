"""The log groups of containers, which SageMaker makes together with the first line in them, to be kept forever.

https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
"""

from emulator.account import Account
from moto.logs.models import logs_backends

OF_ENDPOINTS, OF_COMPONENTS = "/aws/sagemaker/Endpoints/", "/aws/sagemaker/InferenceComponents/"


def write_first_line(account: Account, group: str) -> None:
    """Makes the group that a container writes into, unless it is there."""
    logs = logs_backends[account.number][account.region]
    if group not in logs.groups:
        logs.create_log_group(group, tags={})
