"""The review for people at a terminal with 80 columns: what it is about first, details last."""

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from typing import TextIO

from inferstack.cli.review import words
from inferstack.cli.terminal import painted, table
from inferstack.problems import on_one_line, printable
from inferstack.review import Finding, Review, Reviewed, Total

_WIDTH = 80
_LABEL = 12
_BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=(?:%|s|ms|MB|GiB)(?![\w-]))")
_UNBROKEN = "\N{NO-BREAK SPACE}"
_BECOMES = " → "
_COLORS = {"error": "red", "warning": "yellow", "info": "bold"}


def text(review: Review, stream: TextIO | None = None) -> str:
    """The whole page; colored if the stream that it is for is a terminal."""
    shown = words.touched(review)
    parts = [
        [painted(printable(words.verdict(review)), "bold", stream)],
        list(_table(review, stream)),
        list(_said(words.until_deleted(review))),
        list(_said(words.unchanged(review))),
        list(_findings(review, stream)),
        list(_quotas(review, stream)),
        *(list(_endpoint(it, shown[:at], stream)) for at, it in enumerate(shown)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _table(review: Review, stream: TextIO | None) -> Iterator[str]:
    found = words.touched(review)
    if not found:
        return
    currency = words.currency_of(review)
    rows = [("ENDPOINT", "", "INSTANCES: MIN-START-MAX", f"{currency} AN HOUR".strip())]
    rows += [_row(review, it, currency) for it in found]
    if len(review.endpoints) > 1:
        rows += [_total(it, currency) for it in review.totals]
    yield from _with_header(_in_width(_without_empty_columns(rows)), stream)


def _in_width(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows, with each change on two lines in as many columns as a terminal needs, the widest first."""
    changing = {len(cell): at for row in rows for at, cell in enumerate(row) if _BECOMES in cell}
    parted: set[int] = set()
    found = list(rows)
    for _, at in sorted(changing.items(), reverse=True):
        if max(map(len, table(found))) <= _WIDTH:
            break
        parted.add(at)
        found = [it for row in rows for it in _parted(row, parted)]
    return found


def _parted(row: tuple[str, ...], columns: Collection[int]) -> Iterator[tuple[str, ...]]:
    halves = [_halves(cell) if at in columns else (cell, "") for at, cell in enumerate(row)]
    yield tuple(first for first, _ in halves)
    if any(second for _, second in halves):
        yield tuple(second for _, second in halves)


def _halves(cell: str) -> tuple[str, str]:
    """What it was and what it becomes, or of several changes the first and the others."""
    first, between, second = cell.partition(_BECOMES if cell.count(_BECOMES) == 1 else ", ")
    return first + between.rstrip(), second


def _without_empty_columns(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Without fates where nothing is compared, and without costs where no price is known."""
    kept = [at for at in range(len(rows[0])) if any(row[at] not in ("", "-") for row in rows[1:])]
    return [tuple(row[at] for at in kept) for row in rows]


def _with_header(rows: Sequence[tuple[str, ...]], stream: TextIO | None) -> Iterator[str]:
    header, *others = table([tuple(map(printable, row)) for row in rows])
    yield painted(header, "bold", stream)
    yield from others


def _row(review: Review, it: Reviewed, currency: str) -> tuple[str, str, str, str]:
    before, after = (None if one is None else one.cost for one in (it.before, it.after))
    cost = words.cost_cell(before, after, currency)
    return it.key, words.fate_text(review, it), words.instances_text(it), cost


def _total(it: Total, currency: str) -> tuple[str, str, str, str]:
    name = "all" if it.is_sum else "no stage" if it.stage is None else f"stage {it.stage}"
    return name, "", str(it.cost.instance_hours), words.cost_cell(it.before, it.cost, currency)


def _said(sentence: str | None) -> Iterator[str]:
    if sentence is not None:
        yield from _wrapped(sentence, "", "  ")


def _findings(review: Review, stream: TextIO | None) -> Iterator[str]:
    for it in words.findings_of(review):
        yield from _finding(it, stream)


def _finding(it: Finding, stream: TextIO | None) -> Iterator[str]:
    about = f" {words.about(it)}" if it.endpoints else ""
    code = "" if it.code is None else f" {it.code}"
    head = f"{it.effect}:{about}{code} {words.place_text(it)}"
    yield from (painted(line, _COLORS[it.severity], stream) for line in _wrapped(head, "", "  "))
    yield from _wrapped(words.finding_text(it), "  ", "  ")


def _quotas(review: Review, stream: TextIO | None) -> Iterator[str]:
    found = words.quotas_of(review)
    if found:
        rows = [("QUOTA", "NEEDED", "WHILE UPDATING", "WHERE")]
        rows += [
            (words.quota_text(it), words.number(it.needed), words.number(it.while_updating), words.where(it))
            for it in found
        ]
        yield from _with_header(rows, stream)


def _endpoint(it: Reviewed, above: Sequence[Reviewed], stream: TextIO | None) -> Iterator[str]:
    after = it.after
    if after is None:
        return
    stage = f", stage {after.stage}" if after.stage is not None else ""
    # A template does not say which kind of spec it was made from.
    kind = "" if after.kind is None else f"{after.kind}, "
    title = f"{it.key} ({after.place.file}{stage}; {kind}{after.hosting})"
    yield from (painted(line, "bold", stream) for line in _wrapped(title, "", "  "))
    same = words.same_as(it, above)
    if same is not None:
        yield from _wrapped(f"as {same[0]}, with `{same[2]}` for `{same[1]}`", "  ", "  ")
        return
    last = ""
    for label, said in words.reviewed_lines(it):
        yield from _line("" if label == last else label, said)
        last = label


def _line(label: str, said: str) -> Iterator[str]:
    return _wrapped(said, f"  {label:<{_LABEL}}", " " * (_LABEL + 2))


def _wrapped(said: str, first: str, others: str) -> Iterator[str]:
    lines = textwrap.wrap(
        _BEFORE_UNIT.sub(_UNBROKEN, on_one_line(said)),
        width=_WIDTH,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,
    )
    # Only a line shows whether a CI system would take it for a command.
    yield from (printable(line.replace(_UNBROKEN, " ")) for line in lines)
