"""Claims that are certain have the rubric's own score; others the one to expect."""

import itertools

import numpy as np
import pytest

from onprompt import wording
from onprompt.evidence.beliefs import outcome_of
from onprompt.evidence.grading import MINOR, expect, reliability, rubric_score
from onprompt.rubrics.rate import rating, reasoning
from onprompt.settings import Settings
from onprompt.types import Check, Claim, Count, Finding, Found, Outcome, PromptEvidence, Scene, Thing

SCALE = range(5)
ONE, TWO = Count(), Count(2, 2, "two", explicit=True)


def check(kind: str, thing: int | None, probability: float, otherwise: float = 0.0, target: int | None = None) -> Check:
    found = Finding(Found.MEASURED, "something")
    claim = Claim(kind, f"{kind} {thing}", f"thing {thing}", count=TWO if kind == "count" else None)
    outcome = outcome_of(probability, otherwise)
    return Check(claim, found, outcome, probability, "test", thing, otherwise=otherwise, target=target)


def scene_of(*names: str) -> Scene:
    return Scene(" and ".join(names), tuple(Thing(f"a {name}", name) for name in names))


def score(scene: Scene, checks: list[Check], settings: Settings) -> int:
    expected = expect(scene, checks, rubric_score, SCALE, settings)
    assert expected.value == expected.score / 4, "certain claims have the rubric's score"
    assert expected.interval == (expected.value, expected.value)
    return expected.score


# The protocol's five examples.


def test_a_red_book_next_to_a_blue_cup_on_a_table(settings: Settings) -> None:
    book = [check(kind, 0, 1.0) for kind in ("object", "size", "color")]
    cup = [check(kind, 1, 1.0) for kind in ("object", "size", "color")]
    related = [check("relation", 0, 1.0, target=1), check("relation", 0, 1.0, target=2)]
    assert score(scene_of("book", "cup", "table"), [*book, *related, *cup, check("object", 2, 1.0)], settings) == 4


def test_the_ball_is_blue(settings: Settings) -> None:
    dogs = [check(kind, 0, 1.0) for kind in ("object", "count", "expression")]
    dogs += [check("relation", 0, 1.0, target=1), check("relation", 0, 1.0, target=2)]
    ball = [check("object", 1, 1.0), check("color", 1, 0.0)]
    assert score(scene_of("dog", "ball", "park"), [*dogs, *ball, check("object", 2, 1.0)], settings) == 3


def test_no_lamp_or_table(settings: Settings) -> None:
    cat = [check("object", 0, 1.0), check("action", 0, 1.0), check("relation", 0, 1.0, target=1)]
    gone = [check("object", 2, 0.0), check("relation", 2, 0.5, target=3), check("object", 3, 0.0)]
    scene = scene_of("cat", "sofa", "lamp", "table")
    # Whether a missing lamp is on a missing table costs nothing further.
    assert score(scene, [*cat, check("object", 1, 1.0), *gone], settings) == 2


def test_a_zebra_for_a_giraffe(settings: Settings) -> None:
    giraffe = [check("object", 0, 0.0, otherwise=0.2), check("size", 0, 0.0), check("action", 0, 0.0)]
    rest = [check("object", 1, 0.0), check("object", 2, 0.0)]
    assert score(scene_of("giraffe", "leaf", "tree"), [*giraffe, *rest], settings) == 1


def test_a_beach(settings: Settings) -> None:
    checks = [check("object", place, 0.0) for place in range(3)]
    assert score(scene_of("programmer", "laptop", "room"), checks, settings) == 0


# Uncertain claims.


@pytest.mark.parametrize("probability", [0.0, 0.14, 0.15, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_a_sole_object_has_the_value_of_its_probability(probability: float, settings: Settings) -> None:
    expected = expect(scene_of("cat"), [check("object", 0, probability)], rubric_score, SCALE, settings)
    assert expected.value == pytest.approx(probability)


def test_what_nothing_measures_holds_or_fails_together(settings: Settings) -> None:
    checks = [check("object", place, 0.7) for place in range(3)]
    apart = expect(scene_of("a", "b", "c"), checks, rubric_score, SCALE, settings)
    unknown = [Check(c.claim, c.finding, Outcome.UNVERIFIABLE, 0.7, "none", c.thing) for c in checks]
    together = expect(scene_of("a", "b", "c"), unknown, rubric_score, SCALE, settings)
    assert together.value == pytest.approx(0.7)
    assert together.interval == (0.0, 1.0)
    assert apart.value != pytest.approx(0.7)


def test_the_exact_mean_and_the_sampled_one_agree(settings: Settings) -> None:
    rng, scene = np.random.default_rng(1), scene_of(*(f"thing{place}" for place in range(6)))
    checks = [check(kind, place, float(rng.uniform(0.3, 0.95))) for place in range(6) for kind in ("object", "color")]
    sampled = expect(scene, checks, rubric_score, SCALE, settings).value
    truths = np.array(list(itertools.product((False, True), repeat=len(checks))))[::37]
    likely = np.array([each.probability for each in checks])
    certain = []
    for row in truths:
        told = [check(c.claim.kind, c.thing, float(holds)) for c, holds in zip(checks, row, strict=True)]
        certain.append(expect(scene, told, rubric_score, SCALE, settings).value)
    weights = np.where(truths, likely, 1 - likely).prod(axis=1)
    assert sampled == pytest.approx(np.average(certain, weights=weights), abs=0.05)


KINDS = ("count", "color", "size", "action", "relation", "text")


def random_case(rng: np.random.Generator) -> tuple[Scene, list[Check]]:
    number = int(rng.integers(1, 5))
    scene = scene_of(*(f"thing{place}" for place in range(number)))
    checks: list[Check] = []
    for place in range(number):
        checks.append(check("object", place, float(rng.beta(0.5, 0.5))))
        for kind in rng.permutation(KINDS)[: rng.integers(0, 4)].tolist():
            target = int(rng.integers(0, number)) if kind == "relation" else None
            minor = float(rng.choice([0.0, MINOR]))
            checks.append(check(kind, place, float(rng.beta(0.5, 0.5)), minor, target))
    return scene, checks


def test_score_value_words_and_interval_never_contradict_each_other(settings: Settings) -> None:
    rng = np.random.default_rng(0)
    cuts = reliability()["cuts"]
    for _ in range(1500):
        scene, checks = random_case(rng)
        expected = expect(scene, checks, rubric_score, SCALE, settings)
        assert expected.score == sum(expected.value >= cut for cut in cuts)
        assert 0 <= expected.interval[0] <= expected.interval[1] <= 1
        said = wording.summary(PromptEvidence(scene), checks, expected.score, 4, verifiable=True)
        wrong = [c for c in checks if c.outcome in (Outcome.MISSING, Outcome.MISMATCH, Outcome.PARTIAL)]
        assert said.startswith("The image matches") <= (expected.score == 4 and not wrong)
        if said.startswith("The image differs"):
            assert expected.score < 4, said
        rated = expect(scene, checks, rating, range(1, 6), settings)
        reason = reasoning(scene, checks)
        assert not (rated.score == 5 and ("Wrong:" in reason or "Missing:" in reason)), reason
        assert len(reason.split()) <= 20
