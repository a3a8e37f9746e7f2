"""Text in pictures, read by the real reader."""

import time

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from onprompt import Outcome, verify
from onprompt.settings import Settings
from onprompt.types import Found
from onprompt.vision.image import load_picture
from onprompt.vision.ocr import MAX_ASPECT_RATIO, pad_thin_image, read_text, similarity
from onprompt.wording import differences

pytestmark = pytest.mark.models


def poster(text: str, size: int = 60) -> np.ndarray:
    image = Image.new("RGB", (640, 320), (245, 240, 225))
    pen = ImageDraw.Draw(image)
    pen.rectangle((40, 60, 600, 260), outline=(120, 30, 30), width=8)
    pen.text((90, 120), text, fill=(20, 20, 20), font=ImageFont.load_default(size))
    return np.asarray(image)


@pytest.mark.parametrize("words", ["OPEN", "Coffee 24h", "STOP here"])
def test_drawn_words_are_read_where_they_stand(words: str, settings: Settings) -> None:
    lines = read_text(load_picture(poster(words), settings), settings)
    assert similarity(words, " ".join(line.text for line in lines)) == 1
    assert all(0.1 < line.box.left < line.box.right < 0.95 for line in lines)
    assert all(line.confidence > 0.5 for line in lines)


@pytest.mark.parametrize(
    ("asked", "read", "low", "high"),
    [
        *(("Open", "OPEN", 1, 1), ("cafe", "Café 24h", 1, 1), ("cero emisiones", "ceroemisiones 100%", 1, 1)),
        *(("Hello World", "says hello, world!", 1, 1), ("open", "0pen", 0.7, 0.9), ("open", "closed", 0, 0.5)),
        *(("ell", "Hello World", 0.5, 0.79), ("stop", "the last option", 0, 0.79), ("", "open", 0, 0), ("a", "", 0, 0)),
    ],
)
def test_similarity(asked: str, read: str, low: float, high: float) -> None:
    assert low <= similarity(asked, read) <= high


def test_the_right_text_gets_a_4_and_the_wrong_text_less() -> None:
    right, wrong = verify(poster("OPEN"), '"OPEN"'), verify(poster("OPEN"), '"CLOSED"')
    assert right.score == 4
    assert wrong.score == 0
    assert [check.outcome for check in wrong.checks] == [Outcome.MISMATCH]
    assert 'found "OPEN"' in differences(wrong)[0][1]
    evidence = verify(poster("OPEN"), "a dog").evidence
    assert evidence
    assert all(sighting.source != "pp-ocr" for sighting in evidence.sightings), "read only when it is asked for"


def test_words_on_a_thing_that_nobody_knows_are_still_read() -> None:
    verdict = verify(poster("OPEN"), 'a zeitgeist that says "OPEN"')
    assert verdict.score == 4
    assert verdict.measures["presence"] == pytest.approx(1, abs=0.05)
    assert verdict.checks[0].finding.kind is Found.RECOGNISED_BY_TEXT
    wrong = verify(poster("OPEN"), 'a zeitgeist that says "CLOSED"')
    assert wrong.score in (0, 1)  # something bears text, and the wrong one
    assert differences(wrong)[0][1].endswith('text: expected CLOSED, found "OPEN"')


def test_long_texts_are_compared_quickly() -> None:
    start = time.process_time()
    similarity("the quick brown fox " * 14, "jumps over the lazy dog " * 260)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("shape", [(2, 1000), (1000, 2), (2, 2), (1280, 20)])
def test_a_thin_picture_is_read_without_filling_the_memory(shape: tuple[int, int], settings: Settings) -> None:
    assert read_text(load_picture(np.full((*shape, 3), 128, dtype=np.uint8), settings), settings) == ()
    height, width = pad_thin_image(np.zeros((*shape, 3), dtype=np.uint8)).shape[:2]
    assert max(height, width) == max(shape)
    assert max(height, width) <= MAX_ASPECT_RATIO * min(height, width) + MAX_ASPECT_RATIO
