"""Attributes, relations and crowds as checks: what is true, what is false, and what can't be told."""

from dataclasses import replace

import numpy as np
import pytest

from onprompt.evidence.attributes import measure
from onprompt.evidence.match import match
from onprompt.settings import Settings
from onprompt.types import (
    Attribute,
    Box,
    Check,
    Count,
    Found,
    Known,
    Outcome,
    Relation,
    Scene,
    Seen,
    Sighting,
    Swatch,
    Thing,
    Trait,
)

JOINTS = (("nose", (0.5, 0.2)),)
MASK = np.ones((4, 4), dtype=bool)
RED = Swatch("red", (200, 0, 0), (42.0, 66.0, 56.0), 0.9)


def at(label: str, box: Box, confidence: float = 0.9) -> Sighting:
    return Sighting(label, label, box, confidence, "test", size="small", position="left")


MAN = replace(at("man", Box(0.4, 0.2, 0.6, 0.8)), joints=JOINTS, mask=MASK)


def told(kind: str, value: str, confidence: float) -> Sighting:
    return replace(MAN, traits=(Trait(kind, value, confidence),))


@pytest.mark.parametrize(
    ("asked", "sighting", "score", "confidence"),
    [
        (Attribute("action", "sit"), told("action", "sitting", 0.8), 1, 0.8),
        (Attribute("action", "stand"), told("action", "sitting", 0.8), 0, 0.8),
        (Attribute("action", "walk"), told("action", "sitting", 0.8), 0.5, 0.3),  # one may sit in a picture of a walk
        (Attribute("expression", "happy"), told("expression", "smiling", 0.8), 1, 0.8),
        (Attribute("expression", "smiling"), told("expression", "not smiling", 0.7), 0, 0.7),
        (Attribute("expression", "sad"), told("expression", "smiling", 0.8), 0, 0.8),
        (Attribute("action", "laugh"), told("expression", "smiling", 0.8), 1, 0.8),
        (Attribute("shape", "round"), told("shape", "round", 0.9), 1, 0.9),
        (Attribute("shape", "round"), told("shape", "square", 0.9), 0.5, 0.3),
        (Attribute("color", "colorful"), told("pattern", "multicolored", 0.6), 1, 0.6),
        (Attribute("color", "red"), replace(MAN, colours=(RED,)), 1, 0.95),
        (Attribute("color", "blue"), replace(MAN, colours=(RED,)), 0, 0.95),
        (Attribute("size", "small"), told("size", "small", 0.6), 1, 0.6),
    ],
)
def test_what_was_measured(
    asked: Attribute, sighting: Sighting, score: float, confidence: float, settings: Settings
) -> None:
    found = measure(asked, sighting, settings)
    assert found is not None
    assert found.score == score
    assert found.confidence == pytest.approx(confidence, abs=0.02)


@pytest.mark.parametrize(
    ("asked", "sighting"),
    [
        (Attribute("action", "sit"), replace(MAN, joints=())),
        (Attribute("action", "juggle"), MAN),
        (Attribute("shape", "round"), replace(MAN, mask=None)),
        (Attribute("shape", "wobbly"), MAN),
        (Attribute("color", "red"), replace(MAN, mask=None)),
        (Attribute("color", "colorful"), replace(MAN, mask=None)),
        (Attribute("material", "wood"), MAN),
        (Attribute("expression", "smiling"), MAN),
        (Attribute("expression", "sad"), told("expression", "not smiling", 0.8)),  # one may be bored
        (Attribute("expression", "curious"), told("expression", "smiling", 0.8)),
    ],
)
def test_what_nobody_looked_at_is_no_finding(asked: Attribute, sighting: Sighting, settings: Settings) -> None:
    assert measure(asked, sighting, settings) is None


def relation(name: str, *targets: Sighting, asked: int | None = None, settings: Settings) -> Check:
    """The check of "a man NAME a … and a …": the first relation."""
    number = asked or len(targets)
    things = [Thing("a man", "man", relations=tuple(Relation(name, k + 1) for k in range(number)))]
    things += [Thing(f"a thing {k}", f"thing {k}") for k in range(number)]
    seen = [MAN, *(replace(each, label=f"thing {k}") for k, each in enumerate(targets))]
    known = {thing.canonical: Known((thing.canonical,)) for thing in things}
    matches = match(Scene("", tuple(things)), Seen(tuple(seen), known), (), settings)
    return next(check for check in matches[0].checks if check.claim.kind == "relation")


LEFT, RIGHT = at("x", Box(0.0, 0.2, 0.2, 0.8)), at("x", Box(0.8, 0.2, 1.0, 0.8))


def test_between_two(settings: Settings) -> None:
    assert relation("between", LEFT, RIGHT, settings=settings).outcome is Outcome.MATCHED
    assert relation("between", LEFT, LEFT, settings=settings).outcome is not Outcome.MATCHED


def test_between_one_and_nothing_is_charged_as_a_missing_object_alone(settings: Settings) -> None:
    assert relation("between", LEFT, asked=2, settings=settings).outcome is Outcome.UNVERIFIABLE
    assert relation("between", LEFT, settings=settings).outcome is Outcome.MISMATCH


@pytest.mark.parametrize(
    ("box", "outcome"),
    [
        (Box(0.3, 0.2, 0.8, 0.7), Outcome.MATCHED),  # around him
        (Box(0.5, 0.5, 0.7, 0.95), Outcome.PARTIAL),  # before him: a swapped place is a minor mismatch
        (Box(0.5, 0.5, 0.7, 0.8), Outcome.UNVERIFIABLE),
    ],
)
def test_depth_is_settled_where_boxes_overlap(box: Box, outcome: Outcome, settings: Settings) -> None:
    assert relation("in front of", at("x", box), settings=settings).outcome is outcome


def test_holding_without_joints_can_not_be_told(settings: Settings) -> None:
    check = relation("holding", at("x", Box(0.45, 0.5, 0.55, 0.6)), settings=settings)
    assert (check.outcome, check.finding.kind) == (Outcome.UNVERIFIABLE, Found.UNDECIDABLE)


def sheep(number: int) -> list[Sighting]:
    return [at("sheep", Box(k * 0.05, 0.5, k * 0.05 + 0.04, 0.6)) for k in range(number)]


@pytest.mark.parametrize(
    ("asked", "outcome"), [(12, Outcome.MATCHED), (15, Outcome.LOW_CONFIDENCE), (40, Outcome.MISMATCH)]
)
def test_of_a_crowd_a_number_within_the_range_is_left_open(asked: int, outcome: Outcome, settings: Settings) -> None:
    crowd = replace(at("sheep", Box(0, 0.5, 0.6, 0.6), 0.25), count=(12, 18))
    thing = Thing("sheep", "sheep", Count(asked, asked, "many", explicit=True))
    seen = Seen((*sheep(12), crowd), {"sheep": Known(("sheep",))})
    count = match(Scene("", (thing,)), seen, (), settings)[0].checks[1]
    assert count.outcome is outcome
