"""Examples from the tests' wrong specs: the lines that a case changes, and the keys that lead to them."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from inferstack.check.every_code import BOTH, RIGHT, WRONG, Example
from tests.support.wrong_specs import COUNTED, MARK, REPEATED, Case

_MOST_REPEATED = 8
_LEFT_OUT = "…"


class _Line(NamedTuple):
    mark: str
    text: str
    named: bool
    """Whether the case itself has this line."""

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def spec_example(case: Case, *, with_kind: bool) -> Example:
    """What the case shows; with the spec's kind if the rule is only for some kinds."""
    lines = list(_merged(case))
    kept = {at for at, line in enumerate(lines) if line.named and not _only_a_place(line)}
    kept.update(at for at, line in enumerate(lines) if with_kind and line.text.startswith("kind:"))
    kept.update(above for at in sorted(kept) for above in _above(lines, at))
    return Example(case.title, tuple(f"{lines[at].mark}{lines[at].text}" for at in sorted(kept)))


def _only_a_place(line: _Line) -> bool:
    """Whether this is a key whose value is not shown: it only says where the lines around it are."""
    return line.mark == BOTH and line.text.endswith(":")


def _merged(case: Case) -> Iterator[_Line]:
    """The case's base with its changes, wrong lines beside right ones."""
    base = case.base_text()
    done = 0
    for edit in sorted(case.edits, key=lambda edit: base.index(edit.old)):
        start = base.index(edit.old)
        assert start >= done, f"{case.title}: two edits of the same lines"
        yield from (_Line(BOTH, line, False) for line in base[done:start].splitlines())
        changed = _changed(_shown(edit.right), _shown(edit.wrong))
        yield from (it._replace(named=it.text not in edit.aside.splitlines()) for it in changed)
        done = start + len(edit.old)
    yield from (_Line(BOTH, line, False) for line in base[done:].splitlines())


def _changed(right: list[str], wrong: list[str]) -> Iterator[_Line]:
    for kind, i, j, k, m in SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes():
        sides: Iterable[tuple[str, list[str]]] = ((WRONG, wrong[i:j]), (RIGHT, right[k:m]))
        for mark, lines in ((BOTH, wrong[i:j]),) if kind == "equal" else sides:
            yield from (_Line(mark, line, True) for line in lines)


def _shown(text: str) -> list[str]:
    return [_shown_line(line) for line in text.splitlines()]


def _shown_line(line: str) -> str:
    """A line without its mark. Repetitions are shortened to what is needed to understand them."""
    line = MARK.sub("", line).rstrip()
    line = COUNTED.sub(lambda found: _first_and_last(found[2], int(found[1])), line)
    many = next((it for it in REPEATED.finditer(line) if int(it[2]) > _MOST_REPEATED), None)
    line = REPEATED.sub(_few, line)
    return line if many is None else f"{line}  # {many[1]} {many[2]} times"


def _first_and_last(text: str, count: int) -> str:
    first, second, last = (text.replace("#", str(number)) for number in (0, 1, count - 1))
    return f"{first}, {second}, …, {last}"


def _few(found: re.Match[str]) -> str:
    letter, count = found[1], int(found[2])
    if count == 1:
        # A scanner for secrets must stop neither at the case, which is written for that, nor here.
        return _LEFT_OUT
    return letter * count if count <= _MOST_REPEATED else f"{letter * 3}{_LEFT_OUT}{letter * 3}"


def _above(lines: list[_Line], at: int) -> Iterator[int]:
    """The keys that lead to a line, beginning with the nearest."""
    line = lines[at]
    indent = line.indent
    for above in range(at - 1, -1, -1):
        it = lines[above]
        if it.indent < indent and it.text and it.mark in {BOTH, line.mark}:
            yield above
            indent = it.indent
