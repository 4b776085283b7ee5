"""Patterns that are compiled on demand do what patterns do."""

import re

import pytest

from inferstack.cli.patterns_on_demand import patterns_on_demand


def test_a_pattern_is_compiled_when_it_is_used() -> None:
    with patterns_on_demand():
        wrong, right = re.compile("("), re.compile("a(B)", re.IGNORECASE)
    assert not isinstance(right, re.Pattern)
    for _ in range(2):
        assert right.fullmatch("AB")[1] == "B"  # type: ignore[index]
        assert (right.pattern, right.sub("-", "xaby")) == ("a(B)", "x-y")
    with pytest.raises(re.error):
        wrong.match("")
    with pytest.raises(AttributeError):
        right.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_patterns_are_compiled_at_once_again(ending: type[BaseException]) -> None:
    compile_at_once = re.compile
    with pytest.raises(ending), patterns_on_demand():
        raise ending
    assert re.compile is compile_at_once
