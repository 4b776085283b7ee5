"""Patterns that are compiled when they are first used, for what is imported meanwhile.

Most modules compile their patterns when they are imported, and a run uses one in five. PyYAML's alone, which
libyaml does without, take as long as to check ten specs.
"""

# It hands its pattern to a function of `re`, which takes no stand-in.
import gettext  # noqa: F401
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_compile = re.compile


@contextmanager
def patterns_on_demand() -> Iterator[None]:
    """Lets ``re.compile`` put it off. For a program that imports modules it knows: what they get does what a
    pattern does, but is none where somebody asks for its type or hands it to a function of ``re``.

    msgspec keeps what it finds when it is imported, and asks it for the patterns of its types.
    """
    re.compile = _later
    try:
        yield
    finally:
        re.compile = _compile


def _later(pattern: Any, flags: int = 0) -> Any:
    return _Pattern(pattern, flags) if isinstance(pattern, str | bytes) else _compile(pattern, flags)


class _Pattern:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._wanted = pattern, flags

    def __getattr__(self, name: str) -> object:
        # Whoever copies it asks before there is anything wanted.
        if name.startswith("_"):
            raise AttributeError(name)
        # `re` remembers what it compiled, and this object what was asked of it.
        value = getattr(_compile(*self._wanted), name)
        setattr(self, name, value)
        return value
