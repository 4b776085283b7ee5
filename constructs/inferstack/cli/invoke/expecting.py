"""What a user expects of an answer: a text that is in it, or the members of a JSON document."""

import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from inferstack.cli.terminal import Refusal
from inferstack.cli.text_body import FILE, text_or_file

_NEAR = 1e-6
"""How much numbers with a fraction may differ, relatively: instance types round differently."""
_LONGEST = 60


class Expectation(msgspec.Struct, frozen=True):
    """A text, or a document if ``is_document``."""

    value: Any
    is_document: bool = False

    def missing(self, text: str, content: bytes) -> Iterator[str]:
        """What an answer lacks; ``text`` is what it says, ``content`` its body."""
        if not self.is_document:
            if self.value not in text and self.value not in content.decode("utf-8", "replace"):
                yield f"the answer lacks the text {_short(self.value)}"
            return
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            yield "the answer is not JSON, so it has none of the members"
            return
        yield from _missing(self.value, found, "the answer")


def expected(written: str) -> Expectation:
    """What an option says: a text, or the JSON document of a file.

    Raises:
        Refusal: when the file holds no JSON.
    """
    text = text_or_file(written)
    if not written.startswith(FILE):
        return Expectation(text)
    try:
        return Expectation(json.loads(text), is_document=True)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{written.removeprefix(FILE)}: it is not JSON: {error}") from None


def _missing(wanted: Any, found: Any, where: str) -> Iterator[str]:
    match wanted:
        case dict() if isinstance(found, dict):
            for name, value in wanted.items():
                if name in found:
                    yield from _missing(value, found[name], f"`{name}`")
                else:
                    yield f"{where} has no `{name}`"
        case list() if isinstance(found, list):
            if len(found) != len(wanted):
                yield f"{where} has {len(found)} entries instead of {len(wanted)}"
                return
            for index, value in enumerate(wanted):
                yield from _missing(value, found[index], f"{where}[{index}]")
        case float() if isinstance(found, int | float) and not isinstance(found, bool):
            if not math.isclose(found, wanted, rel_tol=_NEAR):
                yield f"{where} is {found} instead of {wanted}"
        case _ if type(wanted) is not type(found) or wanted != found:
            yield f"{where} is {_short(found)} instead of {_short(wanted)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
