"""A verdict read back from JSON is the same verdict: whatever it holds, of all rubrics and judges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import onprompt
from onprompt import plugins, serial
from onprompt.api import judges
from onprompt.errors import UserError
from onprompt.settings import Settings
from onprompt.types import Decoded, FactorScore, Picture, Sample, Verdict


def unseen() -> Decoded:
    raise AssertionError


def read_back(verdict: Verdict) -> Verdict:
    return serial.load(json.loads(json.dumps(serial.dump(verdict))))


FACTORS = {name: {"score": 5, "justification": "word " * 20} for name in ("alignment", "completeness", "plausibility")}
ANSWERS = {
    "verify": 'Step 1: ["a cup", "a dog"]\nStep 3&4: [("a dog", MISSING)]\n(3)',
    "rate": "Reasoning: The dog is missing.\nScore: 3",
    "edit": json.dumps({"image_id": "coffee.png", "online_factor_results": FACTORS}),
}


@pytest.mark.parametrize("rubric", sorted(ANSWERS))
@pytest.mark.parametrize("judge", ["claims", "evidence", "jury", "vlm"])
def test_verdicts_of_every_rubric_and_judge(
    rubric: str, judge: str, tmp_path: Path, named_photo: Callable[[str], Path]
) -> None:
    loaded = plugins.load("rubrics", rubric).RUBRIC
    lines = [{"contains": "cannot tell", "text": json.dumps({"1": "no"})}, {"text": ANSWERS[rubric]}]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    model = "" if judge == "evidence" else f"replay/{file}"
    settings = Settings(judge=judge, model=model, measured=judge == "claims", answers=tmp_path / "answers.sqlite")
    inputs = {name: named_photo("coffee.png") for name in loaded.required}
    item = {**inputs, loaded.prompt: "A red cup on a table, and an astrolabe"}
    (verdict,) = onprompt.judge_many(rubric, [item], settings=settings)
    judges.close()
    assert isinstance(verdict, Verdict)
    assert (verdict.rubric, verdict.judge) == (rubric, judge)
    assert verdict.checks or verdict.factors
    assert read_back(verdict) == verdict


def test_a_verdict_of_the_version_before_is_read(named_photo: Callable[[str], Path]) -> None:
    photo = named_photo("coffee.png")
    verdict = onprompt.edit(photo, photo, "make the cup blue")
    text = json.dumps(serial.dump(verdict)).replace('"colors"', '"colours"').replace('"recolor"', '"recolour"')
    assert '"colours"' in text
    assert '"recolour"' in text
    assert serial.load({**json.loads(text), "format": f"onprompt.edit/{serial.VERSION - 1}"}) == verdict


SAMPLE = Sample("a", "a cat", Picture("cat.png", "0" * 64, unseen))
VERDICT = Verdict("verify", "vlm", SAMPLE, 0.5, {"score": FactorScore(2)}, "half")


@pytest.mark.parametrize(
    "changed",
    [
        {"value": "high"},
        {"value": math.nan},
        {"value": None},
        {"factors": {"score": {"score": 2**70}}},
        {"factors": {"score": {"score": True}}},
        {"factors": ["score"]},
        {"flags": "flagged"},
        {"summary": "\ud83d"},
        {"checks": 3},
        {"checks": [{"claim": {"kind": "object"}, "outcome": "fine"}]},
        {"evidence": {"type": "Verdict"}},
        {"provenance": {"deep": json.loads("[" * 500 + "]" * 500)}},
        {"voices": [{"name": 7}]},
        {"sample": {"id": "a", "prompt": "a cat"}},
    ],
)
def test_a_document_of_another_shape_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"not as onprompt writes it|nested too deep"):
        serial.load({**serial.dump(VERDICT), **changed})


def test_another_version_and_json_that_is_nested_too_deep_are_refused() -> None:
    for other in ({"format": "onprompt.verify/5"}, {}):
        with pytest.raises(UserError, match="not a verdict of this version"):
            serial.load(other)
    for deep in ("[" * 10**6, '{"a":' * 10**5, "[" * 100 + "]" * 100):
        with pytest.raises(UserError, match="nested too deep"):
            serial.read(deep, Any)


def test_a_picture_that_is_read_back_is_opened_only_if_there_is_a_way() -> None:
    with pytest.raises(UserError, match="can't be opened"):
        _ = read_back(VERDICT).sample.picture.pixels
