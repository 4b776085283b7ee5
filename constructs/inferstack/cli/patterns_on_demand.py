"""Makes modules that are imported meanwhile compile their regular expressions only on first use.

Most modules compile their patterns when they are imported, and a run uses one in five. PyYAML's alone, which
libyaml does not need, take as long as checking ten specs.
"""

# Imported before, since it hands its pattern to a function of `re`, which accepts no stand-in.
import gettext  # noqa: F401
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_compile = re.compile


@contextmanager
def patterns_on_demand() -> Iterator[None]:
    """Makes ``re.compile`` put off its work. Only for a program that knows what it imports: a stand-in does
    what a pattern does, but it has another type, and functions of ``re`` do not accept it.

    msgspec keeps the ``re.compile`` that it finds on import, and makes the patterns of its types with it.
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
        # Copying the object asks for such names before `_wanted` is there.
        if name.startswith("_"):
            raise AttributeError(name)
        # `re` remembers what it compiled, and this object the attributes that it was asked for.
        value = getattr(_compile(*self._wanted), name)
        setattr(self, name, value)
        return value
