"""The least rights that the checks of some specs need, as IAM's policy."""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from inferstack.account.connection import Connection
from inferstack.account.preflight.running import CHECKS
from inferstack.account.preflight.verdict import Target
from inferstack.check.load import LoadedSpec


def least_policy(specs: Sequence[LoadedSpec]) -> dict[str, Any]:
    """The policy; AWS is not asked. Where a spec leaves account or region open, it is for any."""
    targets = [target_of_policy(it) for it in specs]
    return policy_of(
        (call.action, arn)
        for check in CHECKS
        for subject in check.subjects(targets)
        for call, arn in check.rights(subject)
    )


def target_of_policy(loaded: LoadedSpec) -> Target:
    """Where a spec is deployed, as far as it says so."""
    account = "*" if loaded.spec.account is None else loaded.spec.account
    return Target(loaded, Connection(account, loaded.spec.region, None))


def policy_of(rights: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """IAM's policy for actions, each with the ARN that it is for."""
    statements = [
        {"Effect": "Allow", "Action": _one_or_all(actions), "Resource": _one_or_all(resources)}
        for actions, resources in _statements(rights)
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def _statements(rights: Iterable[tuple[str, str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Actions on the same resources are one statement."""
    resources: dict[str, set[str]] = {}
    for action, arn in rights:
        resources.setdefault(action, set()).add(arn)
    least = {action: sorted(_widest(arns)) for action, arns in resources.items()}
    by_resources = sorted(least, key=lambda it: (least[it], it))
    for arns, actions in groupby(by_resources, key=least.__getitem__):
        yield [*actions], arns


def _widest(arns: set[str]) -> Iterator[str]:
    return (it for it in arns if not any(it != other and fnmatchcase(it, other) for other in arns))


def _one_or_all(texts: list[str]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else texts
