"""The settings of a model in a `serving.properties`, which LMI's server reads as Java's `Properties`.

https://docs.oracle.com/javase/8/docs/api/java/util/Properties.html#load-java.io.Reader-
"""

import re
from collections.abc import Iterator

import msgspec

PROPERTIES = "serving.properties"
"""The file's name."""
_PREFIX = "option."
_BLANKS = " \t\f"
_ENTRY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_VARIABLE = re.compile(r'\b(OPTION_|SERVING_)([A-Z0-9_]+)(?:: "([^"]*)")?')
_QUOTED = re.compile(r'\bwrite "(\w+)"')
# Of a template of the file, which a notebook fills in.
_OPEN = re.compile(r"\{\{.*\}\}")


class ServingProperty(msgspec.Struct, frozen=True):
    """One entry of the file. ``line`` counts from 1."""

    name: str
    value: str
    line: int

    @property
    def option(self) -> str | None:
        """The option that it sets; None for a property of the server."""
        return self.name.removeprefix(_PREFIX) if self.name.startswith(_PREFIX) else None

    @property
    def variable(self) -> str | None:
        """The variable that sets the same, if no file does."""
        option = "engine" if self.name == "engine" else self.option
        return None if option is None else f"OPTION_{option.upper()}"

    @property
    def value_of_variable(self) -> str:
        """The value; where a template leaves it open, what only a deployment knows."""
        return _OPEN.sub("${AWS::Region}", self.value)


def properties_in(text: str) -> Iterator[ServingProperty]:
    """Every entry of the file, also those that a later one replaces."""
    for number, line in _logical_lines(text):
        found = _ENTRY.fullmatch(line)
        if found is not None:
            name, value = (_ESCAPE.sub(_unescaped, part) for part in found.groups())
            yield ServingProperty(name, value, number)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without remarks, each with those that a backslash at its end adds to it."""
    lines = enumerate(re.split(r"\r\n|\r|\n", text), 1)
    for number, written in lines:
        line = written.lstrip(_BLANKS)
        if line and line[0] not in "#!":
            while (len(line) - len(line.rstrip("\\"))) % 2:
                line = line[:-1] + next(lines, (0, ""))[1].lstrip(_BLANKS)
            yield number, line


def _unescaped(found: re.Match[str]) -> str:
    code, character = found.groups()
    return chr(int(code, 16)) if code is not None else _CONTROLS.get(character, character)


def in_words_of_the_file(text: str) -> str:
    """A message or a fix about variables, with the names that the file has for them."""
    return _QUOTED.sub(r"write `\1`", _VARIABLE.sub(_as_property, text))


def _as_property(found: re.Match[str]) -> str:
    begin, name, value = found.groups()
    written = f"{_PREFIX if begin == 'OPTION_' else ''}{name.lower()}"
    return written if value is None else f"{written}={value}"
