"""The kinds of spec: one row for each, one column for each question that depends on the kind.

The rest of the library asks :func:`kind_of` instead of looking at the class of a spec. No column has a
default value, so a new kind must answer every question; and what it publishes must have metrics, default
alarms and graphs.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from inferstack.catalog import metrics
from inferstack.catalog.metrics import COPY_COUNT, INSTANCE_COUNT, PROVISIONED_CONCURRENCY, Hosting
from inferstack.format import kinds
from inferstack.format.default_alarms import DASHBOARD_WIDGETS, DEFAULT_ALARMS, DefaultAlarm, Widget
from inferstack.format.kinds import ModelSpec


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """The answers for one kind of spec."""

    spec: type[ModelSpec]
    hosts: Literal["models", "components"]
    """What runs on the instances of a variant."""
    containers: Literal["one", "several"]
    """How many containers a model has."""
    archives: Literal["one", "many"]
    """Whether a container loads one archive, or each archive under a prefix when a request names it. With
    several containers, each says so itself (`mode: MultiModel`).
    """
    triton: Literal["always", "perhaps"]
    """Whether the container must be Triton."""
    publishes: Hosting
    """The metrics of an endpoint that is neither asynchronous nor serverless."""
    scales: frozenset[str]
    """Scalable dimensions that it may have."""

    @property
    def name(self) -> str:
        """The value of `kind` in a spec."""
        return str(self.spec.__struct_config__.tag)

    @property
    def alarms(self) -> tuple[DefaultAlarm, ...]:
        """Its default alarms."""
        return tuple(it for it in DEFAULT_ALARMS if self.publishes in it.hostings)

    @property
    def shows(self) -> tuple[Widget, ...]:
        """The graphs of its dashboard."""
        published = {
            name
            for name in metrics.names(self.publishes)
            for it in metrics.find(name, self.publishes)
            if it.dimensions != "container" or self.containers == "several"
        }
        return tuple(it for it in DASHBOARD_WIDGETS if any(name in published for name, _ in it.metrics))


_INSTANCES = frozenset({INSTANCE_COUNT})
KINDS = (
    Kind(
        spec=kinds.SingleModelSpec,
        hosts="models",
        containers="one",
        archives="one",
        triton="perhaps",
        publishes="instances",
        scales=_INSTANCES | {PROVISIONED_CONCURRENCY},
    ),
    Kind(
        spec=kinds.MultiModelSpec,
        hosts="models",
        containers="one",
        archives="many",
        triton="perhaps",
        publishes="multi-model",
        scales=_INSTANCES,
    ),
    Kind(
        spec=kinds.EnsembleSpec,
        hosts="models",
        containers="one",
        archives="one",
        triton="always",
        publishes="instances",
        scales=_INSTANCES | {PROVISIONED_CONCURRENCY},
    ),
    Kind(
        spec=kinds.InferenceComponentsSpec,
        hosts="components",
        containers="one",
        archives="one",
        triton="perhaps",
        publishes="inference-components",
        scales=_INSTANCES | {COPY_COUNT},
    ),
    Kind(
        spec=kinds.PipelineSpec,
        hosts="models",
        containers="several",
        archives="one",
        triton="perhaps",
        publishes="instances",
        scales=_INSTANCES,
    ),
)


def table_of(rows: Iterable[Kind], classes: Iterable[type[ModelSpec]]) -> dict[type[ModelSpec], Kind]:
    """The rows by class.

    Raises:
        TypeError: when a class has no row, or what a kind publishes has no metrics, default alarms or graphs.
    """
    table = {row.spec: row for row in rows}
    if missing := [it.__name__ for it in classes if it not in table]:
        raise TypeError(f"no row in facts/kinds.py for {', '.join(missing)}")
    for row in table.values():
        for what, there in (
            ("metrics", metrics.names(row.publishes)),
            ("default alarms", row.alarms),
            ("graphs on the dashboard", row.shows),
        ):
            if not there:
                raise TypeError(f"`kind: {row.name}` publishes {row.publishes!r}, which has no {what}")
    return table


_BY_CLASS = table_of(KINDS, kinds.KINDS)


def kind_of(spec: ModelSpec) -> Kind:
    """The kind of a spec."""
    return _BY_CLASS[type(spec)]


def hosts_components(spec: ModelSpec) -> bool:
    """Whether inference components run on the instances."""
    return kind_of(spec).hosts == "components"
