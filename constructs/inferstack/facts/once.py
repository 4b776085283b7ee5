"""Answers about a spec, a model repository or one of its models that many rules need, found only once."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TypeVar

Subject = TypeVar("Subject")
Answer = TypeVar("Answer")
T = TypeVar("T")


def found_once(find: Callable[[Subject], Iterable[T]]) -> Callable[[Subject], tuple[T, ...]]:
    """Remembers everything found in a subject, as :func:`answered_once` does for one answer."""

    @wraps(find)
    def found(subject: Subject) -> tuple[T, ...]:
        return tuple(find(subject))

    return answered_once(found)


def answered_once(answer: Callable[[Subject], Answer]) -> Callable[[Subject], Answer]:
    """Remembers the answer about the latest subject only: specs are frozen and are handled one by one.

    Without it the rules take twice as long, as nearly all begin with the same few walks.
    """
    # Both are in one variable, so that no thread sees one spec with the answer for another.
    last: tuple[Subject, Answer] | None = None

    @wraps(answer)
    def answered(subject: Subject) -> Answer:
        nonlocal last
        known = last
        if known is None or known[0] is not subject:
            known = last = (subject, answer(subject))
        return known[1]

    return answered
