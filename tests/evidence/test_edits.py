"""Edits by evidence: what was done by a script is confirmed, and what was not is not."""

from collections.abc import Callable
from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import onprompt
from onprompt.errors import PromptError
from onprompt.evidence.edits.observations import asked_for
from onprompt.types import Box, Outcome, Verdict
from onprompt.vision.change import cells_of
from tests.conftest import photo

Pixels = NDArray[np.uint8]
FACTORS = ("alignment", "completeness", "plausibility")


@cache
def box_of(name: str, label: str) -> Box:
    return onprompt.see(photo(name), [label], attributes=False)[0].box


def recolored(name: str, label: str, rgb: tuple[int, int, int]) -> Pixels:
    pixels = photo(name).copy()
    area = cells_of(box_of(name, label), pixels.shape)
    light = pixels[area].mean(axis=2, keepdims=True) / 255
    pixels[area] = (0.3 * pixels[area] + 0.7 * np.array(rgb) * (0.5 + 0.5 * light)).astype(np.uint8)
    return pixels


def erased(name: str, label: str) -> Pixels:
    pixels = photo(name)
    mask = np.zeros(pixels.shape[:2], np.uint8)
    mask[cells_of(box_of(name, label), pixels.shape)] = 255
    return np.asarray(cv2.inpaint(pixels, mask, 5, cv2.INPAINT_TELEA), dtype=np.uint8)


def pasted(name: str, other: str, label: str) -> Pixels:
    page, source = Image.fromarray(photo(name)), photo(other)
    piece = Image.fromarray(source[cells_of(box_of(other, label), source.shape)])
    piece.thumbnail((page.width // 2, page.height // 2))
    page.paste(piece, (5, page.height - piece.height - 5))
    return np.asarray(page)


def written(name: str, words: str) -> Pixels:
    page = Image.fromarray(photo(name))
    pen = ImageDraw.Draw(page)
    pen.rectangle((20, 20, page.width * 0.7, 110), fill="white")
    pen.text((35, 30), words, fill="black", font=ImageFont.load_default(64))
    return np.asarray(page)


def grey(name: str) -> Pixels:
    return np.repeat(cv2.cvtColor(photo(name), cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)


DONE: dict[str, Callable[[], Pixels]] = {
    "make the cup blue": lambda: recolored("coffee.png", "cup", (20, 60, 220)),
    "remove the cup": lambda: erased("coffee.png", "cup"),
    "add a cat": lambda: pasted("coffee.png", "chelsea.png", "cat"),
    'write "SALE" on the image': lambda: written("coffee.png", "SALE"),
    "mirror the image": lambda: photo("coffee.png")[:, ::-1].copy(),
    "make the image brighter": lambda: np.clip(photo("coffee.png") * 1.0 + 45, 0, 255).astype(np.uint8),
    "make it black and white": lambda: grey("coffee.png"),
    "apply a sepia filter": lambda: np.clip(grey("coffee.png") * np.array((1.08, 0.92, 0.68)), 0, 255).astype(np.uint8),
    "blur the image": lambda: cv2.GaussianBlur(photo("coffee.png"), (0, 0), 6).astype(np.uint8),
}


@cache
def judged(instruction: str, done: str) -> Verdict:
    return onprompt.edit(photo("coffee.png"), DONE[done](), instruction)


@pytest.mark.parametrize("instruction", DONE)
def test_what_was_done_is_confirmed(instruction: str) -> None:
    verdict = judged(instruction, instruction)
    assert verdict.checks[0].outcome is Outcome.MATCHED
    assert verdict.factors["alignment"].score >= 5
    assert verdict.factors["completeness"].score >= 5
    assert verdict.value > 0.6


@pytest.mark.parametrize("instruction", DONE)
def test_another_edit_in_its_place_has_a_lower_value(instruction: str) -> None:
    names = list(DONE)
    other = names[(names.index(instruction) + 3) % len(names)]
    verdict = judged(instruction, other)
    assert verdict.value < judged(instruction, instruction).value / 2
    assert verdict.checks[0].outcome is not Outcome.MATCHED


def test_the_wrong_colour_and_the_wrong_target_are_told() -> None:
    assert judged("make the cup green", "make the cup blue").factors["alignment"].score <= 2
    assert (
        judged("make the spoon blue", "make the cup blue").value
        < judged("make the cup blue", "make the cup blue").value
    )


def test_half_of_an_instruction_is_half_complete() -> None:
    both = judged("remove the cup and add a dog", "remove the cup")
    assert [check.outcome for check in both.checks[:2]] == [Outcome.MATCHED, Outcome.MISSING]
    assert 2 <= both.factors["completeness"].score <= 5
    assert "1 of 2" in both.factors["completeness"].reason


@pytest.mark.parametrize("instruction", DONE)
def test_an_unchanged_image_is_named_as_such(instruction: str) -> None:
    verdict = onprompt.edit(photo("coffee.png"), photo("coffee.png"), instruction)
    assert verdict.factors["alignment"].score == verdict.factors["completeness"].score == 1
    assert "unchanged" in verdict.flags
    assert "nothing was changed" in verdict.summary


def test_a_blank_image_is_broken_and_another_photo_is_another_image() -> None:
    blank = onprompt.edit(photo("coffee.png"), np.full((300, 400, 3), 200, np.uint8), "add a cat")
    assert {name: blank.factors[name].score for name in FACTORS} == dict.fromkeys(FACTORS, 1)
    assert "broken" in blank.flags
    other = onprompt.edit(photo("coffee.png"), photo("chelsea.png"), "add a cat")
    assert "another_image" in other.flags
    assert all(other.factors[name].score <= 2 for name in FACTORS)
    for name in ("alignment", "plausibility"):
        assert "another picture" in other.factors[name].reason
    assert other.measures["preservation"] == pytest.approx(0, abs=0.3)


def test_what_else_changed_is_reported() -> None:
    verdict = judged("make the image brighter", "add a cat")
    assert verdict.edit_evidence
    added = [c.after.word for c in verdict.edit_evidence.objects if c.kind == "added" and c.after]
    assert added == ["cat"]
    assert "cat added" in verdict.summary


def test_a_slight_tint_over_everything_is_a_change() -> None:
    tinted = np.clip(photo("coffee.png") * np.array([1.05, 1.0, 0.85]), 0, 255).astype(np.uint8)
    verdict = onprompt.edit(photo("coffee.png"), tinted, "make the colors warmer")
    assert "unchanged" not in verdict.flags
    assert verdict.checks[0].outcome is Outcome.MATCHED
    cooler = onprompt.edit(photo("coffee.png"), tinted, "make the colors cooler")
    assert cooler.factors["alignment"].score <= 2


def test_a_local_edit_is_no_adjustment_of_the_image() -> None:
    verdict = judged("make the cup blue", "make the cup blue")
    assert verdict.edit_evidence
    assert verdict.edit_evidence.adjustments == ()


def test_an_image_that_was_mirrored_has_no_objects_that_moved_unasked() -> None:
    mirrored = np.ascontiguousarray(photo("coffee.png")[:, ::-1])
    verdict = onprompt.edit(photo("coffee.png"), mirrored, "mirror the image")
    assert verdict.checks[0].outcome is Outcome.MATCHED
    assert "Also changed" not in verdict.summary


def test_a_copy_in_place_of_a_move_is_a_fault() -> None:
    before = pasted("coffee.png", "chelsea.png", "cat")
    after = before.copy()
    rows, columns = slice(before.shape[0] // 2, None), before.shape[1] // 2
    after[rows, -columns:] = before[rows, :columns]
    verdict = onprompt.edit(before, after, "move the cat to the right")
    assert "can now be seen twice" in verdict.factors["plausibility"].reason


def test_a_mask_that_says_nothing_is_flagged() -> None:
    for shade, flag in ((0, "mask_all_black"), (255, "mask_all_white")):
        mask = np.full((50, 50, 3), shade, np.uint8)
        verdict = onprompt.edit(photo("coffee.png"), DONE["add a cat"](), "add a cat", mask)
        assert flag in verdict.flags
        assert verdict.factors["alignment"].score >= 5


def copies(number: int, colour: tuple[float, float, float] = (1, 1, 1)) -> Pixels:
    """A photo with some cats in a row."""
    page, source = Image.fromarray(photo("coffee.png")), photo("chelsea.png")
    cat = source[cells_of(box_of("chelsea.png", "cat"), source.shape)]
    piece = Image.fromarray(np.clip(cat * np.array(colour), 0, 255).astype(np.uint8)).resize((120, 120))
    for place in range(number):
        page.paste(piece, (10 + place * 150, page.height - 130))
    return np.asarray(page)


def two_cups() -> Pixels:
    page, source = Image.fromarray(photo("chelsea.png")), photo("coffee.png")
    cup = Image.fromarray(source[cells_of(box_of("coffee.png", "cup"), source.shape)]).resize((130, 130))
    for left in (10, 155):
        page.paste(cup, (left, page.height - 140))
    return np.asarray(page)


def test_the_number_asked_for_counts() -> None:
    right, wrong = (onprompt.edit(photo("chelsea.png"), two_cups(), f"add {number} cups") for number in ("two", "nine"))
    assert [check.claim.kind for check in right.checks[:2]] == ["add", "count"]
    assert right.factors["alignment"].score >= 6
    assert wrong.factors["alignment"].score <= 4
    assert right.value > 1.2 * wrong.value
    assert "1 of 1" in right.factors["completeness"].reason
    assert "0 of 1" in wrong.factors["completeness"].reason
    assert "Expected 9 × cup, but found 2." in wrong.factors["alignment"].reason
    assert "Done differently: add nine cups (expected 9 × cup, found 2)." in wrong.summary


def test_the_color_and_the_place_asked_for_count() -> None:
    left = copies(1)
    values = {
        text: onprompt.edit(photo("coffee.png"), left, f"add a cat {text}").value
        for text in ("on the left", "on the right", "to the left of the cup", "to the right of the cup")
    }
    assert values["on the left"] > 1.2 * values["on the right"]
    assert values["to the left of the cup"] > 1.2 * values["to the right of the cup"]
    green = copies(1, (0.2, 1.2, 0.2))
    right, wrong = (onprompt.edit(photo("coffee.png"), green, f"add a {colour} cat") for colour in ("green", "purple"))
    assert right.value > 1.2 * wrong.value


def test_nothing_to_remove_is_said() -> None:
    verdict = onprompt.edit(photo("coffee.png"), DONE["make the cup blue"](), "remove the elephant")
    assert verdict.factors["alignment"].score <= 2
    assert "nothing_to_change" in verdict.flags
    assert "No elephant was detected in the original image" in verdict.factors["alignment"].reason


def test_everything_except_keeps_what_is_named() -> None:
    before = pasted("coffee.png", "chelsea.png", "cat")
    kept = onprompt.edit(before, photo("coffee.png"), "remove everything except the cup")
    lost = onprompt.edit(before, photo("coffee.png"), "remove everything except the cat")
    assert kept.value > lost.value


def test_which_one_is_meant_does_not_say_what_is_done_to_it() -> None:
    for text in ("enlarge the small cup", "make the small cup larger"):
        (edit,) = onprompt.parse_edit(text)
        assert edit.result.things[0].attributes[-1].value == "larger"
    verdicts = [
        onprompt.edit(photo("coffee.png"), larger_cup(), f"{verb} the small cup") for verb in ("enlarge", "shrink")
    ]
    assert verdicts[0].value > verdicts[1].value


def larger_cup() -> Pixels:
    page, box = Image.fromarray(photo("coffee.png")), box_of("coffee.png", "cup")
    left, top = round(box.left * page.width), round(box.top * page.height)
    piece = page.crop((left, top, round(box.right * page.width), round(box.bottom * page.height)))
    large = piece.resize((round(piece.width * 1.35), round(piece.height * 1.35)))
    page.paste(large, (left - (large.width - piece.width) // 2, top - (large.height - piece.height) // 2))
    return np.asarray(page)


def test_an_empty_instruction_is_an_error() -> None:
    with pytest.raises(PromptError, match="empty"):
        onprompt.edit(photo("coffee.png"), photo("coffee.png"), "")


@pytest.mark.parametrize(
    ("instruction", "adjustments"),
    [
        ("make the image brighter", ("brighter",)),
        ("reduce the contrast", ("less contrast",)),
        ("make it less bright", ("darker",)),
        ("make the photo less dark", ("brighter",)),
        ("reduce the saturation", ("less saturated",)),
        ("rotate the image to the left", ("turned left",)),
        ("turn the picture upside down", ("upside down", "turned by 180°")),
        ("crop the image to the left half", ("cropped",)),
        ("make the colors warmer", ("warmer",)),
        ("give the photo a cool tone", ("cooler",)),
        ("make it a dark fantasy painting", ()),
        ("make the car red", ()),
        ("blur the dog", ()),
        ("add a bright lamp", ()),
    ],
)
def test_what_is_asked_of_the_image_as_a_whole(instruction: str, adjustments: tuple[str, ...]) -> None:
    assert asked_for(onprompt.parse_edit(instruction)[0]) == adjustments
