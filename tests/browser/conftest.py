"""The Chromium of this machine, and pages of reviews in it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The program: `CHROMIUM`, or the one that is installed."""
    asked = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, (asked,) if asked else _NAMES)), None)
    if found is None:
        missing = "there is no Chromium: `apt-get install chromium`, or name one in CHROMIUM"
        (pytest.fail if os.environ.get("BROWSER_REQUIRED") else pytest.skip)(missing)
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        yield browser
        browser.close()


class Shown:
    """A page that is open, and what its console said."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked_for: list[str] = []
        page.on("console", lambda it: self.said.append(it.text))
        page.on("pageerror", lambda it: self.said.append(str(it)))
        page.on("request", lambda it: self.asked_for.append(it.url))


Show = Callable[..., Shown]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Shows a page: its HTML, the width of the window, the theme, and whether scripts run."""
    contexts = []

    def shown(html: str, width: int = 1440, theme: str = "light", *, scripts: bool = True) -> Shown:
        file = tmp_path / "page.html"
        file.write_text(html, "utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
            java_script_enabled=scripts,
        )
        contexts.append(context)
        found = Shown(context.new_page())
        found.page.goto(file.as_uri())
        return found

    yield shown
    for it in contexts:
        it.close()
