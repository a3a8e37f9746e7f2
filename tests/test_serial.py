"""A verdict that is read back from JSON is the verdict that was written."""

import json
from pathlib import Path

import pytest

from onprompt import Settings, Verdict, rate, serial, verify
from onprompt.errors import UserError
from onprompt.models.client import close_all
from onprompt.report import document, terminal
from tests.conftest import photo, photo_path

PROMPTS = ("two green cups on a table without a spoon, and a laptop", 'a watercolor that says "SALE"', "the zeitgeist")


def read_back(verdict: Verdict) -> Verdict:
    return serial.load(json.loads(json.dumps(serial.dump(verdict))))


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_verdict_by_evidence(prompt: str) -> None:
    verdict = verify(photo("coffee.png"), prompt)
    again = read_back(verdict)
    assert again == verdict
    assert list(terminal.lines(again)) == list(terminal.lines(verdict))
    assert serial.load(json.loads(json.dumps(document.document(verdict)))) == verdict


def test_a_rating_with_objects_that_weigh_more() -> None:
    verdict = rate(photo_path("coffee.png"), "a cup and a horse", major=["cup"])
    assert read_back(verdict) == verdict


def test_a_verdict_by_a_model(tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text(json.dumps({"text": 'Step 1: ["a cup"]\n(4)'}))
    settings = Settings(model=f"replay/{tmp_path / 'said.jsonl'}", answers=tmp_path / "answers.sqlite")
    verdict = verify(photo("coffee.png"), "a cup", settings=settings)
    close_all()
    again = read_back(verdict)
    assert again == verdict
    assert (again.score, again.usage, again.evidence) == (4, verdict.usage, None)


def test_pictures_are_opened_when_somebody_looks() -> None:
    verdict = verify(photo("coffee.png"), "a cup")
    with pytest.raises(UserError, match="can't be opened here"):
        _ = read_back(verdict).sample.picture.pixels
    opened = serial.load(serial.dump(verdict), lambda _: verdict.sample.picture.decoded)
    assert opened.sample.picture.pixels.shape == (400, 600, 3)


@pytest.mark.parametrize("name", ["onprompt.verify/4", "other.verify/5", None])
def test_what_is_no_verdict_of_this_version_is_refused(name: str | None) -> None:
    with pytest.raises(UserError, match="not a verdict of this version"):
        serial.load({"format": name})
