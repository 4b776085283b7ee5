"""Names that must be unique in an account and region, across the constructs of an app.

AWS would refuse the second in the middle of a deployment. Two constructs are known to go to the same
place when they are in one stack, or when the stacks of both name the same account and region. Otherwise only
the deployment knows.
"""

from collections.abc import Iterable, Iterator, Set as AbstractSet
from typing import NamedTuple

from aws_cdk import App, Environment, Stack
from constructs import Construct, IConstruct

from inferstack.check.load import LoadedSpec
from inferstack.check.unique_names import TakenName, known_as, same_name, taken_names, without_followers
from inferstack.facts.scaling import scaled_parts
from inferstack.format.kinds import ExecutionRole, ModelSpec
from inferstack.problems import Problem, SpecError
from inferstack.problems.file_codes import (
    SAME_ALARM,
    SAME_BUCKET,
    SAME_COMPONENT,
    SAME_DASHBOARD,
    SAME_ENDPOINT,
    SAME_EXPORT,
    SAME_POLICY,
    SAME_ROLE,
    SAME_SCALING,
    SAME_TOPIC,
)
from inferstack.resolve.autoscaling import resource_id, target_id
from inferstack.texts.placeholders import is_opaque, is_settled

Key = tuple[object, ...]
OF_AN_ENDPOINT = frozenset(
    {
        *(SAME_ENDPOINT, SAME_COMPONENT, SAME_DASHBOARD, SAME_ALARM, SAME_BUCKET, SAME_TOPIC, SAME_EXPORT),
        *(SAME_ROLE, SAME_POLICY),
    }
)
"""Codes of the names that an endpoint takes. Two stacks of one name are refused by CDK."""

_FIX = "give one of them another name, or put one into a stack in another account or region"
_FIX_SCALING = "remove `autoscaling` from the spec of one of them"


class PlacedStack(NamedTuple):
    """Where a stack goes. Account and region are None where only the deployment knows them.

    A nested stack goes where the ``outermost`` stack around it goes.
    """

    root: IConstruct
    stack: Stack
    outermost: Stack
    stack_name: str
    account: str | None
    region: str | None


class _Holder(NamedTuple):
    """Who has a name, and what it is called in messages."""

    construct: IConstruct
    text: str


class Notes:
    """What is known of an app, a stack or a role: the only state outside the construct tree.

    They are in the attributes of the Python object, which last: jsii has one object for each construct, and
    keeps it as long as Node runs. A child construct or CDK's metadata would take two more round trips to Node
    for each stack, and nothing can be added to an app's context once it has children.
    """

    def __init__(self) -> None:
        self.place: PlacedStack | None = None
        """Of a stack: where it goes."""
        self.taken: dict[Key, _Holder] = {}
        """Of the root: the names that its constructs have taken."""
        self.has_synthesizer: bool | None = None
        """Of an app or a stage: whether its stacks have another synthesizer than CDK's."""
        self.made_of: ExecutionRole | None = None
        """Of a role that a spec makes: its `execution_role` block."""


def notes_on(construct: IConstruct) -> Notes:
    """What is known of this construct."""
    notes = vars(construct).setdefault("_inferstack_notes", Notes())
    assert isinstance(notes, Notes)
    return notes


def know_place(stack: Stack, scope: Construct, stack_name: str, env: Environment) -> None:
    """Records where a new stack goes, to save asking Node; not below a stage, which may say more about it."""
    if isinstance(scope, App):
        account, region = settled(env.account), settled(env.region)
        notes_on(stack).place = PlacedStack(scope, stack, stack, stack_name, account, region)


def free_names(
    scope: Construct,
    loaded: LoadedSpec,
    lasting: ModelSpec,
    logical_ids: AbstractSet[str],
    codes: AbstractSet[str] = OF_AN_ENDPOINT,
) -> list[Key]:
    """Keys of the names that the spec takes where it goes: the names of these ``codes``, and the scalable
    targets that are made under these ``logical_ids``. No other construct there may have an equal key.

    ``lasting`` is what the template was made of: the spec, perhaps with other texts in place of tokens.

    Raises:
        SpecError: with a problem for each name that an earlier construct has taken.
    """
    place = place_of(scope)
    taken = notes_on(place.root).taken
    names = [name for name in taken_names(loaded).names if name.code in codes]
    keys = {name: list(_keys(place, name)) for name in (*names, *_scaled(loaded, lasting, logical_ids))}
    held = {name: [taken[key] for key in of_name if key in taken] for name, of_name in keys.items()}
    if any(held.values()):
        there = set(place.root.node.find_all())
        by = {name: [it.text for it in holders if it.construct in there] for name, holders in held.items()}
        problems = [_taken_by(loaded, name, texts[0]) for name, texts in by.items() if texts]
        if problems:
            raise SpecError(_without_followers(problems))
    return [key for of_name in keys.values() for key in of_name]


def _scaled(loaded: LoadedSpec, lasting: ModelSpec, logical_ids: AbstractSet[str]) -> Iterator[TakenName]:
    """Names of the scalable targets that are made here."""
    for scaled, made in zip(scaled_parts(loaded.spec), scaled_parts(lasting), strict=True):
        if target_id(lasting, made) in logical_ids:
            at = loaded.document.place(scaled.path)
            yield TakenName(SAME_SCALING, resource_id(loaded.spec, scaled), scaled.path, at)


def _taken_by(loaded: LoadedSpec, name: TakenName, by: str) -> Problem:
    fix = _FIX_SCALING if name.code == SAME_SCALING else _FIX
    return same_name(name, by, fix)


def _without_followers(problems: list[Problem]) -> list[Problem]:
    """Leaves out the scaling of an endpoint or component that is itself there twice."""
    return without_followers([it for it in problems if it.code != SAME_SCALING] or problems)


def take(scope: Construct, construct: Construct, construct_id: str, names: Iterable[Key]) -> None:
    """Remembers that the construct of this id has the names."""
    place = place_of(scope)
    holder = _Holder(construct, f"`{construct_id}` in the stack `{place.stack_name}`")
    notes_on(place.root).taken.update(dict.fromkeys(names, holder))


def _keys(place: PlacedStack, name: TakenName) -> Iterator[Key]:
    yield place.stack, *known_as(name, None, None)
    # A token such as the stack's name stands for something else in another stack.
    if not is_settled(name.name):
        return
    yield place.outermost, *known_as(name, None, None)
    if None not in name.place(place.account, place.region):
        yield known_as(name, place.account, place.region)


def place_of(scope: Construct) -> PlacedStack:
    """Where a construct in this scope goes."""
    stack = scope if isinstance(scope, Stack) else Stack.of(scope)
    notes = notes_on(stack)
    if notes.place is None:
        notes.place = _asked_for(stack)
    return notes.place


def _asked_for(stack: Stack) -> PlacedStack:
    name, outermost = stack.stack_name, stack
    if is_opaque(name):
        # A nested stack gets its name when it is deployed.
        name, parent = stack.node.path, stack.nested_stack_parent
        outermost = stack if parent is None else place_of(parent).outermost
    account, region = settled(stack.account), settled(stack.region)
    return PlacedStack(stack.node.root, stack, outermost, name, account, region)


def settled(name: str | None) -> str | None:
    """An account or region, or None where only the deployment knows it."""
    return name if name is not None and is_settled(name) else None
