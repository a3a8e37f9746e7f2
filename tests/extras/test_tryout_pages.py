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
from tests.extras.browser import faults, opened_browser, sync_api
from tests.extras.test_review_pages import HOSTILE, SIZES
from tests.models.backends.server import Scripted
from tests.pages.conftest import serving
from tests.pages.test_serve import asking, slow, wait_for

__all__ = ["slow"]  # a fixture
Opened = Callable[..., Any]
expect = sync_api.expect
DROP = """(element, [name, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  element.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as chromium:
        yield chromium


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
    """Opens a page; a message on the console, a dialog or a request to elsewhere is a failure."""
    problems: list[str] = []
    contexts = []

    def opened(path: str = "", size: str = "wide", scheme: str = "light") -> Any:
        width, height = SIZES[size]
        view = {"width": width, "height": height}
        context = browser.new_context(viewport=view, color_scheme=scheme, base_url=address)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda asked: None if is_own(asked.url, address) else problems.append(asked.url))
        page.goto(f"/{path}")
        return page

    opened.problems = problems  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def is_own(url: str, address: str) -> bool:
    return url.startswith((address, f"blob:{address}"))


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
    aside = result.locator(".box.aside").first  # the spoon, which no claim names
    page.mouse.move(0, 0)
    expect(aside).to_have_css("opacity", "0")
    result.locator(".canvas").hover()
    expect(aside).to_have_css("opacity", "0.8")
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


@pytest.mark.parametrize("leave", [lambda page: page.click("#forget"), lambda page: page.goto("about:blank")])
def test_who_stops_or_leaves_takes_the_job_off_the_server(
    browser: Any, pictures: Path, slow: tuple[Service, threading.Event, Scripted], leave: Callable[[Any], None]
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
        leave(page)
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
    for image in result.locator(".versions img").all():
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("each => each.naturalWidth") > 0
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


def test_pictures_of_one_name_are_told_apart_in_the_command(open_page: Opened, pictures: Path) -> None:
    page = open_page()
    page.locator("#tab-edit").click()
    for name, file in (("before", "coffee.png"), ("after", "-grey's.png")):
        data = {"name": "image.png", "mimeType": "image/png", "buffer": (pictures / file).read_bytes()}
        page.set_input_files(f"#form-edit [name={name}]", data)
    page.fill("#edit-instruction", "make it black and white")
    judged(page, "edit")
    assert shlex.split(page.text_content("#command"))[-3:-1] == ["before.png", "after.png"]


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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault(open_page: Opened, pictures: Path, size: str, scheme: str) -> None:
    page = open_page("docs", size=size, scheme=scheme)
    assert faults(page) == []
    page.goto("/")
    assert faults(page) == []
    page.set_input_files("#form-verify [name=image]", pictures / "coffee.png")
    page.fill("#verify-prompt", "a cup")
    judged(page, "verify")
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
