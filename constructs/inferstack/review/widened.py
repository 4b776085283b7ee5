"""What an update adds to the rights of the endpoint's role, and of those who invoke the endpoint; and what it
takes away.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from inferstack.catalog.resource_types import ROLE_TYPE
from inferstack.endpoint.deployed import shown
from inferstack.endpoint.permissions import (
    WITH_CONTAINERS,
    Gain,
    Right,
    account_of,
    attached,
    every,
    gains,
    is_everything,
    is_whole,
    losses,
    own_roles,
    rights,
)
from inferstack.endpoint.place import NOWHERE, Place
from inferstack.endpoint.protections import invoking_roles, principals
from inferstack.endpoint.stack import Stack
from inferstack.format.logical_ids import EXECUTION_ROLE, INVOKER_POLICY, INVOKER_ROLE
from inferstack.problems.words import listed
from inferstack.review.data import Finding

# Nothing can be read, changed or started with these beyond what the endpoint itself logs and measures.
_HARMLESS = frozenset({"WriteLogs", "PublishMetrics", "LogInToRegistry", "LookAtVpc", "LookAtRollbackAlarms"})
_OURS = _HARMLESS | {"CallWithToken", "OpenSessions"}
"""Statements that inferstack writes on everything, since IAM knows no resource for their actions."""
# A shell in a container is reported as access to it, and a VPC as its network.
_REPORTED = _HARMLESS | {"OpenSessions", "JoinVpc"}
_WHO = {"role": "the role", "invokers": "those who invoke the endpoint"}


def role_findings(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    """Everything that may be done from now on and could not before."""
    roles = own_roles(before), own_roles(after)
    if roles[0] != roles[1]:
        yield _other_role(key, after, roles)
    else:
        yield from _gained(key, before, after)
        yield from _fewer(key, before, after)
    yield from _attached(key, before, after)
    yield from _unbound(key, before, after)
    yield from _trusted(key, before, after)
    yield from _invokers(key, before, after)


def new_role_findings(key: str, stack: Stack) -> Iterator[Finding]:
    """What a role may do on everything, beyond what inferstack itself writes: of a new endpoint, or of one
    that cannot be compared, which counts as new.
    """
    wide = [
        Gain(it.who, it.sid, (it.action,), it.resource, it.condition, ())
        for it in rights(stack)
        if it.sid not in _OURS and is_everything(it.resource)
    ]
    for who, what in _WHO.items():
        for resource in dict.fromkeys((it.resource, it.condition) for it in wide if it.who == who):
            same = [it for it in wide if it.who == who and (it.resource, it.condition) == resource]
            actions = tuple(dict.fromkeys(action for it in same for action in it.actions))
            yield _finding(key, _place(stack), f"{what} may {_few([replace(same[0], actions=actions)])}")
    yield from _attached(key, _NO_STACK, stack)
    anyone = [it for it in stack.of_type(ROLE_TYPE) if "*" in principals(stack.of_type(ROLE_TYPE)[it])]
    for logical_id in anyone:
        yield _finding(key, stack.place_of(logical_id, ()), f"anyone may assume `{logical_id}`")


_NO_STACK = Stack({}, {}, lambda _, __: NOWHERE, None)


def _finding(key: str, place: Place, message: str, told: tuple[str, str] | None = None) -> Finding:
    before, after = told or (None, None)
    return Finding(
        effect="role-widened",
        severity="warning",
        endpoints=(key,),
        message=message,
        before=before,
        after=after,
        place=place,
    )


def _place(stack: Stack) -> Place:
    return stack.place_of(EXECUTION_ROLE, ())


def _other_role(key: str, after: Stack, roles: tuple[tuple[str, ...], tuple[str, ...]]) -> Finding:
    names = [listed(it, last="and", quote="") or "a role of the stack" for it in roles]
    message = "the endpoint runs under another role; what one from elsewhere may do is not known here"
    return _finding(key, _place(after), message, (names[0], names[1]))


def _gained(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    found = gains(before, after)
    wider = [it for it in found if not it.instead and it.sid not in _REPORTED]
    # The files and images of what is added are shown with it; a whole bucket is more than these.
    wider = [it for it in wider if it.sid not in WITH_CONTAINERS or is_whole(it.resource)]
    if any(it.sid == "ReadModelFiles" for it in found):
        # Whoever may read a file need not be told that it may be listed.
        wider = [it for it in wider if it.sid != "ListModelFiles"]
    for who, what in _WHO.items():
        those = [it for it in wider if it.who == who]
        for actions in dict.fromkeys(it.actions for it in those):
            same = [it for it in those if it.actions == actions]
            yield _finding(
                key, _place(after), f"{what} may also {_few(same, whole=_is_elsewhere(same, before))}"
            )
    for it in found:
        # Of one key by its alias, only the condition changes; which key it is, its use says.
        if it.instead and it.instead != (it.resource,) and it.sid not in WITH_CONTAINERS | _REPORTED:
            yield _swapped(key, after, it)


def _is_elsewhere(those: list[Gain], before: Stack) -> bool:
    """Whether the resources are in an account that no right named before: then a reader needs to see it."""
    known = {account_of(it.resource) for it in rights(before)}
    accounts = {account_of(it.resource) for it in those}
    return any(it.isdigit() for it in accounts - known)


def _few(those: list[Gain], *, whole: bool = False) -> str:
    """Gains of one set of actions on several resources, or under several conditions, in words."""
    conditions = list(dict.fromkeys(it.condition for it in those if it.condition))
    where = f" if {listed(conditions, last='or', quote='')}" if conditions else ""
    actions = "do everything" if those[0].actions == ("*",) else every(those[0].actions)
    return f"{actions} on {every(tuple(it.resource for it in those), whole=whole)}{where}"


def _swapped(key: str, after: Stack, gain: Gain) -> Finding:
    message = f"{_WHO[gain.who]} may {every(gain.actions)} on something else"
    told = (every(gain.instead), every((gain.resource,)))
    if told[0] == told[1]:
        told = (every(gain.instead, whole=True), every((gain.resource,), whole=True))
    return Finding(
        effect="changed",
        severity="info",
        endpoints=(key,),
        message=message,
        before=told[0],
        after=told[1],
        place=_place(after),
    )


def _fewer(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    """Rights that the role had: what runs loses them at once, whatever becomes of the endpoint."""
    groups: dict[tuple[str, str], list[Right]] = {}
    for it in losses(before, after):
        groups.setdefault((it.resource, it.condition), []).append(it)
    for (resource, condition), those in groups.items():
        actions = every(tuple(it.action for it in those))
        where = f" if {condition}" if condition else ""
        yield _lost(key, _place(after), f"the role may no longer {actions} on {every((resource,))}{where}")


def _attached(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    new = [it for it in attached(after) if it not in attached(before)]
    gone = [it for it in attached(before) if it not in attached(after)]
    if gone:
        message = f"the role may no longer do all that {listed(gone, last='and')} allowed"
        yield _lost(key, after.place_of(EXECUTION_ROLE, ("ManagedPolicyArns",)), message)
    if new:
        message = (
            f"the role may also do all that {listed(new, last='and')} allow{'s' if len(new) == 1 else ''}"
        )
        yield _finding(key, after.place_of(EXECUTION_ROLE, ("ManagedPolicyArns",)), message)


def _unbound(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    for logical_id, role in after.of_type(ROLE_TYPE).items():
        was = before.of_type(ROLE_TYPE).get(logical_id, {}).get("PermissionsBoundary")
        now = role.get("PermissionsBoundary")
        if was is None and now is not None and logical_id in before.resources:
            place = after.place_of(logical_id, ("PermissionsBoundary",))
            message = f"`{logical_id}` may do no more than the permissions boundary `{shown(now)}` allows"
            yield _lost(key, place, message)
        if was is not None and was != now:
            said = "none" if now is None else shown(now)
            place = after.place_of(logical_id, ("PermissionsBoundary",))
            yield _finding(key, place, f"the permissions boundary of `{logical_id}`", (shown(was), said))


def _trusted(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    for logical_id, role in after.of_type(ROLE_TYPE).items():
        old = before.of_type(ROLE_TYPE).get(logical_id)
        was, now = [] if old is None else principals(old), principals(role)
        place = after.place_of(logical_id, ())
        new, gone = [it for it in now if it not in was], [it for it in was if it not in now]
        # A new role of the endpoint is reported with the endpoint.
        if new and (old is not None or logical_id == INVOKER_ROLE):
            yield _finding(key, place, f"{listed(new, last='and')} may assume `{logical_id}`")
        if gone:
            yield _lost(key, place, f"{listed(gone, last='and')} may no longer assume `{logical_id}`")


def _invokers(key: str, before: Stack, after: Stack) -> Iterator[Finding]:
    """Roles from elsewhere that may invoke the endpoint from now on, or no longer."""
    was, now = invoking_roles(before), invoking_roles(after)
    place = after.place_of(INVOKER_POLICY, ("Roles",))
    new, gone = [it for it in now if it not in was], [it for it in was if it not in now]
    if new:
        yield _finding(key, place, f"{listed(new, last='and')} may invoke the endpoint")
    if gone and INVOKER_POLICY in after.resources:
        yield _lost(key, place, f"{listed(gone, last='and')} may no longer invoke the endpoint")


def _lost(key: str, place: Place, message: str) -> Finding:
    return replace(_finding(key, place, message), effect="interrupted")
