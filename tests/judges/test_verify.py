"""The whole line on real models and photos: a right prompt gets a 4, a wrong one the right pairs and a lower score."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onprompt import OnpromptError, Outcome, Settings, Verdict, rate, verify
from onprompt.types import PromptEvidence
from onprompt.wording import claim_words, differences, finding_words, pairs
from tests.conftest import Pixels, column, photo, row

SCENES = {
    "football": lambda: photo("football.jpg"),
    "coffee": lambda: photo("coffee.png"),
    "cat": lambda: photo("chelsea.png"),
    "two cats": lambda: row("chelsea.png", "chelsea.png"),
    "four cats": lambda: column(row("chelsea.png", "chelsea.png"), row("chelsea.png", "chelsea.png")),
    "cat, motorcycle": lambda: row("chelsea.png", "motorcycle.png"),
    "bus": lambda: photo("bus.jpg"),
    "motorcycle": lambda: photo("motorcycle.png"),
    "astronaut": lambda: photo("astronaut.png"),
}


@cache
def scene(name: str) -> Pixels:
    return SCENES[name]()


@cache
def judged(name: str, prompt: str) -> Verdict:
    return verify(scene(name), prompt)


def evidence(verdict: Verdict) -> PromptEvidence:
    assert verdict.prompt_evidence
    return verdict.prompt_evidence


RIGHT = [
    ("football", "two people and a blue ball"),
    ("football", "two people and a ball on the left"),
    ("coffee", "a red cup on a table"),
    ("coffee", "A large cup."),
    ("cat", "a brown cat"),
    ("cat", "an animal and no dog"),
    ("two cats", "two brown cats"),
    ("four cats", "four cats"),
    ("four cats", "several cats"),
    ("cat, motorcycle", "a cat to the left of a motorcycle"),
    ("bus", "several people and a bus"),
    ("bus", "four people and a bus"),
    ("motorcycle", "a large motorcycle"),
]


@pytest.mark.parametrize(("name", "prompt"), RIGHT)
def test_a_photo_that_holds_just_that_gets_a_4(name: str, prompt: str) -> None:
    verdict = judged(name, prompt)
    assert verdict.score == 4, pairs(verdict)
    assert verdict.coverage == 1


# photo, the right prompt, the wrong one, the claim that fails: kind, what was asked, outcome, a word of what was found
WRONG = [
    ("football", RIGHT[0][1], "four people and a blue ball", ("count", "4", Outcome.MISMATCH, "found 2")),
    ("football", RIGHT[0][1], "two people and a red ball", ("color", "red", Outcome.MISMATCH, "blue")),
    ("football", RIGHT[0][1], "two women and a dog", ("object", "a dog", Outcome.MISSING, "MISSING")),
    ("football", RIGHT[1][1], "two people and a ball on the right", ("position", "right", Outcome.PARTIAL, "left")),
    ("coffee", RIGHT[2][1], "a green cup on a table", ("color", "green", Outcome.MISMATCH, "red")),
    ("coffee", RIGHT[2][1], "two cups on a table", ("count", "2", Outcome.PARTIAL, "found 1")),
    ("coffee", RIGHT[2][1], "a red cup on a laptop", ("object", "a laptop", Outcome.MISSING, "MISSING")),
    ("coffee", RIGHT[3][1], "a small cup", ("size", "small", Outcome.MISMATCH, "large")),
    ("cat", RIGHT[4][1], "a blue cat", ("color", "blue", Outcome.MISMATCH, "brown")),
    ("cat", RIGHT[4][1], "a brown dog", ("object", "a brown dog", Outcome.MISMATCH, "instead")),
    ("cat", RIGHT[5][1], "an animal and no cat", ("object", "no cat", Outcome.MISMATCH, "detected (")),
    ("two cats", RIGHT[6][1], "four brown cats", ("count", "4", Outcome.MISMATCH, "found 2")),
    ("four cats", RIGHT[7][1], "two cats", ("count", "2", Outcome.MISMATCH, "found 4")),
    (
        "cat, motorcycle",
        RIGHT[9][1],
        "a cat to the right of a motorcycle",
        ("relation", "right of a motorcycle", Outcome.PARTIAL, "no ("),
    ),
    ("bus", RIGHT[11][1], "two people and a bus", ("count", "2", Outcome.MISMATCH, "found 4")),
    ("bus", RIGHT[11][1], "four people and a train", ("object", "a train", Outcome.MISMATCH, "bus instead")),
]


@pytest.mark.parametrize(("name", "right", "wrong", "claim"), WRONG)
def test_a_wrong_prompt_gets_the_pairs_right_and_a_lower_score(
    name: str, right: str, wrong: str, claim: tuple[str, str, Outcome, str]
) -> None:
    verdict = judged(name, wrong)
    kind, asked, outcome, words = claim
    claims = {
        (check.claim.kind, claim_words(check.claim), check.outcome): finding_words(check) for check in verdict.checks
    }
    assert words in claims[kind, asked, outcome]
    assert (verdict.score or 0) < (judged(name, right).score or 0)
    assert verdict.value < judged(name, right).value
    assert any(words in found for _, found in differences(verdict)), "a wrong prompt has a difference"


def test_where_nothing_differs_there_is_no_difference_and_extras_cost_nothing() -> None:
    verdict = judged("coffee", "a red cup on a table")
    assert differences(verdict) == []
    assert verdict.summary == "The image matches the prompt."
    assert [asked for asked, _ in pairs(verdict)] == ["a red cup", "a table"]
    assert {check.claim.kind for check in verdict.checks} == {"object", "count", "color", "relation"}, "not the whole"
    bus = judged("bus", "a bus")
    assert bus.score == 4
    assert [each.word for each in evidence(bus).extras].count("person") == 4
    assert bus.measures["presence"] == pytest.approx(1, abs=0.01)
    motorcycle = evidence(judged("motorcycle", "a large motorcycle"))
    assert all(each.confidence >= 0.5 for each in motorcycle.extras)
    assert any(each.confidence < 0.5 for each in motorcycle.sightings), "there are weak ones to leave out"


def test_what_no_detector_knows_is_unverifiable_not_missing() -> None:
    verdict = judged("coffee", "a red cup and a zeitgeist")
    check = next(each for each in verdict.checks if claim_words(each.claim) == "a zeitgeist")
    assert check.outcome is Outcome.UNVERIFIABLE
    assert verdict.coverage == pytest.approx(3 / 4)
    assert verdict.summary == "The image may differ from the prompt. Not checked: a zeitgeist."
    assert verdict.interval
    assert verdict.interval[1] - verdict.interval[0] > 0.5, "nobody can tell"


@pytest.mark.parametrize("prompt", ["a zeitgeist", "hope", "a dragon", "a castle", "is it what they are?"])
def test_where_nothing_can_be_checked_it_is_at_most_a_2(prompt: str) -> None:
    verdict = judged("coffee", prompt)
    assert (verdict.score or 0) <= 2
    assert verdict.coverage == 0
    assert "not_verifiable" in verdict.flags
    assert "no objects" in verdict.flags or not prompt.endswith("?")


def test_a_broader_kind_is_never_full_marks_and_one_where_several_were_meant_a_minor_point() -> None:
    verdict = judged("cat", "a siamese cat")
    assert (verdict.checks[0].outcome, verdict.score) == (Outcome.MATCHED, 3)
    assert differences(verdict) == []
    assert verdict.summary == "The image may differ from the prompt. Not checked: siamese cat (may be another cat)."
    count = next(check for check in judged("cat", "cats").checks if check.claim.kind == "count")
    assert (count.otherwise, claim_words(count.claim)) == (0.5, "2 or more")
    assert count.probability < 0.5


def test_what_must_not_be_there_is_checked() -> None:
    assert judged("cat", "a cat, not a dog").score == 4
    assert judged("cat", "There is no cat in the picture").score == 0


def test_a_major_object_weighs_more() -> None:
    plain, heavy = judged("cat", "a cat and a dog"), verify(scene("cat"), "a cat and a dog", major=["cats"])
    assert plain.measures["presence"] == pytest.approx(1 / 2, abs=0.03)
    assert heavy.measures["presence"] == pytest.approx(2 / 3, abs=0.03)
    assert heavy.value >= plain.value
    with pytest.raises(OnpromptError, match="marked as major but not in the prompt: zebra"):
        verify(scene("cat"), "a cat", major=["zebra"])


def test_another_packages_detector_needs_no_file_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onprompt.vision.detectors as folder

    weights = tmp_path / "mine.onnx"
    weights.write_bytes(b"mine")
    (tmp_path / "blind.py").write_text(
        "from onprompt.types import NameMatch, Detections\n"
        "class Blind:\n"
        f"    files = ({str(weights)!r},)\n"
        "    def see(self, picture, names):\n"
        "        return Detections((), {name.label: NameMatch((name.label,)) for name in names})\n"
        "def load(settings):\n"
        "    return Blind()\n"
    )
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    monkeypatch.setattr(folder.__spec__, "submodule_search_locations", folder.__path__)
    verdict = verify(scene("cat"), "a cat", settings=Settings(detector="blind", matcher=""))
    assert verdict.score == 0
    assert verdict.provenance["weights"]["mine.onnx"] == hashlib.sha256(b"mine").hexdigest()


def test_bad_arguments_are_clear_errors() -> None:
    arguments: list[tuple[Any, Any, dict[str, Any], str]] = [
        (scene("cat"), None, {}, "verify needs prompt"),
        (scene("cat"), "a cat", {"settings": {"detector": "coco"}}, "settings must be an onprompt.Settings"),
        (5, "a cat", {}, "can't be opened"),
        (scene("cat"), "a cat", {"major": "cat"}, "major must be a list of names"),
        (scene("cat"), "a cat", {"major": [5]}, "major must be a list of names"),
    ]
    for image, prompt, options, words in arguments:
        with pytest.raises(OnpromptError, match=words):
            verify(image, prompt, **options)


def test_vague_quantifiers_are_tolerated_and_flagged() -> None:
    verdict = judged("two cats", "some cats")
    assert verdict.score == 4
    assert judged("two cats", "many cats").score == 3
    assert "ambiguous quantifier" in verdict.flags


def test_provenance_tells_how_to_get_the_same_verdict_again() -> None:
    verdict = judged("cat", "a brown cat")
    assert verdict.provenance["weights"]["picodet.pdiparams"].startswith("e3922b2a")
    assert not any("world" in name for name in verdict.provenance["weights"])
    assert verdict.provenance["settings"]["weight_class"] == 0.5
    assert "home" not in verdict.provenance["settings"]
    url = "http://someone:secret@host/v1"
    settings = Settings(judge="evidence", model=f"openai/a@{url}", models=(f"openai/b@{url}",))
    again = verify(scene("cat"), "a brown cat", settings=settings)
    assert (again.value, again.checks) == (verdict.value, verdict.checks)
    stored = again.provenance["settings"]
    assert (stored["model"], stored["models"]) == ("openai/a", ["openai/b"]), "no address of a server"


def test_what_nothing_else_can_check_is_estimated_and_marked() -> None:
    """ "wooden" and the kitchen."""
    prompt = "a red cup on a wooden table in a kitchen"
    estimated, without = judged("coffee", prompt), verify(scene("coffee"), prompt, settings=Settings(matcher=""))
    marked = {claim_words(check.claim) for check in estimated.checks if check.source == "matcher"}
    assert {"wood", "a kitchen", prompt} <= marked, "and the image as a whole"
    assert all("not measured" in finding_words(check) for check in estimated.checks if check.source == "matcher")
    open_ones = {claim_words(check.claim) for check in without.checks if check.outcome is Outcome.UNVERIFIABLE}
    assert marked <= open_ones
    assert without.measures["estimated"] == 0
    assert "pplcnet.pdmodel" in estimated.provenance["weights"]
    assert "pplcnet.pdmodel" not in without.provenance["weights"]


@pytest.mark.parametrize("prompt", ["a cat on a sofa", "Matutinal.", "eine Katze auf dem Sofa"])
def test_an_empty_picture_shows_nothing(prompt: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (240, 320, 3), dtype=np.uint8)
    for picture in (np.full((240, 320, 3), 200, np.uint8), noise):
        verdict = verify(picture, prompt)
        assert verdict.score == 0
        assert "blank_image" in verdict.flags
        assert verdict.value < 0.1


def test_rate_is_the_same_evidence_on_another_scale() -> None:
    good, bad = rate(scene("coffee"), "a red cup on a table"), rate(scene("coffee"), "a horse in a stable")
    assert (good.rubric, good.score) == ("rate", 5)
    assert good.measures["elements"] == pytest.approx(1, abs=0.1)
    assert good.measures["relations"] == pytest.approx(1, abs=0.1)
    assert bad.score in (1, 2)
    assert "horse" in bad.summary
    assert good.provenance["rubric"] == "rate/1"
    assert good.checks == judged("coffee", "a red cup on a table").checks


def test_half_characters_and_foreign_prompts_break_nothing() -> None:
    assert verify(scene("coffee"), "a cup \udcff on a table").score is not None
    foreign = verify(scene("coffee"), "eine rote Tasse auf einem Tisch und ein kleiner Löffel")
    assert {"not English", "not_verifiable"} <= set(foreign.flags)
    assert (foreign.score or 0) <= 2
