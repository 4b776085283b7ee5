"""Whether a role may read what it is to serve.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
"""

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from emulator.account import Account
from emulator.answering import invalid
from emulator.beliefs import believed
from moto.iam.models import Role, iam_backends

_READ = "s3:GetObject"


def refuse_unreadable(account: Account, role_arn: str | None, containers: list[dict[str, Any]]) -> None:
    """Refuses containers whose files the role may not read. Conditions and denials are ignored."""
    role = _role(account, role_arn)
    if role is None:
        # It belongs to another account or does not exist: nothing is known of its permissions.
        return
    readable = [it for statement in _statements(role) for it in _objects(statement)]
    for url in filter(None, map(_artifact, containers)):
        if not any(fnmatchcase(url.replace("s3://", "arn:aws:s3:::", 1), it) for it in readable):
            told = f"Could not access model data at {url}: {role.arn} has no {_READ} on it."
            raise invalid(believed("role-reads-artifacts", told))


def _role(account: Account, arn: str | None) -> Role | None:
    roles = iam_backends[account.number]["aws"].roles.values()
    return next((it for it in roles if it.arn == arn), None)


def _artifact(container: dict[str, Any]) -> str | None:
    source = container.get("ModelDataSource", {}).get("S3DataSource", {}).get("S3Uri")
    found: str | None = container.get("ModelDataUrl", container.get("ArtifactUrl", source))
    return found


def _statements(role: Role) -> Iterator[dict[str, Any]]:
    versions = [it for policy in role.managed_policies.values() for it in policy.versions]
    managed = [it.document for it in versions if it.is_default]
    for document in (*managed, *role.policies.values()):
        statements = json.loads(document)["Statement"]
        yield from [statements] if isinstance(statements, dict) else statements


def _objects(statement: dict[str, Any]) -> list[str]:
    """What a statement allows reading."""
    allows = statement["Effect"] == "Allow" and "Resource" in statement
    if not allows or not any(fnmatchcase(_READ, it) for it in _listed(statement.get("Action", []))):
        return []
    return _listed(statement["Resource"])


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
