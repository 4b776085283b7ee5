"""Findings that follow from a whole endpoint, and the order of all of them: the worst first, each once."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from inferstack.problems.words import listed
from inferstack.review.data import Finding, Reviewed
from inferstack.updates.effects import WORST_FIRST
from inferstack.updates.update import Fate

_SEVERITIES = ("error", "warning", "info")


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
