"""Names and ARNs of SageMaker's resources, and whether they exist."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from emulator.account import Account, Description
from emulator.answering import Request, invalid


def arn(account: Account, kind: str, name: str) -> str:
    """In its ARNs, SageMaker writes names in lower case."""
    return account.arn("sagemaker", f"{kind}/{name.lower()}")


def existing(found: dict[str, Description], account: Account, kind: str, name: str) -> Description:
    """The resource with that name."""
    if name not in found:
        raise invalid(f'Could not find {kind.replace("-", " ")} "{arn(account, kind, name)}".')
    return found[name]


def refuse_taken(taken: Iterable[str], account: Account, kind: str, name: str) -> None:
    """Names are unique in an account and region."""
    if name in taken:
        words = kind.replace("-", " ").replace("config", "configuration")
        raise invalid(f'Cannot create already existing {words} "{arn(account, kind, name)}".')


def described(request: Request, **more: Any) -> Description:
    """A new resource as its Describe operation shows it: what was requested, and more."""
    now = datetime.now(UTC)
    asked = {key: value for key, value in request.items() if key != "Tags"}
    return {**asked, "CreationTime": now, "LastModifiedTime": now, **more}


def tag(account: Account, resource_arn: str, request: Request) -> None:
    """Stores the tags of a new resource."""
    account.tags[resource_arn] = {it["Key"]: it["Value"] for it in request.get("Tags", ())}
