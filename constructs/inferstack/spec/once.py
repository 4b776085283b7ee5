"""Answers about a spec that many rules ask for, found once."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TypeVar

from inferstack.spec.blocks.kinds import ModelSpec

T = TypeVar("T")


def once_a_spec(find: Callable[[ModelSpec], Iterable[T]]) -> Callable[[ModelSpec], tuple[T, ...]]:
    """Remembers what was found in the spec that was asked for last: specs are frozen and come one by one.

    Without it the rules take twice as long, as nearly all begin with the same few walks.
    """
    # In one variable, so that threads never see the answer of one spec beside another spec.
    last: tuple[ModelSpec | None, tuple[T, ...]] = (None, ())

    @wraps(find)
    def found(spec: ModelSpec) -> tuple[T, ...]:
        nonlocal last
        of, answer = last
        if of is not spec:
            answer = tuple(find(spec))
            last = (spec, answer)
        return answer

    return found
