"""KMS keys that encrypt archives, and whether the endpoint's role may use them.

Otherwise a missing permission shows up late: SageMaker creates the endpoint, which then waits for its model.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.account.connection import Connection, UnusableAnswerError
from inferstack.format.kinds import ExecutionRole, ModelSpec, PolicyStatement
from inferstack.resolve.images import key_arn
from inferstack.resolve.needs import gather_needs
from inferstack.texts.placeholders import is_opaque

_ARN = re.compile(r"arn:[^:]+:kms:(?P<region>[^:]+):[0-9]{12}:.+")
_DECRYPT = "kms:decrypt"


class KeyAdvice(msgspec.Struct, frozen=True):
    """What to do so that the endpoint's role may use a key."""

    text: str
    is_certain: bool = False
    """Whether the role may not use the key as things are; else it is not known."""


def advice(key: str, spec: ModelSpec, connection: Connection) -> KeyAdvice | None:
    """What to do so that the endpoint's role may use the key with this ARN; None when it may.

    Only AWS knows what the spec does not say: whose key it is, and which one an alias means. If AWS cannot be
    asked, the advice is to check.
    """
    role = ExecutionRole() if spec.execution_role is None else spec.execution_role
    if not isinstance(role, str) and any(_allows(statement, key) for statement in role.statements):
        return None
    names = () if isinstance(role, str) else (*gather_needs(spec, connection.region).keys, *role.kms_key_arns)
    place = connection if spec.account is None else replace(connection, account=spec.account)
    about = set()
    for answer in _about(key, names, place):
        if answer:
            return None
        about.add(answer)
    if isinstance(role, str):
        return KeyAdvice(f"make sure that {role} may use it (kms:Decrypt)")
    line = f'`execution_role: {{kms_key_arns: ["{key}"]}}`'
    if None in about or role.managed_policy_arns:
        return KeyAdvice(f"make sure that the endpoint's role may use it, such as with {line}")
    waits = "the endpoint's role may not use it, so the endpoint would wait in vain"
    return KeyAdvice(f"{waits}: add {line}", is_certain=True)


def _about(key: str, names: tuple[str, ...], connection: Connection) -> Iterator[bool | None]:
    """Whether it is one of these keys, or AWS's own for S3, which every role may use; None if unknown."""
    for name in names:
        arn, alias = key_arn(name)
        yield None if is_opaque(name) else _is_it(key, connection.filled(arn), alias, connection)
    manager = _metadata(key, connection).get("KeyManager")
    yield None if manager is None else manager == "AWS"


def _is_it(key: str, arn: str, alias: str | None, connection: Connection) -> bool | None:
    if alias is None:
        return arn == key
    found = _metadata(f"{arn.removesuffix('key/*')}{alias}", connection).get("Arn")
    return None if found is None else found == key


def _metadata(arn: str, connection: Connection) -> Mapping[str, Any]:
    """What KMS says about a key; nothing if the caller may not ask, or KMS cannot be reached."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - comes with an extra

    found = _ARN.fullmatch(arn)
    if found is None:
        return {}
    try:
        metadata: Mapping[str, Any] = connection.kms(found["region"]).describe_key(KeyId=arn)["KeyMetadata"]
    except (BotoCoreError, ClientError, UnusableAnswerError):
        return {}
    return metadata


def _allows(statement: PolicyStatement, key: str) -> bool:
    """Whether a statement allows decrypting with the key; its conditions are left to its author."""
    acts = any(fnmatchcase(_DECRYPT, action.lower()) for action in statement.action)
    return acts and any(fnmatchcase(key, resource) for resource in statement.resource)
