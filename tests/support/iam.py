"""Decides as IAM does whether policies allow a request.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html

What IAM has and no policy here needs raises, so that nothing is taken for allowed or refused by mistake. Wildcards
match any characters, as in the last part of an ARN: elsewhere IAM's stop at a colon, and so allow less.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Policy = Mapping[str, Any]
Context = Mapping[str, str | Sequence[str]]
"""The condition keys of a request; one that is missing is not in the request either."""

_KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition", "Principal"}


def allows(policy: Policy, action: str, resource: str = "", context: Context | None = None) -> bool:
    """Whether a policy allows a request: something in it does, and nothing in it denies it."""
    effects = {
        it["Effect"]
        for it in policy["Statement"]
        if _applies(it, action, resource, {} if context is None else context)
    }
    return effects == {"Allow"}


def allows_within(boundary: Policy, policy: Policy, *request: Any) -> bool:
    """Whether a policy allows a request to a role with a permissions boundary: both must."""
    return allows(policy, *request) and allows(boundary, *request)


def _applies(statement: Policy, action: str, resource: str, context: Context) -> bool:
    assert statement.keys() <= _KNOWN, statement
    return (
        any(_like(it.lower(), action.lower()) for it in listed(statement["Action"]))
        # A trust policy has no resource: it is about the role that it belongs to.
        and any(_like(it, resource) for it in listed(statement.get("Resource", "*")))
        and all(
            _holds(operator, key, listed(wanted), context)
            for operator, conditions in statement.get("Condition", {}).items()
            for key, wanted in conditions.items()
        )
    )


def listed(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _like(pattern: str, found: str) -> bool:
    wild = "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch(wild, found, re.DOTALL) is not None


def _arn_like(pattern: str, found: str) -> bool:
    """Each of an ARN's six parts must match on its own."""
    parts, others = pattern.split(":", 5), found.split(":", 5)
    return len(parts) == len(others) and all(map(_like, parts, others))


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "StringEquals": str.__eq__,
    "StringLike": _like,
    "ArnLike": _arn_like,
    "ArnEquals": _arn_like,
    "Bool": lambda wanted, found: wanted.lower() == found.lower(),
}


def _holds(operator: str, key: str, wanted: Sequence[str], context: Context) -> bool:
    """Whether a condition holds. For a key that is not in the request, only ``Null`` and ``ForAllValues`` can."""
    by_key = {name.lower(): value for name, value in context.items()}
    found = listed(by_key.get(key.lower(), ()))
    if operator == "Null":
        return wanted == [str(not found).lower()]
    among, _, name = operator.rpartition(":")
    assert among in ("", "ForAnyValue", "ForAllValues"), operator
    if among == "ForAllValues":
        return all(any(_OPERATORS[name](it, value) for it in wanted) for value in found)
    assert among or len(found) <= 1, (
        f"{key} has several values: the operator needs ForAnyValue or ForAllValues"
    )
    return any(_OPERATORS[name](it, value) for it in wanted for value in found)
