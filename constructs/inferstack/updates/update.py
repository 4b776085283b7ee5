"""What a deployment changes: the fate of each resource between two templates, and where the spec causes it.

CloudFormation updates a resource in place unless a property changes that can only be set on creation. A
resource that refers to a replaced one gets a new value, which may replace it in turn: a new archive replaces
the model and then the endpoint's configuration, and updates the endpoint.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from inferstack.catalog import resource_types as types
from inferstack.catalog.cloudformation import create_only, snake
from inferstack.catalog.images import region_of_images
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import (
    Properties,
    PropertyPath,
    Resources,
    properties_of,
    references,
    type_of,
)
from inferstack.problems import SpecPath

RETAIN = ("endpoint", "retain_all_variant_properties")
_FREE_KEYS = frozenset({"Environment"})
"""Properties whose keys are the user's own words."""


class Fate(StrEnum):
    """What becomes of a resource."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class Change(msgspec.Struct, frozen=True):
    """What becomes of one resource, and why."""

    logical_id: str
    type: str
    fate: Fate
    paths: tuple[PropertyPath, ...] = ()
    """Where its own properties differ."""
    follows: tuple[str, ...] = ()
    """Replaced resources that its properties refer to."""


class OldPlace(msgspec.Struct, frozen=True):
    """Where the stack of an endpoint was deployed; None for what is not known."""

    endpoint_name: str
    account: str | None
    region: str | None
    delete_command: str
    """What deletes the old stack."""
    resources: Resources
    """What the old stack has."""

    def is_left(self, account: str | None, region: str | None) -> bool:
        """Whether the stack is deployed to a place that is known to be another one."""
        return differ((self.account, self.region), (account, region))


def differ(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    """Whether two of a kind are known to be different; None is what is not known, and may be anything."""
    return any(None not in pair and pair[0] != pair[1] for pair in zip(one, other, strict=True))


class Update(msgspec.Struct, frozen=True):
    """A spec about to be deployed over the stack of an earlier template: what every rule looks at.

    Of an endpoint that moves, nothing is updated: there is nothing ``before``.
    """

    endpoint_name: str
    """The name that the endpoint will have."""
    account: str | None
    """The account that the spec names."""
    named_region: str | None
    """The region that the spec names."""
    variants: Mapping[str, SpecPath]
    """Where the spec has each production variant, by its name."""
    data: Mapping[str, Any] | None
    """The spec as it is written in its file; None where only its template is known."""
    sources: Mapping[str, SpecPath]
    """The part of the spec that a resource comes from, by logical id."""
    before: Resources
    after: Resources
    changes: Mapping[str, Change]
    sections_before: Mapping[str, Any]
    """All sections of the earlier template, as far as they are known."""
    sections_after: Mapping[str, Any]
    old_place: OldPlace | None = None
    """Where the stack was, as the earlier spec says it; None without one."""
    other_ids: Mapping[str, tuple[str, str]] = {}
    """The logical ids before and after: in a stack with other resources, of what has got another one; of all,
    where the endpoint moves to another stack.
    """
    other_stack: tuple[str, str] | None = None
    """The names of the stacks before and after, where the endpoint moves to another one of its app."""

    @property
    def region(self) -> str | None:
        """The region that the stack goes to: that of the spec, or else that of its images."""
        if self.named_region is not None:
            return self.named_region
        hosts = [deployed.of_type(self.after, name) for name in (types.MODEL_TYPE, types.COMPONENT_TYPE)]
        return region_of_images(deployed.shown([[*it.values()] for it in hosts]))

    @property
    def moves(self) -> bool:
        """Whether the stack is deployed to another region or account."""
        return self.old_place is not None and self.old_place.is_left(self.account, self.region)

    @property
    def earlier(self) -> Resources:
        """What the endpoint has run on before, wherever that was."""
        return self.old_place.resources if self.moves and self.old_place is not None else self.before

    def fate(self, type_name: str) -> Fate:
        """What becomes of the only resource of a type."""
        found = (change.fate for change in self.changes.values() if change.type == type_name)
        return next(found, Fate.UNCHANGED)

    @property
    def same_endpoint(self) -> bool:
        """Whether the endpoint stays, changed or not."""
        return self.fate(types.ENDPOINT_TYPE) in (Fate.UPDATED, Fate.UNCHANGED)

    @property
    def new_fleet(self) -> bool:
        """Whether the endpoint stays and gets another configuration."""
        return self.same_endpoint and self.fate(types.CONFIG_TYPE) is Fate.REPLACED

    def lasting_variants(self) -> Iterator[tuple[SpecPath, str, Properties, Properties]]:
        """Variants that existed before: their place in the spec, name, properties before and after."""
        before, after = deployed.variants(self.before), deployed.variants(self.after)
        for name, path in self.variants.items():
            if name in before and name in after:
                yield path, name, before[name], after[name]

    def place(self, logical_id: str, path: PropertyPath) -> SpecPath:
        """Where the spec has this property, or the nearest part around it that is written there."""
        change = self.changes[logical_id]
        wanted = spec_path(self.variants, change.type, self.sources[logical_id], path)
        return self.written(wanted)

    def written(self, path: SpecPath) -> SpecPath:
        """The path as far as the file has it: values from defaults are not written there."""
        return path if self.data is None else written_part(self.data, path)

    def causes(self, logical_id: str) -> Iterator[SpecPath]:
        """Where the spec has what changes a resource: its own properties, then those of what it refers to."""
        change = self.changes[logical_id]
        for path in change.paths:
            if path[0] != "Tags":
                yield self.place(logical_id, path)
        for other in change.follows:
            yield from self.causes(other)


def written_part(data: Mapping[str, Any], path: SpecPath) -> SpecPath:
    """The path as far as data has it."""
    found: Any = data
    for depth, step in enumerate(path):
        match found, step:
            case dict(), str() if step in found:
                found = found[step]
            case list(), int() if step < len(found):
                found = found[step]
            case _:
                return path[:depth]
    return path


def bracketed(path: SpecPath) -> str:
    """A path as people write it: ``variants[0].instance_type``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def spec_path(
    variants: Mapping[str, SpecPath], type_name: str, source: SpecPath, path: PropertyPath
) -> SpecPath:
    """Where a spec has a property of a resource of a type that comes from a part of the spec."""
    match type_name, path:
        case types.MODEL_TYPE | types.CONFIG_TYPE, ("ExecutionRoleArn", *_):
            return ("execution_role",)
        case types.CONFIG_TYPE, ("ProductionVariants", int() as index, *rest):
            return (*[*variants.values()][index], *_keys(rest))
        case types.CONFIG_TYPE, ("ProductionVariants",):
            return source[:1]
        case types.CONFIG_TYPE, ("ShadowProductionVariants", *rest):
            return ("shadow_variants", *_keys(rest))
        case types.CONFIG_TYPE, _:
            return ("endpoint_config", *_keys(path))
        case types.ENDPOINT_TYPE, ("EndpointName",):
            return ("endpoint_name",)
        case types.ENDPOINT_TYPE, _:
            return ("endpoint", *_keys(path))
        case types.MODEL_TYPE, ("PrimaryContainer", *rest):
            return (*source, *_keys(rest))
        case _:
            return (*source, *_keys(path))


def _keys(path: Iterable[str | int]) -> Iterator[str | int]:
    """A property path in the spec's spelling."""
    free = False
    for step in path:
        yield snake(step) if isinstance(step, str) and not free else step
        free = step in _FREE_KEYS


# ---------------------------------------------------------------- Two templates, compared


def compare(before: Resources, after: Resources, other_ids: Collection[str] = ()) -> dict[str, Change]:
    """What becomes of every resource, by logical id: those of ``after`` in its order, then the removed ones.

    ``after`` has resources of our types only. Only types and properties count. Metadata and dependencies
    change nothing that runs. Resources of ``other_ids`` have another logical id in their stacks, which
    replaces them.
    """
    both = [logical_id for logical_id in after if logical_id in before]
    own = {
        logical_id: tuple(_by_key(properties_of(before[logical_id]), properties_of(after[logical_id])))
        for logical_id in both
    }
    moved = {it for it in both if it in other_ids}
    replaced: set[str] = moved
    while True:
        found = moved | {it for it in both if _is_replaced(after[it], own[it], replaced)}
        if found == replaced:
            break
        replaced = found
    changes = {it: _change(it, after[it], own.get(it), replaced) for it in after}
    gone = {it: Change(it, type_of(before[it]), Fate.REMOVED) for it in before if it not in after}
    return changes | gone


def differences(before: Any, after: Any) -> Iterator[PropertyPath]:
    """Paths at which two values differ, descending as long as both have the same form."""
    match before, after:
        case dict() as one, dict() as other if not (_is_function(one) or _is_function(other)):
            yield from _by_key(one, other)
        case list() as first, list() as second if len(first) == len(second):
            for index, (left, right) in enumerate(zip(first, second, strict=True)):
                yield from ((index, *below) for below in differences(left, right))
        case _ if as_read(before) != as_read(after):
            yield ()


def _by_key(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[PropertyPath]:
    for key in dict.fromkeys((*before, *after)):
        if key in before and key in after:
            yield from ((key, *below) for below in differences(before[key], after[key]))
        else:
            yield (key,)


def _is_replaced(resource: Mapping[str, Any], own: tuple[PropertyPath, ...], replaced: set[str]) -> bool:
    fixed = create_only(type_of(resource))
    if any(path[0] in fixed for path in own):
        return True
    given = {name: value for name, value in properties_of(resource).items() if name in fixed}
    return not replaced.isdisjoint(references(given))


def _change(
    logical_id: str,
    resource: Mapping[str, Any],
    own: tuple[PropertyPath, ...] | None,
    replaced: set[str],
) -> Change:
    if own is None:
        return Change(logical_id, type_of(resource), Fate.ADDED)
    referred = references(properties_of(resource))
    follows = tuple(it for it in referred if it in replaced)
    in_place = Fate.UPDATED if own or follows else Fate.UNCHANGED
    fate = Fate.REPLACED if logical_id in replaced else in_place
    return Change(logical_id, type_of(resource), fate, own, follows)


def _is_function(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and str(next(iter(value))).startswith(("Fn::", "Ref"))


def as_read(value: Any) -> Any:
    """A value as CloudFormation reads it: scalars are text, and `Fn::GetAtt` is always written one way."""
    match value:
        case {"Fn::GetAtt": str() as attribute}:
            return {"Fn::GetAtt": attribute.split(".", 1)}
        case dict():
            return {key: as_read(item) for key, item in value.items()}
        case list():
            return [as_read(item) for item in value]
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)
