"""Answers as models write them, and what has to be read out of each; the questions, word for word."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from onprompt.errors import UnreadableAnswer, UserError
from onprompt.models.reading import read_answer
from onprompt.rubrics import edit, rate, text, verify
from onprompt.samples import make_sample
from onprompt.settings import Settings
from onprompt.types import Answer, Decoded, Part, Picture, Rubric, Sample, SentImage
from onprompt.wording import claim_words, finding_words

HERE = Path(__file__).parent
RUBRICS = {each.name: each for each in (verify.RUBRIC, rate.RUBRIC, edit.RUBRIC)}


def unseen() -> Decoded:
    """No pixels: neither asking nor reading needs a look at them."""
    raise AssertionError


PICTURE = Picture("after.png", "a" * 64, unseen)
BEFORE = Picture("before.png", "b" * 64, unseen)
SAMPLE = Sample("case-17", "make the woman's hat red", PICTURE, pictures={"before": BEFORE})
SHA256 = {
    "verify-1": "d18f92e2bd696785c04785f2f2ff532d00abe922b7078ebd753e1a37fce7de7a",
    "rate-1": "df21143e377e78d7c3a973c3cb73b7e40130bfc2009268f36e211fcc1a5fad11",
    "edit-1": "62587b18a0ff0bf67a0e0c2b31cb9d15c6be8116ae0865152eba23098b00521c",
}
LONG = 1_000_000  # characters
SHORT = 10_000  # enough for a time that grows with the square to show
SOON = 0.9  # seconds for an answer that long, on a machine with other things to do
# Fragments of answers; units, which are repeated: a pattern with two ways through a text chokes on them; and frames,
# the starts and ends between which these stand, so that readers do not turn back at the first character.
PIECES = json.loads((HERE / "pieces.json").read_text())
FRAGMENTS, UNITS, FRAMES = PIECES["fragments"], PIECES["units"], PIECES["frames"]


class Case(NamedTuple):
    """A block of a file: an answer and what has to come of it."""

    rubric: str
    name: str
    text: str
    stop: str
    expect: str
    flags: tuple[str, ...]
    checks: str

    @property
    def scores(self) -> list[int]:
        """What is to be read; nothing where the answer is unreadable."""
        return [int(each) for each in self.expect.split()] if self.expect not in UnreadableAnswer.KINDS else []


def cases(rubric: str) -> list[Case]:
    """All blocks of a rubric's file: the lines of the head, a blank line, and the text to the last character."""
    found = []
    for block in (HERE / f"{rubric}.txt").read_bytes().decode().removesuffix("\n").split("\n----\n"):
        head, _, words = block.partition("\n\n")
        given = dict(line.split(": ", 1) for line in head.split("\n"))
        assert given.keys() <= {"name", "stop", "expect", "flags", "checks"}, head
        flags, checks = tuple(given.get("flags", "").split()), given.get("checks", "")
        found.append(Case(rubric, given["name"], words, given.get("stop", "end"), given["expect"], flags, checks))
    return found


CASES = [each for rubric in RUBRICS for each in cases(rubric)]
READABLE = [each for each in CASES if each.scores]


def outcome(rubric: Rubric, words: str, stop: str = "end") -> str:
    """The scores that are read, or the kind of the complaint, which has a reason and the raw text."""
    try:
        reading = read_answer(rubric, Answer(words, stop), SAMPLE)
    except UnreadableAnswer as error:
        why = error
    else:
        assert all(score in rubric.factors[name] for name, score in reading.scores.items())
        return " ".join(str(score) for score in reading.scores.values())
    assert why.kind in UnreadableAnswer.KINDS
    assert why.text == words
    assert why.reason
    return why.kind


@pytest.mark.parametrize("rubric", RUBRICS)
def test_there_are_many_answers_and_no_two_alike(rubric: str) -> None:
    found = cases(rubric)
    assert len(found) >= 60
    assert len({each.name for each in found}) == len(found)
    assert len({(each.text, each.stop) for each in found}) == len(found)


@pytest.mark.parametrize("given", CASES, ids=lambda each: f"{each.rubric}: {each.name}")
def test_what_is_read(given: Case) -> None:
    rubric = RUBRICS[given.rubric]
    assert given.scores or given.expect in UnreadableAnswer.KINDS
    assert outcome(rubric, given.text, given.stop) == given.expect
    assert outcome(rubric, given.text.replace("\n", "\r\n"), given.stop) == given.expect, "line ends of another system"
    thought = "<think>\nI'm sorry, I can't help. (1) Reasoning: hm Score: 2 {\"score\": 3} (\n</think>\n"
    if "think" not in given.text:
        assert outcome(rubric, thought + given.text, given.stop) == given.expect
    if not given.scores:
        return
    reading = read_answer(rubric, Answer(given.text), SAMPLE)
    assert reading.flags == given.flags
    assert " | ".join(f"{claim_words(each.claim)} => {each.outcome}" for each in reading.checks) == given.checks
    assert reading.summary
    assert reading.reasons.keys() == reading.scores.keys()
    stand = {name: int(given.text[start]) for name, start in reading.starts.items()}
    assert stand == {name: reading.scores[name] for name in stand}, "where it says that a score stands, it stands"


@pytest.mark.parametrize(
    ("stop", "kind"), [("filter", "content_filter"), ("refusal", "refusal"), ("length", "truncated")]
)
def test_an_answer_that_did_not_come_to_its_end_has_no_score(stop: str, kind: str) -> None:
    assert {outcome(RUBRICS[each.rubric], each.text, stop) for each in READABLE} == {kind}


def test_steps_become_differences() -> None:
    answer = "Step 1: ['the man's hat', 'an owl']\nStep 3&4: [('the man's hat', 'a cap'), ('an owl', MISSING)]\n(2)"
    reading = read_answer(verify.RUBRIC, Answer(answer), SAMPLE)
    stated = [(claim_words(check.claim), finding_words(check)) for check in reading.checks]
    assert stated == [("the man's hat", "a cap"), ("an owl", "MISSING")]
    assert reading.summary == "The image differs from the prompt: the man's hat: a cap; an owl: MISSING."


def test_reasoning_is_kept_without_its_decoration() -> None:
    answer = "1. **Reasoning:** The cat\n   is *missing*.\n2. **Score:** 3"
    assert read_answer(rate.RUBRIC, Answer(answer), SAMPLE).summary == "The cat is *missing*."


def test_justifications_are_kept_to_the_letter() -> None:
    given = next(each for each in CASES if each.name == "digits of another script inside of a string stay")
    why = read_answer(edit.RUBRIC, Answer(given.text), SAMPLE).reasons["alignment"]
    assert "５ balloons" in why


@pytest.mark.parametrize("number", range(-3, 12))
def test_nothing_is_clipped(number: int) -> None:
    factors = ", ".join(f'"{name}": {{"score": {number}, "justification": "x"}}' for name in edit.FACTORS)
    block = f'{{"image_id": "case-17", "online_factor_results": {{{factors}}}}}'
    for rubric, words in ((verify.RUBRIC, f"({number})"), (rate.RUBRIC, f"Reasoning: a\nScore: {number}")):
        assert outcome(rubric, words) == (str(number) if number in rubric.factors["score"] else "off_scale")
    assert outcome(edit.RUBRIC, block) == (f"{number} {number} {number}" if number in range(1, 8) else "off_scale")


# ---- what no one has thought of ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rubric", RUBRICS)
def test_any_string_and_any_damaged_answer_is_read_or_complained_about(rubric: str) -> None:
    dice = random.Random(f"readers of {rubric}")  # not a secret
    texts = [each.text for each in cases(rubric) if each.text]
    for _ in range(2000):
        outcome(RUBRICS[rubric], "".join(dice.choices(FRAGMENTS, k=dice.randrange(1, 60))))
        words = dice.choice(texts)
        start = dice.randrange(len(words))
        outcome(RUBRICS[rubric], words[:start] + dice.choice(FRAGMENTS) + words[start + dice.randrange(4) :])


@pytest.mark.slow
@pytest.mark.parametrize("rubric", RUBRICS)
@pytest.mark.parametrize("frame", FRAMES, ids=repr)
def test_time_grows_with_length_and_no_faster(rubric: str, frame: tuple[str, str]) -> None:
    for unit in UNITS:
        words = frame[0] + unit * (SHORT // len(unit)) + frame[1]
        assert within(SOON / 4, RUBRICS[rubric], words), unit


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["(", "*", "Score", "Step 1", '"', "[", "{", " ", '{"a":', "Score: 4\n", "(1) a ", "1", "猫", "４"]
)
@pytest.mark.parametrize("rubric", RUBRICS)
def test_a_very_long_answer_is_read_soon(rubric: str, unit: str) -> None:
    words = (unit * LONG)[:LONG]
    assert within(SOON, RUBRICS[rubric], words)


@pytest.mark.slow
def test_a_very_long_answer_keeps_its_score() -> None:
    assert outcome(verify.RUBRIC, "The owl is there. " * 60_000 + "\n(3)") == "3"
    assert outcome(rate.RUBRIC, "Reasoning: " + "The owl is there. " * 60_000 + "\nScore: 3") == "3"
    long = json.dumps("The owl is there. " * 20_000)
    factors = ", ".join(f'"{name}": {{"score": 3, "justification": {long}}}' for name in edit.FACTORS)
    assert outcome(edit.RUBRIC, f'{{"image_id": "case-17", "online_factor_results": {{{factors}}}}}') == "3 3 3"


def within(limit: float, rubric: Rubric, words: str) -> bool:
    """Whether an answer is read in so many seconds, at the third try at the latest: others may use the machine."""

    def seconds() -> float:
        start = time.process_time()
        outcome(rubric, words)
        return time.process_time() - start

    return any(seconds() < limit for _ in range(3))


# ---- the questions -------------------------------------------------------------------------------------------------


def show(picture: Picture) -> SentImage:
    """A picture as it would be sent."""
    return SentImage(picture, 1024, "png", 100)


def spoken(parts: Sequence[Part]) -> str:
    """The texts of a question, one after the other."""
    return "".join(each for each in parts if isinstance(each, str))


@pytest.mark.parametrize("name", SHA256)
def test_the_judges_texts_are_those_that_we_were_given(name: str) -> None:
    assert hashlib.sha256(text(name).encode()).hexdigest() == SHA256[name]
    assert RUBRICS[name.removesuffix("-1")].text == text(name)


def test_questions_are_the_texts_with_the_inputs_in_their_places() -> None:
    asked = '"make the woman\'s hat red"'
    parts = verify.ask(SAMPLE, show)
    assert spoken(parts) == f"{text('verify-1')}Input Prompt: {asked}"
    assert parts[-1] == show(PICTURE)
    parts = rate.ask(SAMPLE, show)
    assert spoken(parts) == text("rate-1") + SAMPLE.prompt
    assert (spoken(parts).endswith("\nUser prompt: make the woman's hat red"), parts[0]) == (True, show(PICTURE))
    plain = spoken(rate.ask_plainly(SAMPLE, show))
    assert plain.endswith("\nUser prompt: make the woman's hat red")
    assert plain.count("User prompt:") == 1
    assert plain.startswith(text("rate-1").partition("Please explain")[0])
    head, before, between, after, rest = edit.ask(SAMPLE, show)
    assert (before, after) == (show(BEFORE), show(PICTURE))
    assert str(head).endswith("before any editing [input image]")
    assert str(between).endswith("the edit instruction [edited image]")
    assert f"[text instruction] {asked}\n" in str(rest)
    named = f"{head}{between}{rest}".replace(f" {asked}", "").removesuffix('\nimage_id: "case-17"')
    assert named == text("edit-1")


def test_an_edit_needs_the_picture_before_it() -> None:
    with pytest.raises(UserError, match="edit needs before"):
        make_sample(edit.RUBRIC, Settings(), {"after": "after.png", "instruction": "make it red"})


def test_the_schemas_know_their_scales() -> None:
    for rubric in RUBRICS.values():
        enums = re.findall(r'"enum": (\[[\d, ]+\])', rubric.schema)
        assert enums
        scales = [list(scale) for scale in rubric.factors.values()]
        assert all(json.loads(each) in scales for each in enums)
