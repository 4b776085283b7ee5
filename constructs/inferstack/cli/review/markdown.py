"""The review as one comment on a pull request: a summary first, details folded, and no more than fits.

https://github.github.com/gfm/
"""

from collections.abc import Iterable, Iterator, Sequence

from inferstack.cli import escaping
from inferstack.cli.escaping import code, html_code
from inferstack.cli.review import words
from inferstack.cli.review.diagram import diagram
from inferstack.review import Finding, Quota, Review, Reviewed, Total

LONGEST = 60_000
"""Bytes of the whole. GitHub takes 65,536 characters a comment; who writes it may add something."""
_FOR_ENDPOINTS, _FOR_FINDINGS, _FOR_QUOTAS, _FOR_NOTES = 18_000, 22_000, 8_000, 4_000
"""Bytes of each table, and of notes, so that a long one leaves room for the next."""
_FOR_DETAILS = 20_000
"""Bytes of the details of one endpoint."""
_FOR_LAST_LINE = 200
"""Bytes to say what was cut."""
_MARKS = {"error": "**error**", "warning": "warning", "info": "info"}


def markdown(review: Review) -> str:
    """The whole comment. What does not fit is counted instead."""
    parts = [f"### inferstack: {escaping.markdown(words.verdict(review))}"]
    sections = (
        _table(review),
        _said(words.until_deleted(review)),
        _said(words.unchanged(review)),
        _findings(review),
        _quotas(review),
    )
    parts += ["\n".join(it) for it in sections if it]
    parts += _fitting_rows(map(_note, review.notes), _FOR_NOTES)
    details = [_details(it) for it in words.touched(review) if it.after is not None]
    picture = diagram(review)
    if picture is not None:
        details.insert(0, _folded("What exists", picture))
    return "\n\n".join([*parts, *_fitting_parts(details, sum(map(_size, parts)))]) + "\n"


def _size(text: str) -> int:
    return len(text.encode()) + 2


def _fitting_parts(details: Sequence[str], taken: int) -> Iterator[str]:
    left_out, room = 0, LONGEST - taken - _FOR_LAST_LINE
    for part in details:
        if _size(part) > room:
            left_out += 1
        else:
            room -= _size(part)
            yield part
    if left_out:
        parts = "1 folded part is" if left_out == 1 else f"{left_out} folded parts are"
        yield f"… {parts} left out, for the length of a comment; `--format html` and `json` have everything"


def _fitting_rows(rows: Iterable[str], room: int) -> Iterator[str]:
    """As many rows as there is room for; if some are left out, the last line says how many."""
    every = list(rows)
    for index, row in enumerate(every):
        room -= _size(row)
        if room < 0:
            yield f"\n… and {len(every) - index} more"
            return
        yield row


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _header(*names: str) -> tuple[str, str]:
    return _row(*names), _row(*("---" for _ in names))


def _note(said: str) -> str:
    return f"> {escaping.markdown(said)}"


# ---------------------------------------------------------------- the summary


def _table(review: Review) -> list[str]:
    found = words.touched(review)
    if not found:
        return []
    currency = words.currency_of(review)
    rows = [_endpoint_row(review, it, currency) for it in found]
    if len(review.endpoints) > 1:
        rows += [_total_row(it, currency) for it in review.totals]
    header = _header("Endpoint", "", "Instances: min-start-max", f"{currency} an hour".strip())
    return [*header, *_fitting_rows(rows, _FOR_ENDPOINTS)]


def _said(sentence: str | None) -> list[str]:
    return [] if sentence is None else [escaping.markdown(sentence)]


def _endpoint_row(review: Review, it: Reviewed, currency: str) -> str:
    before, after = (None if one is None else one.cost for one in (it.before, it.after))
    cost = words.cost_cell(before, after, currency)
    instances = escaping.markdown(words.instances_text(it))
    return _row(code(it.key), words.fate_text(review, it), instances, cost)


def _total_row(it: Total, currency: str) -> str:
    name = "**all**" if it.is_sum else "no stage" if it.stage is None else f"stage {code(it.stage)}"
    return _row(name, "", str(it.cost.instance_hours), words.cost_cell(it.before, it.cost, currency))


def _findings(review: Review) -> list[str]:
    found = words.findings_of(review)
    rows = _fitting_rows(map(_finding, found), _FOR_FINDINGS)
    return [*_header("", "Where", "What"), *rows] if found else []


def _finding(it: Finding) -> str:
    about = f"{code(words.about(it))}<br>" if it.endpoints else ""
    what = "" if it.code is None else f"**{it.code}** "
    said = escaping.markdown(words.finding_text(it))
    return _row(
        f"{_MARKS[it.severity]}<br>{it.effect}", f"{about}{code(words.place_text(it))}", f"{what}{said}"
    )


# ---------------------------------------------------------------- folded


def _folded(title: str, content: str) -> str:
    """``title`` is HTML."""
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def _quotas(review: Review) -> list[str]:
    found = words.quotas_of(review)
    if not found:
        return []
    rows = _fitting_rows(map(_quota, found), _FOR_QUOTAS)
    return [_folded("Quotas", "\n".join([*_header("Quota", "Needed", "While updating", "Where"), *rows]))]


def _quota(it: Quota) -> str:
    return _row(
        code(it.name), words.number(it.needed), words.number(it.while_updating), code(words.where(it))
    )


def _details(it: Reviewed) -> str:
    if it.after is None:
        return ""
    rows = [f"- {label}: {escaping.markdown(said)}" for label, said in words.reviewed_lines(it)]
    return _folded(html_code(it.key), "\n".join(_fitting_rows(rows, _FOR_DETAILS)))
