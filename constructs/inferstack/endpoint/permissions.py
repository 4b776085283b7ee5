"""What the endpoint's role and those who invoke the endpoint may do, in words; what an update adds to it."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from inferstack.catalog.resource_types import CONFIG_TYPE, MANAGED_POLICY_TYPE, MODEL_TYPE, ROLE_TYPE
from inferstack.endpoint.deployed import Properties, entries, mapping, shown
from inferstack.endpoint.stack import Stack, readable
from inferstack.facts.role import is_our_sid
from inferstack.format.logical_ids import INVOKER_POLICY, INVOKER_ROLE
from inferstack.problems.words import listed


class Permission(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the endpoint's role, or whoever invokes the endpoint, may do."""

    who: Literal["role", "invokers"]
    """Who may do it."""
    sentence: str
    """What, in words."""
    actions: tuple[str, ...]
    """IAM's actions."""
    resources: tuple[str, ...]
    """ARNs, or patterns of ARNs."""
    condition: str | None = None
    """IAM's condition, as JSON."""


_MOST_SHOWN = 2
# What statements are for, by the names that they get here.
_WORDS = {
    "ReadModelFiles": "read model files: {}",
    "ListModelFiles": "list model files: {}",
    "ReadRequests": "read requests: {}",
    "WriteResults": "write to {}",
    "PullImage": "pull images: {}",
    "LogInToRegistry": "log in to image registries",
    "UseKeys": "encrypt and decrypt with {}",
    "GrantKeys": "let AWS's services use {}",
    "UseKeysByAlias": "encrypt and decrypt with {}",
    "GrantKeysByAlias": "let AWS's services use {}",
    "DecryptFiles": "decrypt with {}",
    "DecryptFilesByAlias": "decrypt with {}",
    "JoinVpc": "put network interfaces into {}",
    "LookAtVpc": "look at networks",
    "NotifyTopics": "send messages to {}",
    "AskRegistryCredentials": "call {} for credentials",
    "ReadModelPackages": "look at model packages: {}",
    "ReadHubContent": "look at contents of hubs: {}",
    "LookAtRollbackAlarms": "look at alarms: {}",
    "OpenSessions": "open sessions into its containers",
    "WriteLogs": "write its logs",
    "PublishMetrics": "publish its metrics",
    "Invoke": "invoke the endpoint and its components",
    "CallWithToken": "call it with a bearer token",
    "PutRequests": "put requests: {}",
    "GetResults": "read responses: {}",
    "UseKey": "use {}",
    "UseKeyByAlias": "use {}",
}
_OF_INVOKERS = frozenset({"Invoke", "CallWithToken", "PutRequests", "GetResults", "UseKey", "UseKeyByAlias"})
_PART = re.compile(r"[0-9]+Part[0-9]+$")
_ARN = re.compile(r"arn:[^:]*:([a-z0-9-]+):[^:]*:[^:]*:(.*)", re.DOTALL)
_PSEUDO = re.compile(r"\$\{AWS::([A-Za-z]+)\}")


class Right(msgspec.Struct, frozen=True):
    """One action on one resource, under a condition."""

    who: str
    sid: str
    action: str
    resource: str
    condition: str

    def covers(self, other: "Right") -> bool:
        """Whether whoever has it has the other as well."""
        return (
            self.who == other.who
            and self.condition in ("", other.condition)
            and _matches(self.action.casefold(), other.action.casefold())
            and _matches(self.resource, other.resource)
        )


def _matches(pattern: str, text: str) -> bool:
    """Whether IAM's pattern stands for the text, or for all that the text stands for."""
    if pattern in (text, "*"):
        return True
    if "*" not in pattern and "?" not in pattern:
        return False
    parts = (
        ".*" if it == "*" else "." if it == "?" else re.escape(it) for it in re.split(r"([*?])", pattern)
    )
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def permissions(stack: Stack) -> tuple[Permission, ...]:
    """Every statement of the policies, in words; then what the role has besides."""
    return tuple(_permissions(stack))


def _permissions(stack: Stack) -> Iterator[Permission]:
    for who, statement in _statements(stack):
        actions, resources = (
            tuple(map(readable, entries(statement.get(it)))) for it in ("Action", "Resource")
        )
        condition = mapping(statement.get("Condition"))
        yield Permission(
            who="invokers" if who == "invokers" else "role",
            sentence=_in_words(_our_sid(who, statement), actions, resources),
            actions=actions,
            resources=resources,
            condition=shown(condition) if condition else None,
        )
    for arn in attached(stack):
        yield Permission(
            who="role", sentence=f"all that the policy `{arn}` allows", actions=(), resources=(arn,)
        )
    for arn in own_roles(stack):
        yield Permission(who="role", sentence=f"all that the role `{arn}` may", actions=(), resources=(arn,))


def _statements(stack: Stack) -> Iterator[tuple[str, Properties]]:
    for logical_id, policy in stack.of_type(MANAGED_POLICY_TYPE).items():
        who = "invokers" if logical_id == INVOKER_POLICY else "role"
        for statement in _of_document(policy.get("PolicyDocument")):
            yield who, statement
    for logical_id, role in stack.of_type(ROLE_TYPE).items():
        who = "invokers" if logical_id == INVOKER_ROLE else "role"
        for inline in map(mapping, entries(role.get("Policies"))):
            yield from ((who, it) for it in _of_document(inline.get("PolicyDocument")))


def _of_document(document: object) -> Iterator[Properties]:
    for statement in map(mapping, entries(mapping(document).get("Statement"))):
        if statement.get("Effect", "Allow") == "Allow":
            yield statement


def attached(stack: Stack) -> tuple[str, ...]:
    """ARNs of policies that the endpoint's role has from elsewhere."""
    roles = stack.of_type(ROLE_TYPE).items()
    found = [
        it for name, role in roles if name != INVOKER_ROLE for it in entries(role.get("ManagedPolicyArns"))
    ]
    return tuple(map(shown, found))


def own_roles(stack: Stack) -> tuple[str, ...]:
    """ARNs of roles from elsewhere under which the endpoint runs."""
    types = (MODEL_TYPE, CONFIG_TYPE)
    found = [it.get("ExecutionRoleArn") for name in types for it in stack.of_type(name).values()]
    return tuple(dict.fromkeys(it for it in found if isinstance(it, str)))


def _our_sid(who: str, statement: Properties) -> str:
    """What a statement is for, if its `Sid` is one that only inferstack gives; empty for a spec's own."""
    sid = shown(statement.get("Sid", ""))
    is_ours = sid in _OF_INVOKERS if who == "invokers" else is_our_sid(sid)
    return _PART.sub("", sid) if is_ours else ""


def _in_words(sid: str, actions: tuple[str, ...], resources: tuple[str, ...]) -> str:
    words = _WORDS.get(sid)
    if words is not None:
        return words.format(few(resources))
    return f"{few(actions)} on {few(resources)}"


def few(names: tuple[str, ...]) -> str:
    """Names of resources or actions, shortened: the first ones, and how many more."""
    shown_ = list(dict.fromkeys(map(named, names)))
    first = [_quoted(it) for it in shown_[:_MOST_SHOWN]]
    more = len(shown_) - len(first)
    return listed([*first, *([f"{more} more"] if more else [])], last="and", quote="")


def every(names: tuple[str, ...], *, whole: bool = False) -> str:
    """All names of resources or actions: the worst may be the last. ARNs are shortened, or shown whole."""
    *others, last = [_quoted(it) for it in dict.fromkeys(names if whole else map(named, names))]
    return f"{', '.join(others)} and {last}" if others else last


def _quoted(name: str) -> str:
    return name if name == "everything" else f"`{name}`"


def named(arn: str) -> str:
    """What people call a resource: an S3 URL, or the end of its ARN."""
    if arn == "*":
        return "everything"
    found = _ARN.fullmatch(_PSEUDO.sub(r"\1", arn).replace("AWS::", ""))
    if found is None:
        return _PSEUDO.sub(r"\1", arn)
    service, rest = found.groups()
    return f"s3://{rest}" if service == "s3" else rest


# ---------------------------------------------------------------- wider than before


def rights(stack: Stack) -> list[Right]:
    """Every right: an action on a resource."""
    found: list[Right] = []
    for who, statement in _statements(stack):
        sid = _our_sid(who, statement)
        condition = mapping(statement.get("Condition"))
        for said in _conditions(condition):
            # What is not named under `Action` may be any but those under `NotAction`.
            for action in map(shown, entries(statement["Action"])) if "Action" in statement else ("*",):
                found += [Right(who, sid, action, readable(it), said) for it in _resources(statement)]
    return found


_WHOLE_BUCKET = re.compile(r"arn:[^:]*:s3:::[^/*]+/\*")


def is_everything(resource: str) -> bool:
    """Whether a pattern stands for all resources of a service, or of a type: `*`, `arn:aws:s3:::*`."""
    if not resource.startswith("arn:"):
        return resource.startswith("*")
    name = resource.split(":", 5)[-1]
    return re.match(r"([a-z-]+[/:])?\*", name) is not None


def is_whole(resource: str) -> bool:
    """Whether a pattern stands for everything, or for a whole bucket."""
    return is_everything(resource) or _WHOLE_BUCKET.fullmatch(resource) is not None


def _resources(statement: Properties) -> list[object]:
    """What is not named under `Resource` may be anything."""
    return entries(statement["Resource"]) if "Resource" in statement else ["*"]


def _conditions(condition: Properties) -> list[str]:
    """Prefixes of a bucket are rights of their own, as they come and go one by one."""
    match condition:
        case {"StringLike": {"s3:prefix": [*prefixes], **others}} if not others and len(condition) == 1:
            return [f"the prefix is {shown(it)}" for it in prefixes]
        case _:
            return [shown(condition) if condition else ""]


class Gain(msgspec.Struct, frozen=True):
    """Actions on a resource that were not allowed, or not without this condition; ``instead`` of others in
    the same place, if the same statement loses as much.
    """

    who: str
    sid: str
    actions: tuple[str, ...]
    resource: str
    condition: str
    instead: tuple[str, ...]


def gains(before: Stack, after: Stack) -> list[Gain]:
    """What is allowed from now on, one entry for each resource."""
    old, new = rights(before), rights(after)
    had, has = set(old), set(new)
    gained = [it for it in new if it not in had and not any(other.covers(it) for other in old)]
    lost = [it for it in old if it not in has and not any(other.covers(it) for other in new)]
    groups: dict[tuple[str, str, str, str], list[Right]] = {}
    for it in gained:
        groups.setdefault((it.who, it.sid, it.resource, it.condition), []).append(it)
    return [_gain(those, lost, gained) for those in groups.values()]


WITH_CONTAINERS = frozenset({"ReadModelFiles", "ListModelFiles", "PullImage"})
"""Statements about files and images: what they may reach now is reported where it runs."""


def _home(resource: str) -> str:
    """What a resource belongs to: its bucket, or its account in a service."""
    _, _, service, _, account, name = _arn_parts(resource)
    return name.partition("/")[0] if service == "s3" else f"{service} {account}"


def account_of(arn: str) -> str:
    """The account in an ARN; empty where it has none."""
    return _arn_parts(arn)[4]


def _arn_parts(arn: str) -> list[str]:
    parts = _PSEUDO.sub(r"\1", arn).split(":", 5)
    return parts if len(parts) == 6 else ["", "", "", "", "", arn]


def losses(before: Stack, after: Stack) -> list[Right]:
    """What the spec's own statements allowed the role and nothing allows any more. What inferstack writes
    follows from what runs.
    """
    now = rights(after)
    lost = [it for it in rights(before) if it.who == "role" and not it.sid]
    return [it for it in lost if not any(other.covers(it) for other in now)]


def _gain(those: list[Right], lost: list[Right], gained: list[Right]) -> Gain:
    """Swapped for something else in the same place if a statement that is made here gains no more than it
    loses, and no pattern.
    """
    first, actions = those[0], tuple(it.action for it in those)
    gone = [it for it in lost if (it.who, it.sid) == (first.who, first.sid)]
    come = [it for it in gained if (it.who, it.sid) == (first.who, first.sid)]
    homes = {_home(it.resource) for it in gone}
    stays = first.sid in WITH_CONTAINERS or homes.issuperset(_home(it.resource) for it in come)
    is_swap = first.sid in _WORDS and stays and len(come) <= len(gone) and _stars(come) <= _stars(gone)
    instead = tuple(dict.fromkeys(it.resource for it in gone)) if is_swap else ()
    return Gain(first.who, first.sid, actions, first.resource, first.condition, instead)


def _stars(found: list[Right]) -> int:
    return sum("*" in it.resource for it in found)
