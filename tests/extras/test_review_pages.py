"""The review in a real browser: ten verdicts by keyboard, the slider, undo, two raters, a reload in the middle."""

import csv
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from onprompt.pages.review import ReviewDesk, create_app
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs import datasets, reviews
from onprompt.runs.file import RunFile
from onprompt.runs.run import JudgeJob, run
from onprompt.settings import load
from tests.conftest import photo_path
from tests.extras.browser import SIZES, browser, faults, opened_pages, sync_api
from tests.pages.conftest import serving

__all__ = ["browser"]  # a fixture
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7*7 }} \u202etxt \x1b[2J"
PROMPTS = (
    *("A red cup on a table.", "Two green cups on a table next to a laptop.", "a spoon", "a laptop and a cup"),
    *("a cup to the left of a spoon", "three cats", f"a cup {HOSTILE}", f"a cup and {'a long story ' * 700}"),
    *("a blue table", "a wooden table with a cup of coffee"),
)
Opened = Callable[..., Any]
expect = sync_api.expect


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten verdicts on a photo, and one on an edit of it, by the evidence judge."""
    folder = tmp_path_factory.mktemp("runs")
    photo = Image.open(photo_path("coffee.png")).convert("RGB")
    photo.save(folder / "coffee.png")
    photo.convert("L").convert("RGB").save(folder / "grey.png")
    with (folder / "data.csv").open("w", newline="") as file:
        rows = [
            (HOSTILE if number == 6 else f"sample {number}", "coffee.png", text) for number, text in enumerate(PROMPTS)
        ]
        csv.writer(file).writerows([("id", "image", "prompt"), *rows])
    with (folder / "edits.csv").open("w", newline="") as file:
        row = ("one", "coffee.png", "grey.png", "make it black and white")
        csv.writer(file).writerows([("id", "before", "after", "instruction"), row])
    for name, rubric in (("data", VERIFY), ("edits", EDIT)):
        data = datasets.open_dataset(str(folder / f"{name}.csv"), rubric, {})
        assert not run(data, folder / f"{name}.sqlite", JudgeJob(rubric.name, load())).errors
    return folder


@pytest.fixture
def open_page(browser: Any, runs: Path, tmp_path: Path) -> Iterator[Opened]:
    """Opens pages on a copy of a run."""
    servers: dict[str, str] = {}
    with ExitStack() as stack:
        pages = stack.enter_context(opened_pages(browser, lambda url: url.startswith(tuple(servers.values()))))

        def opened(path: str = "", data: str = "data", size: str = "wide", scheme: str = "light") -> Any:
            if data not in servers:
                shutil.copy(runs / f"{data}.sqlite", tmp_path)
                app = create_app(ReviewDesk(tmp_path / f"{data}.sqlite"))
                servers[data] = stack.enter_context(serving(app))
            return pages.open(f"/{path}", size, scheme, base_url=servers[data])

        opened.problems = pages.problems  # type: ignore[attr-defined]
        yield opened


def ratings(folder: Path, data: str = "data") -> dict[str, dict[str, float]]:
    with RunFile(folder / f"{data}.sqlite") as file:
        return reviews.ratings(file, EDIT if data == "edits" else VERIFY)


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at(page: Any, place: int) -> None:
    expect(page.locator(".where strong")).to_have_text(str(place))
    expect(page.locator("#saving")).not_to_be_empty()  # the script is there


def saved(page: Any, words: str = "saved") -> None:
    expect(page.locator("#saving")).to_have_text(re.compile(f"^{words}"))


def test_ten_verdicts_by_keyboard(open_page: Opened, tmp_path: Path) -> None:
    page = open_page()
    page.keyboard.type("Ada")
    press(page, "Tab", "ArrowUp", "Tab", "ArrowUp", "Enter")  # all verdicts, the judge's at once
    at(page, 1)
    press(page, "?")
    assert page.locator("dialog[open]").is_visible()
    press(page, "Escape", "a")  # accepted as it is
    at(page, 2)
    page.locator(".mark", has_text="2").click()  # the mouse does it too, and the arrows still move on
    saved(page)
    press(page, "ArrowRight")
    at(page, 3)
    press(page, "c", "n", "c", "u", "u", "1", "ArrowRight")  # the first check is wrong; of the second nothing
    at(page, 4)
    press(page, "m")
    page.keyboard.type("<script>alert(1)</script>")
    press(page, "Escape", "0", "ArrowRight")
    at(page, 5)
    press(page, "ArrowLeft")
    at(page, 4)
    press(page, "ArrowRight")
    for place in range(5, 11):
        at(page, place)
        press(page, "3", "4", "Enter")
    page.get_by_text("What to do next").wait_for()
    page.keyboard.type("3")  # one key too many
    press(page, "Enter")
    page.wait_for_timeout(200)
    assert "/done" in page.url
    given = ratings(tmp_path)
    assert [given[name]["Ada"] for name in ("sample 1", "sample 2", "sample 3")] == [2.0, 1.0, 0.0]
    assert [given[name]["Ada"] for name in ("sample 4", "sample 5", HOSTILE, "sample 9")] == [4.0] * 4
    with RunFile(tmp_path / "data.sqlite") as file:
        third, fourth = (reviews.review_of(file, "verify", "Ada", number) for number in (3, 4))
        judge = file.first("SELECT score FROM verdicts WHERE sample = 1")[0]
    assert given["sample 0"]["Ada"] == judge
    assert {rater for by_rater in given.values() for rater in by_rater} == {"Ada"}, "and no 3Ada"
    assert (list(third.checks.values()), fourth.comment) == (["mismatch"], "<script>alert(1)</script>")


def test_undo_goes_back_to_what_was(open_page: Opened, tmp_path: Path) -> None:
    page = open_page("review/1?rater=Ada&queue=all")
    press(page, "1")
    saved(page)
    press(page, "3", "Enter")
    at(page, 2)
    press(page, "z")
    at(page, 1)
    saved(page, "scored")
    assert page.locator("#review [data-factor] input:checked").input_value() == "1"
    press(page, "z")
    saved(page, "not scored yet")
    expect(page.locator("#review [data-factor] input:checked")).to_have_count(0)
    press(page, "z")
    saved(page, "nothing to undo")
    assert ratings(tmp_path) == {}


def test_a_reload_in_the_middle_loses_nothing(open_page: Opened) -> None:
    page = open_page("review/2?rater=Ada&queue=all")
    press(page, "3", "c", "p", "m")
    page.keyboard.type("not yet don")
    page.reload()
    expect(page.locator("#comment")).to_have_value("not yet don")
    assert page.locator("#review [data-factor] input:checked").input_value() == "3"
    assert page.locator("[data-check='0'] [aria-pressed=true]").inner_text().startswith("◐ in part")


def test_the_slider_and_several_factors(open_page: Opened, tmp_path: Path) -> None:
    page = open_page("review/1?rater=Ada&queue=all", data="edits")
    assert not page.locator(".versions.overlaid").count()
    press(page, "]", "]")
    page.locator(".versions.overlaid").wait_for()
    assert page.eval_on_selector(".versions", "e => e.style.getPropertyValue('--split')") == "0.6"
    before, after = (page.locator(f".picture.{name} img").bounding_box() for name in ("before", "after"))
    assert before == after, "one lies over the other"
    press(page, "o")
    assert not page.locator(".versions.overlaid").count()
    press(page, "5", "6", "7")
    saved(page, "saved, scored")
    assert page.get_by_text("whether what was requested was actually done").is_visible(), "the definition of a factor"
    assert [each.input_value() for each in page.locator("#review input:checked[type=radio]").all()] == ["5", "6", "7"]
    assert ratings(tmp_path, "edits")["one"]["Ada"] == pytest.approx(1 + 6 * (4 / 6 * 5 / 6) ** (1 / 3))


def test_who_is_blind_sees_the_judge_after_the_own_score(open_page: Opened, tmp_path: Path) -> None:
    page = open_page("review/2?rater=Ada&queue=all&blind=1")
    assert page.locator(".checks, .box, .outcome").count() == 0
    assert "sample 1" not in page.content()
    press(page, "v")
    saved(page, "score it first")
    press(page, "a", "2")
    saved(page, "saved, scored")
    press(page, "v")
    page.locator(".checks").wait_for()
    saved(page, "scored")  # the script of the new page is there
    assert "judge:" in page.inner_text(".scale legend")
    assert page.locator(".mark input:not([disabled])").count() == 0
    press(page, "4", "c", "y")
    saved(page)
    assert ratings(tmp_path) == {"sample 1": {"Ada": 2.0}}
    with RunFile(tmp_path / "data.sqlite") as file:
        review = reviews.review_of(file, "verify", "Ada", 2)
    assert (review.blind, len(review.checks)) == (True, 1)


def test_enter_skips_nothing_and_scoring_can_lead_on(open_page: Opened) -> None:
    page = open_page("review/1?rater=Ada&queue=all")
    press(page, "Enter")
    saved(page, "not scored yet")
    at(page, 1)
    press(page, "s")
    at(page, 2)
    page.check("#auto")
    page.locator("#auto").blur()
    press(page, "3")
    at(page, 3)
    assert page.is_checked("#auto"), "this browser remembers it"


def test_a_count_is_answered_by_a_number_and_boxes_light_up(open_page: Opened) -> None:
    page = open_page("review/2?rater=Ada&queue=all")
    check = page.locator("[data-check]:has(input[type=number])").first
    for number, answer in (("2", "matched"), ("1", "mismatch")):
        check.locator("input[type=number]").fill(number)
        check.locator("input[type=number]").press("Tab")
        expect(check.locator("[aria-pressed=true]")).to_have_attribute("data-answer", answer)
    saved(page)
    page.locator("h1").click()
    press(page, "c")
    page.locator(".verdict.lighting .box.lit").first.wait_for()
    press(page, "b")
    assert not page.locator(".canvas svg").is_visible()


def test_hostile_text_is_text(open_page: Opened) -> None:
    page = open_page("review/7?rater=Ada&queue=all")
    assert "<script>alert(1)</script>" in page.inner_text("h1.prompt")
    assert "{{ 7*7 }} \\u202etxt \\x1b[2J" in page.inner_text("h1.prompt")
    page.fill("#comment", HOSTILE)
    saved(page)
    page.reload()
    assert page.input_value("#comment") == HOSTILE
    page.goto("/review/8?rater=Ada&queue=all")
    assert "characters" in page.inner_text("h1.prompt")


def test_what_is_not_saved_is_said_and_not_left(open_page: Opened, tmp_path: Path) -> None:
    page = open_page("review/1?rater=Ada&queue=all")
    page.route("**/review/1", lambda route: route.fulfill(status=507, body="no room on the disk"))
    page.reload()  # a page that was there before may still send its first request past the route
    press(page, "3")
    saved(page, "not saved: no room on the disk")
    press(page, "ArrowRight")
    page.wait_for_timeout(300)
    at(page, 1)
    page.unroute("**/review/1")
    page.reload()
    saved(page, "saved, scored")
    assert ratings(tmp_path) == {"sample 0": {"Ada": 3.0}}, "this tab has kept it"
    open_page.problems.clear()  # type: ignore[attr-defined]


def test_what_is_said_without_a_connection_is_sent_once_it_is_back(open_page: Opened, tmp_path: Path) -> None:
    page = open_page("review/1?rater=Ada&queue=all")
    page.route("**/review/1", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    press(page, "3")
    saved(page, "no connection: kept here, sent again until it is saved")
    assert ratings(tmp_path) == {}
    page.unroute("**/review/1")
    expect(page.locator("#saving")).to_have_text(re.compile("^saved, scored"), timeout=10_000)
    assert ratings(tmp_path) == {"sample 0": {"Ada": 3.0}}
    open_page.problems.clear()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("size", "scheme"), [("wide", "dark"), *((size, "light") for size in SIZES)])
def test_no_page_has_a_serious_fault(open_page: Opened, size: str, scheme: str) -> None:
    page = open_page("", size=size, scheme=scheme)
    assert faults(page) == []
    page.goto("/review/2?rater=Ada&queue=all")
    assert faults(page) == []
    press(page, "?")
    assert faults(page) == []
    press(page, "Escape", "2")
    saved(page)  # so that there is a table of raters
    for path in ("/", "/guidelines", "/done?rater=Ada&queue=all", "/review/3?rater=Ada&queue=all&blind=1"):
        page.goto(path)
        assert faults(page) == [], path
    assert faults(open_page("review/1?rater=Ada&queue=all", data="edits", size=size, scheme=scheme)) == []
