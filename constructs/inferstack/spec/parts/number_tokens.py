"""Numbers that only the deployment knows, for rules that compare numbers.

A finding depends on such a number if other numbers in its place do not lead to it. So the rules look at the
spec with several numbers in its place, and a finding that all of them lead to holds whatever the number is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from inferstack.spec.blocks.kinds import ModelSpec, Spec
from inferstack.spec.texts.placeholders import is_opaque

# Usual values of counts, shares, seconds and megabytes; -1 for a step that removes capacity.
_USUAL = (-1, 0, 1, 2, 5, 10, 20, 50, 60, 100, 300, 600, 1200, 3600, 28800, 1024, 4096, 1_000_000)
_RISING = (1, 2, 5, 10, 60, 600, 3600, 28800)


def with_samples(spec: ModelSpec, data: object) -> Sequence[ModelSpec]:
    """Copies of a spec with sample numbers in place of its unknown ones; the spec itself if it has none."""
    if not any(map(is_opaque, _numbers(data))):
        return (spec,)
    # A number may have to equal another one in the spec, so those are tried, too.
    alike = dict.fromkeys((*_USUAL, *(it for it in _numbers(data) if not is_opaque(it))))
    samples = [*((it,) for it in alike), _RISING, _RISING[::-1]]
    plain = msgspec.to_builtins(spec)
    return [msgspec.convert(_filled(plain, _one_each(numbers)), Spec) for numbers in samples]


def _numbers(value: object) -> Iterator[int]:
    match value:
        case dict():
            for item in value.values():
                yield from _numbers(item)
        case list():
            for item in value:
                yield from _numbers(item)
        case int() if not isinstance(value, bool):
            yield value


def _one_each(numbers: Sequence[int]) -> Callable[[int], int]:
    """Gives each token one of the numbers, and the same one wherever the token occurs."""
    given: dict[int, int] = {}
    return lambda token: given.setdefault(token, numbers[min(len(given), len(numbers) - 1)])


def _filled(value: Any, number_for: Callable[[int], int]) -> Any:
    match value:
        case dict():
            return {key: _filled(item, number_for) for key, item in value.items()}
        case list() | tuple():
            return [_filled(item, number_for) for item in value]
        case int() if is_opaque(value):
            return number_for(value)
        case _:
            return value
