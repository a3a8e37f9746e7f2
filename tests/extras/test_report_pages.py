"""The report in a real browser, from the disk: filters by mouse and keyboard, evidence that lights up, no request."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from onprompt.pages.report import read_report, write
from tests.extras.browser import SIZES, browser, faults, opened_pages
from tests.pages.stored import Stored, four_models, stored_run
from tests.pages.test_verdict_view import HOSTILE

__all__ = ["browser"]  # a fixture
PAGES = (
    *("report/index.html", "report/samples.html", "report/samples.html#view=matrix", "report/samples/000005.html"),
    *("report.html", "report.html#s1", "two/index.html", "two/samples/000001.html"),
)
Opened = Callable[..., Any]


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
def open_page(browser: Any, folder: Path) -> Iterator[Opened]:
    """Opens a page of the report; it loads files only."""
    with opened_pages(browser, lambda url: "://" not in url[7:]) as pages:

        def opened(name: str, *how: str, scripts: bool = True) -> Any:
            target, _, anchor = name.partition("#")
            url = (folder / target).as_uri() + (f"#{anchor}" if anchor else "")
            return pages.open(url, *how, java_script_enabled=scripts)

        yield opened


def count(page: Any) -> str:
    return str(page.inner_text("#count"))


def test_filters_by_mouse_and_words_and_pages_by_keyboard(open_page: Opened) -> None:
    page = open_page("report/samples.html")
    assert count(page).startswith("102 of 102 samples")
    page.select_option("select[name=model]", "west")
    page.select_option("select[name=category]", "outdoors")
    page.select_option("select[name=score]", "1")
    assert count(page) == "5 of 102 samples, lowest value first"
    assert page.locator(".card").count() == 5
    page.fill("input[name=words]", "nowhere")
    page.click(".undo button:has-text('Words')")  # an empty filter says what to give up
    assert count(page).startswith("5 of 102")
    page.click("button[type=reset]")
    page.locator("#count", has_text="102 of").wait_for()
    page.select_option("select[name=flag]", "needs_review")
    page.reload()
    assert count(page).startswith("4 of"), "the address holds the filters"
    page.select_option("select[name=flag]", "")
    page.select_option("select[name=score]", "no verdict")
    assert count(page).startswith("1 of")
    page.select_option("select[name=score]", "")
    page.focus("input[name=words]")
    page.keyboard.type("number 17 north")
    assert count(page).startswith("1 of")
    page.fill("input[name=words]", "")
    page.focus("#pager button:has-text('Next')")
    page.keyboard.press("Enter")
    assert "page 2 of 2" in page.inner_text("#pager")
    page.focus("select[name=sort]")
    page.keyboard.press("h")  # highest value first
    assert count(page).endswith("highest value first")
    assert "north" in page.inner_text(".card >> nth=0")


def test_arrows_lead_on_in_the_order_of_the_gallery(open_page: Opened) -> None:
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
    page = open_page("report/samples/000008.html")  # not by way of the gallery: in the order of the data
    assert page.inner_text(".steps .place") == "8 of 102"
    page.click(".same .card a >> nth=0")
    page.wait_for_url("**/samples/000006.html")


def test_the_matrix_has_a_row_for_each_prompt_and_is_ordered_by_a_model(open_page: Opened) -> None:
    page = open_page("report/samples.html#view=matrix&category=indoors")
    assert page.locator(".matrix tbody tr").count() == 13
    page.click(".matrix thead button:has-text('east')")
    assert "lowest of east first" in count(page)
    shown = page.locator(".matrix tbody td:nth-child(3) .points").all_inner_texts()
    values = [float(text.split()[-1]) for text in shown]
    assert values == sorted(values)
    page.click(".matrix tbody tr:nth-child(2) td:nth-child(3) a")
    page.wait_for_selector(".sample .verdict")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".about:has-text('north')")


def test_names_and_bars_of_the_report_lead_to_their_samples(open_page: Opened) -> None:
    page = open_page("report/index.html")
    for link, found in (("west", "25 of"), ("stated counts", "101 of"), ("needs review", "4 of"), ("indoors", "52 of")):
        page.click(f"tbody th a:has-text('{link}') >> nth=0")
        page.wait_for_selector("#count:has-text(' of ')")
        assert count(page).startswith(found), link
        page.go_back()
    bar = page.locator(".histogram a").first
    number, low, high = re.findall(r"[\d.]+", bar.get_attribute("aria-label"))
    bar.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#count:has-text('{number} of 102')")
    assert page.input_value("input[name=range]") == f"{low}-{high}"


def test_a_picture_is_zoomed_and_boxes_light_up_with_the_check_under_pointer_or_focus(open_page: Opened) -> None:
    page = open_page("report/samples/000005.html")
    before = page.locator(".sheet img").bounding_box()
    page.keyboard.press("x")
    page.wait_for_selector(".zoomed")
    assert page.locator(".sheet img").bounding_box()["width"] > 2 * before["width"]
    boxes = page.locator(".sheet svg").bounding_box()
    assert abs(boxes["width"] - page.locator(".sheet").bounding_box()["width"]) < 1, "the boxes grow with it"
    page.keyboard.press("x")
    card, lit = page.locator(".verdict"), page.locator(".verdict .box.lit")
    card.locator("[data-check='3']").hover()  # the table
    assert lit.evaluate_all("boxes => boxes.map(box => box.dataset.checks)") == ["2 3"]
    page.mouse.move(0, 0)
    assert lit.count() == 0
    card.locator("[data-check='0']").focus()
    assert lit.count() == 1
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.check") == "1"
    card.locator(".tag").first.hover()
    assert card.locator("li.lit").count() > 0, "and checks with their box"


def test_without_scripts_one_can_go_through_all(open_page: Opened) -> None:
    page = open_page("report/samples.html", scripts=False)
    assert not page.is_visible("#filters")
    page.click("text=Go through all samples")
    page.click("a[rel=next]")
    page.click("a[rel=next]")
    assert page.inner_text(".steps .place") == "3 of 102"
    page.click("nav >> text=Report")
    assert page.is_visible("h2 >> text=Models")


def test_one_file_holds_all(open_page: Opened) -> None:
    page = open_page("report.html")
    assert page.locator("#results .card").count() == 12
    page.select_option("select[name=model]", "west")
    assert 0 < page.locator("#results .card").count() < 12
    page.click("#results .card a >> nth=0")
    assert page.locator(".sample:target .verdict").is_visible()
    first = page.evaluate("location.hash")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("first => location.hash !== first", arg=first)
    assert page.locator(".sample:visible").count() == 1


@pytest.mark.parametrize(("size", "scheme"), [*((size, "light") for size in SIZES), ("wide", "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_a_serious_fault(open_page: Opened, name: str, size: str, scheme: str) -> None:
    page = open_page(name, size, scheme)
    assert faults(page) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(20, 22, 25)") == (scheme == "dark")


def test_hostile_texts_do_nothing(open_page: Opened, folder: Path) -> None:
    page = open_page("report/samples.html#sort=worst")
    assert "<script>alert(1)</script>" in page.inner_text(".card >> nth=0")
    hostile = next(path for path in (folder / "report" / "samples").iterdir() if "alert(1)" in path.read_text())
    page = open_page(f"report/samples/{hostile.name}")
    assert "{{ 7 * 7 }}" in page.inner_text("h1")
    assert r"\u202eevil" in page.inner_text("h1")
