"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright, and axe-core for accessibility."""

import os
import shutil
from collections.abc import Iterator
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


@contextmanager
def opened_browser() -> Iterator[Any]:
    """Chromium, or a failure that says how to get it."""
    if not CHROMIUM:
        pytest.fail("these tests need chromium: make test-extras installs it for root, else apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


def faults(page: Any) -> list[str]:
    """What axe-core finds on a page that is serious. It may load nothing there: the policy of a page forbids it."""
    if not AXE.is_file():
        pytest.fail("these tests need axe-core: make test-extras installs it by npm")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({preload: false, resultTypes: ['violations']}).then((result) => result.violations)")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found if each["impact"] in SERIOUS]
