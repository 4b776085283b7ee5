"""The page of a review, as people see it: at the width of a desk and of a telephone, by day and by night."""

from functools import cache
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from support.reviews import CASES, all_examples, example_review

from inferstack.cli.review.html import as_html, source_url
from inferstack.review import Review

THEMES = ("light", "dark")
LOOKS = ((1440, "light"), (360, "dark"))
URL = source_url("https://git.example.com/acme/blob/main/{file}#L{line}")


def changed(title: str) -> Review:
    [case] = [it for it in CASES if it.title == title]
    return case.review()


REVIEWS = {
    "one endpoint": lambda: example_review("catalog-search"),
    "many endpoints": all_examples,
    "a replacement": lambda: changed("endpoint renamed"),
    "a refusal": lambda: changed("another instance type of what scales"),
    "no room": lambda: changed("copies that find no room"),
    "something removed": lambda: changed("a spec that is gone"),
    "something wrong": lambda: changed("a spec that is wrong"),
    "stages": lambda: changed("without VPC, key and isolation"),
}


@cache
def page_of(name: str) -> str:
    return as_html(REVIEWS[name](), URL)


# What is outside of the window, or drawn over something else in a picture.
OVERFLOWING = """() => {
  const wide = [...document.querySelectorAll('body *')].filter((it) => {
    const {left, right, width} = it.getBoundingClientRect();
    return width && !it.closest('.unseen, thead') && (left < 0 || right > innerWidth + 0.5);
  });
  const crossing = [...document.querySelectorAll('svg.instance')].filter((svg) => {
    const room = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((it) => it.getBoundingClientRect());
    return texts.some((one, at) => one.right > room.right + 1 || one.left < room.left - 1
      || texts.slice(at + 1).some((it) => it.left < one.right && one.left < it.right
        && it.top + 3 < one.bottom && one.top + 3 < it.bottom));
  });
  return [document.documentElement.scrollWidth - innerWidth,
    ...[...wide, ...crossing].map((it) => it.outerHTML.slice(0, 200))];
}"""


# All that a page can hold is looked at in both ways; what has only some of it, in turns.
LOOKED_AT = [
    (name, *look)
    for at, name in enumerate(REVIEWS)
    for look in (LOOKS if name in ("many endpoints", "something wrong") else [LOOKS[at % 2]])
]


@pytest.mark.parametrize(("name", "width", "theme"), LOOKED_AT)
def test_everybody_can_read_it(name: str, width: int, theme: str, show: Any) -> None:
    shown = show(page_of(name), width, theme)
    for opened in (False, True):
        if opened:
            shown.page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        assert shown.page.evaluate(OVERFLOWING) == [0]
    # Once everything is open, which shows what was shown before, too.
    found = Axe().run(shown.page)
    assert found.violations_count == 0, found.generate_report()
    assert shown.said == []
    assert [it for it in shown.asked_for if not it.startswith(("file:", "data:"))] == []


def test_names_have_the_whole_width_of_a_telephone(show: Any) -> None:
    page = show(page_of("many endpoints"), 360).page
    narrow = """() => [...document.querySelectorAll('.stacked tbody th')].filter(
      (it) => it.getBoundingClientRect().width < it.parentElement.getBoundingClientRect().width / 2
    ).length"""
    assert page.evaluate(narrow) == 0


def test_a_theme_is_that_of_the_reader(show: Any) -> None:
    shades = {}
    for theme in THEMES:
        color = "getComputedStyle(document.body).backgroundColor"
        shades[theme] = show(page_of("one endpoint"), theme=theme).page.evaluate(color)
    assert shades == {"light": "rgb(246, 247, 249)", "dark": "rgb(18, 22, 27)"}


def test_search_leaves_what_is_looked_for(show: Any) -> None:
    page = show(page_of("many endpoints")).page
    details, rows = page.locator("details.endpoint:visible"), page.locator("tbody tr[data-of]:visible")
    every = details.count()
    assert every == 11
    page.get_by_label("Search").fill("CHAT djl-inference")
    expect(details).to_have_count(1)
    expect(details.locator("h3")).to_have_text("travel-chat")
    assert page.locator("section:has(#endpoints) tbody tr:visible").count() == 1
    assert page.locator("section:has(#quotas) tbody tr:visible").count() == 1
    expect(page.locator("#found")).to_have_text("1 of 11 endpoints")
    page.get_by_label("Search").fill("nothing like that")
    expect(details).to_have_count(0)
    expect(rows).to_have_count(0)
    page.get_by_label("Search").fill("")
    expect(details).to_have_count(every)
    expect(page.locator("#found")).to_have_text("")


def test_only_what_has_a_problem_is_shown_on_request(show: Any) -> None:
    findings = [it for it in all_examples().findings if it.severity == "warning"]
    assert findings == []
    page = show(page_of("many endpoints")).page
    page.get_by_label("Show").select_option("warning")
    expect(page.locator("details.endpoint:visible")).to_have_count(0)
    page.get_by_label("Show").select_option("")
    page.get_by_role("button", name="Open all").click()
    expect(page.locator("details.endpoint[open]")).to_have_count(11)
    page.get_by_role("button", name="Close all").click()
    expect(page.locator("details.endpoint[open]")).to_have_count(0)


def test_a_link_to_an_endpoint_opens_it(show: Any) -> None:
    page = show(page_of("many endpoints")).page
    page.get_by_role("rowheader", name="travel-chat").get_by_role("link").click()
    expect(page.locator("details.endpoint[open] h3")).to_have_text("travel-chat")
    expect(page.locator("details.endpoint[open]")).to_be_in_viewport()


def test_without_scripts_the_page_is_whole(show: Any) -> None:
    page = show(page_of("many endpoints"), scripts=False).page
    expect(page.get_by_label("Search")).to_be_hidden()
    expect(page.locator("details.endpoint")).to_have_count(11)
    page.locator("details.endpoint > summary").last.click()
    expect(page.locator("details.endpoint[open] h3")).to_have_text("travel-chat")


def test_on_paper_everything_is_open_and_dark_on_white(show: Any) -> None:
    page = show(page_of("many endpoints"), theme="dark").page
    page.emulate_media(media="print")
    expect(page.locator("details.endpoint .blocks").last).to_be_visible()
    assert page.locator("details.endpoint .blocks").last.bounding_box()["height"] > 100
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(26, 31, 38)"
    expect(page.locator("form")).to_be_hidden()


@pytest.mark.parametrize(
    "tag", ["<script>document.title = 'hole'</script>", "<img src=x onerror=\"document.title = 'hole'\">"]
)
def test_even_through_a_hole_nothing_runs(tag: str, show: Any) -> None:
    """As if a template had forgotten to escape something."""
    shown = show(page_of("one endpoint").replace("</h1>", f"</h1>{tag}"))
    assert "hole" not in shown.page.title()
    assert "Content Security Policy" in " ".join(shown.said)
