"""What an update changes about alarms that stay: when they go off, and whom they notify."""

from collections.abc import Iterator
from typing import NamedTuple

from inferstack.endpoint import deployed
from inferstack.endpoint.alarms import OTHER_ALARMS, Alarm, loosened, parts_of
from inferstack.endpoint.place import Place
from inferstack.problems.words import listed
from inferstack.review.data import Finding
from inferstack.review.pair import Pair
from inferstack.updates.renames import alarm_twins


def alarm_findings(pair: Pair) -> Iterator[Finding]:
    """Alarms that stay and change."""
    yield from _conditions(pair)
    yield from _recipients(pair)


def _conditions(pair: Pair) -> Iterator[Finding]:
    """Alarms that stay and change: a warning where they go off later, or never. What changes alike for
    several parts, by one line of the spec, is reported once.
    """
    old = before_by_id(pair)
    moved: dict[tuple[str, str, str, str, Place], list[Alarm]] = {}
    for alarm in pair.after.alarms:
        was = old.get(alarm.logical_id)
        why = "" if was is None else listed([*_ways(pair, was, alarm)], last="and", quote="")
        if was is not None and (why or was.when != alarm.when):
            moved.setdefault((alarm.metric, why, was.when, alarm.when, alarm.place), []).append(alarm)
    for (metric, why, before, after, place), those in moved.items():
        parts = "" if metric == OTHER_ALARMS else f" of {parts_of(those)}"
        rolls = "; it rolls updates back" if why and any(it.rolls_back for it in those) else ""
        yield Finding(
            effect="alarms-loosened" if why else "changed",
            severity="warning" if why else "info",
            endpoints=(pair.key,),
            message=f"the alarm on {metric}{parts}" + (f": {why}" if why else "") + rolls,
            before=before,
            after=after,
            place=place,
        )


def before_by_id(pair: Pair) -> dict[str, Alarm]:
    """The alarms before, by the logical ids that they have now: what they watch may have another name."""
    twins = alarm_twins(pair.old.resources, pair.new.resources)
    return {twins.get(it.logical_id, it.logical_id): it for it in pair.before.alarms}


def _ways(pair: Pair, was: Alarm, now: Alarm) -> list[str]:
    """In which ways an alarm is looser."""
    before = deployed.properties_of(pair.old.resources[was.logical_id])
    after = deployed.properties_of(pair.new.resources[now.logical_id])
    return list(loosened((pair.old, before), (pair.new, after)))


class _Recipients(NamedTuple):
    names: tuple[str, ...]
    is_muted: bool

    def __str__(self) -> str:
        names = listed(self.names, last="and") or "nobody"
        return f"{names}, but its actions are turned off" if self.is_muted else names


def _recipients_of(alarm: Alarm) -> _Recipients:
    return _Recipients(alarm.recipients, alarm.is_muted)


def _recipients(pair: Pair) -> Iterator[Finding]:
    """Who is notified by alarms that stay, once for all that change alike: a warning where somebody is
    missing.
    """
    old = before_by_id(pair)
    moved: dict[tuple[_Recipients, _Recipients], list[Alarm]] = {}
    for alarm in pair.after.alarms:
        was = old.get(alarm.logical_id)
        if was is not None and (one := _recipients_of(was)) != (other := _recipients_of(alarm)):
            moved.setdefault((one, other), []).append(alarm)
    for (before, after), those in moved.items():
        loses = not set(before.names) <= set(after.names) or (
            after.is_muted and not before.is_muted and before.names != ()
        )
        metrics = listed(list(dict.fromkeys(it.metric for it in those)), last="and", quote="")
        which = "the alarm" if len(those) == 1 else f"{len(those)} alarms"
        yield Finding(
            effect="alarms-loosened" if loses else "changed",
            severity="warning" if loses else "info",
            endpoints=(pair.key,),
            message=f"who is notified by {which} on {metrics}",
            before=str(before),
            after=str(after),
            place=those[0].place,
        )
