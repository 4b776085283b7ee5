"""Triton's ``ModelConfig`` as a protocol buffer, from the descriptor beside this file.

Only who needs messages imports this module: a spec without Triton never pays for protobuf. The names used
here exist in all of protobuf 4 to 7. What the fields mean:
https://github.com/triton-inference-server/common/blob/main/protobuf/model_config.proto
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pool, message_factory, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from inferstack.triton.model import enum_name

__all__ = [
    "ConfigError",
    "enum_name",
    "model_config_class",
    "parse_mapping",
    "parse_text",
    "print_text",
]

_DESCRIPTOR = "model_config.desc"
_ROOT = "inference.ModelConfig"
_BYTE_ORDER_MARK = "\ufeff"


class ConfigError(ValueError):
    """A configuration is not what ``ModelConfig`` can hold; line and column count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@cache
def model_config_class() -> Any:
    """The class of ``ModelConfig`` messages."""
    # A pool of its own: the default pool may hold tritonclient's copy of the same file.
    pool = descriptor_pool.DescriptorPool()
    content = Path(__file__).with_name(_DESCRIPTOR).read_bytes()
    for file in FileDescriptorSet.FromString(content).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(_ROOT))


def parse_text(text: str) -> Any:
    """The message that a ``config.pbtxt`` says.

    Raises:
        ConfigError: where the text is no ``ModelConfig``.
    """
    if text.startswith(_BYTE_ORDER_MARK):
        raise ConfigError("the file begins with a byte order mark, which Triton does not read")
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
    # The default of `as_utf8` is another in protobuf 4 than in 7.
    text: str = text_format.MessageToString(config, as_utf8=False)
    return text


def parse_mapping(data: dict[str, Any]) -> Any:
    """The message that plain data says: proto names, enums by name, maps as mappings.

    The data is of the schema's types; what protobuf would take besides these, as 1 for true, is not refused.

    Raises:
        ConfigError: where the data does not fit; it has no line.
    """
    if not _may_choose_twice(data):
        # In C, and in a tenth of the time of the JSON parser, which knows how to speak about what is wrong.
        with suppress(TypeError, ValueError):
            return model_config_class()(**data)
    from google.protobuf import json_format  # noqa: PLC0415 - few specs need it

    try:
        return json_format.ParseDict(data, model_config_class()())
    except json_format.ParseError as error:
        raise ConfigError(str(error)) from None


def _may_choose_twice(data: Mapping[str, Any]) -> bool:
    """Whether there may be two of what only one can be, of which protobuf's constructor takes the last."""
    choices, holders = _choices()
    return len(choices & data.keys()) > 1 or not holders.isdisjoint(data)


@cache
def _choices() -> tuple[frozenset[str], frozenset[str]]:
    """Fields of a configuration of which there can be one, and those with such a choice inside them."""
    top = model_config_class().DESCRIPTOR
    return (
        frozenset(field.name for choice in top.oneofs for field in choice.fields),
        frozenset(field.name for field in top.fields if _has_choice(field.message_type)),
    )


def _has_choice(message: Any) -> bool:
    if message is None:
        return False
    return bool(message.oneofs) or any(_has_choice(field.message_type) for field in message.fields)
