"""Applies the rules to a spec whose structure is wrong in places, so that one run reports everything.

data, structure problems -> a spec without the wrong values -> the rules, as far as they do without them
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from inferstack.catalog.cloudformation import snake
from inferstack.check.rules.asking import rule_problems
from inferstack.check.structure import EXCLUSIVE_KEYS, MISSING_KEY, UNKNOWN_KEY
from inferstack.check.structure.keys import homes_in_kind
from inferstack.check.structure.other_names import belongs_unwrapped, meant_key
from inferstack.check.triton_models import triton_problems
from inferstack.format.base import Block
from inferstack.format.kinds import KINDS, ModelSpec
from inferstack.problems import Problem, Severity, SpecPath
from inferstack.problems.rules import Rule
from inferstack.source.document import Document

# These are about a block as a whole: the values in it may all be right.
_OF_BLOCKS = frozenset({MISSING_KEY, EXCLUSIVE_KEYS})
_MODELS = "triton"


def problems_beside(
    structural: Collection[Problem], document: Document, *, with_models: bool
) -> Iterator[Problem]:
    """What the rules find in a spec with structure problems, except where those are.

    ``with_models``: also what is wrong with its Triton models, unless the structure of one is: their values
    have no types by which the wrong ones could be left out.
    """
    kind = next((it for it in KINDS if it.__struct_config__.tag == document.data.get("kind")), None)
    if kind is None:
        return
    around = {part for problem in structural for part in _from_the_top(problem.path)}
    wrong = {problem.path for problem in structural if problem.code not in _OF_BLOCKS}
    # The rules about specs do not look inside of Triton's models.
    values = frozenset(path for path in wrong if _MODELS not in path)
    spec: ModelSpec = _Builder(values, _meant_elsewhere(structural, document)).block(kind, document.data, ())
    knows_warnings = hasattr(spec, "ignore")
    if not knows_warnings:
        msgspec.structs.force_setattr(spec, "ignore", ())
    found = list[Problem]()
    # Numbers that only the deployment knows can be tried out in complete specs only; here that fails.
    with suppress(AttributeError):
        found.extend(rule_problems(spec, document, _what_it_knows))
    if with_models and not any(_MODELS in path for path in around):
        with suppress(AttributeError):
            found.extend(triton_problems(spec, document, frozenset(spec.ignored_codes)))
    for problem in found:
        counts = knows_warnings or problem.severity is Severity.ERROR
        if counts and problem.path not in around and wrong.isdisjoint(_from_the_top(problem.path)):
            yield problem


def _meant_elsewhere(structural: Iterable[Problem], document: Document) -> Iterator[SpecPath]:
    """Where the keys belong that were written into a block without such a key."""
    homes = homes_in_kind(str(document.data["kind"]))
    keys = (snake(str(problem.path[-1])) for problem in structural if problem.code == UNKNOWN_KEY)
    return ((*homes[key].split("."), key) for key in keys if key in homes)


def _from_the_top(path: SpecPath) -> Iterator[SpecPath]:
    """A path and everything that contains it, beginning with the whole spec."""
    return (path[:length] for length in range(len(path) + 1))


def _what_it_knows(rule: Rule, spec: ModelSpec) -> list[Problem]:
    """What a rule finds before it reads a missing value."""
    found = list[Problem]()
    with suppress(AttributeError):
        found.extend(rule.check(spec))
    return found


class _NoValueError(Exception):
    """The value at this place is wrong."""


class _Builder:
    """Makes blocks from data that is wrong in places.

    A field has no value at all if its value is wrong or missing, or was written elsewhere or under an unknown
    key: neither the wrong value nor the one that stands for an absent key. Reading it raises AttributeError.
    """

    def __init__(self, wrong: Set[SpecPath], elsewhere: Iterable[SpecPath]) -> None:
        self._around = {part for path in (*wrong, *elsewhere) for part in _from_the_top(path)}

    def block(self, kind: type[Block], data: Mapping[str, Any], path: SpecPath) -> Any:
        types = _types(kind)
        fields = {field.name: field for field in msgspec.structs.fields(kind)}
        unknown = {key: value for key, value in data.items() if key not in fields}
        wrapped = (it for key, it in unknown.items() if belongs_unwrapped(snake(key), kind.__name__, fields))
        inside = (key for it in wrapped if isinstance(it, dict) for key in it)
        meant = {meant_key(key, kind.__name__, fields) for key in (*unknown, *inside)}
        values, without = dict[str, Any](), list[str]()
        for name, field in fields.items():
            try:
                if name in data:
                    values[name] = self._value(types[name], data[name], (*path, name))
                elif field.required or name in meant or (*path, name) in self._around:
                    without.append(name)
            except _NoValueError:
                without.append(name)
        block = kind(**values, **dict.fromkeys(without))
        for name in without:
            # Blocks are frozen, so `del block.name` is refused; the slot's descriptor does not know that.
            getattr(kind, name).__delete__(block)
        return block

    def _value(self, kind: Any, data: Any, path: SpecPath) -> Any:
        if path in self._around:
            return self._with_what_is_right(kind, data, path)
        try:
            return msgspec.convert(data, kind)
        except (msgspec.ValidationError, UnicodeEncodeError):
            # A key is missing in it, or it holds half a surrogate pair, which is possible in Python data.
            return self._with_what_is_right(kind, data, path)

    def _with_what_is_right(self, kind: Any, data: Any, path: SpecPath) -> Any:
        for option in _options(kind):
            match data:
                case dict() if isinstance(option, type) and issubclass(option, Block):
                    return self.block(option, data, path)
                case dict() if get_origin(option) is Mapping:
                    of = get_args(option)[1]
                    return {key: self._value(of, it, (*path, key)) for key, it in data.items()}
                case list() if get_origin(option) is tuple:
                    of = get_args(option)[0]
                    return tuple(self._value(of, it, (*path, index)) for index, it in enumerate(data))
        raise _NoValueError


@cache
def _types(kind: type[Block]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _options(kind: Any) -> Iterator[Any]:
    """The types that a value may have."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _options(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for option in get_args(kind):
            yield from _options(option)
    else:
        yield kind
