"""The documentation as a site: links lead somewhere, everything public is listed, nothing comes from another server."""

from __future__ import annotations

import functools
import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import onprompt
from tests.extras.browser import faults, opened_browser

ROOT = Path(__file__).parent.parent.parent
PAGES = ("", "grading/", "commands/", "comparison/", "reference/", "architecture/")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, str(ROOT / "docs" / "build_site.py"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as opened:
        yield opened


def test_every_document_is_a_page_and_everything_public_is_in_the_reference(site: Path) -> None:
    names = {"", *(path.stem for path in (ROOT / "docs").glob("*.md"))}
    assert [name for name in names if not (site / name / "index.html").exists()] == []
    python, settings, options = (
        (site / name / "index.html").read_text() for name in ("reference", "settings", "options")
    )
    headings = set(re.findall(r'id="onprompt\.[\w.]*?(\w+)"', python))
    assert set(onprompt.__all__) - headings == set()
    assert {"value", "interval", "MATCHED", "probability"} <= headings
    assert set(onprompt.Settings.model_fields) == set(re.findall(r"<tr>\s*<td><code>(\w+)</code></td>", settings))
    assert "--fail-under" in options


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_pages_have_no_barriers_and_ask_no_other_server(browser: Any, address: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    for name in PAGES:
        page.goto(address + name)
        page.wait_for_load_state("networkidle")
        assert faults(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert [url for url in requested if not url.startswith((address, "data:", "blob:"))] == []
    context.close()


def test_search_finds_a_page_by_keyboard(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    page.keyboard.press("Control+k")
    page.keyboard.type("random order")
    page.get_by_role("link", name=re.compile("Review|random order", re.I)).first.wait_for(timeout=10_000)
    page.close()
