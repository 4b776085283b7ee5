"""Files and pipes as lines: whatever a log, or an answer of the AWS CLI, was saved as."""

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import msgspec

from inferstack.diagnosis.signature import Where

MOST_BYTES = 64 << 20
"""That are read of a log, after it is unpacked. Why a container ended is at the beginning."""
_MOST_JSON = 32 << 20
LONGEST_LINE = 2_000
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|#033\[[\d;]*m")
# What tools put before a line: times, streams, loggers, processes. Each may come several times.
_LEVEL = r"(?:INFO|WARN|WARNING|ERROR|DEBUG|CRITICAL)"
_PREFIX = re.compile(
    rf"""^(?:\s*(?:
        \d{{4}}[-/]\d\d[-/]\d\d[T ]\s*\d\d:\d\d:\d\d[.,\dZ]*(?:[+-]\d\d:?\d\d)?
        | \[\d{{4}}-\d\d-\d\d\s\d\d:\d\d:\d\d\s[+-]\d{{4}}\] | \d\d-\d\d\s\d\d:\d\d:\d\d
        | \S+/i-[0-9a-f]{{8,}}\S* | [\w.-]+\s*\|(?=\s) | \|(?=\s) | --\s\|
        | \[{_LEVEL}\s*\] | \b{_LEVEL}\b:?
        | \[?[\w./]+\.py:\d+\] | \(\w+\spid=\d+\) | \[\d+,\d+\]<std(?:out|err)>: | \[\d+\](?=\s)
        | W-[\w.-]+:? | com\.amazonaws\.ml\.mms\.\S+\s- | org\.pytorch\.serve\.\S+\s-
        | :?\[sagemaker\slogs\]\s\[[\w-]+\]
        | MODEL_LOG\s- | \S*PyProcess\S*(?:\s-)?
        | \[\d{{4}}-\d\d-\d\d:\d\d:\d\d:\d\d:{_LEVEL}\] | -\s[\w.-]+\s-\s{_LEVEL}\s-
    )[ ]?)*""",
    re.VERBOSE,
)
# Levels at which a program goes on. What it only passes on from another process has that one's level.
_CALM = re.compile(r"\b(?:INFO|DEBUG|WARN|WARNING)\b")
_CALM_START = re.compile(r"^(?:[IW]\d{4} \d\d:|[\s:-]*(?:[\w.-]+ - )?(?:INFO|DEBUG|WARN|WARNING)\b)")
_PASSED_ON = re.compile(r"\bW-[\w.-]+|\bMODEL_LOG\b|PyProcess|WorkerLifeCycle|<std(?:out|err)>")
# A line of a CSV file, as CloudWatch exports it: time, message, stream.
_EXPORTED = re.compile(r'^\d{13},(?P<quote>"?)(?P<text>.*?)(?P=quote)(?:,\S+/i-[0-9a-f]{8,})?$')
_BODY = re.compile(r'with message "\{?\s*$')
_MOST_OF_BODY = 20
# A sentence of AWS's that goes on in the next line: it does not end, and what follows begins nothing new.
_OF_AWS = re.compile(
    r"An error occurred \(|\bapi error \w+:|\boperation error \w+:|Error hosting (?:endpoint|model)"
)
_OPEN = re.compile(r"[a-z:,]\s*$")
_NO_REST = re.compile(
    r'\s{2}|\s?(?:Traceback|File "|During |The above |at |\d{2}|\[|[-=#>|]|[\w.]+(?:Error|Exception)\b)'
)
_MOST_JOINED = 4
# A row of Triton's table of models begins like a prefix.
_ROW = re.compile(r"\|(?:[^|]*\|){3}\s*$")
_OF_USERS = frozenset({"prompt", "inputs", "content", "generated_text"})
"""Keys of requests and answers: what they hold may be about failures, and is none."""
_LEVELS = ("level", "severity", "levelname")
_MESSAGES = ("message", "@message", "log", "msg", "Message", "OriginalMessage")


class NoTextError(Exception):
    """The bytes are no text; the message says what they are."""


class Line(msgspec.Struct, frozen=True):
    """A line without what tools put before it, and the kind of text that it is from."""

    text: str
    number: int
    """In the order of time: a file may have the newest first."""
    kind: Where = "any"
    in_file: bool = True
    """Whether the number is that of the line in the file, and not that of a text in JSON."""
    is_calm: bool = False
    """Whether the program that logged it calls it a warning or less."""


def lines_of(stream: BinaryIO) -> Iterator[Line]:
    """The lines of a log, or of what the AWS CLI printed.

    Raises:
        NoTextError: when the bytes are no text.
    """
    stream, encoding = _unpacked(stream)
    first = stream.read(_MOST_JSON + 1) if _is_json(stream) else b""
    if first and len(first) <= _MOST_JSON:
        try:
            parsed = json.loads(first.decode(encoding, "replace").removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict | list) and not _is_one_of_many(parsed, first):
            yield from lines_of_answer(parsed)
            return
    rest = _Joined(first, stream)
    decoded = io.TextIOWrapper(io.BufferedReader(rest), encoding, errors="replace", newline=None)
    yield from _unwrapped(_of_text(decoded))


def _is_one_of_many(parsed: Any, content: bytes) -> bool:
    """Whether it is a line of a log that is written as JSON, and the only one."""
    return isinstance(parsed, dict) and content.strip().count(b"\n") == 0 and _message(parsed) is not None


# ---------------------------------------------------------------- bytes


class _Joined(io.RawIOBase):
    """What was read already, and the rest of a stream, up to a limit."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first, self._rest, self._left = io.BytesIO(first), rest, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._left)
        got = self._first.read(wanted) or _read(self._rest, wanted)
        buffer[: len(got)] = got
        self._left -= len(got)
        return len(got)


def _read(stream: BinaryIO, size: int) -> bytes:
    try:
        return stream.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""  # The archive is cut off or damaged: what could be read is worth a look.


def _unpacked(stream: BinaryIO) -> tuple[BinaryIO, str]:
    """The stream without compression and byte order mark, and its encoding."""
    peeked: Any = io.BufferedReader(stream) if isinstance(stream, io.RawIOBase) else stream
    if not hasattr(peeked, "peek"):
        peeked = io.BufferedReader(_Joined(b"", stream))
    if peeked.peek(2)[:2] == b"\x1f\x8b":
        archive: Any = gzip.GzipFile(fileobj=peeked)
        peeked = io.BufferedReader(_Joined(b"", archive))
    start = peeked.peek(4096)[:4096]
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            peeked.read(len(mark))
            return peeked, encoding
    if b"\0" in start:
        what = "an archive or a binary file" if start[:4] in {b"PK\x03\x04", b"\x7fELF"} else "binary"
        raise NoTextError(f"it is {what}, not text")
    return peeked, "utf-8"


def _is_json(stream: Any) -> bool:
    start: bytes = stream.peek(4096)[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf \t\r\n")
    return start[:1] in {b"{", b"["} and re.match(rb"[\[{]\s*[\"{\[\]}]", start) is not None


# ---------------------------------------------------------------- text


def _of_text(stream: io.TextIOWrapper) -> Iterator[Line]:
    number = 0
    while read := stream.readline(LONGEST_LINE):
        number += 1
        text = read.rstrip("\n")
        while not read.endswith("\n") and (read := stream.readline(1 << 16)):
            pass  # The rest of a line that is too long.
        body = _rest_of_body(stream) if _BODY.search(text) else []
        whole = " ".join([text, *body])[:LONGEST_LINE]
        yield from _cleaned(whole, Line("", number))
        number += len(body)


def _unwrapped(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, with those joined into which a terminal or a page has broken a sentence of AWS's."""
    held, joined = None, 0
    for line in lines:
        if held is not None:
            is_rest = line.text.strip() and _NO_REST.match(line.text) is None
            if is_rest and joined < _MOST_JOINED and _OF_AWS.search(held.text) and _OPEN.search(held.text):
                held = msgspec.structs.replace(held, text=f"{held.text.rstrip()} {line.text.strip()}")
                joined += 1
                continue
            yield held
        held, joined = line, 0
    if held is not None:
        yield held


def _rest_of_body(stream: io.TextIOWrapper) -> list[str]:
    """The further lines of a container's answer in JSON, which InvokeEndpoint's error quotes."""
    found = list[str]()
    while len(found) < _MOST_OF_BODY and (read := stream.readline(LONGEST_LINE)):
        found.append(read.strip())
        if read.startswith("}"):
            break
    return found


def _cleaned(text: str, line: Line) -> Iterator[Line]:
    """The line with the text, without escapes and prefixes; the messages, if it is a log's line in JSON."""
    text = _ESCAPES.sub("", text).replace("\0", "")
    if text.startswith("{") and text.rstrip().endswith("}"):
        try:
            parsed = json.loads(text)
            message = _message(parsed)
        except (ValueError, RecursionError):
            parsed, message = None, None
        if message is not None:
            calm = msgspec.structs.replace(line, is_calm=_CALM.fullmatch(_level(parsed)) is not None)
            for each in message.splitlines():
                if each.startswith("{"):
                    yield msgspec.structs.replace(calm, text=each)
                else:
                    yield from _cleaned(each[:LONGEST_LINE], calm)
            return
    found, is_calm = without_prefix(text)
    yield msgspec.structs.replace(line, text=found, is_calm=line.is_calm or is_calm)


def without_prefix(text: str) -> tuple[str, bool]:
    """The text without the times, names and levels before it, and whether the level is a calm one."""
    if (exported := _EXPORTED.match(text)) is not None:
        text = exported["text"].replace('""', '"')
    if (row := _ROW.search(text)) is not None:
        return row[0], False
    match = _PREFIX.match(text)
    prefix, rest = (text[: match.end()], text[match.end() :]) if match is not None else ("", text)
    is_calm = _CALM.search(prefix) is not None or _CALM_START.match(rest) is not None
    return rest, is_calm and _PASSED_ON.search(text) is None


def _level(value: Any) -> str:
    """The level of a log's line in JSON."""
    level = next((value[key] for key in _LEVELS if isinstance(value.get(key), str)), "")
    return level.upper()


def _message(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    fields = value.get("fields")
    places = (value, fields) if isinstance(fields, Mapping) else (value,)
    found = [place[key] for place in places for key in _MESSAGES if isinstance(place.get(key), str)]
    return "\n".join(found) if found else None


# ---------------------------------------------------------------- answers of the AWS CLI


def lines_of_answer(value: Any) -> Iterator[Line]:
    """What an answer says: events of a log or a stack, the description of an endpoint or component."""
    if isinstance(value, Mapping):
        events = value.get("StackEvents", value.get("OperationEvents"))
        if isinstance(events, list):
            yield from _numbered(_of_stack(events), "reason")
            return
        if isinstance(value.get("events"), list):
            yield from _numbered(_of_log(value["events"]), "log")
            return
        status = value.get("EndpointStatus", value.get("InferenceComponentStatus"))
        if isinstance(status, str):
            reason = value.get("FailureReason")
            of_variants = [it for it in _texts(value.get("ProductionVariants")) if " " in it]
            said = [f"status: {status}", *([reason] if isinstance(reason, str) else []), *of_variants]
            yield from _numbered(_split(said), "any")
            return
    if isinstance(value, list) and value and all(_is_event(it) for it in value):
        yield from _numbered(_of_stack(value), "reason")
        return
    yield from _numbered(_split(_texts(value)), "any")


def _numbered(texts: Iterable[str], kind: Where) -> Iterator[Line]:
    for number, text in enumerate(texts, start=1):
        yield from _cleaned(text[:LONGEST_LINE], Line("", number, kind, in_file=False))


def _split(texts: Iterable[str]) -> Iterator[str]:
    return (line for text in texts for line in text.splitlines())


def _is_event(value: Any) -> bool:
    return isinstance(value, Mapping) and "ResourceStatus" in value


def _of_stack(events: list[Any]) -> Iterator[str]:
    """What the events say that failed, the oldest first: whatever came later may only follow from it."""
    failed = [it for it in events if isinstance(it, Mapping) and failed_status(it) and failure_reason(it)]
    for event in sorted(failed, key=lambda it: str(it.get("Timestamp", ""))):
        name = f"{event.get('LogicalResourceId', '')} ({event.get('ResourceType', '')})"
        yield from (f"{name}: {line}" for line in failure_reason(event).splitlines())


def failed_status(event: Mapping[str, Any]) -> str:
    """The status of an event of CloudFormation's that says that something failed; empty if none does."""
    statuses = (event.get(it) for it in ("ResourceStatus", "HookStatus", "ValidationStatus"))
    return next((it for it in statuses if isinstance(it, str) and "FAILED" in it), "")


def failure_reason(event: Mapping[str, Any]) -> str:
    """What an event of CloudFormation's says about its status."""
    reasons = ("ResourceStatusReason", "HookStatusReason", "ValidationStatusReason")
    return "\n".join(str(event[it]) for it in reasons if event.get(it))


def _of_log(events: list[Any]) -> Iterator[str]:
    timed = [it for it in events if isinstance(it, Mapping) and isinstance(it.get("message"), str)]
    timed.sort(key=lambda it: it["timestamp"] if isinstance(it.get("timestamp"), int | float) else 0)
    return (line for it in timed for line in it["message"].splitlines())


def _texts(value: Any) -> Iterator[str]:
    """Every text in the data. Python's parser limits how deep it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, it in value.items():
            yield from _texts(it) if key not in _OF_USERS else ()
    elif isinstance(value, list):
        for it in value:
            yield from _texts(it)
