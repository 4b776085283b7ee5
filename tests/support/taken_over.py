"""Endpoints that nobody's stack has: deployed from a spec, and then left by their stack."""

from typing import Any

from emulator.account import account
from emulator.clients import ACCOUNT, EmulatedAws
from emulator.deploying import deploy


def left_alone(aws: EmulatedAws, template: dict[str, Any], stack: str) -> None:
    """Deploys a template, and forgets the stack: what it has made is then anybody's."""
    assert deploy(aws, stack, template) == "CREATE_COMPLETE"
    stacks = account(ACCOUNT, aws.region).stacks
    stacks[:] = [it for it in stacks if it.name != stack]
