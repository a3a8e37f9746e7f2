"""Evidence first, and a model only for what stays open."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import onprompt
from onprompt.api import judges
from onprompt.evidence.match import match
from onprompt.judges.hybrid import claim_question
from onprompt.rubrics import text
from onprompt.settings import Settings
from onprompt.types import Attribute, Outcome, Scene, Seen, Thing, Verdict
from onprompt.wording import claim_words

PROMPT = "A porcelain cup on a table and an astrolabe"


@pytest.fixture
def judged(tmp_path: Path, named_photo: Callable[[str], Path]) -> Iterator[Callable[..., Verdict]]:
    """A verdict on the photo of a cup, where the model says some words of the claims."""

    def judge(*texts: str, prompt: str = PROMPT) -> Verdict:
        lines = [{"contains": "can't be used", "text": texts[1]}] if len(texts) > 1 else []
        lines += [{"contains": "Claims:", "text": texts[0]}]
        file = tmp_path / "said.jsonl"
        file.write_text("\n".join(json.dumps(line) for line in lines))
        judges.close()  # the file was read for other settings before
        settings = Settings(judge="hybrid", model=f"replay/{file}", answers=tmp_path / "answers.sqlite")
        return onprompt.verify(named_photo("coffee.png"), prompt, settings=settings)

    yield judge
    judges.close()


def said(*words: str) -> str:
    return json.dumps({"answers": [{"claim": number, "answer": word} for number, word in enumerate(words, 1)]})


def outcomes(verdict: Verdict) -> dict[str, tuple[Outcome, str]]:
    return {f"{check.claim.kind} {claim_words(check.claim)}": (check.outcome, check.source) for check in verdict.checks}


def test_only_open_checks_are_asked_and_their_source_is_shown(judged: Callable[..., Verdict]) -> None:
    verdict = judged(said("yes", "no"))
    found = outcomes(verdict)
    assert found["material porcelain"] == (Outcome.MATCHED, "replay/said.jsonl")
    assert found["object an astrolabe"] == (Outcome.MISSING, "replay/said.jsonl")
    assert found["object a table"][1] != "replay/said.jsonl"
    assert len(verdict.answers) == 1
    assert (verdict.coverage, verdict.measures["estimated"]) == (1.0, 0.0)
    assert verdict.provenance["judge"] == "hybrid"
    assert verdict.provenance["model"] == "replay/said.jsonl"


def test_the_word_of_the_model_changes_the_score(judged: Callable[..., Verdict]) -> None:
    right, wrong = judged(said("yes", "yes")), judged(said("no", "no"))
    assert right.score == 4
    assert wrong.score is not None
    assert wrong.score < 4
    assert right.value > wrong.value


def test_can_not_tell_leaves_things_as_they_are(
    judged: Callable[..., Verdict], named_photo: Callable[[str], Path]
) -> None:
    alone = onprompt.verify(named_photo("coffee.png"), PROMPT, settings=Settings())
    left = judged(said("cannot tell", "can't tell"))
    assert outcomes(left) == outcomes(alone)
    assert (left.score, left.value) == (alone.score, alone.value)


def test_disagreement_is_a_flag(judged: Callable[..., Verdict]) -> None:
    verdict = judged(said("no", "yes"))
    assert "judges_disagree" in verdict.flags


def test_an_answer_that_can_not_be_read_is_asked_once_more(judged: Callable[..., Verdict]) -> None:
    verdict = judged("Yes to all!", said("yes", "no"))
    assert len(verdict.answers) == 2
    assert outcomes(verdict)["object an astrolabe"][0] is Outcome.MISSING


@pytest.mark.parametrize(
    "text",
    ["Yes to all!", said("yes"), said("yes", "no", "no"), said("yes", "perhaps"), "[]", '{"answers": [1, 2]}', " "],
)
def test_what_can_not_be_read_decides_nothing(judged: Callable[..., Verdict], text: str) -> None:
    verdict = judged(text)
    assert "model_unreadable" in verdict.flags
    assert all(check.source != "replay/said.jsonl" for check in verdict.checks)


def test_nothing_open_asks_nothing(judged: Callable[..., Verdict]) -> None:
    assert judged("must not be asked", prompt="a cup on a table").answers == ()


def test_it_can_rate_too(tmp_path: Path, named_photo: Callable[[str], Path]) -> None:
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps({"text": said("yes", "yes")}))
    settings = Settings(judge="hybrid", model=f"replay/{file}", answers=tmp_path / "answers.sqlite")
    assert onprompt.rate(named_photo("coffee.png"), PROMPT, settings=settings).score == 5
    judges.close()


def test_where_an_object_is_open_its_details_are_too(judged: Callable[..., Verdict]) -> None:
    prompt = "a striped astrolabe in red"
    asked = judged("?", prompt=prompt).answers
    assert asked
    found = outcomes(judged(said("yes", "yes", "cannot tell"), prompt=prompt))
    assert {outcome for outcome, _ in found.values()} <= {Outcome.MATCHED, Outcome.UNVERIFIABLE}


def test_a_refusal_is_told_apart(judged: Callable[..., Verdict]) -> None:
    verdict = judged("I'm sorry, but I can't help with that.")
    assert "model_unreadable" in verdict.flags
    assert len(verdict.provenance["rubric_sha256"]) == 64


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("action", "In the image: man run."),
        ("not action", "In the image, of the man (a man), not action: run."),
        ("color", "In the image, of the man (a man), color: run."),
    ],
)
def test_a_claim_is_asked_as_the_prompt_makes_it(kind: str, question: str) -> None:
    scene = Scene("", (Thing("a man", "man", attributes=(Attribute(kind, "run"),)),))
    (man,) = match(scene, Seen((), {}), (), Settings())
    assert claim_question(man, man.checks[1]) == question


def test_of_an_edit_the_model_is_asked_only_what_was_not_measured(
    tmp_path: Path, named_photo: Callable[[str], Path]
) -> None:
    before, file = named_photo("coffee.png"), tmp_path / "said.jsonl"
    after = np.asarray(Image.open(before).convert("RGB")).copy()
    after[40:140, 40:160] = (30, 200, 60)
    lines = [{"contains": "Edits:\n1. let the cup look antique\n\nAnswer", "text": said("yes")}]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    judges.close()
    settings = Settings(judge="hybrid", model=f"replay/{file}", answers=tmp_path / "answers.sqlite")
    verdict = onprompt.edit(before, after, "let the cup look antique and remove the table", settings=settings)
    own = onprompt.edit(before, after, "let the cup look antique and remove the table")
    antique, table = verdict.checks[:2]
    assert (antique.outcome, antique.source) == (Outcome.MATCHED, "replay/said.jsonl")
    assert table == own.checks[1]
    assert verdict.factors["completeness"].score > own.factors["completeness"].score
    assert verdict.provenance["rubric_sha256"] == hashlib.sha256(text("claims-edit-1").encode()).hexdigest()
    judges.close()
