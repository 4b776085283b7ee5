"""The fixes of problems, applied to the text of a spec: each where its problem stands, and nowhere else.

A fix is cut in at a position, not at a path: a value that came through an alias, a `<<` or a stage is changed
where its text is, once.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from inferstack.problems import Fix, Problem, SpecError
from inferstack.source.compose import compose
from inferstack.source.cuts import Cut
from inferstack.source.document import Document
from inferstack.source.edit import same
from inferstack.source.events import events, position
from inferstack.source.scalars import UnfitScalarError, plain_scalar
from inferstack.source.stages import PLACEHOLDER, stage_names
from inferstack.source.tree import Node, Position
from inferstack.source.written import in_flow, scalar

_ANCHOR = re.compile(r"&\S+\s+")
# What can be added to text without quotes, and leaves it text without quotes.
_HARMLESS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-")


class AppliedFix(NamedTuple):
    """The fix of a problem as a cut of the text, and the value or key that is there after it."""

    problem: Problem
    cut: Cut
    value: Any

    @property
    def at(self) -> Position:
        """Where the scalar begins, before any cut."""
        return Position(self.problem.line, self.problem.column)


def fixes_of(document: Document, text: str, problems: Iterable[Problem]) -> list[AppliedFix]:
    """The fixes of the problems that can be applied to this text, in its order.

    Where two problems of one scalar want different things, neither is.
    """
    wanted: dict[Position, list[tuple[Problem, Fix]]] = {}
    for it in problems:
        if isinstance(it.fix, Fix) and it.file == document.file:
            wanted.setdefault(Position(it.line, it.column), []).append((it, it.fix))
    if not wanted:
        return []
    stages = stage_names(document)
    found = []
    for event in events(document.file, text):
        if isinstance(event, yaml.ScalarEvent):
            of_place = [_applied(event, text, *it, stages) for it in wanted.get(position(event), ())]
            cuts = {it.cut for it in of_place if it is not None}
            found += [it for it in of_place[:1] if it is not None and len(cuts) == 1]
    return found


def _applied(
    event: yaml.ScalarEvent, text: str, problem: Problem, fix: Fix, stages: Collection[str]
) -> AppliedFix | None:
    if event.start_mark is None or event.end_mark is None or event.tag is not None:
        return None
    end = event.end_mark.index
    # To the parser, the anchor is a part of the value.
    anchor = _ANCHOR.match(text, event.start_mark.index, end)
    start = event.start_mark.index if anchor is None else anchor.end()
    if event.style in ("|", ">") or len(text[start:end].splitlines()) != 1:
        return None
    try:
        found = event.value if event.style else plain_scalar(event.value)
        value = _value(found, event.value, fix, stages)
        return None if value is None else AppliedFix(problem, Cut(start, end, _written(event, value)), value)
    except (UnfitScalarError, ValueError):
        return None


def _value(found: object, written: str, fix: Fix, stages: Collection[str]) -> Any:
    """The value after a fix; None if the fix is not about what is found."""
    if isinstance(found, str) and isinstance(fix.found, str) and isinstance(fix.instead, str):
        if found.count(fix.found) == 1:
            return found.replace(fix.found, fix.instead)
        # At a stage, the rule saw the text with the stage's name.
        added = fix.instead.removeprefix(fix.found)
        staged = any(found.replace(PLACEHOLDER, stage) == fix.found for stage in stages)
        return f"{found}{added}" if staged and fix.instead.startswith(fix.found) else None
    if not same(found, fix.found):
        return None
    # `1.10` and `0x1F` are text as they are written.
    return written if isinstance(fix.instead, str) else fix.instead


def _written(event: yaml.ScalarEvent, value: Any) -> str:
    if not isinstance(value, str):
        return in_flow(value)
    if event.style or not isinstance(plain_scalar(event.value), str):
        return scalar(value, event.style or '"')
    is_plain = plain_scalar(value) == value and set(value) <= _HARMLESS | set(event.value)
    return value if is_plain and value[0] in _HARMLESS | {event.value[0]} else scalar(value)


def with_fixes(document: Document, text: str, fixes: Sequence[AppliedFix]) -> str | None:
    """The text with these fixes, in its order; None if it does not read as the spec with them alone."""
    for it in reversed(fixes):
        text = f"{text[: it.cut.start]}{it.cut.new}{text[it.cut.end :]}"
    try:
        found = compose(document.file, text).data
    except SpecError:
        return None
    return text if same(found, _changed(document.tree, {it.at: it.value for it in fixes})) else None


def _changed(node: Node, values: Mapping[Position, Any]) -> Any:
    match node.entries:
        case dict() as entries:
            return {values.get(entry.at, key): _changed(entry.node, values) for key, entry in entries.items()}
        case list() as entries:
            return [_changed(entry.node, values) for entry in entries]
    return values.get(node.at, node.data)


def places_after(fixes: Iterable[AppliedFix]) -> Iterator[Position]:
    """Where the scalars begin once the fixes are in the text: a fix moves what follows it in its line."""
    line, moved = 0, 0
    for it in fixes:
        moved = moved if it.at.line == line else 0
        yield Position(it.at.line, it.at.column + moved)
        line, moved = it.at.line, moved + len(it.cut.new) - (it.cut.end - it.cut.start)
