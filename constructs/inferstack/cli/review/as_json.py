"""The review as JSON, in the form of `review.schema.json`."""

import msgspec

from inferstack.cli.escaping import json_text
from inferstack.review.page import Review


def as_json(review: Review) -> str:
    """The whole review, two spaces to a level, all but ASCII escaped."""
    written = msgspec.json.format(msgspec.json.encode(review), indent=1).decode()
    return json_text(_in_ascii(written)) + "\n"


def _in_ascii(text: str) -> str:
    """Any terminal shows it, and no character is invisible."""
    return "".join(it if " " <= it < "\x7f" or it == "\n" else _escaped(it) for it in text)


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
