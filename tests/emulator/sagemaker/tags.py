"""Tags of SageMaker's resources.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html
"""

from typing import Any

from emulator.account import Account
from emulator.answering import Operation, Request, invalid


def _tags(account: Account, request: Request) -> dict[str, str]:
    if request["ResourceArn"] not in account.tags:
        raise invalid(f"Resource {request['ResourceArn']} does not exist")
    return account.tags[request["ResourceArn"]]


def _listed(tags: dict[str, str]) -> dict[str, Any]:
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


def add_tags(account: Account, request: Request) -> dict[str, Any]:
    tags = _tags(account, request)
    tags.update((it["Key"], it["Value"]) for it in request["Tags"])
    return _listed(tags)


def delete_tags(account: Account, request: Request) -> None:
    tags = _tags(account, request)
    for key in request["TagKeys"]:
        tags.pop(key, None)


OPERATIONS: dict[str, Operation] = {
    "AddTags": add_tags,
    "DeleteTags": delete_tags,
    "ListTags": lambda account, request: _listed(_tags(account, request)),
}
