"""The report in a real browser, from the disk: filters by mouse and keyboard, evidence that lights up, no request."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onprompt.pages.report import read_report, write
from tests.extras.browser import faults, opened_browser
from tests.pages.stored import Stored, four_models, stored_run
from tests.pages.test_verdict_view import HOSTILE

PAGES = (
    *("report/index.html", "report/samples.html", "report/samples.html#view=matrix", "report/samples/000005.html"),
    *("report.html", "report.html#s1", "two/index.html", "two/samples/000001.html"),
)
SIZES = {"wide": (1440, 900), "narrow": (390, 800)}


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
    other = stored_run(made / "other" / "other.sqlite", four_models(3), detector="coco")
    write(read_report([run, other]), made / "two")
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
    page = open_page("report/samples.html")
    assert count(page).startswith("102 of 102 samples")
    page.select_option("select[name=model]", "west")
    assert count(page).startswith("25 of 102")
    page.select_option("select[name=category]", "outdoors")
    page.select_option("select[name=score]", "1")
    assert count(page) == "5 of 102 samples, lowest value first"
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
    page = open_page("report/samples.html")
    page.focus("input[name=words]")
    page.keyboard.type("number 17 north")
    assert count(page).startswith("1 of")
    for _ in range(len("number 17 north")):
        page.keyboard.press("Backspace")
    assert count(page).startswith("102 of")
    page.focus("#pager button:has-text('Next')")
    page.keyboard.press("Enter")
    assert "page 2 of 2" in page.inner_text("#pager")
    page.focus("select[name=sort]")
    page.keyboard.press("h")  # highest value first
    assert count(page).endswith("highest value first")
    assert "north" in page.inner_text(".card >> nth=0")


def test_a_sample_has_a_page_and_arrows_lead_on_in_the_order_of_the_gallery(open_page: Any) -> None:
    page = open_page("report/samples.html#model=west")
    page.focus(".card a >> nth=1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/samples/000008.html")
    assert page.inner_text(".steps .place") == "2 of 25"
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/samples/000012.html")
    page.locator(".checks li.located").first.focus()
    page.keyboard.press("ArrowLeft")  # while the focus is on a claim
    page.wait_for_url("**/samples/000008.html")
    page.go_back()
    page.go_back()
    page.go_back()
    page.wait_for_url("**/samples.html#model=west")
    assert count(page).startswith("25 of")
    page = open_page("report/samples/000008.html")  # not by way of the gallery: in the order of the data
    assert page.inner_text(".steps .place") == "8 of 102"
    page.click(".same .card a >> nth=0")
    page.wait_for_url("**/samples/000006.html")


def test_the_matrix_has_a_row_for_each_prompt_and_is_ordered_by_a_model(open_page: Any) -> None:
    page = open_page("report/samples.html#view=matrix&category=indoors")
    assert page.locator(".matrix tbody tr").count() == 13
    page.click(".matrix thead button:has-text('east')")
    assert "lowest of east first" in count(page)
    values = [
        float(text.split()[-1]) for text in page.locator(".matrix tbody td:nth-child(3) .points").all_inner_texts()
    ]
    assert values == sorted(values)
    page.click(".matrix tbody tr:nth-child(2) td:nth-child(3) a")
    page.wait_for_selector(".sample .verdict")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".about:has-text('north')")


def test_an_empty_filter_says_what_to_remove(open_page: Any) -> None:
    page = open_page("report/samples.html#model=west&words=number+17")
    assert count(page).startswith("1 of")
    page.select_option("select[name=category]", "indoors")
    assert page.locator(".undo button").count() == 3
    page.click(".undo button:has-text('Category')")
    assert count(page).startswith("1 of")


def test_names_and_bars_of_the_report_lead_to_their_samples(open_page: Any) -> None:
    page = open_page("report/index.html")
    for link, found in (("west", "25 of"), ("stated counts", "101 of"), ("needs review", "4 of"), ("indoors", "52 of")):
        page.click(f"tbody th a:has-text('{link}') >> nth=0")
        page.wait_for_selector("#count:has-text(' of ')")
        assert count(page).startswith(found), link
        page.go_back()


def test_a_bar_of_the_histogram_leads_to_its_samples(open_page: Any) -> None:
    page = open_page("report/index.html")
    bar = page.locator(".histogram a").first
    number, low, high = re.findall(r"[\d.]+", bar.get_attribute("aria-label"))
    bar.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#count:has-text('{number} of 102')")
    assert page.input_value("input[name=range]") == f"{low}-{high}"


def test_the_picture_is_zoomed_around_the_point_that_is_clicked(open_page: Any) -> None:
    page = open_page("report/samples/000005.html")
    before = page.locator(".sheet img").bounding_box()
    page.keyboard.press("x")
    page.wait_for_selector(".zoomed")
    assert page.locator(".sheet img").bounding_box()["width"] > 2 * before["width"]
    boxes = page.locator(".sheet svg").bounding_box()
    assert abs(boxes["width"] - page.locator(".sheet").bounding_box()["width"]) < 1, "the boxes grow with it"
    page.keyboard.press("x")
    assert page.locator(".sheet img").bounding_box() == before


def test_the_links_to_the_sections_stay_in_view(open_page: Any) -> None:
    page = open_page("report/index.html")
    page.click(".sections a:has-text('Reproduce')")
    assert page.locator("#again").bounding_box()["y"] > page.locator(".sections").bounding_box()["y"] >= 0


def test_a_print_has_all_pictures(open_page: Any, tmp_path: Path) -> None:
    page = open_page("report/index.html")
    page.pdf(path=tmp_path / "report.pdf")
    loaded = page.locator(".cards img").evaluate_all(
        "images => images.map(each => each.complete && each.naturalWidth > 0)"
    )
    assert loaded
    assert all(loaded)
    assert (tmp_path / "report.pdf").stat().st_size > 20_000


def test_boxes_light_up_with_the_check_under_pointer_or_focus(open_page: Any) -> None:
    page = open_page("report/samples/000005.html")
    card = page.locator(".verdict")
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


def test_without_scripts_one_can_go_through_all(open_page: Any) -> None:
    page = open_page("report/samples.html", scripts=False)
    assert not page.is_visible("#filters")
    page.click("text=Go through all samples")
    assert page.is_visible("text=no picture: its file is no longer there") or page.is_visible(".checks li >> nth=0")
    page.click("a[rel=next]")
    page.click("a[rel=next]")
    assert page.inner_text(".steps .place") == "3 of 102"
    page.click("nav >> text=Report")
    assert page.is_visible("h2 >> text=Models")


def test_one_file_holds_all(open_page: Any) -> None:
    page = open_page("report.html")
    assert page.locator("#results .card").count() == 12
    page.select_option("select[name=model]", "west")
    shown = page.locator("#results .card").count()
    assert 0 < shown < 12
    page.click("#results .card a >> nth=0")
    assert page.locator(".sample:target .verdict").is_visible()
    first = page.evaluate("location.hash")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("first => location.hash !== first", arg=first)
    assert page.locator(".sample:visible").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_no_serious_fault_and_nothing_wider_than_the_page(open_page: Any, name: str, size: str, scheme: str) -> None:
    page = open_page(name, size, scheme)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(20, 22, 25)") == (scheme == "dark")


def test_hostile_texts_do_nothing(open_page: Any, folder: Path) -> None:
    page = open_page("report/samples.html#sort=worst")
    assert "<script>alert(1)</script>" in page.inner_text(".card >> nth=0")
    hostile = next(path for path in (folder / "report" / "samples").iterdir() if "alert(1)" in path.read_text())
    page = open_page(f"report/samples/{hostile.name}")
    assert "{{ 7 * 7 }}" in page.inner_text("h1")
    assert r"\u202eevil" in page.inner_text("h1")
