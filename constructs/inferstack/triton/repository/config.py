"""Triton's ``ModelConfig``: as a protocol buffer, as text of a ``config.pbtxt``, and made from a model of a
spec.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.internal import api_implementation
from google.protobuf.message import Message

# ----------------------------------------------------------------
# The class of Triton's ``ModelConfig`` messages, from the descriptor beside this file.
#
# What the fields mean: https://github.com/triton-inference-
# server/common/blob/main/protobuf/model_config.proto


_DESCRIPTOR = "model_config.desc"
_NAME = "inference.ModelConfig"


@cache
def model_config_class() -> Any:
    """The class of ``ModelConfig`` messages, with protobuf from 4.25 to 7.

    Earlier versions do not make the classes of messages inside messages, and end the process.
    """
    content = Path(__file__).with_name(_DESCRIPTOR).read_bytes()
    try:
        return _in_c(content)
    except (ImportError, AttributeError):
        return _in_public(content)


def _in_c(content: bytes) -> Any:
    """Makes it as protobuf itself does where it works in C.

    Its public functions for this import all that it has in Python, too, which takes as long as checking ten
    specs.

    Raises:
        ImportError: when protobuf was built without C, or was told to do without.
    """
    if api_implementation.Type() != "upb":
        raise ImportError("protobuf does not work in C")
    from google._upb._message import DescriptorPool, MessageMeta  # noqa: PLC0415 - need not be there

    pool = DescriptorPool()
    pool.AddSerializedFile(content)
    kind = pool.FindMessageTypeByName(_NAME)
    return MessageMeta(kind.name, (Message,), {"DESCRIPTOR": kind, "__module__": None})


def _in_public(content: bytes) -> Any:
    from google.protobuf import descriptor_pool, message_factory  # noqa: PLC0415 - takes long

    # A pool of its own: the default pool may hold tritonclient's copy of the same file.
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(content)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(_NAME))


# ----------------------------------------------------------------
# Triton's ``ModelConfig`` as a protocol buffer: to text and from text, and from plain data.
#
# This module is only imported where messages are needed: a spec without Triton never pays for protobuf, and
# one that declares its models never for the text format. What is used here is in protobuf from 4.25 to 7.


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


# ----------------------------------------------------------------
# Triton's ``ModelConfig``, made from a model of a spec.
#
# Some things are shorter in a spec than in ``config.pbtxt``: parameters are plain values (``true``,
# ``12``), maps are mappings, and a model's name is the key that holds it. ``files`` is not Triton's at all.


_NOT_TRITONS = frozenset({"files"})
_ACCELERATORS = ("gpu_execution_accelerator", "cpu_execution_accelerator")


def config_from_spec(mapping: Mapping[str, Any]) -> Any:
    """The ``ModelConfig`` that a model of a spec's ``triton`` block stands for.

    Its ``name`` stays empty unless it is written: Triton then takes the folder's.

    Raises:
        ConfigError: when a value does not fit, such as a number beyond its field's range.
    """
    return parse_mapping(_without_sugar(mapping))


def _without_sugar(mapping: Mapping[str, Any]) -> dict[str, Any]:
    data = {key: value for key, value in mapping.items() if key not in _NOT_TRITONS}
    if "parameters" in data:
        data["parameters"] = {key: _parameter(value) for key, value in data["parameters"].items()}
    if "optimization" in data:
        data["optimization"] = _optimization(data["optimization"])
    if "model_repository_agents" in data:
        data["model_repository_agents"] = _agents(data["model_repository_agents"])
    return data


def _parameter(value: Any) -> dict[str, str]:
    plain = value["string_value"] if isinstance(value, Mapping) else value
    return {"string_value": _as_text(plain)}


def _as_text(value: object) -> str:
    """A plain value as Triton's backends read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _optimization(policy: Mapping[str, Any]) -> dict[str, Any]:
    if "execution_accelerators" not in policy:
        return dict(policy)
    accelerators = dict(policy["execution_accelerators"])
    for kind in _ACCELERATORS:
        if kind in accelerators:
            accelerators[kind] = [_with_texts(accelerator) for accelerator in accelerators[kind]]
    return {**policy, "execution_accelerators": accelerators}


def _agents(agents: Mapping[str, Any]) -> dict[str, Any]:
    return {key: [_with_texts(agent) for agent in found] for key, found in agents.items()}


def _with_texts(holder: Mapping[str, Any]) -> dict[str, Any]:
    """An accelerator or agent, whose parameters Triton wants as plain texts."""
    texts = {key: _as_text(value) for key, value in holder.get("parameters", {}).items()}
    return {**holder, "parameters": texts}
