"""The role that is made: what the spec adds to it, and how many managed policies it will have."""

from collections.abc import Iterator
from math import ceil

import msgspec

from inferstack.spec.blocks.execution_role import ExecutionRole
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import Container
from inferstack.spec.parts.walk import components, containers

# Of the characters that IAM allows a policy, as many as one has on average where there are several.
_IN_ONE_OF_SEVERAL = 5000
_IN_ONE = 6000
# What every role has, and what each ARN has beside the user's own words.
_ALWAYS, _OF_LOG_GROUP, _OF_FILES = 1800, 115, 40


_NO_ADDITIONS = ExecutionRole()


def additions(spec: ModelSpec) -> ExecutionRole:
    """What the spec adds to the role that is made; an empty block where it adds nothing, or names a role."""
    return spec.execution_role if isinstance(spec.execution_role, ExecutionRole) else _NO_ADDITIONS


def policies_made(spec: ModelSpec) -> int:
    """About how many; none where the role is the user's own."""
    if isinstance(spec.execution_role, str):
        return 0
    length = _ALWAYS + sum(_lengths(spec))
    return 1 if length <= _IN_ONE else max(2, ceil(length / _IN_ONE_OF_SEVERAL))


def _lengths(spec: ModelSpec) -> Iterator[int]:
    for _, name, _ in components(spec):
        yield _OF_LOG_GROUP + len(name)
    for placed in containers(spec):
        container = placed.container
        url = container.model_data_url if isinstance(container, Container) else container.artifact_url
        if url is not None:
            # To read it, and to list it.
            yield _OF_FILES + 2 * len(url)
    for statement in additions(spec).statements:
        yield len(msgspec.json.encode(statement))
