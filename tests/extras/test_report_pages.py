"""The report in a real browser, from the disk: filters by mouse and keyboard, evidence that lights up, no request."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onprompt.pages.report import read_report, write
from tests.extras.browser import faults, opened_browser
from tests.pages.stored import Stored, four_models, stored_run
from tests.pages.test_verdict_view import HOSTILE

PAGES = ("report/index.html", "report/gallery.html", "report/prompts/00001.html", "report.html")
SIZES = {"wide": (1280, 900), "narrow": (390, 800)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a hundred samples, some of them hostile, and the same in one file."""
    made = tmp_path_factory.mktemp("pages")
    odd = [Stored("hostile", HOSTILE, 0.05, HOSTILE, HOSTILE, ("odd",), HOSTILE), Stored("failed", value=None)]
    run = stored_run(made / "run.sqlite", [*four_models(25), *odd])
    (made / "pictures" / "1.png").unlink()
    write(read_report([run]), made / "report")
    write(read_report([run]), made / "report.html", 12)
    return made


@pytest.fixture
def open_page(browser: Any, folder: Path) -> Iterator[Any]:
    """Opens a page of the report; any message on the console, and any request to elsewhere, is a failure."""
    pages, problems = [], list[str]()

    def opened(name: str, size: str = "wide", scheme: str = "light", scripts: bool = True) -> Any:
        width, height = SIZES[size]
        view = {"width": width, "height": height}
        page = browser.new_page(viewport=view, color_scheme=scheme, java_script_enabled=scripts)
        pages.append(page)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url) if "://" in request.url[7:] else None)
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        target, _, anchor = name.partition("#")
        page.goto((folder / target).as_uri() + (f"#{anchor}" if anchor else ""))
        return page

    yield opened
    for page in pages:
        page.close()
    assert problems == []


def count(page: Any) -> str:
    return str(page.inner_text("#count"))


def test_filters_by_mouse(open_page: Any) -> None:
    page = open_page("report/gallery.html")
    assert count(page).startswith("102 of 102 samples")
    page.select_option("select[name=model]", "west")
    assert count(page).startswith("25 of 102")
    page.select_option("select[name=category]", "outdoors")
    page.select_option("select[name=score]", "1")
    assert count(page) == "5 of 102 samples, worst first"
    assert page.locator(".card").count() == 5
    page.click("button[type=reset]")
    page.locator("#count", has_text="102 of").wait_for()
    page.select_option("select[name=flag]", "needs_review")
    assert count(page).startswith("4 of")
    page.reload()
    assert count(page).startswith("4 of"), "the address holds the filters"
    page.select_option("select[name=flag]", "")
    page.select_option("select[name=failure]", "count")
    assert count(page).startswith("101 of"), "all but the error"
    page.select_option("select[name=failure]", "")
    page.select_option("select[name=score]", "no verdict")
    assert count(page).startswith("1 of")


def test_words_and_pages_by_keyboard(open_page: Any) -> None:
    page = open_page("report/gallery.html")
    page.focus("input[name=words]")
    page.keyboard.type("number 17 north")
    assert count(page).startswith("1 of")
    for _ in range(len("number 17 north")):
        page.keyboard.press("Backspace")
    assert count(page).startswith("102 of")
    page.focus("#pager button:has-text('Next')")
    page.keyboard.press("Enter")
    assert "page 2 of 3" in page.inner_text("#pager")
    page.keyboard.press("Enter")
    assert "page 3 of 3" in page.inner_text("#pager")
    page.focus("select[name=sort]")
    page.keyboard.press("b")  # best first
    assert count(page).endswith("best first")
    assert "north" in page.inner_text(".card >> nth=0")


def test_a_sample_opens_over_the_gallery_and_arrows_lead_on(open_page: Any) -> None:
    page = open_page("report/gallery.html#model=west")
    page.focus(".card a >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector("#viewer[open]")
    inside = page.frame_locator("#viewer iframe")
    inside.locator(".verdict:has-text('west/0')").first.wait_for()
    page.keyboard.press("ArrowRight")
    inside.locator(".verdict:has-text('west/1')").first.wait_for()
    assert page.inner_text("#viewer .place") == "2 of 25"
    inside.locator(".checks li").first.click()
    page.keyboard.press("ArrowLeft")  # while the focus is inside
    inside.locator(".verdict:has-text('west/0')").first.wait_for()
    page.keyboard.press("ArrowRight")
    page.locator("#viewer .place", has_text="2 of 25").wait_for()
    page.click("#viewer [data-close]")
    page.wait_for_selector("#viewer", state="hidden")
    assert "west" in page.evaluate("document.activeElement.textContent"), "the focus is back on the card"


def test_boxes_light_up_with_the_check_under_pointer_or_focus(open_page: Any) -> None:
    page = open_page("report/prompts/00001.html")
    card = page.locator(".verdict").nth(1)  # the picture of the first is gone
    lit = ".box.lit"
    card.locator("[data-check='3']").hover()  # the table
    assert card.locator(lit).evaluate_all("boxes => boxes.map(box => box.dataset.checks)") == ["2 3"]
    card.locator("[data-check='2']").hover()  # the cup on the table
    assert card.locator(lit).count() == 2
    page.mouse.move(0, 0)
    assert card.locator(lit).count() == 0
    card.locator("[data-check='0']").focus()
    assert card.locator(lit).count() == 1
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.check") == "2"
    card.locator(".tag").first.hover()
    assert card.locator("li.lit").count() > 0, "and checks with their box"


def test_without_scripts_everything_can_be_read(open_page: Any) -> None:
    page = open_page("report/gallery.html", scripts=False)
    assert page.locator(".card").count() == 48
    assert not page.is_visible("#filters")
    page.click("text=Next")
    assert page.locator(".card").count() == 48
    page.click(".card a >> nth=0")
    assert page.is_visible(".checks li >> nth=0")
    page.click("text=Report")
    assert page.is_visible("text=Generating models")


def test_one_file_holds_all(open_page: Any) -> None:
    page = open_page("report.html")
    assert page.locator("#results .card").count() == 12
    page.select_option("select[name=model]", "west")
    shown = page.locator("#results .card").count()
    assert 0 < shown < 12
    page.click("#results .card a >> nth=0")
    assert page.locator(".verdict:target").is_visible(), "the section of its prompt opens"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "name", ["report/index.html", "report/gallery.html", "report/prompts/00001.html", "report.html"]
)
def test_no_serious_fault_and_nothing_wider_than_the_page(open_page: Any, name: str, size: str, scheme: str) -> None:
    page = open_page(name, size, scheme)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(20, 22, 25)") == (scheme == "dark")


def test_hostile_texts_do_nothing(open_page: Any, folder: Path) -> None:
    page = open_page("report/gallery.html#sort=worst")
    assert "<script>alert(1)</script>" in page.inner_text(".card >> nth=0")
    hostile = next(path for path in (folder / "report" / "prompts").iterdir() if "alert(1)" in path.read_text())
    page = open_page(f"report/prompts/{hostile.name}")
    assert "{{ 7 * 7 }}" in page.inner_text("h1")
    assert r"\u202eevil" in page.inner_text("h1")
