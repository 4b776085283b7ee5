"""Findings that follow from a whole endpoint, and the order of all of them: the worst first, each once."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from inferstack.check.load import LoadedSpec
from inferstack.endpoint.data import Endpoint, Place
from inferstack.problems.words import listed
from inferstack.review.comparing import reasons_to_ignore
from inferstack.review.data import Finding, Reviewed
from inferstack.updates.effects import WORST_FIRST
from inferstack.updates.update import Fate

_SEVERITIES = ("error", "warning", "info")
_ABOUT_ROOM = frozenset({"IS420", "IS421", "IS422", "IS423"})
"""Rules that say the same of accelerators."""


def worst_first(findings: Iterable[Finding], keys: Sequence[str]) -> tuple[Finding, ...]:
    """Every finding once, with all endpoints that have it: the stages of a spec, mostly. What specs ignore
    comes last.
    """
    order = {key: index for index, key in enumerate(keys)}

    def weight(it: Finding) -> tuple[bool, int, int, int, int]:
        endpoint = min((order[key] for key in it.endpoints), default=len(order))
        severity = _SEVERITIES.index(it.severity)
        return it.ignored is not None, WORST_FIRST.index(it.effect), severity, endpoint, it.place.line

    return tuple(sorted(_together(findings), key=weight))


def _together(findings: Iterable[Finding]) -> Iterator[Finding]:
    alike: dict[Finding, dict[str, None]] = {}
    for it in findings:
        alike.setdefault(replace(it, endpoints=()), {}).update(dict.fromkeys(it.endpoints))
    yield from (replace(it, endpoints=tuple(keys)) for it, keys in alike.items())


def never_fitting(key: str, endpoint: Endpoint, one: LoadedSpec) -> Iterator[Finding]:
    """Copies without room at the start or at the most, unless the rules of the spec tell of that already."""
    told = {it.code for it in one.warnings}
    reasons = [it for code, it in reasons_to_ignore(one).items() if code in _ABOUT_ROOM]
    for fleet in endpoint.fleets:
        for name in fleet.never_fits:
            message = f"a copy of `{name}` needs more than one {fleet.instance_types[0]} has: it never starts"
            yield _room(key, fleet.place, message, "choose a larger instance type, or reserve less")
        lacking = [it for it in fleet.placements if it.without_room and it.level != "min"]
        # Of several types, another one may have the room.
        if lacking and len(fleet.instance_types) == 1 and not told & _ABOUT_ROOM:
            it = lacking[-1]
            names = listed(
                [f"{count} of `{name}`" for name, count in it.without_room.items()], last="and", quote=""
            )
            when = "at the start" if it.level == "start" else "at most"
            message = f"{names} have no room {when}: {it.needed} instances are needed, {it.instances} allowed"
            found = _room(key, fleet.place, message, "let the fleet grow, or reserve less for each copy")
            yield replace(found, ignored=reasons[0] if reasons else None)


def _room(key: str, place: Place, message: str, fix: str) -> Finding:
    return Finding(
        effect="never-fits", severity="warning", endpoints=(key,), message=message, fix=fix, place=place
    )


_VERBS = {Fate.ADDED: "adds", Fate.REMOVED: "removes", Fate.REPLACED: "replaces", Fate.UPDATED: "updates"}


def library_finding(reviewed: Reviewed) -> Iterator[Finding]:
    """What only the new version of inferstack changes."""
    those = [it for it in reviewed.changes if it.by == "library"]
    said = [
        f"{verb} {listed(names, last='and')}"
        for fate, verb in _VERBS.items()
        if (names := [it.logical_id for it in those if it.fate is fate])
    ]
    if said and reviewed.after is not None:
        yield Finding(
            effect="library-changed",
            severity="info",
            endpoints=(reviewed.key,),
            message=f"another version of inferstack {'; '.join(said)}, whatever the spec says",
            place=reviewed.after.place,
        )
