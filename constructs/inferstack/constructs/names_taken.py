"""Names that must be unique in an account and region, across the constructs of an app.

AWS would refuse the second one in the middle of a deployment. Two constructs are known to go to the same
place when they are in one stack, or when the stacks of both name the same account and region. Otherwise only
the deployment knows.
"""

from collections.abc import Iterable, Iterator, Set as AbstractSet
from typing import Any, NamedTuple

from aws_cdk import App, Environment, Stack
from constructs import Construct

from inferstack.check.files import (
    SAME_COMPONENT,
    SAME_DASHBOARD,
    SAME_ENDPOINT,
    SAME_SCALING,
    TakenName,
    known_as,
    same_name,
    taken_names,
    without_followers,
)
from inferstack.check.load import LoadedSpec
from inferstack.facts.scaling import scaled_parts
from inferstack.problems import Problem, SpecError
from inferstack.resolve.autoscaling import resource_id, target_id
from inferstack.texts.placeholders import is_opaque, is_settled

Key = tuple[str | None, ...]
OF_AN_ENDPOINT = frozenset({SAME_ENDPOINT, SAME_COMPONENT, SAME_DASHBOARD})
"""Codes of the names that an endpoint takes. Two stacks of one name are refused by CDK."""

_FIX = "give one of them another name, or put one into a stack for another account or region"
_FIX_SCALING = "remove `autoscaling` from the spec of one of them"


class StackPlace(NamedTuple):
    """Where a stack goes. Account and region are None where only the deployment knows them.

    ``app``, ``stack`` and ``outermost`` are jsii's references, see :func:`construct_ref`. A nested stack goes
    where the outermost stack around it goes.
    """

    app: str
    stack: str
    outermost: str
    stack_name: str
    account: str | None
    region: str | None


class _Holder(NamedTuple):
    """Who has a name: jsii's reference to the construct, and what it is called in messages."""

    ref: str
    text: str


# By the stack, and by all in which two of a name must differ. Only text: constructs would be kept alive.
_PLACES: dict[str, StackPlace] = {}
_TAKEN: dict[Key, _Holder] = {}


def know_place(stack: Stack, scope: Construct, stack_name: str, env: Environment) -> None:
    """Records where a new stack goes, to save asking Node; not below a stage, which may say more about it."""
    if isinstance(scope, App):
        account, region = settled(env.account), settled(env.region)
        app, ref = construct_ref(scope), construct_ref(stack)
        _PLACES[ref] = StackPlace(app, ref, ref, stack_name, account, region)


def free_names(
    scope: Construct,
    loaded: LoadedSpec,
    logical_ids: AbstractSet[str],
    codes: AbstractSet[str] = OF_AN_ENDPOINT,
) -> list[Key]:
    """Keys of the names that the spec takes where it goes: the names of these ``codes``, and the scalable
    targets that are made under these ``logical_ids``. No other construct there may have an equal key.

    Raises:
        SpecError: with a problem for each name that an earlier construct has taken.
    """
    place = place_of(scope)
    names = [name for name in taken_names(loaded).names if name.code in codes]
    keys = {name: list(_keys(place, name)) for name in (*names, *_scaled(loaded, logical_ids))}
    held = {name: [_TAKEN[key] for key in of_name if key in _TAKEN] for name, of_name in keys.items()}
    if any(held.values()):
        there = {construct_ref(it) for it in scope.node.root.node.find_all()}
        by = {name: [it.text for it in holders if it.ref in there] for name, holders in held.items()}
        problems = [_taken_by(loaded, name, texts[0]) for name, texts in by.items() if texts]
        if problems:
            raise SpecError(_without_followers(problems))
    return [key for of_name in keys.values() for key in of_name]


def _scaled(loaded: LoadedSpec, logical_ids: AbstractSet[str]) -> Iterator[TakenName]:
    """Names of the scalable targets that are made here."""
    spec = loaded.spec
    for scaled in scaled_parts(spec):
        if target_id(spec, scaled) in logical_ids:
            at = loaded.document.position(scaled.path)
            yield TakenName(SAME_SCALING, resource_id(spec, scaled), scaled.path, at)


def _taken_by(loaded: LoadedSpec, name: TakenName, by: str) -> Problem:
    fix = _FIX_SCALING if name.code == SAME_SCALING else _FIX
    return same_name(loaded.document.file, name, by, fix)


def _without_followers(problems: list[Problem]) -> list[Problem]:
    """If an endpoint or a component is there twice, so is its scaling: only the former is reported."""
    return without_followers([it for it in problems if it.code != SAME_SCALING] or problems)


def take(scope: Construct, construct: Construct, construct_id: str, names: Iterable[Key]) -> None:
    """Remembers that the construct of this id has the names."""
    text = f"`{construct_id}` in the stack `{place_of(scope).stack_name}`"
    _TAKEN.update(dict.fromkeys(names, _Holder(construct_ref(construct), text)))


def _keys(place: StackPlace, name: TakenName) -> Iterator[Key]:
    yield place.stack, *known_as(name, None, None)
    # A token such as the stack's name stands for something else in another stack.
    if not is_settled(name.name):
        return
    yield place.outermost, *known_as(name, None, None)
    if place.account is not None and (place.region is not None or not name.is_regional):
        yield place.app, *known_as(name, place.account, place.region)


def place_of(scope: Construct) -> StackPlace:
    """Where a construct in this scope goes."""
    stack = scope if isinstance(scope, Stack) else Stack.of(scope)
    ref = construct_ref(stack)
    if ref not in _PLACES:
        account, region = settled(stack.account), settled(stack.region)
        name, outermost = stack.stack_name, ref
        if is_opaque(name):
            # A nested stack gets its name when it is deployed.
            name, parent = stack.node.path, stack.nested_stack_parent
            outermost = ref if parent is None else place_of(parent).outermost
        _PLACES[ref] = StackPlace(construct_ref(stack.node.root), ref, outermost, name, account, region)
    return _PLACES[ref]


def settled(name: str | None) -> str | None:
    """An account or region, or None where only the deployment knows it."""
    return name if name is not None and is_settled(name) else None


def construct_ref(construct: Any) -> str:
    """The id that jsii gives to an object of Node's: all Python objects that stand for it share it."""
    return str(construct.__jsii_ref__.ref)
