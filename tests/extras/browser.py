"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright, and axe-core for accessibility."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: make test-extras installs it")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
AXE = Path(__file__).parents[2] / ".node" / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
SERIOUS = ("serious", "critical")
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}


@contextmanager
def opened_browser() -> Iterator[Any]:
    """Chromium, or a failure that says how to get it."""
    if not CHROMIUM:
        pytest.fail("these tests need chromium: make test-extras installs it for root, else apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One for the tests of a file."""
    with opened_browser() as chromium:
        yield chromium


class Pages:
    """Opens pages; a message on the console, an error, a dialog or a request to elsewhere is a problem."""

    def __init__(self, browser: Any, is_own: Callable[[str], bool]) -> None:
        self.browser, self.is_own = browser, is_own
        self.problems: list[str] = []
        self.contexts: list[Any] = []

    def open(self, url: str, size: str = "wide", scheme: str = "light", **options: Any) -> Any:
        """A page in a context of its own."""
        width, height = SIZES[size]
        view = {"width": width, "height": height}
        context = self.browser.new_context(viewport=view, color_scheme=scheme, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        page.on("request", lambda asked: None if self.is_own(asked.url) else self.problems.append(asked.url))
        page.goto(url)
        page.set_default_timeout(10_000)
        return page


@contextmanager
def opened_pages(browser: Any, is_own: Callable[[str], bool]) -> Iterator[Pages]:
    """Pages, on which no problem may be left in the end."""
    pages = Pages(browser, is_own)
    yield pages
    for context in pages.contexts:
        context.close()
    assert pages.problems == []


def faults(page: Any) -> list[str]:
    """What is serious on a page: what axe-core finds, and what is wider than the page.

    axe-core may load nothing there: the policy of a page forbids it.
    """
    if not AXE.is_file():
        pytest.fail("these tests need axe-core: make test-extras installs it by npm")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({preload: false, resultTypes: ['violations']}).then((result) => result.violations)")
    wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    serious = [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found if each["impact"] in SERIOUS]
    return [*serious, *(["something to scroll sideways"] if wide else [])]
