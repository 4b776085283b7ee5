"""What becomes of an endpoint that there was before: what it changes from, and to, and what that means."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import cast

from msgspec.structs import replace

from inferstack.catalog.metrics import PROVISIONED_CONCURRENCY
from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    COMPOSITE_ALARM_TYPE,
    CONFIG_TYPE,
)
from inferstack.check.load import LoadedSpec
from inferstack.check.rules import RULES
from inferstack.endpoint import deployed
from inferstack.endpoint.alarms import alike, sentence_of_all
from inferstack.endpoint.containers import HIDDEN, RunningContainer, environments, is_same_image
from inferstack.endpoint.cost import Cost, amount_text
from inferstack.endpoint.counts import NONE, between, counted
from inferstack.endpoint.destinations import topics
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_template import Picture
from inferstack.endpoint.place import Place
from inferstack.endpoint.protections import altered, lowered
from inferstack.endpoint.scaling import Scaling
from inferstack.endpoint.stack import Stack
from inferstack.facts.scaling import WHAT
from inferstack.format.kinds import Ignore
from inferstack.problems import Problem, dotted
from inferstack.problems.words import listed
from inferstack.review.data import Cause, Finding, ResourceChange
from inferstack.review.deploying import place_in
from inferstack.review.loosened import alarm_findings, before_by_id
from inferstack.review.pair import Pair, difference, information
from inferstack.review.remaining import remaining_findings
from inferstack.review.rooms import Rooms, rooms_of
from inferstack.review.twins import Twins, container_twins, protections_before
from inferstack.review.widened import role_findings
from inferstack.texts.s3_urls import location_of
from inferstack.updates.effects import Effect
from inferstack.updates.removed import Gone, what_goes
from inferstack.updates.role import policies_left
from inferstack.updates.rules import update_problems
from inferstack.updates.update import Change, Fate, Update, compare

_ALARMS = frozenset({ALARM_TYPE, COMPOSITE_ALARM_TYPE})

PROVISIONED = WHAT[PROVISIONED_CONCURRENCY]


def _with_policies_left(pair: Pair) -> Stack:
    """What there is after the update, with the policies that leave the stack and stay attached."""
    left = policies_left(pair.old.resources, pair.new.resources)
    return replace(pair.new, resources={**pair.new.resources, **left})


def compared(pair: Pair) -> list[Finding]:
    """Everything to know about an update, each once."""
    risks, twins = list(update_findings(pair)), container_twins(pair)
    return [
        *risks,
        *role_findings(pair.key, pair.old, _with_policies_left(pair)),
        *alarm_findings(pair),
        *_protections(pair, twins),
        *_contents(pair, twins),
        *_environment(pair, twins),
        *_fleets(pair),
        *_traffic(pair),
        *_shadows(pair),
        *_components(pair),
        *_scaling(pair),
        *_destinations(pair),
        *cost_findings(pair.key, pair.before, pair.after),
        *_new(pair, risks),
        *remaining_findings(pair),
    ]


# ---------------------------------------------------------------- what the rules on updates say


def update_findings(pair: Pair) -> Iterator[Finding]:
    """The problems of the update, as `validate --against` reports them, with those that the spec ignores."""
    gone = {it.problem.message: it for it in what_goes(pair.update)}
    for rule, problem in update_problems(pair.update):
        effect = rule.effect
        located = pair.located(problem, rule.code, rule.severity)
        goes = gone.get(problem.message)
        if goes is not None and goes.type in _ALARMS:
            effect, located = "alarms-loosened", replace(located, message=_alarms_gone(pair, goes))
        elif goes is not None and goes.fate is Fate.REPLACED:
            effect = "replaced"
        yield finding_of(located, effect, pair.key, ignored=pair.ignored.get(rule.code))


def _alarms_gone(pair: Pair, goes: Gone) -> str:
    """When they went off, which says more than the names of resources."""
    found = [it for it in pair.before.alarms if it.logical_id in goes.logical_ids]
    if len(found) != len(goes.logical_ids):
        return goes.problem.message
    said = [sentence_of_all(those).partition("; notifies ")[0] for those in alike(found)]
    are = "an alarm is" if len(found) == 1 else f"{len(found)} alarms are"
    return f"{are} {goes.fate}: {'; '.join(said)}"


GRAVE = {code: rule for code, rule in RULES.items() if rule.effect != "advice"}
"""Rules on specs that a reviewer would stop for: what they find is shown even where the spec ignores it."""


def grave_findings(key: str, loaded: LoadedSpec) -> Iterator[Finding]:
    """What these rules find, with those that the spec ignores."""
    reasons = reasons_to_ignore(loaded)
    for rule in GRAVE.values():
        if isinstance(loaded.spec, rule.applies_to):
            for problem in rule.check(loaded.spec):
                located = loaded.document.located(problem, rule.code, rule.severity)
                effect = cast("Effect", rule.effect)
                yield finding_of(located, effect, key, ignored=reasons.get(rule.code))


def reasons_to_ignore(loaded: LoadedSpec) -> dict[str, str]:
    """Why a spec ignores codes; empty reasons for those that are only listed."""
    entries = loaded.spec.ignore
    return {
        it.code if isinstance(it, Ignore) else it: it.reason if isinstance(it, Ignore) else ""
        for it in entries
    }


def finding_of(
    problem: Problem, effect: Effect, endpoint: str | None, *, ignored: str | None = None
) -> Finding:
    """A problem as a finding."""
    return Finding(
        effect=effect,
        severity=problem.severity.value,
        endpoints=() if endpoint is None else (endpoint,),
        message=problem.message,
        fix=problem.fix,
        code=problem.code or None,
        ignored=ignored,
        place=Place(problem.file, problem.line, problem.column, dotted(problem.path)),
    )


# ---------------------------------------------------------------- from and to


def _protections(pair: Pair, twins: Sequence[Twins]) -> Iterator[Finding]:
    before = protections_before(pair, twins)
    for was, now in lowered(before, pair.after.protections):
        yield Finding(
            effect="protection-lowered",
            severity="warning",
            endpoints=(pair.key,),
            message="less protected",
            before=was.sentence,
            after=now.sentence,
            place=now.place,
        )
    for was, now in altered(before, pair.after.protections):
        sentences = (was.sentence, now.sentence)
        yield difference(pair, "changed", now.about.replace(",", ":"), sentences, now.place)


def _contents(pair: Pair, twins: Sequence[Twins]) -> Iterator[Finding]:
    for was, now in twins:
        for effect, what, before, after in _sources(was, now):
            instead = "" if was.name == now.name else f", in place of `{was.name}`"
            message = f"{what} of `{now.name}`{instead}"
            yield difference(pair, effect, message, (before, after), now.place)


def _sources(was: RunningContainer, now: RunningContainer) -> Iterator[tuple[Effect, str, str, str]]:
    """What a container is made of, where that changes: what it means, what it is, before and after."""
    if was.weights != now.weights:
        yield "weights-changed", "the weights", *_urls(was, now)
    parts: tuple[tuple[Effect, str, str | None, str | None], ...] = (
        ("image-changed", "the image", was.image, now.image),
        ("weights-changed", "the model package", was.model_package, now.model_package),
        ("weights-changed", "the model", was.model, now.model),
    )
    for effect, what, one, other in parts:
        is_same = is_same_image(one, other) if effect == "image-changed" else one == other
        if not is_same:
            yield effect, what, one or "none", other or "none"


_MOST_VARIABLES = 6
"""Variables of one container that are shown one by one."""


def _environment(pair: Pair, twins: Sequence[Twins]) -> Iterator[Finding]:
    """Environment variables, from and to; values that may be secret are not shown."""
    # A secret that becomes another is not shown, and differs only here.
    before, after = environments(pair.old), environments(pair.new)
    for was, now in twins:
        one, other = before.get(was.name, {}), after.get(now.name, {})
        names = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
        for name in names[:_MOST_VARIABLES]:
            message = f"`{name}` in the environment of `{now.name}`"
            values = _values(was.environment.get(name), now.environment.get(name))
            yield difference(pair, "changed", message, values, now.place)
        if len(names) > _MOST_VARIABLES:
            message = f"{len(names) - _MOST_VARIABLES} more variables in the environment of `{now.name}`"
            yield information(pair, "changed", message, now.place)


def _values(was: str | None, now: str | None) -> tuple[str, str]:
    """Both values. If one may be secret, the other is likely a secret that is written in another way."""
    is_hidden = HIDDEN in (was, now)
    if was == now:
        return HIDDEN, "another value"
    return _value(was, is_hidden=is_hidden), _value(now, is_hidden=is_hidden)


def _value(text: str | None, *, is_hidden: bool) -> str:
    return "not set" if text is None else HIDDEN if is_hidden else f'"{text}"'


def _urls(was: RunningContainer, now: RunningContainer) -> tuple[str, str]:
    """Digests alone where they are all that differs."""
    one, other = was.weights or "none", now.weights or "none"
    if was.digest and now.digest and location_of(one) == location_of(other):
        return f"sha256:{was.digest[:16]}", f"sha256:{now.digest[:16]}"
    return one, other


def _fleets(pair: Pair) -> Iterator[Finding]:
    old = {pair.name_now(it.name): it for it in pair.before.fleets}
    for now in pair.after.fleets:
        was = old.get(now.name)
        if was is not None and _fleet(was) != _fleet(now):
            told = (_fleet(was), _fleet(now))
            yield difference(pair, "capacity", f"the instances of `{now.name}`", told, now.place)


def _fleet(fleet: Fleet) -> str:
    types = listed(fleet.instance_types, last="or", quote="")
    if fleet.instances is not None:
        return counted(fleet.instances, f"x {types}", f"x {types}")
    return "unknown" if fleet.serverless is None else fleet.serverless.sentence


def _traffic(pair: Pair) -> Iterator[Finding]:
    """The shares of requests of several variants, which follow from their weights."""
    before, after = (_shares(pair, it) for it in (pair.before, pair.after))
    if before != after and (before or after):
        place = next(it.place for it in pair.after.fleets)
        told = (before or "all to one variant", after or "all to one variant")
        yield difference(pair, "changed", "the share of the requests", told, place)


def _shadows(pair: Pair) -> Iterator[Finding]:
    """Shadows get copies of requests: those that come and go, and how many they get."""
    old, new = (
        {it.name: it for it in picture.fleets if it.is_shadow} for picture in (pair.before, pair.after)
    )
    for name, now in new.items():
        was = old.get(name)
        if was is None:
            yield information(pair, "added", f"the shadow `{name}` gets copies of requests", now.place)
        elif was.weight != now.weight:
            told = (_weight(was), _weight(now))
            yield difference(pair, "changed", f"the weight of the shadow `{name}`", told, now.place)
    for name in (it for it in old if it not in new):
        place = pair.new.place_of(pair.new.first(CONFIG_TYPE)[0], ("ShadowProductionVariants",))
        yield information(pair, "changed", f"the shadow `{name}` is removed", place)


def _weight(fleet: Fleet) -> str:
    return "not known" if fleet.weight is None else f"{fleet.weight:g}"


def _shares(pair: Pair, picture: Picture) -> str:
    """The share of each variant in words; empty where nothing is shared by weight."""
    sharing = [it for it in picture.fleets if not it.is_shadow]
    weights = [1.0 if it.weight is None else it.weight for it in sharing]
    if len(sharing) < 2 or picture.components or not sum(weights):
        return ""
    parts = zip(sharing, weights, strict=True)
    return ", ".join(f"{pair.name_now(it.name)} {100 * weight / sum(weights):.3g} %" for it, weight in parts)


def _destinations(pair: Pair) -> Iterator[Finding]:
    """Where captured data and asynchronous responses go."""
    before, after = pair.before, pair.after
    written = (
        ("data capture", "DataCaptureConfig", before.capture, after.capture),
        ("asynchronous output", "AsyncInferenceConfig", before.asynchronous, after.asynchronous),
    )
    for what, key, was, now in written:
        if was != now:
            place = pair.new.place_of(pair.new.first(CONFIG_TYPE)[0], (key,))
            yield difference(pair, "changed", what, (was or "none", now or "none"), place)
    for what in (it for it in topics(pair.old) if it not in topics(pair.new)):
        place = pair.new.place_of(pair.new.first(CONFIG_TYPE)[0], ("AsyncInferenceConfig",))
        message = f"nobody is notified of {what} any more"
        yield replace(information(pair, "alarms-loosened", message, place), severity="warning")


def _components(pair: Pair) -> Iterator[Finding]:
    old = {pair.name_now(it.name): it for it in pair.before.components}
    for now in pair.after.components:
        was = old.get(now.name)
        if was is not None and was.copies != now.copies:
            told = (counted(was.copies, "copy", "copies"), counted(now.copies, "copy", "copies"))
            yield difference(pair, "capacity", f"`{now.name}`", told, now.place)
        if was is not None and was.needs != now.needs:
            needs = ["an unknown amount" if it.needs is None else str(it.needs) for it in (was, now)]
            message = f"what a copy of `{now.name}` reserves"
            yield difference(pair, "capacity", message, (needs[0], needs[1]), now.place)


def _scaling(pair: Pair) -> Iterator[Finding]:
    """By what it scales. How many there may be is reported as capacity, and what is newly suspended as a
    risk.
    """
    old = {(pair.name_now(it.of), it.unit): it for it in pair.before.scaling}
    for now in pair.after.scaling:
        was = old.get((now.of, now.unit))
        if was is None:
            yield _added(pair, f"`{now.of}` scales: {now.sentence}", now.place)
        elif _how(was) != _how(now) or not set(was.suspended) <= set(now.suspended):
            told = (_how_and_off(was), _how_and_off(now))
            yield difference(pair, "changed", f"the scaling of `{now.of}`", told, now.place)


def _how(it: Scaling) -> str:
    limits = [between(it.min_capacity, it.max_capacity, it.unit)] if it.unit == PROVISIONED else []
    return "; ".join([", ".join([*limits, *it.aims]) or "by no metric", *it.schedule])


def _how_and_off(it: Scaling) -> str:
    return _how(it) + (f"; suspended: {listed(it.suspended, last='and', quote='')}" if it.suspended else "")


def cost_findings(key: str, before: Picture | None, after: Picture) -> Iterator[Finding]:
    """What an endpoint costs more or less; a new one costs more than nothing. Where prices are missing, the
    instances that always run are what costs.
    """
    was = Cost(instance_hours=NONE) if before is None else before.cost
    texts = (_cost_text(was), _cost_text(after.cost))
    if texts[0] != texts[1]:
        yield Finding(
            effect="cost",
            severity="info",
            endpoints=(key,),
            message="an hour",
            before=texts[0],
            after=texts[1],
            dearer=_dearer(was, after.cost),
            place=after.place,
        )


def _cost_text(cost: Cost) -> str:
    """An hour's cost at the fewest, the first and the most, as far as it is known, and what is not priced."""
    money, hours = cost.per_hour, cost.instance_hours
    parts: list[str] = []
    if money is not None:
        amounts = [amount_text(it) for it in (money.min, money.start, money.max)]
        parts.append(f"{amounts[0] if len(set(amounts)) == 1 else '-'.join(amounts)} {cost.currency}")
    if cost.missing:
        unpriced = listed(cost.missing, last="and", quote="")
        parts.append(f"{hours} instance hours, with {unpriced} unpriced")
    return " and ".join(parts) or "nothing"


def _dearer(was: Cost, now: Cost) -> Decimal | None:
    """How much dearer it becomes at the most; None where something that changes has no price."""
    if now.missing and (was.instance_hours, was.missing) != (now.instance_hours, now.missing):
        return None
    before, after = (Decimal(0) if it.per_hour is None else it.per_hour.max for it in (was, now))
    return after - before


def room_findings(key: str, before: Rooms, loaded: LoadedSpec) -> Iterator[Finding]:
    """The containers that have room for more requests now, or for fewer."""
    for path, now in rooms_of(loaded).items() if before else ():
        was = before.get(path)
        if was is not None and was != now:
            yield Finding(
                effect="capacity",
                severity="info",
                endpoints=(key,),
                message=f"requests at once in the KV cache of `{dotted(path)}`",
                before=f"{was.sentence} on {was.instance_type}",
                after=f"{now.sentence} on {now.instance_type}",
                place=place_in(loaded, path),
            )


# ---------------------------------------------------------------- what is new, and the rest


def _added(pair: Pair, message: str, place: Place) -> Finding:
    return information(pair, "added", message, place)


def _new(pair: Pair, risks: Sequence[Finding]) -> Iterator[Finding]:
    """Components and alarms that there were not, unless they take the place of others, which is told."""
    told = [it.message for it in risks]
    old = {it.name for it in pair.before.components}
    for it in pair.after.components:
        if it.name not in old and not any(f"`{it.name}`" in message for message in told):
            yield _added(
                pair,
                f"the inference component `{it.name}`: {counted(it.copies, 'copy', 'copies')}",
                it.place,
            )
    watched = {it.sentence for it in pair.before.alarms}
    known = before_by_id(pair)
    new = [it for it in pair.after.alarms if it.logical_id not in known and it.sentence not in watched]
    for those in alike(new) if pair.update.same_endpoint else ():
        yield _added(pair, f"an alarm: {sentence_of_all(those)}", those[0].place)


# ---------------------------------------------------------------- resource by resource


def resource_changes(
    update: Update, by_this_version: deployed.Resources | None
) -> tuple[ResourceChange, ...]:
    """What becomes of each resource that does not stay as it is.

    ``by_this_version`` is what this version makes of the previous spec, if another one made the template:
    then it is known whether the spec or the library changes a resource.
    """
    library = {} if by_this_version is None else compare(update.before, by_this_version)
    spec = {} if by_this_version is None else compare(by_this_version, update.after)
    return tuple(
        ResourceChange(
            logical_id=it.logical_id,
            type=it.type,
            fate=it.fate,
            properties=tuple(dict.fromkeys(str(path[0]) for path in it.paths)),
            by="unknown" if by_this_version is None else _cause(library, spec, it.logical_id),
        )
        for it in update.changes.values()
        if it.fate is not Fate.UNCHANGED
    )


def _cause(library: dict[str, Change], spec: dict[str, Change], logical_id: str) -> Cause:
    moved = [logical_id in it and it[logical_id].fate is not Fate.UNCHANGED for it in (library, spec)]
    if moved[0] is moved[1]:
        return "both"
    return "library" if moved[0] else "spec"
