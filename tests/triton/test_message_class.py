"""The class of ``ModelConfig`` messages is protobuf's own, whichever way it is made."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.internal import api_implementation
from hypothesis import given, settings
from support.triton_messages import model_configs

from inferstack.triton.model import is_map
from inferstack.triton.repository import config as message_class
from tools.triton_schema import DESCRIPTOR

CONTENT = DESCRIPTOR.read_bytes()
IN_PUBLIC = message_class._in_public(CONTENT)


def types_in(kind: Any, seen: set[str]) -> Iterator[Any]:
    """The message types that a type leads to."""
    if kind.full_name not in seen:
        seen.add(kind.full_name)
        yield kind
        for field in kind.fields:
            if field.message_type is not None:
                yield from types_in(field.message_type, seen)


def test_protobuf_works_in_c_here() -> None:
    """Otherwise the tests below would compare the public way with itself."""
    assert api_implementation.Type() == "upb"
    assert message_class._in_c(CONTENT) is not IN_PUBLIC


@settings(deadline=None)
@given(model_configs())
def test_messages_of_both_ways_are_the_same(config: Any) -> None:
    content = config.SerializeToString(deterministic=True)
    other = IN_PUBLIC.FromString(content)
    assert type(config) is message_class.model_config_class()
    assert other.SerializeToString(deterministic=True) == content
    assert str(other) == str(config)
    assert json_format.MessageToDict(other) == json_format.MessageToDict(config)


@pytest.mark.parametrize("kind", ["python", "something new"])
def test_without_protobuf_in_c_the_class_is_made_in_public(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_implementation, "Type", lambda: kind)
    monkeypatch.setattr(message_class, "_in_public", lambda content: ("made in public", content))
    assert message_class.model_config_class.__wrapped__() == ("made in public", CONTENT)


def test_a_field_is_a_map_where_protobuf_says_so() -> None:
    fields = [field for kind in types_in(IN_PUBLIC.DESCRIPTOR, set()) for field in kind.fields]
    maps = {
        field.full_name
        for field in fields
        if field.message_type is not None and field.message_type.GetOptions().map_entry
    }
    assert len(maps) > 5
    assert {field.full_name for field in fields if is_map(field)} == maps
