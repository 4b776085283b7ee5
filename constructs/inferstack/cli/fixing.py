"""``validate --fix`` and ``--diff``: the fixes that leave a spec better, shown and written.

A fix is kept if its problem is gone, nothing as bad has taken its place, and there is no new error. Only if
the structure was wrong, which some rules wait for, may errors show elsewhere: they were there before.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from inferstack.check.load import check_document
from inferstack.check.project_file import read_spec, spec_of_text
from inferstack.check.structure import STRUCTURE_CODES
from inferstack.cli.editing import shown, write
from inferstack.cli.terminal import tell
from inferstack.problems import Problem, Severity, SpecError, printable
from inferstack.problems.words import counted
from inferstack.source.document import Document
from inferstack.source.edit import Edit
from inferstack.source.fixes import AppliedFix, fixes_of, places_after, with_fixes
from inferstack.source.spec_file import PIPED, read_standard_input, read_text
from inferstack.source.tree import Position

_MOST_ROUNDS = 10
# A file full of mistakes takes seconds to check, and each of its fixes may have to be tried by itself.
_MOST_CHECKS = 60
_LIGHTEST_FIRST = tuple(reversed(Severity))


def show_fixes(files: Iterable[Path], *, stage: str | None, region: str | None) -> None:
    """Prints the diffs that fix specs, and writes nothing."""
    for _, edit, _ in _fixed_specs(files, stage, region):
        print("".join(shown(edit, sys.stdout)), end="", flush=True)


def write_fixes(files: Iterable[Path], *, stage: str | None, region: str | None) -> None:
    """Fixes specs, and shows the diffs on standard error; what comes from standard input is only shown."""
    for path, edit, count in _fixed_specs(files, stage, region):
        tell("".join(shown(edit, sys.stderr)).rstrip("\n"))
        many = counted(count, "problem")
        if str(path) == PIPED:
            tell(f"{edit.file}: {many} would be fixed in a file")
        else:
            write(path, edit)
            tell(printable(f"{edit.file}: {many} fixed"))


def _fixed_specs(
    files: Iterable[Path], stage: str | None, region: str | None
) -> Iterator[tuple[Path, Edit, int]]:
    """The files that can be fixed, with the edit, and how many problems it fixes."""
    for path in files:
        try:
            document = read_spec(path)
            text = read_standard_input() if str(path) == PIPED else read_text(path, document.file)
        except SpecError:
            # The report says why it cannot be read.
            continue
        after, count = _Fixing(stage, region).fixed(document, text)
        if count:
            yield path, Edit(document.file, text, after), count


class _Fixing(msgspec.Struct):
    """The fixing of one spec, which is checked as the command checks it."""

    stage: str | None
    region: str | None
    checks: int = 0

    def fixed(self, document: Document, text: str) -> tuple[str, int]:
        """The text with all fixes that help, and how many there are."""
        count = 0
        # One fix may bring the next: only under a key that is spelled right is the value looked at.
        for _ in range(_MOST_ROUNDS):
            problems = self._problems(document)
            kept = self._kept(document, text, fixes_of(document, text, problems), problems)
            if not kept:
                break
            text, count = with_fixes(document, text, kept) or text, count + len(kept)
            document = spec_of_text(document.file, text)
        return text, count

    def _kept(
        self, document: Document, text: str, fixes: Sequence[AppliedFix], problems: Sequence[Problem]
    ) -> Sequence[AppliedFix]:
        """The fixes that help: usually all, so they are tried at once, and then in halves."""
        if not fixes or self._help(document, text, fixes, problems):
            return fixes
        if len(fixes) == 1:
            return ()
        half = len(fixes) // 2
        first, second = (self._kept(document, text, it, problems) for it in (fixes[:half], fixes[half:]))
        both = (*first, *second)
        return both if not (first and second) or self._help(document, text, both, problems) else first

    def _help(
        self, document: Document, text: str, fixes: Sequence[AppliedFix], problems: Sequence[Problem]
    ) -> bool:
        """Whether the text reads as the spec with these fixes alone, and each of them leaves it better."""
        after = with_fixes(document, text, fixes) if self.checks < _MOST_CHECKS else None
        if after is None:
            return False
        found = self._problems(spec_of_text(document.file, after))
        fixed = dict(zip(places_after(fixes), (it.problem for it in fixes), strict=True))
        for it in found:
            was = fixed.get(Position(it.line, it.column)) if it.file == document.file else None
            if was is not None and _weight(it) >= _weight(was):
                return False
        if any(it.code in STRUCTURE_CODES for it in problems):
            return True
        known = {(it.code, it.place) for it in problems}
        return all((it.code, it.place) in known for it in found if it.severity is Severity.ERROR)

    def _problems(self, document: Document) -> Sequence[Problem]:
        self.checks += 1
        try:
            return check_document(document, stage=self.stage, region=self.region)[1]
        except SpecError as error:
            return error.problems


def _weight(problem: Problem) -> int:
    return _LIGHTEST_FIRST.index(problem.severity)
