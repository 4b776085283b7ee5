"""Whether an option of an engine accepts a text: as its own parser reads it, with the bounds that it then
checks.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

_SIZE = re.compile(r"(\d+)(\.\d+)?([kKmMgGtT])")
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_LOOKS_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")
_NUMBER_IN_JSON = re.compile(r"\b\d+(?:\.\d+)?[kKmMgGtT]\b")
_STRING_IN_JSON = re.compile(r'("(?:[^"\\]|\\.)*")')
_OBJECT = re.compile(r"\s*\{.*\}\s*", re.DOTALL)
_NOTHING = ("", "None")
NO_VALUE = frozenset({"flag", "switch"})
"""Kinds of options that take no value; a flag can also be switched off, by ``no-`` before its name."""


class EngineOption(msgspec.Struct, frozen=True):
    """What one option of one version accepts.

    ``many``: one value or more. ``optional``: ``None`` stands for no value. ``folded``: capitals do not
    count, and hyphens are underscores. ``server``: the option is the HTTP server's, which LMI does not start.
    ``on``: a flag may be on although nothing sets it.
    """

    kind: str
    choices: tuple[str, ...] = ()
    many: bool = False
    optional: bool = False
    folded: bool = False
    server: bool = False
    on: bool = False
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def refusal(self, words: Sequence[str]) -> str | None:
        """What is allowed, if the option does not accept these words after its name; None if it does."""
        if self.kind in NO_VALUE:
            return "it takes no value" if words else None
        if self.kind == "any" or (self.kind == "flag-or-text" and not words):
            return None
        if not words or (len(words) > 1 and not self.many):
            return f"it takes {'one value or more' if self.many else 'one value'}: {self.allowed}"
        return None if all(map(self._accepts, words)) else self.allowed

    @property
    def allowed(self) -> str:
        """What its values may be, in words."""
        if self.choices:
            return f"allowed: {', '.join(self.choices)}"
        bounds = " and ".join(
            f"{word} {bound:g}"
            for word, bound in (
                ("at least", self.least),
                ("more than", self.above),
                ("at most", self.most),
                ("less than", self.below),
            )
            if bound is not None and (self.kind, bound) not in _OBVIOUS
        )
        return f"allowed: {_IN_WORDS[self.kind]}{', ' if bounds else ''}{bounds}"

    def _accepts(self, word: str) -> bool:
        # To argparse, such a word is the next option.
        if (
            word.startswith("-")
            and " " not in word
            and word != "-"
            and _LOOKS_NEGATIVE.fullmatch(word) is None
        ):
            return False
        if self.optional and word in _NOTHING:
            return True
        try:
            value = _READERS[self.kind](word)
        except (ValueError, RecursionError):
            return False
        return self._is_chosen(value) and self._is_in_bounds(value)

    def _is_chosen(self, value: object) -> bool:
        text = str(value)
        return not self.choices or (text.lower().replace("-", "_") if self.folded else text) in self.choices

    def _is_in_bounds(self, value: object) -> bool:
        if not isinstance(value, int | float):
            return True
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )


_OBVIOUS = {("count", 2.0**32 - 1), ("count", 2.0**64 - 1)}
_IN_WORDS = {
    "int": "a whole number",
    "count": "a whole number, 0 or more",
    "count-or-max": "`max`, or a whole number",
    "float": "a number",
    "size": "a whole number, also as `8k` or `2M`",
    "size-or-auto": "`auto`, or a whole number, also as `32k`",
    "json": "JSON",
    "object": "a JSON object",
    "json-or-text": "text, or a JSON object",
    "text": "text",
    "flag-or-text": "text",
    "true-or-false": "`true` or `false`",
    "boolean": "`true` or `false`",
}


def _size(text: str) -> int:
    stripped = text.strip()
    found = _SIZE.fullmatch(stripped)
    if found is None:
        return int(stripped)
    whole, fraction, suffix = found.groups()
    if suffix in _BINARY:
        return int(whole + (fraction or "")) * _BINARY[suffix]
    return int(float(whole + (fraction or "")) * _DECIMAL[suffix])


def _size_or_auto(text: str) -> int:
    return -1 if text.strip().lower() in ("-1", "auto") else _size(text)


def _count(text: str) -> int:
    if re.fullmatch(r"\+?[0-9]+", text) is None:
        raise ValueError(text)
    return int(text)


def _count_or_max(text: str) -> int | str:
    return text if text == "max" else _count(text)


def _object(text: str) -> object:
    """A JSON object, in which numbers may have a suffix."""
    parts = _STRING_IN_JSON.split(text)
    parts[::2] = [_NUMBER_IN_JSON.sub(lambda it: str(_size(it[0])), part) for part in parts[::2]]
    value = json.loads("".join(parts))
    if not isinstance(value, dict):
        raise ValueError(text)
    return value


def _json_or_text(text: str) -> object:
    return json.loads(text) if _OBJECT.fullmatch(text) else text


def _word_among(words: frozenset[str], *, folded: bool) -> Callable[[str], str]:
    def read(text: str) -> str:
        if (text.lower() if folded else text) not in words:
            raise ValueError(text)
        return text

    return read


_READERS: Mapping[str, Callable[[str], object]] = {
    "int": int,
    "count": _count,
    "count-or-max": _count_or_max,
    "float": float,
    "size": _size,
    "size-or-auto": _size_or_auto,
    "json": json.loads,
    "object": _object,
    "json-or-text": _json_or_text,
    "text": str,
    "flag-or-text": str,
    "true-or-false": _word_among(frozenset({"true", "false"}), folded=False),
    # As pydantic reads it.
    "boolean": _word_among(
        frozenset(["true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0"]), folded=True
    ),
}
