"""PyYAML's parser as a stream of events, and what its errors mean to the author of a spec."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import SYNTAX
from inferstack.source.spec_file import LINE_BREAK
from inferstack.source.tree import START, Position

# Only its parser is used. With libyaml, a C library that PyYAML may have been built without, it is ten times
# faster.
LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


def events(file: str, text: str) -> Iterator[yaml.Event]:
    """The events of a YAML text. ``file`` is its name in messages.

    Raises:
        SpecError: at the first place that is not valid YAML.
    """
    last: yaml.Event | None = None
    try:
        for event in yaml.parse(text, LOADER):
            if isinstance(event, yaml.ScalarEvent):
                # Half a surrogate pair could never be printed. Only libyaml refuses it.
                event.value.encode()
            last = event
            yield event
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        at = START if last is None else position(last)
        raise SpecError([_syntax_problem(file, text, error, at)]) from None


def position(event: yaml.Event) -> Position:
    """Where an event begins."""
    mark = event.start_mark
    return START if mark is None else Position(mark.line + 1, mark.column + 1)


# ---------------------------------------------------------------- syntax errors


class _Hint(NamedTuple):
    """``problem`` is searched for in the parser's message (libyaml's or PyYAML's), ``line`` in the line."""

    problem: str
    line: str
    fix: str


_HALF_CHARACTER = _Hint(
    "escape",
    r"\\u[dD][89a-fA-F]",
    "write the character itself: unlike JSON, YAML does not combine pairs of escapes",
)
_HINTS = (
    _Hint("", r"^\s*\t", "indent with spaces: YAML does not allow tabs there"),
    _Hint("", "^%", "remove the line that starts with `%`"),
    _Hint(r"',' or|cannot start|mapping values", r"\$\{", "quote a text with `${…}` in [ ] or { }"),
    _Hint("',' or", "", "close the bracket, and put a comma between its items"),
    _Hint("mapping values", "", "put a space after a key's colon; quote a text with `: `; indent keys alike"),
    _Hint("expected ':'", "", "write `key: value`; a text of several lines needs quotes or `|`"),
    _Hint("expected key|block end|'-'", "", "indent the keys of a mapping, or the items of a list, alike"),
    _Hint("cannot start", "", "quote a text that starts with `@`, `%` or a backtick"),
    _Hint("unexpected end of stream", "", "close the quote"),
    _HALF_CHARACTER,
    _Hint("escape|hexdecimal|hexadecimal", "", "use single quotes, or write a backslash as `\\\\`"),
    _Hint("alphabetic or numeric", "", "quote a text that starts with `*`, `&` or `!`"),
    _Hint("tag", "", "remove the tag (the word that starts with `!`)"),
    _Hint("node content", "", "quote a text that starts with a bracket, a brace or a comma"),
    _Hint("", "", "check quotes, brackets and indentation here and in the line above"),
)


def _syntax_problem(file: str, text: str, error: Exception, last: Position) -> Problem:
    """Where the YAML is invalid, and how to fix it. ``last`` is used if the parser gives no position."""
    if not isinstance(error, yaml.MarkedYAMLError):
        # This is how libyaml's binding fails on escapes in tags that are not UTF-8, and PyYAML on half a
        # surrogate pair.
        message = "not valid YAML: the text after this place cannot be read"
        hint = _HALF_CHARACTER if re.search(_HALF_CHARACTER.line, text) else _HINTS[-1]
        return Problem(FilePlace(file, *last), message, hint.fix, SYNTAX)
    mark = error.problem_mark or error.context_mark
    at = last if mark is None else Position(mark.line + 1, mark.column + 1)
    words = error.problem or error.context or ""
    message = f"not valid YAML: {words}{_context(error)}"
    lines = LINE_BREAK.split(text)
    fix = _of_two_lines(lines, at) if "mapping values" in words else ""
    return Problem(FilePlace(file, *at), message, fix or _fix(words, _line(lines, at)), SYNTAX)


def _context(error: yaml.MarkedYAMLError) -> str:
    if error.context is None or error.context_mark is None or error.problem is None:
        return ""
    return f" {error.context} that begins on line {error.context_mark.line + 1}"


def _line(lines: list[str], at: Position) -> str:
    return lines[at.line - 1] if at.line <= len(lines) else ""


_INDENTED = re.compile(r"(\s*(?:- +)*)(.*)")
_WITH_VALUE = re.compile(r"[\w.-]+ *: +[^\s#].*")
_WITHOUT_SPACE = re.compile(r"[\w.-]+:[^\s:].*")
_WITHOUT_COLON = re.compile(r"[\w.-]+ *= *[^\s:]+")


def _of_two_lines(lines: list[str], at: Position) -> str:
    """How to mend a key that YAML reads as more of the text above it; empty if the line itself is wrong."""
    above = next((i for i in range(at.line - 2, -1, -1) if re.match(r"\s*[^\s#]", lines[i])), None)
    here = _INDENTED.match(_line(lines, at))
    if above is None or here is None or ": " in here.string[: at.column - 1]:
        return ""
    before = _INDENTED.match(lines[above])
    if before is None or len(here[1]) < len(before[1]):
        return ""
    if _WITHOUT_SPACE.fullmatch(before[2]):
        return f"put a space after the colon on line {above + 1}"
    if _WITHOUT_COLON.fullmatch(before[2]):
        return f"write `key: value` on line {above + 1}"
    if _WITH_VALUE.fullmatch(before[2]) and len(here[1]) > len(before[1]):
        deeper = f"line {at.line} is indented deeper than line {above + 1}, whose key has a value"
        return f"{deeper}: indent both alike, or quote a text of several lines"
    return ""


def _fix(problem: str, line: str) -> str:
    fits = (hint.fix for hint in _HINTS if re.search(hint.problem, problem) and re.search(hint.line, line))
    return next(fits)
