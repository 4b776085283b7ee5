"""What runs now, with what ran in its place before. Models may get other names, so it is found by the
variants and components that run them.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from inferstack.catalog.resource_types import MODEL_TYPE
from inferstack.endpoint.containers import RunningContainer, hosted
from inferstack.endpoint.protections import Protection
from inferstack.review.pair import Pair
from inferstack.updates.renames import alarm_twins, components_renamed

Twins = tuple[RunningContainer, RunningContainer]
"""What ran, and what runs in its place."""


def container_twins(pair: Pair) -> list[Twins]:
    """Each container of what stays, with the one that it replaces; a model that several run, once."""
    old, new = ({it.name: it for it in picture.containers} for picture in (pair.before, pair.after))
    before, after = _under_new_names(pair), hosted(pair.new)
    names = [both for host in after if host in before for both in _paired(before[host], after[host])]
    # What nothing in the template is seen to run.
    run = {name for those in after.values() for name in those}
    names += [(name, name) for name in new if name in old and name not in run]
    return [(old[was], new[now]) for was, now in dict.fromkeys(names) if was in old and now in new]


def _under_new_names(pair: Pair) -> dict[str, Sequence[str]]:
    """What each variant and component ran, by the name that it has now."""
    found: dict[str, Sequence[str]] = {}
    for host, names in hosted(pair.old).items():
        name, on, kind = host.partition(" on ")
        found[f"{pair.name_now(name)}{on}{kind}"] = names
    return found


def _paired(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Containers of one host: those of one name, then the others in their order."""
    by_part = {_part(name): name for name in before}
    same = {now: by_part[_part(now)] for now in after if _part(now) in by_part}
    rest = iter([it for it in before if it not in same.values()])
    for now in after:
        was = same.get(now) or next(rest, None)
        if was is not None:
            yield was, now


def _part(container: str) -> str:
    """The container's own name, in a model of several."""
    return container.partition(", ")[2]


def protections_before(pair: Pair, twins: Sequence[Twins]) -> tuple[Protection, ...]:
    """The protections before, under the names that models, components and alarms have now."""
    models, both = pair.old.of_type(MODEL_TYPE), (pair.old.resources, pair.new.resources)
    ids = {(was.name.partition(", ")[0], now.name.partition(", ")[0]) for was, now in twins}
    quoted = {
        f"`{old}`": f"`{new}`"
        for names in (components_renamed, alarm_twins)
        for old, new in names(*both).items()
    }
    found: list[Protection] = []
    for it in (_renamed(one, quoted) for one in pair.before.protections):
        subject, comma, question = it.about.partition(", ")
        names = [new for old, new in sorted(ids) if old == subject] if subject in models else []
        for name in names or [subject]:
            sentence = it.sentence.replace(f"`{subject}`", f"`{name}`")
            found.append(replace(it, about=f"{name}{comma}{question}", sentence=sentence))
    return tuple(found)


def _renamed(protection: Protection, names: Mapping[str, str]) -> Protection:
    about, sentence, by = protection.about, protection.sentence, protection.by
    for old, new in names.items():
        about, sentence = about.replace(old, new), sentence.replace(old, new)
    return replace(protection, about=about, sentence=sentence, by=tuple(names.get(it, it) for it in by))
