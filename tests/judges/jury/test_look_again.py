"""What the evidence contradicts is put to the models once more, and both answers are kept."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import onprompt
from onprompt import api, serial
from onprompt.errors import BudgetSpent, UserError
from onprompt.judges.jury import LOOK_AGAIN
from onprompt.report.document import document
from onprompt.report.terminal import voice_lines
from onprompt.runs.run import JudgeJob
from onprompt.types import Box, Check, Claim, Count, Finding, Found, Outcome, Sighting, Verdict
from onprompt.wording import plan_words
from onprompt.wording.jury import located
from tests.judges.jury.servers import Serve, command, judged, rows, says, table
from tests.judges.jury.test_jury import TROUBLE
from tests.judges.test_vlm import PIXELS
from tests.models.backends.server import Received, Reply, Step

pytestmark = pytest.mark.models

WANTED: dict[str, Any] = {"jury_evidence_weight": 0.2, "jury_look_again": True}


def is_second(request: Received) -> bool:
    return len(request.json["messages"]) > 1


def first_and_second(first: int, second: Step) -> Step:
    """A model that gives a score, and a reply when it is asked to look again."""

    def step(request: Received) -> Reply:
        if is_second(request):
            return second if isinstance(second, Reply) else second(request)
        return says(first)

    return step


def test_only_a_contradicted_model_is_asked_again_and_its_second_answer_counts(serve: Serve) -> None:
    settings, requests = serve(first_and_second(4, says(1)), says(0), **WANTED)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    assert [len(each) for each in requests] == [2, 1]
    changed, kept, measured = verdict.voices
    assert (changed.value, changed.factors["score"].score, changed.disputed, changed.error) == (0.25, 1, (), "")
    assert changed.first is not None
    assert (changed.first.value, changed.first.factors["score"].score, changed.first.disputed) == (1.0, 4, (0,))
    assert (kept.value, kept.first, measured.first) == (0.0, None, None)
    assert measured.value is not None
    assert verdict.value == pytest.approx((0.125 + 0.2 * measured.value) / 1.2)
    assert len(verdict.answers) == 3
    assert verdict.flags == ()


def test_what_a_model_is_asked(serve: Serve) -> None:
    settings, requests = serve(first_and_second(4, says(1)), **WANTED)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    question, answer, again = requests[0][1].json["messages"]
    assert question == requests[0][0].json["messages"][0], "the first question, with its image"
    assert (answer["role"], answer["content"][0]["text"]) == ("assistant", "All is well.\n(4)")
    assert again["role"] == "user"
    assert again["content"][0]["text"] == LOOK_AGAIN.replace("{checks}", f"- {located(verdict.checks[0])}")
    assert "expected a dog: none" in again["content"][0]["text"]
    assert verdict.provenance["look_again"] == "look-again/1"
    assert verdict.provenance["look_again_sha256"] == hashlib.sha256(LOOK_AGAIN.encode()).hexdigest()
    assert verdict.provenance["settings"]["jury_look_again"] is True


def test_every_place_that_was_counted_is_named() -> None:
    dogs = tuple(Sighting("dog", "dog", Box(left, 0.2, left + 0.1, 0.7), 0.9, "coco") for left in (0.1, 0.4, 0.8))
    claim = Claim("count", name="dog", count=Count(2, 2))
    check = Check(claim, Finding(Found.COUNTED, number=3), Outcome.MISMATCH, 0.2, "coco", 0, dogs[0].box, dogs)
    places = "at 10–20 % across, 20–70 % down; 40–50 % across, 20–70 % down; 80–90 % across, 20–70 % down"
    assert located(check) == f"expected 2 × dog: found 3 (probability 0.20, coco) ({places})"


def test_both_answers_are_shown_and_stored(serve: Serve) -> None:
    settings, _ = serve(first_and_second(4, says(4)), **WANTED)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    assert serial.load(json.loads(json.dumps(serial.dump(verdict)))) == verdict
    voice = document(verdict)["voices"][0]
    assert (voice["value"], voice["first"]["value"], voice["first"]["disputed"]) == (1.0, 1.0, [0])
    lines = [text for text, _ in voice_lines(verdict)]
    assert lines[1].startswith("  openai/a: score 4, value 1.00, weight 0.83 (second answer, which counts). ")
    assert lines[2].startswith("    first answer: score 4, value 1.00. ")
    assert lines[3].startswith("    contradicted: expected a dog: none")
    assert lines[4].startswith("    still contradicted: expected a dog: none")


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_model_that_fails_the_second_time_keeps_its_first_answer(serve: Serve, trouble: str) -> None:
    reply, flag = TROUBLE[trouble]
    settings, requests = serve(first_and_second(4, reply), **WANTED, timeout=0.4, retries=0)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    voice = verdict.voices[0]
    assert (voice.value, voice.first, voice.flags, voice.disputed) == (1.0, None, ("no_second_answer",), (0,))
    assert voice.weight == pytest.approx(1 / 1.2)
    assert flag in verdict.flags
    assert f"(first answer, which counts; no second: {voice.error})" in [text for text, _ in voice_lines(verdict)][1]
    assert len(requests[0]) == 2, "nothing is asked a third time"
    assert len(verdict.answers) == (2 if flag == "model_unreadable" else 1), "what was paid for is kept"


def test_a_run_completes_what_failed_and_pays_each_answer_once(serve: Serve, tmp_path: Path) -> None:
    table(tmp_path, 5, first=1)
    up: list[bool] = []
    settings, requests = serve(
        first_and_second(4, lambda _: says(1) if up else Reply("oops", 500)), says(0), **WANTED, retries=0
    )
    first = judged(tmp_path, settings)
    assert (first.done, first.incomplete) == (5, 5)
    assert {row.flags for row in rows(tmp_path).values()} == {("model_failed", "judges_disagree")}
    up.append(True)
    second = judged(tmp_path, settings)
    assert (second.done, second.incomplete, second.before) == (5, 0, 0)
    assert {row.flags for row in rows(tmp_path).values()} == {()}
    assert judged(tmp_path, settings).before == 5
    asked = Counter(map(is_second, requests[0]))
    assert (asked[False], asked[True] - 5, len(requests[1])) == (5, 5, 5)


def test_the_plan_has_what_may_be_asked_again(serve: Serve) -> None:
    price = {"price_in": 1.0, "price_out": 1.0}
    settings, requests = serve(first_and_second(4, says(1)), says(0), **WANTED, **price)
    items = [{"image": PIXELS, "prompt": "a dog"}, {"image": PIXELS, "prompt": "a cat"}]
    unknown = api.plan("verify", items, settings=settings)
    assert unknown.more is not None
    assert (unknown.calls, unknown.more.calls) == (4, 4)
    assert (unknown.more.usage.cost or 0.0) > (unknown.usage.cost or 0.0), "it repeats the question"
    assert "; to look again, at most 4 calls to 2 models: about " in plan_words(unknown).splitlines()[-1]
    onprompt.verify(PIXELS, "a dog", settings=settings)
    known = api.plan("verify", items, settings=settings)
    assert known.more is not None
    assert (known.calls, known.known) == (2, 2)
    assert (known.more.calls, known.more.known) == (2, 1), "the second model was not contradicted"
    assert known.document["look_again"]["calls"] == 2
    assert [len(each) for each in requests] == [2, 1]


def test_a_budget_that_ends_between_the_answers_is_no_failure(serve: Serve) -> None:
    price = {"price_in": 1.0, "price_out": 1.0, "answer_tokens": 100}
    settings, requests = serve(first_and_second(4, says(1)), **WANTED, **price, budget=0.002)
    with pytest.raises(BudgetSpent):
        onprompt.verify(PIXELS, "a dog", settings=settings)
    richer = settings.model_copy(update={"budget": 1.0})
    verdict = onprompt.verify(PIXELS, "a dog", settings=richer)
    assert verdict.voices[0].first is not None
    assert [is_second(request) for request in requests[0]] == [False, True]


def test_repeats_are_followed_by_one_question(serve: Serve) -> None:
    settings, requests = serve(first_and_second(4, says(2)), **WANTED, repeats=3)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    assert [is_second(request) for request in requests[0]] == [False, False, False, True]
    assert verdict.voices[0].factors["score"].scores == (2,)


def test_it_needs_evidence_and_a_jury(serve: Serve) -> None:
    settings, _ = serve(says(4), jury_look_again=True)
    with pytest.raises(UserError, match="this jury has no evidence"):
        onprompt.verify(PIXELS, "a dog", settings=settings)


def test_without_it_nothing_is_asked_again_and_the_identity_tells_them_apart(serve: Serve) -> None:
    settings, requests = serve(says(4), jury_evidence_weight=0.2)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    assert (len(requests[0]), verdict.voices[0].first) == (1, None)
    assert "look_again" not in verdict.provenance
    wanted = settings.model_copy(update={"jury_look_again": True})
    assert JudgeJob("verify", wanted).identity != JudgeJob("verify", settings).identity


def test_the_option(serve: Serve, tmp_path: Path) -> None:
    settings, requests = serve(first_and_second(4, says(1)), says(0))
    table(tmp_path, 1, first=1)
    models = [option for model in settings.models for option in ("--model", model)]
    prompt = ("verify", str(tmp_path / "cat.png"), "a dog", *models, "--set", "jury_look_again=true")
    shown = command(*prompt, answers=settings.answers)
    assert shown.exit_code == 0, shown.output
    assert "second answer, which counts" in shown.output
    out = ("--out", str(tmp_path / "run.sqlite"))
    done = command(
        "run", str(tmp_path / "data.csv"), *out, *models, "--set", "jury_look_again=true", answers=settings.answers
    )
    assert done.exit_code == 0, done.output
    assert [is_second(request) for request in requests[0]] == [False, True, False, True]
    stored = command("show", out[1], "--id", "1", answers=settings.answers)
    assert "second answer, which counts" in stored.output


def test_many_at_once(serve: Serve) -> None:
    settings, requests = serve(first_and_second(4, says(1)), first_and_second(4, says(2)), **WANTED)
    items = [{"image": PIXELS, "prompt": f"{number} dogs"} for number in range(2, 8)]
    found = list(onprompt.judge_many("verify", items, settings=settings))
    assert all(isinstance(each, Verdict) and all(v.first for v in each.voices[:2]) for each in found)
    assert [Counter(map(is_second, each)) for each in requests] == [{False: 6, True: 6}] * 2
