"""``validate --fix`` and ``--diff``: the fixes of a spec that leave it better, shown and written.

A fix is kept if its problem is gone, nothing as bad has taken its place, and there is no new error. Only if
the structure was wrong, which some rules wait for, may errors show elsewhere: they were there before.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from inferstack.check.load import check_document
from inferstack.check.structure import STRUCTURE_CODES
from inferstack.cli.editing import shown, write
from inferstack.cli.report import counted
from inferstack.cli.terminal import tell
from inferstack.problems import Problem, Severity, SpecError, printable
from inferstack.source.compose import compose
from inferstack.source.document import Document, read_document
from inferstack.source.edit import Edit
from inferstack.source.fixes import AppliedFix, fixes_of, places_after, with_fixes
from inferstack.source.spec_file import PIPED, read_standard_input, read_text
from inferstack.source.tree import Position

_MOST_ROUNDS = 10
_WEIGHT = {it: weight for weight, it in enumerate(reversed(Severity))}


class _FixedSpec(msgspec.Struct, frozen=True):
    """A spec file with its fixes, and how many there are."""

    path: Path
    edit: Edit
    count: int


class _Checks(msgspec.Struct, frozen=True):
    """How the specs of a command are checked."""

    stage: str | None
    region: str | None

    def __call__(self, document: Document) -> Sequence[Problem]:
        try:
            return check_document(document, stage=self.stage, region=self.region)[1]
        except SpecError as error:
            return error.problems


def show_fixes(files: Iterable[Path], *, stage: str | None, region: str | None) -> None:
    """Prints the diffs that fix specs, and writes nothing."""
    for it in _fixed_specs(files, _Checks(stage, region)):
        print("".join(shown(it.edit, sys.stdout)), end="", flush=True)


def write_fixes(files: Iterable[Path], *, stage: str | None, region: str | None) -> None:
    """Fixes specs, and shows the diffs on standard error; what comes from standard input is only shown."""
    for it in _fixed_specs(files, _Checks(stage, region)):
        tell("".join(shown(it.edit, sys.stderr)).rstrip("\n"))
        many = counted(it.count, "problem")
        if str(it.path) == PIPED:
            tell(f"{it.edit.file}: {many} would be fixed in a file")
        else:
            write(it.path, it.edit)
            tell(printable(f"{it.edit.file}: {many} fixed"))


def _fixed_specs(files: Iterable[Path], check: _Checks) -> Iterator[_FixedSpec]:
    found = (_fixed(path, check) for path in files)
    return (it for it in found if it is not None)


def _fixed(path: Path, check: _Checks) -> _FixedSpec | None:
    try:
        document = read_document(path)
        before = read_standard_input() if str(path) == PIPED else read_text(path, document.file)
    except SpecError:
        # It cannot be read, and the report says why.
        return None
    text, count = before, 0
    # One fix may bring the next: only under a key that is spelled right is the value looked at.
    for _ in range(_MOST_ROUNDS):
        document = Document(document.file, compose(document.file, text))
        kept, after = _kept(document, text, check)
        if not kept:
            break
        text, count = after, count + len(kept)
    return _FixedSpec(path, Edit(document.file, before, text), count) if count else None


def _kept(document: Document, text: str, check: _Checks) -> tuple[Sequence[AppliedFix], str]:
    """The fixes that leave the spec better, and the text with them."""
    problems = check(document)
    fixes = fixes_of(document, text, problems)
    # Usually it is all of them.
    kept = fixes if fixes and _helps(document, text, fixes, problems, check) else []
    for it in [] if kept else fixes:
        if _helps(document, text, [*kept, it], problems, check):
            kept = [*kept, it]
    return kept, with_fixes(document, text, kept) or text


def _helps(
    document: Document, text: str, fixes: Sequence[AppliedFix], problems: Sequence[Problem], check: _Checks
) -> bool:
    """Whether the text reads as the spec with these fixes alone, and is better by each of them."""
    after = with_fixes(document, text, fixes)
    if after is None:
        return False
    found = check(Document(document.file, compose(document.file, after)))
    fixed = dict(zip(places_after(fixes), (it.problem for it in fixes), strict=True))
    for it in found:
        was = fixed.get(Position(it.line, it.column)) if it.file == document.file else None
        if was is not None and _WEIGHT[it.severity] >= _WEIGHT[was.severity]:
            return False
    if any(it.code in STRUCTURE_CODES for it in problems):
        return True
    known = {(it.code, it.place) for it in problems}
    return all((it.code, it.place) in known for it in found if it.severity is Severity.ERROR)
