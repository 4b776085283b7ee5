"""What a check finds, and what it is about."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from inferstack.account.connection import Connection
from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import Call
from inferstack.catalog import regions
from inferstack.check.load import LoadedSpec
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath
from inferstack.texts.placeholders import PLACEHOLDER


class Result(StrEnum):
    """What is known. `cannot tell` is not `ok`: the message says what was not checked, and why."""

    OK = "ok"
    PROBLEM = "problem"
    CANNOT_TELL = "cannot tell"


WORST_FIRST = (Result.PROBLEM, Result.CANNOT_TELL, Result.OK)


class Checked(msgspec.Struct, frozen=True):
    """What one check finds about one subject."""

    state: Result
    message: str
    fix: str = ""


def ok(message: str) -> Checked:
    """Nothing is in the way."""
    return Checked(Result.OK, message)


def problem(message: str, fix: str) -> Checked:
    """The deployment, or what comes after it, fails."""
    return Checked(Result.PROBLEM, message, fix)


def cannot_tell(message: str, fix: str = "") -> Checked:
    """What was not checked, and why."""
    return Checked(Result.CANNOT_TELL, message, fix)


def only_deployment_knows(text: str) -> Checked:
    """For what a value from elsewhere stands for, or a name that has one in it."""
    # A whole list is written as a text is.
    return cannot_tell(f"{text.replace('#{', '${')} was not checked: only the deployment knows it")


class Target(msgspec.Struct, frozen=True):
    """A spec, and the account and region that it is deployed to; for a policy, both may be open."""

    loaded: LoadedSpec
    connection: Connection

    @property
    def spec(self) -> ModelSpec:
        """The spec."""
        return self.loaded.spec

    @property
    def name(self) -> str:
        """The endpoint's name."""
        return self.filled(self.spec.endpoint_name)

    @property
    def region(self) -> str:
        """The region; a wildcard if it is open."""
        return "*" if self.connection.region is None else self.connection.region

    def filled(self, text: str) -> str:
        """The text with account and region in it."""
        return self.connection.filled(text)

    def arn(self, service: str, name: str, *, region: str | None = None, account: str | None = None) -> str:
        """The ARN of something, with IAM's wildcards for what is not known."""
        where = self.region if region is None else region
        partition = "aws" if self.connection.region is None else regions.partition(self.connection.region)
        whose = self.connection.account if account is None else account
        return open_arn(f"arn:{partition}:{service}:{where}:{whose}:{name}")


def open_arn(arn: str) -> str:
    """The ARN with a wildcard for each placeholder."""
    return PLACEHOLDER.sub("*", arn)


class Subject(msgspec.Struct, frozen=True):
    """One thing to check, and where the spec names it."""

    target: Target
    path: SpecPath
    what: Any = None


Right = tuple[Call, str]
"""A request, and the ARN of what it asks about."""


class Check(msgspec.Struct, frozen=True):
    """One question: what it is asked about, in specs that are deployed to the same place; how it is answered;
    which rights that takes.
    """

    name: str
    subjects: Callable[[Sequence[Target]], Iterable[Subject]]
    judge: Callable[[Subject, Asking], Checked]
    rights: Callable[[Subject], Iterator[Right]]
