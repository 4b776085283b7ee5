"""What gets another name in an update, so that it can be compared with what it was."""

from collections.abc import Iterable, Mapping
from typing import Any

from inferstack.catalog.resource_types import ALARM_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources, TemplateComponent, entries, mapping
from inferstack.updates.update import differences

_NOT_WHAT_RUNS = frozenset(
    {
        *("InferenceComponentName", "EndpointName", "VariantName"),
        *("DeploymentConfig", "RuntimeConfig", "Tags"),
    }
)


def variants_renamed(before: Resources, after: Resources) -> dict[str, str]:
    """The name of a variant that takes the place of the only one that goes, by the old name."""
    old, new = deployed.variants(before), deployed.variants(after)
    gone, come = [it for it in old if it not in new], [it for it in new if it not in old]
    return {gone[0]: come[0]} if len(gone) == len(come) == 1 else {}


def components_renamed(before: Resources, after: Resources) -> dict[str, str]:
    """The names of components that are gone, each with that of a new one that runs the same."""
    old, new = deployed.components(before), deployed.components(after)
    come = {name: it for name, it in new.items() if name not in old}
    twins: dict[str, str] = {}
    for name, gone in old.items():
        if name not in new:
            twin = next((other for other, it in come.items() if _run_the_same(gone, it)), None)
            if twin is not None:
                twins[name] = twin
                del come[twin]
    return twins


def _run_the_same(one: TemplateComponent, other: TemplateComponent) -> bool:
    paths = differences(dict(one.properties), dict(other.properties))
    return all(path[:1] and path[0] in _NOT_WHAT_RUNS for path in paths)


def name_now(before: Resources, after: Resources, name: str) -> str:
    """What a variant or component of the past is called from now on."""
    return {**variants_renamed(before, after), **components_renamed(before, after)}.get(name, name)


def new_names(before: Resources, after: Resources) -> dict[tuple[str, str], str]:
    """What is called otherwise from now on, by the dimension that names it and its old name."""
    endpoints = [deployed.endpoint_name(it) for it in (before, after)]
    found = {("EndpointName", str(endpoints[0])): str(endpoints[1])} if None not in endpoints else {}
    for key, names in (
        ("VariantName", variants_renamed(before, after)),
        ("InferenceComponentName", components_renamed(before, after)),
    ):
        found |= {(key, old): new for old, new in names.items()}
    return found


def alarm_twins(before: Resources, after: Resources) -> dict[str, str]:
    """The alarms that go, each with the new one that watches the same of what was renamed, by logical id."""
    names = new_names(before, after)
    old, new = (deployed.of_type(it, ALARM_TYPE) for it in (before, after))
    come = {logical_id: it for logical_id, it in new.items() if logical_id not in old}
    gone = {logical_id: it for logical_id, it in old.items() if logical_id not in new}
    twins: dict[str, str] = {}
    # Of several alarms on one metric, those with the same threshold belong together.
    for keys in ((*_WATCHES, "Threshold"), _WATCHES):
        for logical_id, alarm in gone.items():
            wanted = _watched(alarm, keys, names)
            free = (it for it in come if it not in twins.values() and _watched(come[it], keys, {}) == wanted)
            if logical_id not in twins and (twin := next(free, None)) is not None:
                twins[logical_id] = twin
    return twins


_WATCHES = ("Namespace", "MetricName", "Statistic", "ExtendedStatistic", "ComparisonOperator")


def _watched(alarm: Mapping[str, Any], keys: Iterable[str], names: Mapping[tuple[str, str], str]) -> str:
    """What an alarm looks at, under the new names of what was renamed."""
    dimensions = {
        deployed.shown(it.get("Name")): deployed.shown(it.get("Value"))
        for it in map(mapping, entries(alarm.get("Dimensions")))
    }
    parts = [f"{key}={names.get((key, value), value)}" for key, value in sorted(dimensions.items())]
    return "|".join([*(deployed.shown(alarm.get(key)) for key in keys), *parts])
