"""Patterns that are compiled when they are first used, for what is imported meanwhile.

Most modules compile their patterns when they are imported, and a run uses one in five. PyYAML's alone, which
libyaml does without, take as long as to check ten specs.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_compile = re.compile


@contextmanager
def patterns_on_demand() -> Iterator[None]:
    """Lets ``re.compile`` put it off. For a program that has one thread, and imports modules it knows: what
    they get has all that a pattern has, but is none where somebody asks for its type.
    """
    re.compile = _Pattern  # type: ignore[assignment]
    try:
        yield
    finally:
        re.compile = _compile


class _Pattern:
    def __init__(self, *pattern_and_flags: Any) -> None:
        self._wanted = pattern_and_flags

    def __getattr__(self, name: str) -> object:
        # `re` remembers what it compiled, and this object what was asked of it.
        value = getattr(_compile(*self._wanted), name)
        setattr(self, name, value)
        return value
