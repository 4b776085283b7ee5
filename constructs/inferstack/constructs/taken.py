"""Names that there can be one of in an account and region, over the constructs of an app.

AWS would refuse the second one when the rest of the stack is being made. Two constructs go to the same place
when they are in one stack, and when the stacks of both name account and region. Else only the deployment
knows.
"""

from collections.abc import Iterable, Iterator, Set as AbstractSet
from typing import Any, NamedTuple

from aws_cdk import App, Environment, Stack
from constructs import Construct

from inferstack.spec.check import LoadedSpec
from inferstack.spec.names_across_files import (
    SAME_COMPONENT,
    SAME_DASHBOARD,
    SAME_ENDPOINT,
    TakenName,
    known_as,
    same_name,
    taken_names,
    without_followers,
)
from inferstack.spec.problem import SpecError
from inferstack.spec.texts.placeholders import is_opaque, is_settled

Key = tuple[str | None, ...]
OF_AN_ENDPOINT = frozenset({SAME_ENDPOINT, SAME_COMPONENT, SAME_DASHBOARD})
"""What an endpoint takes. That stacks of one name are refused CDK sees to."""

_FIX = "give one of them another name, or put one into a stack for another account or region"


class _Place(NamedTuple):
    """Where a stack goes. Account and region are None where only the deployment knows; app and stack are
    known by what they are for Node, which is no other object's.
    """

    app: str
    stack: str
    stack_name: str
    account: str | None
    region: str | None


# By the stack, and by all that two of a name must differ in. Text alone: constructs would be kept with it.
_PLACES: dict[str, _Place] = {}
_TAKEN: dict[Key, str] = {}


def know_place(stack: Stack, scope: Construct, stack_name: str, env: Environment) -> None:
    """Tells where a new stack goes, which spares asking Node. Below a stage the stage may say more of it."""
    if isinstance(scope, App):
        account, region = settled(env.account), settled(env.region)
        app, ref = construct_ref(scope), construct_ref(stack)
        _PLACES[ref] = _Place(app, ref, stack_name, account, region)


def free_names(scope: Construct, loaded: LoadedSpec, codes: AbstractSet[str] = OF_AN_ENDPOINT) -> list[Key]:
    """The spec's names where it goes, each as all that another one there must differ in; of these codes only.

    Raises:
        SpecError: with a problem for each name that a construct before it has taken.
    """
    place = _place(scope)
    keys = {name: list(_keys(place, name)) for name in taken_names(loaded).names if name.code in codes}
    taken = ((name, [_TAKEN[key] for key in of_name if key in _TAKEN]) for name, of_name in keys.items())
    problems = [same_name(loaded.document.file, name, by[0], _FIX) for name, by in taken if by]
    if problems:
        raise SpecError(without_followers(problems))
    return [key for of_name in keys.values() for key in of_name]


def take(scope: Construct, construct_id: str, names: Iterable[Key]) -> None:
    """Remembers that the construct of this id has the names."""
    _TAKEN.update(dict.fromkeys(names, f"`{construct_id}` in the stack `{_place(scope).stack_name}`"))


def _keys(place: _Place, name: TakenName) -> Iterator[Key]:
    yield place.stack, *known_as(name, None, None)
    # A token such as the stack's name stands for something else in another stack.
    known_place = place.account is not None and (place.region is not None or not name.is_regional)
    if known_place and is_settled(name.name):
        yield place.app, *known_as(name, place.account, place.region)


def _place(scope: Construct) -> _Place:
    stack = scope if isinstance(scope, Stack) else Stack.of(scope)
    ref = construct_ref(stack)
    if ref not in _PLACES:
        account, region = settled(stack.account), settled(stack.region)
        # A nested stack gets its name when it is deployed.
        name = stack.node.path if is_opaque(stack.stack_name) else stack.stack_name
        _PLACES[ref] = _Place(construct_ref(stack.node.root), ref, name, account, region)
    return _PLACES[ref]


def settled(name: str | None) -> str | None:
    """An account or region, or None where only the deployment knows it."""
    return name if name is not None and is_settled(name) else None


def construct_ref(construct: Any) -> str:
    """What jsii calls an object: it is the same for all Python objects that stand for one of Node's."""
    return str(construct.__jsii_ref__.ref)
