"""The website, as people see it: whole at each width of a window, and searched."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from support.site import SCRIPT, SITE, build_site

pytest.importorskip("sphinx", reason="the group `docs` is not installed")
pytestmark = pytest.mark.skipif(not SCRIPT.is_dir(), reason="`npm ci` brings what draws the diagrams")

# On both sides of each width at which the theme moves something, and those of common screens.
WIDTHS = (360, 730, 760, 1000, 1024, 1080, 1280, 1320, 1366, 1440, 1920)
PAGES = ("index", "spec", "codes", "codes/IS510", "design", "pipelines/README", "guides/language-model")
# What is asked for, and pages of which one must come first.
SEARCHES = {
    "autoscaling": ("spec.html",),
    "IS510": ("codes/IS510.html",),
    "adapter": ("guides/",),
    "kms": ("",),
}


def test_the_site_fits_each_window_and_search_leads_to_what_explains(browser: Browser) -> None:
    # A warning is what `make test-site` reports.
    build_site()
    context = browser.new_context()
    page = context.new_page()
    for name in PAGES:
        page.goto((SITE / f"{name}.html").as_uri())
        assert [*too_wide(page)] == [], name
    for words, wanted in SEARCHES.items():
        page.goto(f"{(SITE / 'search.html').as_uri()}?q={words}")
        first = page.locator("ul.search li > a").first.get_attribute("href") or ""
        found = first.removeprefix(f"{SITE.as_uri()}/")
        assert found.startswith(wanted), (words, found)
        assert found.startswith("codes") == words.startswith("IS"), (words, found)
    context.close()


def too_wide(page: Page) -> Iterator[int]:
    """Widths of a window in which a page has to be moved from side to side."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        yield from [width] * bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))
