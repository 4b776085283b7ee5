"""Triton's ``ModelConfig`` as a protocol buffer: to text and from text, and from plain data.

This module is only imported where messages are needed: a spec without Triton never pays for protobuf, and one
that declares its models never for the text format. What is used here is in protobuf from 4.25 to 7.
"""

import re
from contextlib import suppress
from typing import Any

from inferstack.triton.config.message_class import model_config_class

__all__ = ["ConfigError", "model_config_class", "parse_mapping", "parse_text", "print_text"]

_BYTE_ORDER_MARK = "\ufeff"


class ConfigError(ValueError):
    """A configuration is not what ``ModelConfig`` can hold; line and column count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def parse_text(text: str) -> Any:
    """The message in the text of a ``config.pbtxt``.

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
    except ValueError as error:
        # A number for one of an enum's names that does not fit 32 bits: protobuf's parser lets it pass, and
        # its message then refuses it, without a place.
        raise ConfigError(str(error), *_place_of_number(str(error), text)) from None


def _place_of_number(message: str, text: str) -> tuple[int, int]:
    """Line and column of the number at the end of a message, which is the value of a field; the beginning if
    it is in another notation.
    """
    found = re.search(rf":\s*({re.escape(message.rpartition(' ')[2])})\b", text)
    before = "" if found is None else text[: found.start(1)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _reason(message: str) -> str:
    """What protobuf says, without the `line:column : ` in front."""
    place, _, reason = message.partition(" : ")
    return reason if reason and place.replace(":", "").strip().isdigit() else message


def print_text(config: Any) -> str:
    """The message as a ``config.pbtxt``: ASCII, fields in Triton's order, maps sorted by key.

    The same message gives the same text on every machine.
    """
    from google.protobuf import text_format  # noqa: PLC0415 - checks do without

    # The default of `as_utf8` differs between protobuf 4 and 7.
    text: str = text_format.MessageToString(config, as_utf8=False)
    return text


def parse_mapping(data: dict[str, Any]) -> Any:
    """The message that plain data stands for: proto names, enums by name, maps as mappings.

    The data must fit the schema already: what protobuf accepts beyond that is not refused, such as 1 for
    true, or the last of two fields of which there can be one.

    Raises:
        ConfigError: where the data does not fit; it has no line.
    """
    # In C, and in a tenth of the time of the JSON parser, which is only needed to say what is wrong.
    with suppress(TypeError, ValueError):
        return model_config_class()(**data)
    from google.protobuf import json_format  # noqa: PLC0415 - few specs need it

    try:
        return json_format.ParseDict(data, model_config_class()())
    except json_format.ParseError as error:
        raise ConfigError(str(error)) from None
