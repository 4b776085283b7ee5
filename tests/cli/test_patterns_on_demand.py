"""Patterns that are compiled on demand behave like ordinary patterns."""

import copy
import pickle
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


def test_whatever_re_takes_is_taken() -> None:
    compiled = re.compile("a")
    with patterns_on_demand():
        assert re.compile(pattern="A", flags=re.IGNORECASE).match("a")
        assert re.compile(b"a").match(b"a")
        assert re.compile(compiled) is compiled
        with pytest.raises(TypeError):
            re.compile(1)  # type: ignore[call-overload]


def test_a_copy_is_as_good() -> None:
    with patterns_on_demand():
        pattern = re.compile("a+")
    assert copy.copy(pattern).fullmatch("aa")
    assert pickle.loads(pickle.dumps(pattern)).fullmatch("aa")
