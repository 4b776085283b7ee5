"""Rules on inference components.

CloudFormation creates new resources before it deletes removed ones, and the name of a component is unique in
an account and region.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from inferstack.catalog.resource_types import MODEL_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.capacity import with_copies
from inferstack.endpoint.counts import Counts
from inferstack.endpoint.deployed import TemplateComponent
from inferstack.endpoint.of_template import components, fleets
from inferstack.endpoint.place import NOWHERE
from inferstack.endpoint.stack import Stack
from inferstack.format.logical_ids import ENDPOINT_CONFIG
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed
from inferstack.updates.renames import components_renamed
from inferstack.updates.rules import REPLACEMENT, UPDATE_COMPONENT, UPDATE_ENDPOINT, update_rule
from inferstack.updates.update import Fate, Update

_COMPONENTS: SpecPath = ("inference_components",)
_BASE = "BaseInferenceComponentName"
_TWICE = "deploy twice: first without it, then with it"


@update_rule("IS865", effect="refused", source=REPLACEMENT)
def name_taken(update: Update) -> Iterator[Problem]:
    """An inference component moves to another endpoint or variant and keeps its name.

    The new component is made while the old one still has the name.
    """
    before = deployed.components(update.before)
    for name, after in deployed.components(update.after).items():
        if name in before and before[name].logical_id != after.logical_id:
            message = (
                f"`{name}` moves {_move(update, before[name], after)}, and its name stays taken until then"
            )
            fix = f"give it another name in the same deployment, or {_TWICE}"
            yield Problem((*_COMPONENTS, name), message, fix)


def _move(update: Update, before: TemplateComponent, after: TemplateComponent) -> str:
    if before.variant is not None and before.variant != after.variant:
        return f"from the variant `{before.variant}` to `{after.variant}`"
    old = deployed.endpoint_name(update.before)
    where = "another endpoint" if old is None else f"the endpoint `{old}`"
    return f"from {where} to `{update.endpoint_name}`"


@update_rule("IS880", effect="removed", source=REPLACEMENT)
def removed(update: Update) -> Iterator[Problem]:
    """An inference component is removed."""
    renamed_too = components_renamed(update.before, update.after)
    for name in (it for it in _gone(update) if it not in renamed_too):
        message = f"`{name}` is removed with its copies; requests that name it fail"
        fix = "make sure that no client calls it any more"
        yield Problem(update.written(_COMPONENTS), message, fix)


@update_rule("IS881", effect="replaced", source=REPLACEMENT)
def renamed(update: Update) -> Iterator[Problem]:
    """A new name means a new inference component.

    A component that only changes its name is recognized by its other properties.
    """
    for name, twin in components_renamed(update.before, update.after).items():
        message = f"`{name}` becomes `{twin}`: the new one starts beside the old, which is then removed"
        fix = "make sure that the fleet has room for both, and that clients use the new name"
        # SageMaker says that two endpoints' names must differ in more than case; of components, nothing.
        if name.casefold() == twin.casefold():
            message += "; SageMaker may take both for one name, and refuse the new one"
            fix = f"choose a name that differs in more than case, or {_TWICE}"
        yield Problem((*_COMPONENTS, twin), message, fix)


def _gone(update: Update) -> dict[str, TemplateComponent]:
    after = deployed.components(update.after)
    return {name: it for name, it in deployed.components(update.before).items() if name not in after}


@update_rule("IS882", effect="updated", source=UPDATE_COMPONENT)
def updated(update: Update) -> Iterator[Problem]:
    """The copies of an inference component are replaced.

    New copies take over from the old ones on the same fleet.
    """
    for name, component, causes in _replaced(update):
        rolls = "DeploymentConfig" in component.properties
        how = "batch by batch" if rolls else "all at once"
        keys = list(dict.fromkeys(str(path[-1]) if path else "what runs" for path in causes))
        what, verb = listed(keys, last="and"), "changes" if len(keys) < 2 else "change"
        new = f"its copies are replaced {how}, and the fleet needs room for new ones"
        message = f"{what} of `{name}` {verb}: {new}"
        roll = "" if rolls else ", or add `deployment_config.rolling_update_policy`"
        yield Problem(causes[0], message, f"check that they fit{roll}")


def _replaced(update: Update) -> Iterator[tuple[str, TemplateComponent, list[SpecPath]]]:
    """The components that get new copies, and what in the spec causes it."""
    for name, component in deployed.components(update.after).items():
        causes = list(dict.fromkeys(_new_copies(update, component)))
        if update.changes[component.logical_id].fate is Fate.UPDATED and causes:
            yield name, component, causes


def _new_copies(update: Update, component: TemplateComponent) -> Iterator[SpecPath]:
    """Where the spec has the cause of new copies: what the component runs, or the model that it names."""
    change = update.changes[component.logical_id]
    for path in change.paths:
        if str(path[0]).startswith("Specification") and _BASE not in path:
            yield update.place(component.logical_id, path)
    for other in change.follows:
        if update.changes[other].type == MODEL_TYPE:
            yield from update.causes(other)


@update_rule("IS897", effect="doubtful", source=UPDATE_COMPONENT)
def no_room_for_both(update: Update) -> Iterator[Problem]:
    """New copies of an inference component find no room beside the old ones.

    They start before the old ones stop. What SageMaker does without room for them is not confirmed.
    """
    if update.new_fleet:
        return
    stack = Stack(update.after, update.sections_after, lambda _, __: NOWHERE, None)
    bare = {it.name: it for it in fleets(stack)}
    there = {it.name: it for it in components(stack, [*bare.values()])}
    starting = {name: causes[0] for name, _, causes in _replaced(update)}
    starting |= {it: (*_COMPONENTS, it) for it in components_renamed(update.before, update.after).values()}
    for name, path in starting.items():
        fleet = bare.get(there[name].variant or "")
        if fleet is None or fleet.by_scaling is None:
            continue
        # At its largest, and with the fewest copies: at any other time there is even less room.
        most = fleet.by_scaling.max
        largest = replace(fleet, by_scaling=Counts.fixed(most))
        new = replace(there[name], name=f"{name} in its new version", copies=Counts.fixed(1))
        short = with_copies(largest, [*there.values(), new]).shortage("min")
        # What does not fit anyway is reported as that.
        if short is not None and with_copies(largest, [*there.values()]).shortage("min") is None:
            takes = f"a new copy of `{name}` beside the old ones takes {short.needed} instances"
            message = f"{takes}, but `{fleet.name}` has no more than {most}: the update may fail"
            fix = f"let the fleet grow to {short.needed} in a deployment before this one"
            yield Problem(path, message, fix)


@update_rule("IS883", effect="reset", source=UPDATE_COMPONENT)
def copies_reset(update: Update) -> Iterator[Problem]:
    """An update sends the copy count of a scaled inference component. That it resets the count is not
    confirmed.

    Whatever an update changes about a component, CloudFormation only knows the template's copy count.
    """
    scaled = deployed.scaled_components(update.before)
    for name, component in deployed.components(update.after).items():
        change = update.changes[component.logical_id]
        causes = [path for path in change.paths if path[0] != "Tags"] or change.follows
        count = deployed.mapping(component.properties.get("RuntimeConfig")).get("CopyCount")
        if change.fate is Fate.UPDATED and causes and name in scaled and count is not None:
            path = update.written((*_COMPONENTS, name, "runtime_config", "copy_count"))
            message = f"the update of `{name}` may set its copies to {count}, however many are running"
            fix = "deploy while few are running, or write as many as are running"
            yield Problem(path, message, fix)


@update_rule("IS884", effect="interrupted", source=UPDATE_ENDPOINT)
def fleet_under_components(update: Update) -> Iterator[Problem]:
    """The instances under inference components are replaced. How their copies move is not confirmed.

    A new fleet starts empty.
    """
    before, after = deployed.components(update.before), deployed.components(update.after)
    stay = [name for name in after if name in before]
    if update.new_fleet and stay:
        path = next(update.causes(ENDPOINT_CONFIG))
        names = listed(stay, last="and")
        message = f"the instances under {names} are replaced; how the copies move is not confirmed"
        fix = "try it on another endpoint, and deploy while there is little traffic"
        yield Problem(path, message, fix)


@update_rule("IS885", effect="doubtful", source=UPDATE_COMPONENT)
def rebased(update: Update) -> Iterator[Problem]:
    """An adapter moves to another base component. Whether an update can do that is not confirmed.

    An adapter is loaded into its base.
    """
    before = deployed.components(update.before)
    for name, after in deployed.components(update.after).items():
        if name not in before or before[name].logical_id != after.logical_id:
            continue
        old, new = before[name].base, after.base
        if old != new:
            path = update.place(after.logical_id, ("Specification", _BASE))
            message = (
                f"the base of `{name}` changes from {old} to {new}; whether an update can do this is unknown"
            )
            fix = f"give the adapter another name, or {_TWICE}"
            yield Problem(path, message, fix)


@update_rule("IS886", effect="doubtful", source=REPLACEMENT)
def variant_under_components(update: Update) -> Iterator[Problem]:
    """A variant is removed before the inference components on it. That SageMaker refuses this is not
    confirmed.

    Components are only deleted after the endpoint was updated, when their variant is already gone.
    """
    gone = set(deployed.variants(update.before)) - set(deployed.variants(update.after))
    before = deployed.components(update.before)
    on_it = [name for name, it in before.items() if it.variant in gone]
    if update.same_endpoint and on_it:
        which = sorted({str(before[name].variant) for name in on_it})
        what = "is removed while it hosts" if len(which) == 1 else "are removed while they host"
        message = (
            f"{listed(which, last='and')} {what} {listed(on_it, last='and')}, which SageMaker may refuse"
        )
        fix = "deploy twice: first without what runs there, then without the variant"
        path = update.written(("variants",))
        yield Problem(path, message, fix)
