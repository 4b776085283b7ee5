"""Which of the clues in a text is the cause.

The first start of a container comes before its restarts, whose errors may only follow; in a start a banner
comes before its consequences, since the first line of the lowest rank is taken. What was logged before a
container served is no cause.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from inferstack.diagnosis.extractors import (
    RefusedSettings,
    Traceback,
    TritonTable,
    aws_reason,
    refused_argument,
    refused_by_aws,
)
from inferstack.diagnosis.reading import Line
from inferstack.diagnosis.signature import VERDICTS, Finding, Signature, Where, filled, known

_AFTER_ANOTHER = 2
"""The rank of an exception that no signature knows."""
_LINES_OF_EXCEPTION = 2
"""After the end of a traceback that may belong to its message."""
_MOST_FINDINGS = 1_000
_MOST_SHAPES = 20_000
# Lines that differ in these only mean the same; short numbers may be a status or a signal.
_NUMBERS = re.compile(r"\d{4,}|\d+\.\d+|[0-9a-f]{8,}")
_OF_LOGS: frozenset[Where] = frozenset({"log", "answer", "any"})
_OF_REASONS: frozenset[Where] = frozenset({"reason", "answer", "any"})
_APPLY = {"log": _OF_LOGS, "answer": _OF_REASONS, "reason": _OF_REASONS, "any": _OF_LOGS | _OF_REASONS}


_END = Line("", 0)
"""Ends what the last line leaves open."""


class Clue(msgspec.Struct, frozen=True):
    """A line that means something, with what its pattern's groups hold."""

    signature: Signature
    line: Line
    groups: dict[str, str]
    start: int = 0
    """The start of the container that it is from, counted from 0."""
    chain: int = 0
    """The exceptions that it is one of, where one was raised while another was handled."""
    is_doubtful: bool = False
    """Whether the program goes on: it takes a problem of the spec to make that a cause."""
    is_second: bool = False
    """Whether another cause, which does not lead to this one, comes before it."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """What is least is the likeliest cause, apart from the order of lines."""
        # A rank of 0 is of what explains all that is seen before it, too.
        least = _AFTER_ANOTHER if self.is_second and self.signature.rank else 0
        return self.start, max(self.signature.rank, least), self.line.number

    @property
    def message(self) -> str:
        """What it means."""
        return filled(self.signature.cause, self.groups)

    @property
    def fix(self) -> str:
        """What to do."""
        return filled(self.signature.fix, self.groups)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a spec that are to be changed."""
        return tuple(filled(it, self.groups) for it in self.signature.keys)


class Clues(msgspec.Struct, frozen=True):
    """All that a text says."""

    found: tuple[Clue, ...]
    is_ready: bool
    """Whether a container served, and nothing was found since."""
    lines: int

    def ordered(self) -> list[Clue]:
        """The clues that may be the answer, the best first."""
        found = [it for it in self.found if it.signature.verdict != "healthy"]
        return sorted(found, key=lambda it: (VERDICTS.index(it.signature.verdict), it.rank))


def clues_in(lines: Iterable[Line]) -> Clues:
    """Everything in a text that is known, in its order."""
    return _CauseSearch().through(lines)


class _CauseSearch:
    def __init__(self) -> None:
        self._found: list[Clue] = []
        self._is_ready = self._has_served = False
        self._start, self._starts = 0, set[str]()
        self._traceback, self._table, self._settings = Traceback(), TritonTable(), RefusedSettings()
        self._says_nothing: set[str] = set()
        self._ended = -_LINES_OF_EXCEPTION

    def through(self, lines: Iterable[Line]) -> Clues:
        before = _END
        for line in chain(lines, [_END]):
            if (ended := self._table.complete(line.text)) is not None:
                self._add_table(*ended, before)
            if len(self._found) < _MOST_FINDINGS:
                self._read(line)
            before = line if line is not _END else before
        return Clues(tuple(self._found), self._is_ready, before.number)

    def _add_table(self, reason: str, of_table: Finding, end: Line) -> None:
        at = msgspec.structs.replace(end, text=reason)
        # A signature of its words knows the fix; the table knows the model.
        self._add(at, *next(self._matching(at), of_table))

    def _read(self, line: Line) -> None:
        text = line.text
        shape, all_known = _NUMBERS.sub("0", text), known()
        if (start := all_known.start.search(text)) is not None:
            self._start += start[0] in self._starts and bool(self._found)
            self._has_served = False
            self._starts.add(start[0])
        if not text.strip() or shape in self._says_nothing:
            return
        answers = all_known.answers.search(text) is not None
        if answers and self._has_served:
            return
        if answers or all_known.ready.search(text) is not None:
            self._found = [
                it
                for it in self._found
                if it.line.kind != "log" and it.signature.where in ("reason", "answer")
            ]
            self._is_ready = self._has_served = True
            return
        if self._traceback.inside(text) or all_known.harmless.search(text) is not None:
            return
        found = self._meaning(line)
        if found is not None:
            self._add(line, *found)
        elif len(self._says_nothing) < _MOST_SHAPES:
            self._says_nothing.add(shape)

    def _meaning(self, line: Line) -> Finding | None:
        refused = self._settings.finding(line.text)
        raised = self._traceback.exception(line.text)
        if raised is not None:
            self._ended = line.number
            if raised[0].code == "pickle-version":
                return raised
        if (found := next(self._matching(line), None)) is not None:
            return found
        if (framed := aws_reason(line.text)) is not None:
            return raised or refused_by_aws(*framed)
        return raised or refused or refused_argument(line.text) or self._traceback.bare(line.text)

    @staticmethod
    def _matching(line: Line) -> Iterator[Finding]:
        apply = _APPLY[line.kind]
        matches = ((pattern.search(line.text), it) for pattern, it in known().signatures if it.where in apply)
        mention = known().mention
        found = [
            (it, match)
            for match, it in matches
            if match is not None and mention.search(line.text[: match.start()]) is None
        ]
        for it, match in sorted(found, key=lambda pair: (VERDICTS.index(pair[0].verdict), pair[0].rank)):
            yield it, {name: value for name, value in match.groupdict().items() if value}

    def _add(self, line: Line, signature: Signature, groups: dict[str, str]) -> None:
        of_start = [it for it in self._found if it.start == self._start and not it.is_doubtful]
        if any(it.signature.code in signature.follows for it in of_start):
            return
        goes_on = line.is_calm or known().warning.search(line.text) is not None
        is_doubtful = goes_on and not signature.calm
        is_in_chain = line.number - self._ended <= _LINES_OF_EXCEPTION
        chain = self._traceback.chain if is_in_chain else -line.number
        is_second = any(
            it.signature.verdict == "cause" and it.signature.code != signature.code and it.chain != chain
            for it in of_start
        )
        self._is_ready = self._is_ready and is_doubtful
        self._found.append(Clue(signature, line, groups, self._start, chain, is_doubtful, is_second))
