"""The role that is made: what the spec adds to it, how many managed policies it will have, and how their
statements are named.
"""

import re
from collections.abc import Iterator
from math import ceil
from typing import Literal, get_args

import msgspec

from inferstack.spec.blocks.execution_role import ExecutionRole
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import components, containers

OurSid = Literal[
    "ReadModelFiles",
    "ListModelFiles",
    "WriteResults",
    "PullImage",
    "LogInToRegistry",
    "UseKeys",
    "GrantKeys",
    "UseKeysByAlias",
    "GrantKeysByAlias",
    "UseListedKeys",
    "GrantListedKeys",
    "JoinVpc",
    "LookAtVpc",
    "NotifyTopics",
    "AskRegistryCredentials",
    "ReadModelPackages",
    "ReadHubContent",
    "LookAtRollbackAlarms",
    "OpenSessions",
    "WriteLogs",
    "PublishMetrics",
]
"""Names of the statements that are made. Buckets after the first have a `ListModelFiles…Part…` each."""
LONGEST_POLICY = 6000
"""IAM allows a managed policy 6144 characters, not counting blanks; pseudo parameters only become shorter.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""
# How many of those characters are used on average if there are several policies.
_IN_ONE_OF_SEVERAL = 5000
# Characters that every role needs, and that each ARN needs in addition to the user's own text.
_ALWAYS, _OF_LOG_GROUP, _OF_FILES = 1800, 115, 40

_NO_ADDITIONS = ExecutionRole()


def additions(spec: ModelSpec) -> ExecutionRole:
    """What the spec adds to the role that is made; an empty block where it adds nothing, or names a role."""
    return spec.execution_role if isinstance(spec.execution_role, ExecutionRole) else _NO_ADDITIONS


def is_our_sid(sid: str) -> bool:
    """Whether a statement that is made has this name, or may have it."""
    return sid in get_args(OurSid) or re.fullmatch("ListModelFiles[0-9]+Part[0-9]+", sid) is not None


def policies_made(spec: ModelSpec) -> int:
    """About how many policies are made; none if the role is the user's own."""
    if isinstance(spec.execution_role, str):
        return 0
    length = _ALWAYS + sum(_lengths(spec))
    return 1 if length <= LONGEST_POLICY else ceil(length / _IN_ONE_OF_SEVERAL)


def _lengths(spec: ModelSpec) -> Iterator[int]:
    for _, name, _ in components(spec):
        yield _OF_LOG_GROUP + len(name)
    for placed in containers(spec):
        if placed.url is not None:
            # The URL occurs twice: in the right to read it and in the right to list it.
            yield _OF_FILES + 2 * len(placed.url)
    for statement in additions(spec).statements:
        yield len(msgspec.json.encode(statement))
