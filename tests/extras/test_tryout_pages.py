"""The try-it page in a real browser, with the evidence judge: every rubric, stages, evidence, the same elsewhere."""

import base64
import shlex
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from onprompt.pages.serve import JobQueue, Offer, Service, create_app
from onprompt.settings import load
from tests.conftest import photo_path
from tests.extras.browser import SIZES, browser, faults, opened_pages, sync_api
from tests.extras.test_review_pages import HOSTILE
from tests.models.backends.server import Scripted
from tests.pages.conftest import serving
from tests.pages.test_serve import asking, slow, wait_for

__all__ = ["browser", "slow"]  # fixtures
Opened = Callable[..., Any]
expect = sync_api.expect
DROP = """(element, [name, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  element.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    service = Service(Offer(load()), JobQueue(1, 4))
    with serving(create_app(service), max_bytes=8_000_000) as base:
        yield base


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    photo = Image.open(photo_path("coffee.png")).convert("RGB")
    photo.save(folder / "coffee.png")
    photo.convert("L").convert("RGB").save(folder / "-grey's.png")
    (folder / "text.png").write_text("no picture at all")
    return folder


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Opened]:
    """Opens pages of the server."""
    with opened_pages(browser, lambda url: url.startswith((address, f"blob:{address}"))) as pages:

        def opened(path: str = "", *how: str) -> Any:
            return pages.open(f"/{path}", *how, base_url=address)

        opened.problems = pages.problems  # type: ignore[attr-defined]
        yield opened


def judged(page: Any, rubric: str) -> Any:
    """Press the button and wait for the verdict."""
    page.locator(f"#form-{rubric} button.main").click()
    expect(page.locator("#result-title")).to_be_focused(timeout=120_000)
    return page.locator("#result")


def test_verify_with_stages_evidence_and_the_same_elsewhere(open_page: Opened, pictures: Path) -> None:
    page = open_page()
    page.set_input_files("#form-verify [name=image]", pictures / "coffee.png")
    expect(page.locator("#form-verify .drop img")).to_be_visible()
    prompt = f"Two green cups on a table; it's $(odd) {HOSTILE}"
    page.fill("#verify-prompt", prompt)
    result = judged(page, "verify")
    stages = page.locator(".stages li").all_text_contents()
    assert {"waiting for its turn", "reading the prompt", "looking for objects", "grading"} <= set(stages)
    picture, said = page.locator("#result .seen").bounding_box(), page.locator("#result .said").bounding_box()
    assert picture["y"] == said["y"] < 400, "the verdict is beside the picture, without scrolling"
    page.click("#result details.panel summary")
    assert result.locator(".box").count() >= 1
    assert result.locator(".checks li").count() >= 3
    assert "<script>alert(1)</script>" in result.inner_text()
    result.locator(".checks li.located").first.hover()
    result.locator(".verdict.lighting .box.lit").first.wait_for()
    command = page.inner_text("#command")
    assert "\u202e" not in command
    assert command.startswith("onprompt verify --judge evidence coffee.png $'Two green cups")
    page.locator("[data-copy=command]").click()
    expect(page.locator("[data-copy=command]")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == command
    with page.expect_download() as saved:
        page.locator("[data-save]").click()
    assert saved.value.suggested_filename == "verdict.json"


def test_who_stops_takes_the_job_off_the_server(
    browser: Any, pictures: Path, slow: tuple[Service, threading.Event, Scripted]
) -> None:
    judging, _, server = slow
    with serving(create_app(judging)) as base, asking(base, "one cat"):
        wait_for(lambda: server.requests)
        page = browser.new_page()
        page.goto(base)
        page.set_input_files("#form-verify [name=image]", pictures / "coffee.png")
        page.fill("#verify-prompt", "two cats")
        page.locator("#form-verify button.main").click()
        expect(page.locator(".stages li")).to_have_text(["waiting for its turn"])
        assert judging.queue.unfinished == 2
        page.click("#forget")
        wait_for(lambda: judging.queue.unfinished == 1)
        page.close()


def test_rate_by_keyboard_alone(open_page: Opened, pictures: Path) -> None:
    page = open_page()
    page.locator("#tab-verify").focus()
    for _ in range(3):
        if page.locator("#form-rate").is_visible():
            break
        page.keyboard.press("ArrowRight")
    page.set_input_files("#form-rate [name=image]", pictures / "coffee.png")
    page.locator("#rate-prompt").focus()
    page.keyboard.type("a red cup on a table")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#result-title")).to_be_focused(timeout=120_000)
    assert page.inner_text("#result .score strong") in "12345"
    words = shlex.split(page.text_content("#command"))
    assert words == ["onprompt", "rate", "--judge", "evidence", "coffee.png", "a red cup on a table"]


def test_edit_with_two_dropped_pictures(open_page: Opened, pictures: Path) -> None:
    page = open_page()
    page.locator("#tab-edit").click()
    for file in ("coffee.png", "-grey's.png"):
        data = base64.b64encode((pictures / file).read_bytes()).decode()
        page.locator("h1").evaluate(DROP, [file, data])  # anywhere: the first picture is the one before
    page.fill("#edit-instruction", "make it black and white")
    result = judged(page, "edit")
    assert result.locator(".versions img").count() == 3, "before, after, what changed"
    assert result.locator(".factors dt").count() == 3
    result.locator("[data-overlay]").check()
    result.locator(".versions.overlaid").wait_for()
    words = shlex.split(page.text_content("#command"))
    assert words[-4:] == ["--", "coffee.png", "-grey's.png", "make it black and white"]


def test_an_example_the_history_and_a_question_that_changes(open_page: Opened) -> None:
    page = open_page()
    page.click("[data-example='coffee.png']")
    expect(page.locator("#result-title")).to_be_focused(timeout=120_000)
    assert page.inner_text("#result-title") == "Two red cups on a table, and a laptop."
    page.fill("#verify-prompt", "a spoon")
    expect(page.locator("#result .verdict")).to_have_count(0)  # it was the answer to another question
    judged(page, "verify")
    assert page.locator("#history li").count() == 2
    page.click("#history li:last-child button")
    assert page.inner_text("#result-title") == "Two red cups on a table, and a laptop."


def test_what_is_no_picture_is_said_to_be(open_page: Opened, pictures: Path) -> None:
    page = open_page()
    page.set_input_files("#form-verify [name=image]", pictures / "text.png")
    page.fill("#verify-prompt", "a cup")
    page.locator("#form-verify button.main").click()
    expect(page.locator("#problem")).to_contain_text("not an image in a supported format")
    page.set_input_files(
        "#form-verify [name=image]", {"name": "a.png", "mimeType": "image/png", "buffer": b"x" * 7_000_000}
    )
    page.locator("#form-verify button.main").click()
    expect(page.locator("#problem")).to_contain_text("larger than 8 MB")
    expect(page.locator("#progress")).to_be_hidden()
    open_page.problems.clear()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("size", "scheme"), [("wide", "dark"), *((size, "light") for size in SIZES)])
def test_no_page_has_a_serious_fault(open_page: Opened, pictures: Path, size: str, scheme: str) -> None:
    page = open_page("docs", size, scheme)
    assert faults(page) == []
    page.goto("/")
    assert faults(page) == []
    page.set_input_files("#form-verify [name=image]", pictures / "coffee.png")
    page.fill("#verify-prompt", "a cup")
    judged(page, "verify")
    assert faults(page) == []
