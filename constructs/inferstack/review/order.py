"""Findings that follow from a whole endpoint, and the order of all of them: the worst first, each once."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from msgspec.structs import replace

from inferstack.endpoint.place import Place
from inferstack.problems.words import listed
from inferstack.review.data import Finding, Reviewed
from inferstack.updates.effects import WORST_FIRST
from inferstack.updates.update import Fate

_SEVERITIES = ("error", "warning", "info")
_ANYWHERE = Place("")


def worst_first(findings: Iterable[Finding], keys: Sequence[str]) -> tuple[Finding, ...]:
    """Every finding once, with all endpoints that share it: the worst and dearest first. What specs ignore
    comes last.
    """
    order = {key: index for index, key in enumerate(keys)}

    def weight(finding: Finding) -> tuple[bool, int, int, Decimal, int, int]:
        endpoint = min((order[key] for key in finding.endpoints), default=len(order))
        severity = _SEVERITIES.index(finding.severity)
        # What has no price may be the dearest of all.
        unpriced = finding.effect == "cost" and finding.dearer is None
        dearer = Decimal("-inf") if unpriced else -(finding.dearer or Decimal(0))
        effect = WORST_FIRST.index(finding.effect)
        return finding.ignored is not None, effect, severity, dearer, endpoint, finding.place.line

    return tuple(sorted(_together(findings), key=weight))


def _together(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings that say the same of several endpoints, as one."""
    alike: dict[Finding, list[list[Finding]]] = {}
    for it in findings:
        groups = alike.setdefault(replace(it, endpoints=(), place=_ANYWHERE, dearer=None), [])
        # Of one endpoint, or of files, the same in two places is two things to look at.
        group = next((one for one in groups if it.endpoints and _shares_none(one, it)), None)
        if it in (known for one in groups for known in one):
            continue
        if group is None:
            groups.append([it])
        else:
            group.append(it)
    for groups in alike.values():
        yield from map(_joined, groups)


def _shares_none(group: Sequence[Finding], finding: Finding) -> bool:
    return all(set(one.endpoints).isdisjoint(finding.endpoints) for one in group)


def _joined(group: Sequence[Finding]) -> Finding:
    first = group[0]
    places = dict.fromkeys(place for it in group for place in (it.place, *it.also) if place != first.place)
    dearer = [it.dearer for it in group if it.dearer is not None]
    return replace(
        first,
        endpoints=tuple(dict.fromkeys(key for it in group for key in it.endpoints)),
        also=tuple(places),
        dearer=max(dearer) if len(dearer) == len(group) else None,
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
