"""Answers about a spec, a repository of models or one of its models, that many rules ask for, found once."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TypeVar

Subject = TypeVar("Subject")
Answer = TypeVar("Answer")
T = TypeVar("T")


def found_once(find: Callable[[Subject], Iterable[T]]) -> Callable[[Subject], tuple[T, ...]]:
    """All that is found in a subject, remembered as :func:`answered_once` does."""

    @wraps(find)
    def found(subject: Subject) -> tuple[T, ...]:
        return tuple(find(subject))

    return answered_once(found)


def answered_once(answer: Callable[[Subject], Answer]) -> Callable[[Subject], Answer]:
    """Remembers the answer about the subject that was asked about last: specs are frozen and come one by one.

    Without it the rules take twice as long, as nearly all begin with the same few walks.
    """
    # In one variable, so that threads never see the answer about one spec beside another spec.
    last: tuple[Subject, Answer] | None = None

    @wraps(answer)
    def answered(subject: Subject) -> Answer:
        nonlocal last
        known = last
        if known is None or known[0] is not subject:
            known = last = (subject, answer(subject))
        return known[1]

    return answered
