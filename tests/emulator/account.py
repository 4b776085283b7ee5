"""What exists in one account and region, of those services that the emulator does not leave to moto."""

from dataclasses import dataclass, field
from typing import Any

Description = dict[str, Any]
"""A resource in the form in which the service's Describe operation gives it."""


@dataclass
class Account:
    """One account in one region. Every collection is by name, or by what is used like a name."""

    number: str
    region: str
    models: dict[str, Description] = field(default_factory=dict)
    endpoint_configs: dict[str, Description] = field(default_factory=dict)
    endpoints: dict[str, Description] = field(default_factory=dict)
    components: dict[str, Description] = field(default_factory=dict)
    targets: dict[tuple[str, str], Description] = field(default_factory=dict)
    """Scaling targets by resource id and dimension; one namespace is emulated."""
    policies: dict[tuple[str, str, str], Description] = field(default_factory=dict)
    """Scaling policies by target and name."""
    schedules: dict[tuple[str, str, str], Description] = field(default_factory=dict)
    """Scheduled actions by target and name."""
    jobs: dict[str, dict[str, Description]] = field(default_factory=dict)
    """Jobs that measure models, and what they send, by kind and name."""
    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    """Tags of all of these, by ARN."""
    stacks: list[Any] = field(default_factory=list)
    """Stacks, oldest first, including deleted ones."""

    def arn(self, service: str, rest: str) -> str:
        """The ARN of something in this account."""
        return f"arn:aws:{service}:{self.region}:{self.number}:{rest}"


_accounts: dict[tuple[str, str], Account] = {}


def account(number: str, region: str) -> Account:
    """The account in a region; every account exists, and is empty at first."""
    return _accounts.setdefault((number, region), Account(number, region))


def forget_accounts() -> None:
    """Empties all accounts."""
    _accounts.clear()
