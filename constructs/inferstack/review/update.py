"""One deployment: the existing stack, what the spec turns it into, and where the spec says so."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inferstack.catalog.cloudformation import snake
from inferstack.check.load import LoadedSpec
from inferstack.facts.walk import variants
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath
from inferstack.resolve.template import resolve_resources, resolve_template
from inferstack.review import deployed
from inferstack.review.changes import Change, Fate, PropertyPath, Resources, compare
from inferstack.review.deployed import Properties

RETAIN = ("endpoint", "retain_all_variant_properties")
_FREE_KEYS = frozenset({"Environment"})
"""Properties whose keys are the user's own words."""


@dataclass(frozen=True, slots=True)
class Update:
    """What all rules look at."""

    spec: ModelSpec
    data: Mapping[str, Any]
    """The spec as it is written in its file."""
    sources: Mapping[str, SpecPath]
    """The part of the spec that a resource comes from, by logical id."""
    before: Resources
    after: Resources
    changes: Mapping[str, Change]

    def fate(self, type_name: str) -> Fate:
        """What becomes of the only resource of a type."""
        found = (change.fate for change in self.changes.values() if change.type == type_name)
        return next(found, Fate.UNCHANGED)

    @property
    def same_endpoint(self) -> bool:
        """Whether the endpoint stays, changed or not."""
        return self.fate(deployed.ENDPOINT_TYPE) in (Fate.UPDATED, Fate.UNCHANGED)

    @property
    def new_fleet(self) -> bool:
        """Whether the endpoint stays and gets another configuration."""
        return self.same_endpoint and self.fate(deployed.CONFIG_TYPE) is Fate.REPLACED

    def lasting_variants(self) -> Iterator[tuple[SpecPath, str, Properties, Properties]]:
        """Variants that existed before: their place in the spec, name, properties before and after."""
        before, after = deployed.variants(self.before), deployed.variants(self.after)
        for path, variant in variants(self.spec):
            name = variant.variant_name
            if name in before and name in after:
                yield path, name, before[name], after[name]

    def place(self, logical_id: str, path: PropertyPath) -> SpecPath:
        """Where the spec has this property, or the nearest part around it that is written there."""
        change = self.changes[logical_id]
        wanted = _spec_path(self.spec, change.type, self.sources.get(logical_id, ()), path)
        return self.written(wanted)

    def written(self, path: SpecPath) -> SpecPath:
        """The path as far as the file has it: what a default fills in is written nowhere."""
        found: Any = self.data
        for depth, step in enumerate(path):
            match found, step:
                case dict(), str() if step in found:
                    found = found[step]
                case list(), int() if step < len(found):
                    found = found[step]
                case _:
                    return path[:depth]
        return path

    def causes(self, logical_id: str) -> Iterator[SpecPath]:
        """Where the spec has what changes a resource: its own properties, then those of what it refers to."""
        change = self.changes[logical_id]
        for path in change.paths:
            if path[0] != "Tags":
                yield self.place(logical_id, path)
        for other in change.follows:
            yield from self.causes(other)


def update_of(loaded: LoadedSpec, before: Resources) -> Update:
    """What deploying the spec does to a stack with the resources ``before``."""
    spec = loaded.spec
    after = resolve_template(spec, region=spec.region, source_of=lambda _: "")["Resources"]
    sources = {logical_id: it.source for logical_id, it in resolve_resources(spec, spec.region).items()}
    return Update(spec, loaded.document.data, sources, before, after, compare(before, after))


def bracketed(path: SpecPath) -> str:
    """A path as people write it: ``variants[0].instance_type``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _spec_path(spec: ModelSpec, type_name: str, source: SpecPath, path: PropertyPath) -> SpecPath:
    match type_name, path:
        case deployed.CONFIG_TYPE, ("ProductionVariants", int() as index, *rest):
            return (*[at for at, _ in variants(spec)][index], *_keys(rest))
        case deployed.CONFIG_TYPE, ("ProductionVariants",):
            return source[:1]
        case deployed.CONFIG_TYPE, ("ShadowProductionVariants", *rest):
            return ("shadow_variants", *_keys(rest))
        case deployed.CONFIG_TYPE, _:
            return ("endpoint_config", *_keys(path))
        case deployed.ENDPOINT_TYPE, ("EndpointName",):
            return ("endpoint_name",)
        case deployed.ENDPOINT_TYPE, _:
            return ("endpoint", *_keys(path))
        case deployed.MODEL_TYPE, ("PrimaryContainer", *rest):
            return (*source, *_keys(rest))
        case _:
            return (*source, *_keys(path))


def _keys(path: Iterable[str | int]) -> Iterator[str | int]:
    """A property path in the spec's spelling."""
    free = False
    for step in path:
        yield step if free or isinstance(step, int) else snake(step)
        free = step in _FREE_KEYS
