"""Justifications of edits, over random outcomes: whole sentences, 15 to 30 words, none that contradicts its score."""

import random
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import onprompt
from onprompt.errors import PromptError
from onprompt.evidence.edits.claims import DONE as CARRIED_OUT
from onprompt.evidence.edits.claims import NOT_DONE, Operation, judge_operations
from onprompt.evidence.edits.grade import FAULT, JudgedEdit, factors, fault
from onprompt.evidence.edits.observations import EditObservations, observe_edit
from onprompt.language import parse_edit
from onprompt.rubrics import edit as rubric
from onprompt.settings import Settings
from onprompt.types import Check, Claim, Finding, Found, Outcome, Sample
from onprompt.vision.image import open_picture
from onprompt.wording import edits as wording
from tests.conftest import photo

INSTRUCTIONS = (
    *("add five red cups", "remove the spoon and make the cup blue", "replace the cup with a bowl", "make it winter"),
    *("move the cup to the left of the spoon", "enlarge the cup", 'write "SALE" on the table', "add two more spoons"),
    *("make the woman smile", "turn the sky into a sunset", "remove everything except the cup", "make it better"),
)
LINES = Path(__file__).with_name("nonsense.txt").read_text(encoding="utf-8").splitlines()
NONSENSE = [line for line in LINES if not line.startswith("# ")]


@cache
def versions() -> tuple[np.ndarray, np.ndarray]:
    before = np.asarray(Image.fromarray(photo("coffee.png")).resize((150, 100)))
    after = before.copy()
    after[30:60, 40:90] = 255 - after[30:60, 40:90]
    return before, after


@cache
def observed(instruction: str) -> EditObservations:
    settings = Settings()
    before, after = (open_picture(pixels, settings) for pixels in versions())
    return observe_edit(Sample("1", instruction, after, {"before": before}), settings)


@cache
def operations_of(instruction: str) -> tuple[Operation, ...]:
    return judge_operations(observed(instruction))


def random_operation(operation: Operation, dice: random.Random) -> Operation:
    odds = dice.gauss(0, 4)
    likely = 1 / (1 + np.exp(-odds))
    outcome = Outcome.MATCHED if likely >= CARRIED_OUT else Outcome.LOW_CONFIDENCE
    outcome = Outcome.MISSING if likely < NOT_DONE else outcome
    names = ("count", "color", "relation")
    details = tuple(
        Check(
            Claim(kind, "detail", "cup"), Finding(Found.MEASURED, "value"), Outcome.MATCHED, dice.random(), "boxes", 0
        )
        for kind in dice.sample(names, dice.choice([0, 0, 1, 2]))
    )
    check = replace(operation.check, outcome=outcome, probability=likely)
    known, missing = dice.random() < 0.8, "cup" if dice.random() < 0.05 else ""
    verifiable = known or dice.random() < 0.5
    odds = min(odds, -1.0) if missing else odds
    return replace(
        operation, odds=odds, check=check, details=details, known=known, verifiable=verifiable, targetless=missing
    )


def random_outcome(dice: random.Random) -> JudgedEdit:
    instruction = dice.choice(INSTRUCTIONS)
    seen = observed(instruction)
    operations = tuple(random_operation(each, dice) for each in operations_of(instruction))
    found = tuple(fault(name, dice.random()) for name in ("noisy patch", "joints", "doubled") if dice.random() < 0.2)
    redrawn = dice.gauss(0, 1.5)
    shares = factors(operations, dice.gauss(0, 2), sum(c.probability - 1 for c in found) * FAULT - redrawn, seen)
    kept = dice.random()
    rest = {"preservation": kept, "coverage": 1.0, "interval": (0.0, 1.0), "faults": found, "redrawn": redrawn}
    return JudgedEdit(seen, operations, **shares, **rest)  # type: ignore[arg-type]


def pattern(templates: Iterable[str]) -> re.Pattern[str]:
    """Any of some sentences, whatever names stand in them."""
    return re.compile(
        "|".join(re.escape(each).replace(r"\{new\}", ".+").replace(r"\{old\}", ".+") for each in templates)
    )


HOLDS = pattern([*wording.DONE.values(), "Right in detail", "Everything else is gone.", "change was made."])
FAILS = pattern(
    [
        *(*wording.NOT_DONE.values(), *wording.FAILURES.values(), *wording.FAULTS.values()),
        *(
            "change was not made.",
            "to begin with.",
            "Expected ",
            "were redrawn",
            "Not asked for",
            "Not everything else is gone.",
            "than was asked for.",
        ),
    ]
)


def said(sentence: str) -> int:
    """Whether a sentence says that something fits (1) or does not (-1)."""
    return -1 if FAILS.search(sentence) else int(bool(HOLDS.search(sentence)))


def test_no_sentence_contradicts_its_score_and_all_are_whole() -> None:
    dice, settings = random.Random(7), Settings()
    for _ in range(1700):  # three justifications each
        judged = random_outcome(dice)
        for name, factor in rubric.grade(judged, settings).factors.items():
            words = factor.reason.split()
            assert len(words) in rubric.WORDS, factor
            assert re.fullmatch(r"[A-Z0-9].*[.]", factor.reason), factor
            assert "…" not in factor.reason, factor
            signs = [said(f"{sentence}.") for sentence in re.split(r"[.] (?=[A-Z0-9])", factor.reason.rstrip("."))]
            if factor.score >= 6:
                assert -1 not in signs, (name, factor)
            elif factor.score <= 2:
                assert 1 not in signs, (name, factor)
            elif factor.score != 4 and name != "plausibility":
                first = next((sign for sign in signs if sign), 0)
                assert first * (factor.score - 4) >= 0, (name, factor)


def test_one_of_one_is_confirmed_only_with_its_number_color_and_place() -> None:
    dice, settings = random.Random(3), Settings()
    for _ in range(300):
        judged = random_outcome(dice)
        done = sum(wording.is_done(operation) for operation in judged.operations)
        reason = rubric.grade(judged, settings).factors["completeness"].reason
        if number := re.search(r"(\d) of (\d) requested", reason):
            assert (int(number[1]), int(number[2])) == (done, len(judged.operations))


@pytest.mark.parametrize("instruction", NONSENSE[::9])
def test_what_nobody_understands_or_can_check_is_not_verifiable(instruction: str) -> None:
    verdict = onprompt.edit(*versions(), instruction)
    assert "not_verifiable" in verdict.flags, verdict.edit_evidence
    assert "Not verifiable" in verdict.factors["alignment"].reason
    assert verdict.factors["alignment"].score <= 2
    assert verdict.interval == (0.0, 1.0)


def test_no_nonsense_is_read_as_something_to_check() -> None:
    seen = observed("make it better")
    settings = Settings()
    assert len(NONSENSE) >= 200
    for instruction in NONSENSE:
        try:
            edits = parse_edit(instruction, settings)
        except PromptError:
            continue
        operations = judge_operations(replace(seen, edits=edits))
        assert not any(operation.verifiable for operation in operations), (instruction, edits)
