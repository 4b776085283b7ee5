"""The least rights that the checks of some specs need, as IAM's policy."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from inferstack.account.connection import Connection
from inferstack.account.preflight.running import CHECKS
from inferstack.account.preflight.verdict import Target
from inferstack.check.load import LoadedSpec


def least_policy(specs: Sequence[LoadedSpec]) -> dict[str, Any]:
    """The policy; AWS is not asked. Where a spec leaves account or region open, it is for any."""
    targets = [
        Target(it, Connection("*" if it.spec.account is None else it.spec.account, it.spec.region, None))
        for it in specs
    ]
    statements = [
        {"Effect": "Allow", "Action": _one_or_all(actions), "Resource": _one_or_all(resources)}
        for actions, resources in _statements(targets)
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def _statements(targets: Sequence[Target]) -> Iterator[tuple[list[str], list[str]]]:
    """Actions on the same resources are one statement."""
    resources: dict[str, set[str]] = {}
    for check in CHECKS:
        for subject in check.subjects(targets):
            for call, arn in check.rights(subject):
                resources.setdefault(call.action, set()).add(arn)
    least = {action: sorted(_widest(arns)) for action, arns in resources.items()}
    by_resources = sorted(least, key=lambda it: (least[it], it))
    for arns, actions in groupby(by_resources, key=least.__getitem__):
        yield [*actions], arns


def _widest(arns: set[str]) -> Iterator[str]:
    return (it for it in arns if not any(it != other and fnmatchcase(it, other) for other in arns))


def _one_or_all(texts: list[str]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else texts
