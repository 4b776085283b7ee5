"""Triton's ``ModelConfig`` as a protocol buffer: to text and from text, and from plain data.

Only who needs messages imports this module: a spec without Triton never pays for protobuf, and one with its
models written out never for their text. What is used here is in protobuf from 4.25 to 7.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from inferstack.triton.config.message_class import model_config_class
from inferstack.triton.model import enum_name, is_map

__all__ = [
    "ConfigError",
    "enum_name",
    "model_config_class",
    "parse_mapping",
    "parse_text",
    "print_text",
]

_BYTE_ORDER_MARK = "\ufeff"


class ConfigError(ValueError):
    """A configuration is not what ``ModelConfig`` can hold; line and column count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def parse_text(text: str) -> Any:
    """The message that a ``config.pbtxt`` says.

    Raises:
        ConfigError: where the text is no ``ModelConfig``.
    """
    if text.startswith(_BYTE_ORDER_MARK):
        raise ConfigError("the file begins with a byte order mark, which Triton does not read")
    from google.protobuf import text_format  # noqa: PLC0415 - few specs need it

    try:
        return text_format.Parse(text, model_config_class()())
    except text_format.ParseError as error:
        line, column = error.GetLine(), error.GetColumn()
        raise ConfigError(_reason(str(error)), line or 1, column or 1) from None


def _reason(message: str) -> str:
    """What protobuf says, without the `line:column : ` in front."""
    place, _, reason = message.partition(" : ")
    return reason if reason and place.replace(":", "").strip().isdigit() else message


def print_text(config: Any) -> str:
    """The message as a ``config.pbtxt``: ASCII, fields in Triton's order, maps sorted by key."""
    from google.protobuf import text_format  # noqa: PLC0415 - checks do without

    # The default of `as_utf8` is another in protobuf 4 than in 7.
    text: str = text_format.MessageToString(config, as_utf8=False)
    return text


def parse_mapping(data: dict[str, Any]) -> Any:
    """The message that plain data says: proto names, enums by name, maps as mappings.

    The data is of the schema's types; what protobuf would take besides these, as 1 for true, is not refused.

    Raises:
        ConfigError: where the data does not fit; it has no line.
    """
    if not _chooses_twice(data, model_config_class().DESCRIPTOR):
        # In C, and in a tenth of the time of the JSON parser, which knows how to speak about what is wrong.
        with suppress(TypeError, ValueError):
            return model_config_class()(**data)
    from google.protobuf import json_format  # noqa: PLC0415 - few specs need it

    try:
        return json_format.ParseDict(data, model_config_class()())
    except json_format.ParseError as error:
        raise ConfigError(str(error)) from None


def _chooses_twice(data: Any, kind: Any) -> bool:
    """Whether data for a type of message has two of what there can be one, at any depth. Of these protobuf's
    constructor takes the last.
    """
    match data:
        case dict():
            if any(len(choice & data.keys()) > 1 for choice in _choices(kind)):
                return True
            return any(_chooses_twice(held, below) for held, below in _held(data, kind))
        case list():
            return any(_chooses_twice(item, kind) for item in data)
        case _:
            return False


def _held(data: dict[str, Any], kind: Any) -> Iterator[tuple[Any, Any]]:
    """Data of the fields of a type of message with such a choice inside them, and what it is data for."""
    for name, below, in_map in _holders(kind):
        if name in data:
            held = data[name]
            yield list(held.values()) if in_map and isinstance(held, dict) else held, below


@cache
def _choices(kind: Any) -> tuple[frozenset[str], ...]:
    """The fields of a type of message of which there can be one."""
    return tuple(frozenset(field.name for field in choice.fields) for choice in kind.oneofs)


@cache
def _holders(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    """The fields of a type of message with such a choice inside them, the types of what these hold, and
    whether they hold it in a map.
    """
    messages = [(field, _value_type(field)) for field in kind.fields if field.message_type is not None]
    return tuple((field.name, below, is_map(field)) for field, below in messages if _has_choice(below))


def _value_type(field: Any) -> Any:
    return field.message_type.fields_by_name["value"].message_type if is_map(field) else field.message_type


def _has_choice(kind: Any) -> bool:
    return kind is not None and (bool(kind.oneofs) or bool(_holders(kind)))
