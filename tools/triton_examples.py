"""Examples from the tests' wrong models: both sides of a case as one tree, expanded where they differ."""

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

import yaml

from inferstack.check.every_code import BOTH, RIGHT, WRONG, Example
from tests.support.wrong_models import MACROS, Case, expand, spec_without_triton

WIDTH = 73
"""Width of a line, so that a terminal of 80 columns has room for the margin before it."""
_REST = "…"
_PLAIN = re.compile(r"[\w./:…-]+")
_HEAD = {
    "kind": ("kind",),
    "image": ("model", "image"),
    "environment": ("model", "environment"),
    "instance": ("variant", "instance_type"),
}
"""Where in a spec the keys of a case's head belong."""
_Lines = Iterator[str]


def triton_example(case: Case) -> Example:
    """What the case shows."""
    wrong, right = (_spec(case, wrong=wrong) for wrong in (True, False))
    return Example(case.title, tuple(_mapping(wrong, right, WIDTH)))


def _spec(case: Case, *, wrong: bool) -> dict[str, Any]:
    """What matters of one side: what its head says, and its models without the content of macros."""
    mine, other = (_models(case, wrong=side) for side in (wrong, not wrong))
    return {**_head(case, wrong=wrong), "triton": _without_macros(mine, other)}


def _models(case: Case, *, wrong: bool) -> Any:
    """The `triton` block, with macros as keys."""
    return yaml.safe_load(expand(case.block(wrong=wrong), {name: f"{name}: 0" for name in MACROS}))


def _without_macros(mine: Any, other: Any) -> Any:
    """A macro is expanded if the other side lacks it. A model of nothing else becomes an ellipsis."""
    match mine, other:
        case dict(), _:
            there = other if isinstance(other, dict) else mine
            kept: dict[str, Any] = {}
            for key, value in mine.items():
                if key not in MACROS:
                    kept[key] = _without_macros(value, there.get(key))
                elif key not in there:
                    kept |= yaml.safe_load(f"{{{MACROS[key]}}}")
            return kept if kept or not mine else _REST
        case list(), list() if len(mine) == len(other):
            return [_without_macros(*both) for both in zip(mine, other, strict=True)]
        case _:
            return mine


def _head(case: Case, *, wrong: bool) -> dict[str, Any]:
    whole, shown = spec_without_triton(case.head(wrong=wrong)), dict[str, Any]()
    for name in {**case.head(wrong=True), **case.head(wrong=False)}:
        *blocks, key = _HEAD[name]
        here, there = shown, whole
        for block in blocks:
            here, there = here.setdefault(block, {}), there[block]
        here[key] = there[key]
    return shown


def _mapping(wrong: dict[str, Any], right: dict[str, Any], width: int) -> _Lines:
    for key in {**wrong, **right}:
        if key not in right:
            yield from _only(WRONG, {key: wrong[key]}, width)
        elif key not in wrong:
            yield from _only(RIGHT, {key: right[key]}, width)
        else:
            yield from _entry(key, wrong[key], right[key], width)


def _below(wrong: Any, right: Any, width: int) -> _Lines:
    return _items(wrong, right, width) if isinstance(wrong, list) else _mapping(wrong, right, width)


def _only(mark: str, value: Any, width: int) -> _Lines:
    yield from (f"{mark}{line[1:]}" for line in _below(value, value, width))


def _entry(key: str, wrong: Any, right: Any, width: int) -> _Lines:
    """A key and its value, on one line if there is nothing to expand."""
    line = f"{key}: {_flow(wrong)}"
    alike = isinstance(wrong, list) is isinstance(right, list)
    if _same(wrong, right) and (len(line) <= width or not _can_be_opened(wrong)):
        yield f"{BOTH}{line}"
    elif _can_be_opened(wrong) and _can_be_opened(right) and alike:
        yield f"{BOTH}{key}:"
        yield from (f"{it[0]}  {it[1:]}" for it in _below(_open(wrong), _open(right), width - 2))
    else:
        yield from _only(WRONG, {key: wrong}, width)
        yield from _only(RIGHT, {key: right}, width)


def _open(value: Any) -> Any:
    return {} if value == _REST else value


def _can_be_opened(value: Any) -> bool:
    """Whether it takes lines of its own; a list of numbers or words does not."""
    match value:
        case [first, *_]:
            return isinstance(first, dict)
        case _:
            return value == _REST or (isinstance(value, dict) and bool(value))


def _items(wrong: list[Any], right: list[Any], width: int) -> _Lines:
    before, after = ([_flow(item) for item in side] for side in (wrong, right))
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and j - i == m - k):
            for one, other in zip(wrong[i:j], right[k:m], strict=True):
                yield from _item(one, other, width)
        else:
            yield from (line for item in wrong[i:j] for line in _only(WRONG, [item], width))
            yield from (line for item in right[k:m] for line in _only(RIGHT, [item], width))


def _item(wrong: Any, right: Any, width: int) -> _Lines:
    if _same(wrong, right) and (len(_flow(wrong)) + 2 <= width or not _can_be_opened(wrong)):
        yield f"{BOTH}- {_flow(wrong)}"
        return
    lines = list(_mapping(wrong, right, width - 2))
    signs = [line[0] for line in lines]
    other = next((at for at, sign in enumerate(signs) if sign != signs[0]), 0)
    if signs[0] == BOTH or {signs[0], signs[other]} == {WRONG, RIGHT}:
        dashed = {0} if signs[0] == BOTH else {0, other}
        yield from (f"{line[0]}{'- ' if at in dashed else '  '}{line[1:]}" for at, line in enumerate(lines))
    else:
        # Each side would have its dash on another line.
        yield from _only(WRONG, [wrong], width)
        yield from _only(RIGHT, [right], width)


def _same(wrong: Any, right: Any) -> bool:
    """Whether both are written the same; in Python, 1 and true would be equal."""
    return _flow(wrong) == _flow(right)


def _flow(value: Any) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{key}: {_flow(it)}' for key, it in value.items())}}}"
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case str() if _PLAIN.fullmatch(value) and yaml.safe_load(value) == value:
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)
