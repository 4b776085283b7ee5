"""Edits of a spec that change nothing else: comments, order, quotes, indentation and line ends stay.

The text is cut at the places that the parser gives, and the result is read again: an edit that would change
anything but what was asked for, such as text that an alias repeats, is refused. ruamel.yaml, the library for
this, writes the whole file anew: it keeps comments, but neither the layout of `{…}` over several lines nor
indentation that differs within a file, and reviewers would have to read what it changed.
"""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from inferstack.problems import IN_PYTHON, SpecError, SpecPath, dotted
from inferstack.problems.file_codes import NOT_EDITABLE
from inferstack.source.compose import compose
from inferstack.source.cuts import NotEditableError, cut
from inferstack.source.document import Document
from inferstack.source.pieces import pieces_of
from inferstack.source.spec_file import LINE_BREAK, read_text
from inferstack.source.stages import STAGES, at_stage
from inferstack.source.written import in_flow

Changes = Mapping[SpecPath, Any]
"""The values that a spec is to have, by path. ``None`` removes a key or an item. A mapping or a list replaces
the whole one that is there, but only the text of what differs is touched."""


class Edit(msgspec.Struct, frozen=True):
    """The text of a spec file before and after an edit, without byte order mark."""

    file: str
    before: str
    after: str

    @property
    def diff(self) -> str:
        """The edit as a unified diff; empty if nothing changes."""
        before, after = _lines(self.before), _lines(self.after)
        lines = difflib.unified_diff(before, after, self.file, f"{self.file} (edited)", lineterm="")
        return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> list[str]:
    *lines, last = LINE_BREAK.split(text)
    return [*lines, last] if last else lines


def edit_of(path: Path, changes: Changes, *, stage: str | None = None) -> Edit:
    """The edit that gives the spec in a file other values. Nothing is written.

    With a ``stage``, a value is changed where the stage has it from: in its overrides, or in the spec itself,
    which other stages may share.

    Raises:
        SpecError: when the file cannot be read, or not be edited without changing more than this.
    """
    file = path.as_posix()
    before = read_text(path, file)
    document = Document(file, compose(file, before))
    located = {where_written(document.data, at, stage): value for at, value in changes.items()}
    edit = Edit(file, before, edited(before, located, file=file))
    _require_at_stage(document, edit, changes, stage)
    return edit


def where_written(data: Mapping[str, Any], path: SpecPath, stage: str | None) -> SpecPath:
    """The path in the whole spec of what a path leads to at a stage: in the stage's overrides if they have it
    or a list that it is in, else in the spec itself.
    """
    if stage is None:
        return path
    overrides: Any = data.get(STAGES, {})
    for step in (stage, *path):
        if not isinstance(overrides, dict):
            break
        if step not in overrides:
            return path
        overrides = overrides[step]
    return (STAGES, stage, *path)


def _require_at_stage(document: Document, edit: Edit, changes: Changes, stage: str | None) -> None:
    """Refuses an edit that a stage does not see: it merges its overrides into what the spec has."""
    if stage is None:
        return
    found = at_stage(Document(edit.file, compose(edit.file, edit.after)), stage).data
    for path, value in changes.items():
        if not same(with_value(found, path, UNSET if value is None else value), found):
            message = f"`{dotted(path)}` is put together from the spec and the stage `{stage}`"
            raise SpecError([document.problem(path, NOT_EDITABLE, message, _by_hand(path, value))])


def edited(text: str, changes: Changes, *, file: str = IN_PYTHON) -> str:
    """The text of a spec with other values, and otherwise the same. ``file`` is its name in messages.

    Raises:
        SpecError: when it is not YAML, or cannot be edited without changing more than this.
    """
    for path, value in changes.items():
        wanted = UNSET if value is None else value
        for step in _single_changes(Document(file, compose(file, text)), path, wanted):
            text = _after(Document(file, compose(file, text)), text, *step)
    return text


def _after(document: Document, text: str, path: SpecPath, value: Any) -> str:
    """The text after a single change, or a refusal at the place that cannot be changed."""
    try:
        made = cut(pieces_of(document.file, text), text, path, value)
        result = f"{text[: made.start]}{made.new}{text[made.end :]}"
        _require_only(path, with_value(document.data, path, value), _reread(result))
    except NotEditableError as why:
        raise SpecError([document.problem(path, NOT_EDITABLE, str(why), _by_hand(path, value))]) from None
    return result


def _by_hand(path: SpecPath, value: Any) -> str:
    if value is None or value is UNSET:
        return "remove it by hand"
    return f"by hand, write `{dotted(path)}: {in_flow(value)}`"


# ---------------------------------------------------------------- what is wanted


def _single_changes(document: Document, path: SpecPath, value: Any) -> Iterator[tuple[SpecPath, Any]]:
    """The changes that lead from what is at a path to a value, each as small as it can be."""
    old: Any = document.data
    for step in path:
        holds = isinstance(old, dict) and step in old
        if not holds and not (isinstance(old, list) and isinstance(step, int) and 0 <= step < len(old)):
            return iter(() if value is UNSET else [(path, value)])
        old = old[step]
    return _differences(path, old, value)


def _differences(path: SpecPath, old: Any, new: Any) -> Iterator[tuple[SpecPath, Any]]:
    if isinstance(old, dict) and isinstance(new, dict) and new:
        yield from (((*path, key), UNSET) for key in old if key not in new)
        for key, value in new.items():
            below = (*path, key)
            yield from _differences(below, old[key], value) if key in old else [(below, value)]
    elif isinstance(old, list) and isinstance(new, list | tuple) and new:
        for at, (was, value) in enumerate(zip(old, new, strict=False)):
            yield from _differences((*path, at), was, value)
        yield from (((*path, at), UNSET) for at in reversed(range(len(new), len(old))))
        yield from (((*path, at), new[at]) for at in range(len(old), len(new)))
    elif not same(old, new):
        yield path, new


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in every type, too: to Python, 1, 1.0 and True are equal."""
    match one:
        case dict():
            has_keys = isinstance(other, dict) and one.keys() == other.keys()
            return has_keys and all(same(value, other[key]) for key, value in one.items())
        case list():
            is_list = isinstance(other, list) and len(one) == len(other)
            return is_list and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def with_value(data: Any, path: SpecPath, value: Any) -> Any:
    """A copy of the data with a value at a path, or without what is there."""
    if not path:
        return _plain(value)
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        entries = dict(data) if isinstance(data, dict) else {}
        entries[step] = with_value(entries.get(step), rest, value)
        return {key: it for key, it in entries.items() if key != step or rest or value is not UNSET}
    items = list(data) if isinstance(data, list) else []
    items[step : step + 1] = [with_value(items[step] if step < len(items) else None, rest, value)]
    return items if rest or value is not UNSET else [*items[:step], *items[step + 1 :]]


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(it) for key, it in value.items()}
        case list() | tuple():
            return [_plain(it) for it in value]
    return value


def _reread(text: str) -> Any:
    try:
        return compose("", text).data
    except SpecError:
        raise NotEditableError("the text around this place is laid out in an unusual way") from None


def _require_only(path: SpecPath, wanted: Any, found: Any) -> None:
    if same(wanted, found):
        return
    others = [at for at, _ in _differences((), wanted, found) if at[: len(path)] != path]
    if others:
        message = f"a change here would change `{dotted(others[0])}`, too, because of an anchor or alias"
        raise NotEditableError(message)
    raise NotEditableError("the text around this place is laid out in an unusual way")
