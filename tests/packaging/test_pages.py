"""Whatever the pages for readers point at exists: files, headings, and the commands for contributors."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|(`+)[^\n]*?\1(?!`)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ANCHOR = re.compile(r'<a id="([^"]+)">')
_MODULE = re.compile(r"python -m ((?:tools|benchmarks)\.\w+)")


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]


def links(page: Path) -> Iterator[tuple[str, str]]:
    """File and anchor of each link within the repository."""
    for target in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield file, anchor


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page, as GitHub makes them from headings."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    headings = (
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(text)
    )
    return frozenset((*headings, *_ANCHOR.findall(text)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_links_to_is_there(page: Path) -> None:
    for file, anchor in links(page):
        target = page.parent / file if file else page
        assert target.exists(), f"{file} is not there"
        assert not anchor or anchor in anchors(target), f"{file or page.name} has no heading {anchor}"


def test_pages_link_to_places_and_run_modules() -> None:
    assert any(anchor for page in PAGES for _, anchor in links(page))
    assert any(_MODULE.search(page.read_text("utf-8")) for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_modules_that_a_page_runs_are_there(page: Path) -> None:
    for module in _MODULE.findall(page.read_text("utf-8")):
        assert find_spec(module) is not None, f"there is no {module}"
