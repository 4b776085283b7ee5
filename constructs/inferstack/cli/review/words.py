"""What every format says in the same words: fates, amounts, and the lines of an endpoint."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from inferstack.endpoint.alarms import alike, sentence_of_all
from inferstack.endpoint.components import Component, Layout, Placement, accelerators_text
from inferstack.endpoint.containers import RunningContainer
from inferstack.endpoint.cost import Cost, money_text
from inferstack.endpoint.counts import NONE, UNKNOWN, Counts, counted, total
from inferstack.endpoint.fleets import Fleet, Serverless
from inferstack.endpoint.of_template import Picture
from inferstack.endpoint.quota import CONCURRENCY
from inferstack.problems.words import listed
from inferstack.review.data import Finding, Quota, Review, Reviewed
from inferstack.updates.update import Fate

Line = tuple[str, str]
"""A label, and what is said under it."""
_LEVELS = {"min": "fewest", "start": "start", "max": "most"}


def finding_text(it: Finding) -> str:
    """A finding as one sentence: what was found, from and to, what to do, and why it is ignored."""
    fix = f"; {it.fix}" if it.fix else ""
    ignored = "" if it.ignored is None else f" (ignored in the spec{f': {it.ignored}' if it.ignored else ''})"
    return f"{it.sentence}{fix}{ignored}"


def place_text(it: Finding) -> str:
    """`file:line`, or the file alone; and how many more places share it."""
    place = f"{it.place.file}:{it.place.line}" if it.place.line else it.place.file
    return f"{place} and {len(it.also)} more" if it.also else place


_FATES = ("removed", "moved", "replaced", "updated", "new", "not compared", "unchanged")


def fate_text(review: Review, it: Reviewed) -> str:
    """What becomes of an endpoint; empty without a base, where nothing is compared."""
    return "" if review.base is None else it.fate


def verdict(review: Review) -> str:
    """The first line: how many endpoints become what, and how many errors and warnings there are."""
    fates = [fate_text(review, it) for it in review.endpoints]
    said = [f"{fates.count(fate)} {fate}" for fate in _FATES if fate in fates]
    count = f"{len(fates)} endpoint{'' if len(fates) == 1 else 's'}"
    counts = [
        f"{many} {severity}{'' if many == 1 else 's'}"
        for severity in ("error", "warning")
        if (many := sum(it.severity == severity and it.ignored is None for it in findings_of(review)))
    ]
    if ignored := ignored_in(review):
        counts.append(f"{ignored} ignored")
    against = "" if review.base is None else f" against `{review.base}`"
    return "; ".join([f"{count}{against}" + (f": {', '.join(said)}" if said else ""), *counts])


def ignored_in(review: Review) -> int:
    """How many findings the specs ignore: a reviewer may see that otherwise."""
    return sum(it.ignored is not None for it in findings_of(review))


def touched(review: Review) -> list[Reviewed]:
    """The endpoints to show: all but those that stay as they are, the worst and dearest first."""
    return [it for it in worst_first(review) if it.fate != "unchanged"]


def worst_first(review: Review) -> list[Reviewed]:
    """All endpoints, by the worst finding about each; without findings as they are."""
    rank: dict[str, int] = {}
    for index, finding in enumerate(it for it in review.findings if it.ignored is None):
        if finding.effect not in ("advice", "costly"):
            for key in finding.endpoints:
                rank.setdefault(key, index)
    return sorted(review.endpoints, key=lambda it: rank.get(it.key, len(review.findings)))


def unchanged(review: Review) -> str | None:
    """The names of the others."""
    names = [it.key for it in review.endpoints if it.fate == "unchanged"]
    if not names:
        return None
    # What a spec with errors changes is not known.
    is_all = len(names) == len(review.endpoints) and not review.failed
    others = "nothing changes" if is_all else "unchanged"
    return f"{others}: {listed(names, last='and', quote='')}"


def findings_of(review: Review) -> list[Finding]:
    """The findings to show: no advice about endpoints that stay as they are, nothing that the table has."""
    single = {it.key for it in review.endpoints if it.after is not None and len(it.after.fleets) == 1}
    return [it for it in review.findings if not review.is_old(it) and not _is_in_table(review, it, single)]


def _is_in_table(review: Review, it: Finding, single: set[str]) -> bool:
    """The costs of endpoints, and the instances of those with a single variant."""
    is_of_fleet = it.effect == "capacity" and it.place.path.startswith("variant")
    is_priced = it.effect == "cost" and (it.dearer is not None or not review.prices)
    return is_priced or (is_of_fleet and single.issuperset(it.endpoints))


def about(it: Finding) -> str:
    """The endpoints that a finding is about; empty if it is about none in particular."""
    return listed(it.endpoints, last="and", quote="")


def quotas_of(review: Review) -> list[Quota]:
    """The quotas that an endpoint that does not stay as it is has a part in."""
    keys = {it.key for it in touched(review)}
    return [it for it in review.quotas if keys & set(it.endpoints)]


def quota_text(it: Quota) -> str:
    """The name of a quota, as short as a table needs it."""
    return "concurrency of serverless endpoints" if it.name == CONCURRENCY else it.name


def number(count: int | None) -> str:
    """A number, or a sign that only the deployment knows it."""
    return UNKNOWN if count is None else str(count)


def where(it: Quota) -> str:
    """The account and region of a quota."""
    return " ".join(part for part in (it.account, it.region) if part) or "-"


def instances_text(it: Reviewed) -> str:
    """`1-1-4 ml.g5.xlarge`, summed over variants; from and to where that changes, as do the settings of
    serverless variants.
    """
    if changes := _serverless_changes(it):
        return f"serverless: {', '.join(changes)}"
    before, after = (None if one is None else (_count(one), _types(one)) for one in (it.before, it.after))
    if before is None or after is None or before == after:
        return " ".join(after or before or ("-",)).strip()
    if before[1] == after[1]:
        return f"{before[0]} → {after[0]} {after[1]}".strip()
    return f"{' '.join(before)} → {' '.join(after)}"


def _count(endpoint: Picture) -> str:
    has_instances = any(it.instances is not None for it in endpoint.fleets)
    return str(endpoint.cost.instance_hours) if has_instances else "serverless"


def _serverless_changes(it: Reviewed) -> list[str]:
    """What changes about serverless variants: `2,048 → 4,096 MB`."""
    if it.before is None or it.after is None:
        return []
    old = {fleet.name: fleet.serverless for fleet in it.before.fleets}
    pairs = [(old.get(fleet.name), fleet.serverless) for fleet in it.after.fleets]
    return [
        said
        for before, after in pairs
        if before is not None and after is not None
        for said in _settings_changed(before, after)
    ]


def _settings_changed(before: Serverless, after: Serverless) -> Iterator[str]:
    for unit, old, new in (
        ("MB", before.memory_mb, after.memory_mb),
        ("at once", before.max_concurrency, after.max_concurrency),
        ("ready", before.provisioned_concurrency or 0, after.provisioned_concurrency or 0),
    ):
        if old != new:
            was, now = (UNKNOWN if count is None else f"{count:,}" for count in (old, new))
            yield f"{was} → {now} {unit}"


def _types(endpoint: Picture) -> str:
    types = list(dict.fromkeys(it.instance_types[0] for it in endpoint.fleets if it.instance_types))
    return "" if not types else f"{types[0]}{f' and {len(types) - 1} more' if len(types) > 1 else ''}"


def cost_cell(before: Cost | None, after: Cost | None, currency: str) -> str:
    """An hour's cost at the fewest and the most; from and to where that changes. ``currency`` is that of the
    header.
    """
    old, new = (_amount(it, currency) for it in (before, after))
    return new if old in (new, "-") else f"{old} → {new}"


def _amount(cost: Cost | None, currency: str) -> str:
    """The known amounts, with a sign that there are more."""
    if cost is None or cost.per_hour is None:
        return "-"
    unit = "" if cost.currency == currency else f" {cost.currency}"
    return money_text(cost.per_hour) + unit + (" + ?" if cost.missing else "")


def currency_of(review: Review) -> str:
    """The currency, before and after, if there is only one."""
    ends = [end for it in review.endpoints for end in (it.before, it.after)]
    found = {it.cost.currency for it in ends if it is not None and it.cost.currency is not None}
    return found.pop() if len(found) == 1 else ""


def old_stacks(review: Review) -> str | None:
    """What old stacks cost beside the others: `+ 4.20 USD an hour`; None without any that have instances."""
    costs = [it.until_deleted for it in review.totals if it.is_sum and it.until_deleted is not None]
    hours = total(it.instance_hours for it in costs)
    amounts = [f"{money_text(it.per_hour)} {it.currency}" for it in costs if it.per_hour is not None]
    if hours == NONE and not amounts:
        return None
    missing = list(dict.fromkeys(name for it in costs for name in it.missing))
    if amounts:
        more = f"; not counted: {listed(missing, last='and', quote='')}" if missing else ""
        said = f"{listed(amounts, last='and', quote='')} an hour{more}"
    else:
        said = f"{hours} instance{'' if str(hours) == '1' else 's'}"
    return f"+ {said}"


def until_deleted(review: Review) -> str | None:
    """The same as a sentence."""
    said = old_stacks(review)
    return None if said is None else f"until the old stacks are deleted: {said}"


def resources_text(it: Reviewed) -> str:
    """What becomes of resources: `replaces EndpointConfig and Model; updates Endpoint`."""
    verbs = {Fate.REPLACED: "replaces", Fate.REMOVED: "removes", Fate.UPDATED: "updates", Fate.ADDED: "adds"}
    said = [
        f"{verb} {listed(names, last='and', quote='')}"
        for fate, verb in verbs.items()
        if (names := [one.logical_id for one in it.changes if one.fate is fate])
    ]
    return "; ".join(said) or "nothing"


def ending(it: Reviewed) -> str:
    """Says that nothing else changes, if the endpoint was compared."""
    return {"unchanged": "nothing changes", "new": "a new stack"}.get(it.fate, "nothing else changes")


# ---------------------------------------------------------------- an endpoint, line by line


def same_as(it: Reviewed, others: Iterable[Reviewed]) -> tuple[str, str, str] | None:
    """Another stage of the same spec whose lines become these if its name is replaced: its key, its name and
    what is there instead.
    """
    stage = None if it.after is None else it.after.stage
    if it.after is None or stage is None:
        return None
    said = [*reviewed_lines(it)]
    for other in others:
        if other.after is not None and other.after.stage and other.after.place.file == it.after.place.file:
            named = [(label, line.replace(other.after.stage, stage)) for label, line in reviewed_lines(other)]
            if named == said:
                return other.key, other.after.stage, stage
    return None


def reviewed_lines(it: Reviewed) -> Iterator[Line]:
    """What changes about an endpoint, and then everything about it."""
    if it.after is not None:
        if it.changes:
            yield "changes", f"{resources_text(it)}; {ending(it)}"
        yield from lines_of(it.after)


def lines_of(endpoint: Picture) -> Iterator[Line]:
    """Everything about an endpoint, in the order in which people ask."""
    yield from (("runs", _container(it)) for it in endpoint.containers)
    yield from (("component", _component(it)) for it in endpoint.components)
    for fleet in endpoint.fleets:
        yield "on", _fleet(fleet)
    yield from (("scales", f"`{it.of}`: {it.sentence}") for it in endpoint.scaling)
    for fleet in endpoint.fleets:
        yield from (("capacity", it) for it in _capacity(fleet))
    if endpoint.capture is not None:
        yield "captures", endpoint.capture
    if endpoint.asynchronous is not None:
        yield "writes", endpoint.asynchronous
    yield from _costs(endpoint.cost, of_pools(endpoint))
    yield from (("alarms", it) for it in _alarms(endpoint))
    for who in ("role", "invokers"):
        may = [it.sentence for it in endpoint.permissions if it.who == who]
        if may:
            yield who, f"may {'; '.join(may)}"
    yield from ((it.topic, it.sentence) for it in endpoint.protections)


def _alarms(endpoint: Picture) -> Iterator[str]:
    """The alarms, those that are alike for several parts on one line; whom all tell, once."""
    tells = {it.notifies for it in endpoint.alarms}
    whom = tells.pop() if len(tells) == 1 and len(endpoint.alarms) > 1 else None
    for those in alike(endpoint.alarms):
        sentence = sentence_of_all(those)
        yield sentence if whom is None else sentence.removesuffix(f"; {whom}")
    if whom is not None:
        yield f"each {whom}"


def _container(it: RunningContainer) -> str:
    image = [it.image] if it.image is not None else []
    package = [f"the model package {it.model_package}"] if it.model_package is not None else []
    model = [f"the model {it.model}, which exists already"] if it.model is not None else []
    # The beginning of a digest is in the URL.
    digest = f" (sha256 {it.digest})" if it.digest is not None and len(it.digest) > 16 else ""
    weights = [f"with {it.weights}{digest}"] if it.weights is not None else []
    return f"`{it.name}`: {' '.join([*image, *package, *model, *weights]) or 'an image without model files'}"


def copies_text(it: Component) -> str:
    """How many copies a component has: `0 to 4 copies (1 at the start)`."""
    return counted(it.copies, "copy", "copies")


def _component(it: Component) -> str:
    adapter = f", an adapter of `{it.base}`" if it.base is not None else ""
    if it.needs is None:
        return f"`{it.name}`{adapter}: {copies_text(it)}"
    needs = f"{'' if it.copies.max == 1 else ', each'} with {it.needs}"
    return f"`{it.name}`{adapter}: {copies_text(it)}{needs}{placing(it)}"


_STRATEGIES = {"SPREAD": "spread over the instances", "BINPACK": "packed onto few instances"}


def placing(it: Component) -> str:
    """How copies are placed, if the spec says so, after a semicolon."""
    said = [_STRATEGIES[it.placement_strategy]] if it.placement_strategy in _STRATEGIES else []
    if it.max_imbalance is not None:
        said.append(f"balanced over Availability Zones (to a difference of {it.max_imbalance})")
    return f"; {', '.join(said)}" if said else ""


def unbalanced_in(it: Placement) -> Iterator[str]:
    """Which copies are not as balanced over zones as they should be."""
    names = listed(it.unbalanced, last="and")
    if it.unbalanced and it.instances == 1:
        yield f"all copies of {names} in one Availability Zone"
    elif it.unbalanced:
        yield f"{names} less balanced over Availability Zones than asked for"


def _fleet(fleet: Fleet) -> str:
    shadow = " (shadow)" if fleet.is_shadow else ""
    if fleet.serverless is not None:
        return f"`{fleet.name}`{shadow}: {fleet.serverless.sentence}"
    counts = counted(
        Counts.fixed(None) if fleet.instances is None else fleet.instances, "instance", "instances"
    )
    types = listed(_types_with_hardware(fleet), last="or", quote="")
    return f"`{fleet.name}`{shadow}: {counts} of {types}"


def _types_with_hardware(fleet: Fleet) -> list[str]:
    """The instance types; the preferred one with what it has."""
    preferred, *others = fleet.instance_types or ("unknown instances",)
    return [f"{preferred} ({fleet.hardware})" if fleet.hardware else preferred, *others]


def _capacity(fleet: Fleet) -> Iterator[str]:
    for said, those in groupby(fleet.placements, key=lambda it: _placement(fleet, it)):
        levels = listed([_LEVELS[it.level] for it in those], last="and", quote="")
        yield f"`{fleet.name}`, {levels}{assumed(fleet)}: {said}"
    for name in fleet.never_fits:
        yield f"`{fleet.name}`: a copy of `{name}` never fits"


def assumed(fleet: Fleet) -> str:
    """On which of several instance types copies are placed, after a comma."""
    return f", if all instances are {fleet.instance_types[0]}" if len(fleet.instance_types) > 1 else ""


def added(fleet: Fleet, it: Placement) -> Iterator[str]:
    """How many instances SageMaker adds to those that the fleet has at a level."""
    own = 0 if fleet.by_scaling is None else fleet.by_scaling.at(it.level)
    more = it.instances - (it.instances if own is None else own)
    if more > 0:
        yield f"SageMaker adds {more} instance{'' if more == 1 else 's'} for the copies"


def _placement(fleet: Fleet, it: Placement) -> str:
    used = [one for one in it.layouts if one.copies]
    if not used:
        on = (
            f" on {it.instances} instance{'' if it.instances == 1 else 's'}"
            if it.instances
            else ", no instances"
        )
        return f"no copies{on}"
    said = ", ".join(_layouts(it))
    idle = it.instances - it.needed
    rest = f", {idle} with nothing" if idle > 0 else ""
    lack = listed([f"{count} of `{name}`" for name, count in it.without_room.items()], last="and", quote="")
    return "; ".join(
        [f"{said}{rest}", *([f"no room for {lack}"] if lack else []), *added(fleet, it), *unbalanced_in(it)]
    )


def _layouts(it: Placement) -> Iterator[str]:
    """The instances with copies, apart from those that there would have to be."""
    left = it.instances
    for layout in (one for one in it.layouts if one.copies):
        there = min(left, layout.count)
        left -= there
        if there:
            yield _layout(replace(layout, count=there))
        if layout.count > there:
            yield f"{_layout(replace(layout, count=layout.count - there))} that do not exist"


def _layout(it: Layout) -> str:
    copies = listed([f"{count} `{name}`" for name, count in it.copies.items()], last="and", quote="")
    free = (
        f"{accelerators_text(it.free.accelerators)} free" if it.free.accelerators else "no accelerator free"
    )
    return f"{it.count} x [{copies}; {free}]"


def of_pools(endpoint: Picture) -> str:
    """As which types instance pools count in the costs; empty without pools."""
    pooled = [it.instance_types[0] for it in endpoint.fleets if len(it.instance_types) > 1]
    types = listed(list(dict.fromkeys(pooled)), last="and", quote="")
    return f"instance pools count as {types}, at the most as their dearest type" if types else ""


def _costs(cost: Cost, of_pools: str) -> Iterator[Line]:
    hour, month = cost.per_hour, cost.per_month
    if hour is not None and month is not None:
        pools = f"; {of_pools}" if of_pools else ""
        more = f"; not counted: {listed(cost.missing, last='and', quote='')}" if cost.missing else ""
        yield "cost", f"{money_text(hour)} {cost.currency} an hour, {money_text(month)} a month{pools}{more}"
    elif cost.uncounted:
        yield (
            "cost",
            f"unknown: how many {listed(cost.uncounted, last='and', quote='')} only the deployment knows",
        )
    elif cost.unpriced:
        hours = "instance hour" if str(cost.instance_hours) == "1" else "instance hours"
        unpriced = listed(cost.unpriced, quote="")
        yield "cost", f"{cost.instance_hours} {hours} an hour; no price of {unpriced}"
