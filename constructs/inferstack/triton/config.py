"""Triton's ``ModelConfig``: as a protocol buffer, as text of a ``config.pbtxt``, and made from a model of a
spec; and where each field of such a text is.

Only specs with Triton models import this module, and with it protobuf, from 4.25 to 7. What the fields mean:
https://github.com/triton-inference-server/common/blob/main/protobuf/model_config.proto
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from google.protobuf import json_format, text_encoding, text_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from inferstack.triton.model import FieldPath, is_map, is_repeated

_BYTE_ORDER_MARK = "\ufeff"


class ConfigError(ValueError):
    """A configuration is not what ``ModelConfig`` can hold; line and column count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@cache
def model_config_class() -> Any:
    """The class of ``ModelConfig`` messages, made from the descriptor beside this file."""
    # A pool of its own: the default pool may hold tritonclient's copy of the same file.
    pool = DescriptorPool()
    pool.AddSerializedFile(Path(__file__).with_name("model_config.desc").read_bytes())
    return GetMessageClass(pool.FindMessageTypeByName("inference.ModelConfig"))


def parse_text(text: str) -> Any:
    """The message in the text of a ``config.pbtxt``.

    Raises:
        ConfigError: where the text is not a ``ModelConfig``.
    """
    if text.startswith(_BYTE_ORDER_MARK):
        raise ConfigError("the file begins with a byte order mark, which Triton does not read")
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
    try:
        return json_format.ParseDict(data, model_config_class()())
    except json_format.ParseError as error:
        raise ConfigError(str(error)) from None


# ---------------------------------------------------------------- From a model of a spec
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
        agents = data["model_repository_agents"]
        data["model_repository_agents"] = {key: [*map(_with_texts, found)] for key, found in agents.items()}
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


def _with_texts(holder: Mapping[str, Any]) -> dict[str, Any]:
    """An accelerator or agent, whose parameters Triton wants as plain texts."""
    texts = {key: _as_text(value) for key, value in holder.get("parameters", {}).items()}
    return {**holder, "parameters": texts}


# ---------------------------------------------------------------- Where the fields of a text are
#
# protobuf parses the text but keeps no positions, and its tokenizer keeps them to itself. This scanner reads
# text that protobuf has accepted, so it need not find mistakes, only places.


Position = tuple[int, int]
"""Line and column, from 1."""

_TOKEN = (
    r"""(?P<skip>\s+|\#[^\n]*|[:;,])"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<word>-?\s*[\w.+][\w.+-]*)"""
    r"""|(?P<mark>.)"""
)
_OPEN, _CLOSE = ("{", "<"), ("}", ">")


class _Token(msgspec.Struct, frozen=True):
    kind: str
    text: str
    at: Position


class _Tokens:
    """The tokens of a text, with one to look ahead; past the end comes an empty one."""

    def __init__(self, text: str) -> None:
        self._rest = _tokens(text)
        self._end = _Token("mark", "", (1, 1))
        self.next = next(self._rest, self._end)

    def take(self) -> _Token:
        taken, self.next = self.next, next(self._rest, self._end)
        return taken


def _tokens(text: str) -> Iterator[_Token]:
    line, start = 1, 0
    for found in re.finditer(_TOKEN, text, re.DOTALL):
        kind = str(found.lastgroup)
        if kind != "skip":
            yield _Token(kind, found[0], (line, found.start() - start + 1))
        if "\n" in found[0]:
            line += found[0].count("\n")
            start = found.start() + found[0].rindex("\n") + 1


def field_positions(text: str) -> Mapping[FieldPath, Position]:
    """Line and column of every field by its path, for a text that protobuf can parse.

    Entries of maps are under their key, items of lists under their index; a list is also under its own name,
    at the place of its first item.
    """
    positions: dict[FieldPath, Position] = {}
    for path, at, _ in _message(_Tokens(text), model_config_class().DESCRIPTOR):
        positions.setdefault(path, at)
    return positions


_Found = tuple[FieldPath, Position, str]
"""Path of a field, its place, and its text if it is a scalar."""


def _message(tokens: _Tokens, descriptor: Any) -> Iterator[_Found]:
    """The fields up to the end of a message, with what is in them."""
    counts: dict[str, int] = {}
    while tokens.next.text and tokens.next.text not in _CLOSE:
        name = tokens.take()
        field = descriptor.fields_by_name.get(name.text)
        listed = tokens.next.text == "["
        for value in _values(tokens, field, name.at):
            yield from _placed(field, name, counts, value, listed=listed)
    tokens.take()


def _values(tokens: _Tokens, field: Any, at: Position) -> Iterator[list[_Found]]:
    """The value of a field, or each value of a list in brackets."""
    if tokens.next.text != "[":
        yield _value(tokens, field, at)
        return
    tokens.take()
    while tokens.next.text not in ("]", ""):
        yield _value(tokens, field, tokens.next.at)
    tokens.take()


def _value(tokens: _Tokens, field: Any, at: Position) -> list[_Found]:
    """A value: itself first, with an empty path, then the fields in it."""
    if tokens.next.text in _OPEN:
        tokens.take()
        return [((), at, ""), *_message(tokens, field.message_type)]
    text = tokens.take()
    while text.kind == "text" and tokens.next.kind == "text":
        # Adjacent strings are one string.
        text = _Token("text", text.text[:-1] + tokens.take().text[1:], text.at)
    return [((), at, text.text)]


def _placed(
    field: Any, name: _Token, counts: dict[str, int], value: list[_Found], *, listed: bool
) -> Iterator[_Found]:
    """A value of a field, with paths from the message that the field is in."""
    prefix: FieldPath = (name.text,)
    if field is not None and is_map(field):
        # A key that is not written is the empty text, or zero.
        empty = str(field.message_type.fields_by_name["key"].default_value)
        key = next((text for path, _, text in value if path == ("key",)), empty)
        prefix = (name.text, _unquoted(key))
        value = [(path[1:], at, text) for path, at, text in value if path[:1] in ((), ("value",))]
    elif field is not None and is_repeated(field):
        index = counts.get(name.text, 0)
        counts[name.text] = index + 1
        prefix = (name.text, index)
    if len(prefix) > 1:
        yield (name.text,), name.at, ""
    for path, at, text in value:
        yield (*prefix, *path), name.at if path == () and not listed else at, text


def _unquoted(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text
    if "\\" not in text:
        return text[1:-1]
    return text_encoding.CUnescape(text[1:-1]).decode(errors="replace")
