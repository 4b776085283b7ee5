"""The role that is made: what the spec adds to it, and how many managed policies it will have."""

from collections.abc import Iterator
from math import ceil

import msgspec

from inferstack.spec.blocks.execution_role import ExecutionRole
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import Container
from inferstack.spec.parts.walk import components, containers

# How many of the characters that IAM allows in a policy are used on average if there are several policies.
_IN_ONE_OF_SEVERAL = 5000
_IN_ONE = 6000
# Characters that every role needs, and that each ARN needs in addition to the user's own text.
_ALWAYS, _OF_LOG_GROUP, _OF_FILES = 1800, 115, 40


_NO_ADDITIONS = ExecutionRole()


def additions(spec: ModelSpec) -> ExecutionRole:
    """What the spec adds to the role that is made; an empty block where it adds nothing, or names a role."""
    return spec.execution_role if isinstance(spec.execution_role, ExecutionRole) else _NO_ADDITIONS


def policies_made(spec: ModelSpec) -> int:
    """About how many policies are made; none if the role is the user's own."""
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
            # The URL occurs twice: in the right to read it and in the right to list it.
            yield _OF_FILES + 2 * len(url)
    for statement in additions(spec).statements:
        yield len(msgspec.json.encode(statement))
