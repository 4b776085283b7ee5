"""The review as a page: one file that loads nothing, for a browser, a telephone or paper.

Its templates escape whatever they are given (jinja2's autoescape). Should one ever fail to, the page's
content security policy lets only its own style and script run, by their hashes.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from inferstack.cli.report import product_version
from inferstack.cli.review import words
from inferstack.cli.review.html import bars, boxes
from inferstack.cli.review.html.source_links import SourceUrl, links_of
from inferstack.endpoint.alarms import Alarm, alike, sentence_of_all
from inferstack.endpoint.containers import RunningContainer, is_same_image
from inferstack.endpoint.cost import amount_text
from inferstack.endpoint.of_template import Picture
from inferstack.problems import on_one_line
from inferstack.review import Finding, Review
from inferstack.review.sums import while_updating

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

_FATES = ("removed", "moved", "replaced", "updated", "new", "not compared", "unchanged")
_OPEN_UP_TO = 3
"""With more endpoints than these, a page starts with their table, and details are opened one by one."""
_MOST_NOTES = 6
"""More than these are folded, so that they do not hide what exists."""


def as_html(review: Review, url: SourceUrl | None = None) -> str:
    """The whole page, in ASCII: it is the same in every encoding that a terminal or a file may have."""
    environment = _environment()
    assets = _assets(environment)
    page = environment.get_template("page.html.j2").render(
        **assets, **_content(review), link=links_of(review, url), review=review, product=product_version()
    )
    return page.encode("ascii", "xmlcharrefreplace").decode()


# ---------------------------------------------------------------- templates


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 - other formats do without

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("inferstack.cli.review.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "said": _said,
        "money": _money,
        "slug": _slug,
    }
    environment.globals |= {
        "words": words,
        "bars": bars,
        "boxes": boxes,
        "sentences": sentences,
        "alarms_of": alarms_of,
        "has_same": has_same,
        "while_updating": while_updating,
    }
    return environment


def _assets(environment: "jinja2.Environment") -> Mapping[str, "Markup"]:
    """The style and the script, and the policy that allows nothing but them."""
    from markupsafe import Markup  # noqa: PLC0415 - other formats do without

    loader = environment.loader
    assert loader is not None
    style, script = (loader.get_source(environment, name)[0].strip() for name in ("page.css", "page.js"))
    policy = {
        "default-src": "'none'",
        "style-src": f"'sha256-{_sha256(style)}'",
        "script-src": f"'sha256-{_sha256(script)}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    said = "; ".join(f"{name} {value}" for name, value in policy.items())
    return {"style": Markup(style), "script": Markup(script), "policy": Markup(said)}


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _shown(value: object) -> object:
    """Every value of a template: no invisible character of a spec reaches the page."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else on_one_line(value)


def _said(text: str) -> "Markup":
    """A sentence, with what is in backticks as code."""
    from markupsafe import Markup  # noqa: PLC0415 - other formats do without

    parts = on_one_line(text).split("`")
    if len(parts) % 2 == 0:
        return Markup("{}").format(on_one_line(text))
    made = [Markup("<code>{}</code>" if index % 2 else "{}").format(it) for index, it in enumerate(parts)]
    return Markup("").join(made)


def _money(amount: Decimal | int) -> str:
    return amount_text(amount) if isinstance(amount, Decimal) else f"{amount:,}"


def _slug(text: str) -> str:
    return text.replace(" ", "-")


# ---------------------------------------------------------------- what is on it


def _content(review: Review) -> dict[str, Any]:
    shown = words.findings_of(review)
    ordered = sorted(words.worst_first(review), key=lambda it: it.fate == "unchanged")
    found = {
        "serious": [it for it in shown if it.severity != "info" and it.ignored is None],
        "minor": [it for it in shown if it.severity == "info" and it.ignored is None],
        "ignored": [it for it in shown if it.ignored is not None],
    }
    errors = any(it.severity == "error" for it in found["serious"])
    return {
        **found,
        "headline": headline(review),
        "fates": _counted(review),
        "endpoints": ordered,
        "ids": {it.key: f"e{index}" for index, it in enumerate(review.endpoints)},
        "counts": {it.key: _count(shown, it.key) for it in ordered},
        "quotas": bars.largest_first(words.quotas_of(review) or review.quotas),
        "most": _most(review),
        "state": "error" if errors else "warning" if found["serious"] else "fine",
        "notes_shown": len(found["minor"]) <= _MOST_NOTES,
        "opened": len(words.touched(review)) <= _OPEN_UP_TO,
    }


def headline(review: Review) -> str:
    """What decides: whether it works, then whether something is to be weighed."""
    active = [it for it in words.findings_of(review) if it.ignored is None]
    errors, warnings = (sum(it.severity == severity for it in active) for severity in ("error", "warning"))
    if errors:
        return f"Cannot be deployed: {errors} error{'s' if errors > 1 else ''}"
    if warnings:
        return f"{warnings} warning{'s' if warnings > 1 else ''} to weigh"
    if review.endpoints and not words.touched(review):
        return "Nothing changes"
    ignored = words.ignored_in(review)
    return "No errors, no warnings" + (f" but {ignored} ignored" if ignored else "")


def _counted(review: Review) -> list[tuple[str, int]]:
    fates = [words.fate_text(review, it) for it in review.endpoints]
    return [(fate, fates.count(fate)) for fate in _FATES if fate in fates]


def _count(shown: Sequence[Finding], key: str) -> dict[str, int]:
    here = [it.severity for it in shown if it.ignored is None and key in it.endpoints]
    return {severity: here.count(severity) for severity in ("error", "warning") if severity in here}


def _most(review: Review) -> dict[str, Decimal | int]:
    """The most that an endpoint costs, by currency: all bars are drawn on one scale."""
    most: dict[str, Decimal | int] = {}
    for end in (end for it in review.endpoints for end in (it.before, it.after)):
        found = None if end is None else bars.amounts(end.cost)
        if found is not None:
            most[found.unit] = max(found.max, most.get(found.unit, 0))
    return most


def sentences(endpoint: Picture | None, field: str) -> list[str]:
    """What an endpoint says about one topic."""
    return [] if endpoint is None else [it.sentence for it in getattr(endpoint, field)]


def has_same(endpoint: Picture, container: RunningContainer) -> bool:
    """Whether an endpoint has a container with the same contents."""
    return any(
        _contents(it) == _contents(container) and is_same_image(it.image, container.image)
        for it in endpoint.containers
    )


def _contents(it: RunningContainer) -> tuple[str | None, ...]:
    """What a container is made of, beside its image."""
    return it.name, it.weights, it.digest, it.model_package, it.model


def alarms_of(endpoint: Picture | None) -> list[Alarm]:
    """The alarms; of those that are alike for several parts, the first names all."""
    those = [] if endpoint is None else alike(endpoint.alarms)
    return [replace(it[0], sentence=sentence_of_all(it)) for it in those]
