"""The judge that asks a model, over real HTTP: what servers do wrong, and that no score is ever made up."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import onprompt
from onprompt import api
from onprompt.api import judges
from onprompt.errors import BudgetSpent, ImageError, PromptError, Rejected, ServerTrouble, UserError
from onprompt.models.answer_store import AnswerStore
from onprompt.rubrics.verify import RUBRIC
from onprompt.settings import Settings
from onprompt.types import Outcome, Verdict
from onprompt.wording import claim_words, differences
from tests.judges.claim_server import PIXELS, Serve
from tests.judges.jury.servers import command
from tests.models.backends.server import KEY, Reply
from tests.models.backends.test_openai import completion, token
from tests.models.test_answer_store import stored

GOOD = 'Step 1: ["a cat", "a hat"]\nStep 2: ["a cat"]\nStep 3&4: [(\'a hat\', \'MISSING\')]\nStep 5: **(2)**'
WHY = "The instruction requested a red car and the edited image clearly shows a red car in the very same place."


def factors(name: str, *scores: object, why: str = WHY) -> str:
    three = ("alignment", "completeness", "plausibility")
    results = {each: {"score": score, "justification": why} for each, score in zip(three, scores, strict=True)}
    return json.dumps({"image_id": name, "online_factor_results": results})


@pytest.fixture
def serve(serve: Serve) -> Serve:
    """The same with another judge and one more attempt."""
    return partial(serve, judge="vlm", retries=2)


def test_a_verdict_with_what_the_model_listed(serve: Serve) -> None:
    settings, requests = serve(Reply(completion(GOOD)))
    verdict = onprompt.verify(PIXELS, "a cat in a hat", settings=settings)
    assert (verdict.score, verdict.value, verdict.flags) == (2, 0.5, ())
    assert [(claim_words(check.claim), check.outcome) for check in verdict.checks] == [
        ("a cat", Outcome.MATCHED),
        ("a hat", Outcome.MISSING),
    ]
    assert differences(verdict) == [("a hat", "MISSING")]
    assert verdict.usage.tokens_in == 1200
    text, image = requests[0].json["messages"][0]["content"]
    assert text["text"].endswith('(4)\n\nInput Prompt: "a cat in a hat"')
    assert image["type"] == "image_url"
    assert verdict.provenance["rubric_sha256"] == hashlib.sha256(RUBRIC.text.encode()).hexdigest()
    assert verdict.provenance["settings"]["send_side"] == 1024


def test_a_rating_with_the_examples_and_without(serve: Serve) -> None:
    settings, requests = serve(Reply(completion("Reasoning: All is there.\nScore: 5")))
    verdict = onprompt.rate(PIXELS, "a cat", settings=settings)
    assert (verdict.score, verdict.value, verdict.summary) == (5, 1.0, "All is there.")
    plain = onprompt.rate(PIXELS, "a cat", settings=settings.model_copy(update={"rate_examples": False}))
    assert plain.provenance["rubric"] == "rate/1-plain"
    for request, examples in zip(requests, (True, False), strict=True):
        image, text = request.json["messages"][0]["content"]
        assert (image["type"], text["text"][-18:]) == ("image_url", "User prompt: a cat")
        assert ("magnifying glass" in text["text"]) is examples


def test_an_edit(serve: Serve) -> None:
    settings, requests = serve(Reply(completion(f"```json\n{factors('x1', 6, 7, 4)}\n```")))
    verdict = onprompt.edit(PIXELS, PIXELS + 9, "make it red", mask=PIXELS, id="x1", settings=settings)
    assert verdict.score is None
    assert {name: each.score for name, each in verdict.factors.items()} == {
        "alignment": 6,
        "completeness": 7,
        "plausibility": 4,
    }
    assert verdict.value == pytest.approx((5 / 6 * 1 * 3 / 6) ** (1 / 3))
    assert verdict.flags == ("mask_not_used",)
    kinds = [part["type"] for part in requests[0].json["messages"][0]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url", "text"]
    last = requests[0].json["messages"][0]["content"][-1]["text"]
    assert '[text instruction] "make it red"' in last
    assert last.endswith('image_id: "x1"')


def test_a_mask_is_shown_where_the_user_wants_it(serve: Serve) -> None:
    settings, requests = serve(Reply(completion(factors("x1", 6, 7, 4))), send_mask=True)
    verdict = onprompt.edit(PIXELS, PIXELS + 9, "make it red", mask=PIXELS + 20, id="x1", settings=settings)
    assert verdict.flags == ()
    assert verdict.provenance["settings"]["send_mask"] is True
    assert verdict.provenance["mask_sha256"] != verdict.provenance["before_sha256"]
    *_, text, mask = requests[0].json["messages"][0]["content"]
    assert text["text"].endswith("only where the following picture is white.")
    assert mask["type"] == "image_url"
    onprompt.edit(PIXELS, PIXELS + 9, "make it red", id="x1", settings=settings)
    assert requests[1].json["messages"][0]["content"][-1]["text"].endswith('image_id: "x1"')


def test_an_edit_in_structured_form_is_the_same(serve: Serve) -> None:
    settings, requests = serve(Reply(completion(factors("x1", 6, 7, 4))))
    verdict = onprompt.edit(PIXELS, PIXELS, "make it red", id="x1", settings=settings)
    assert verdict.answers[0].structured
    assert requests[0].json["response_format"]["json_schema"]["strict"] is True
    plainly, requests = serve(Reply(completion(factors("x1", 6, 7, 4))), structured=False)
    assert onprompt.edit(PIXELS, PIXELS, "make it red", id="x1", settings=plainly).factors == verdict.factors
    assert "response_format" not in requests[0].json


UNREADABLE = {
    "refusal": completion("I'm sorry, but I can't help with that."),
    "content_filter": completion("", "content_filter"),
    "truncated": completion("Step 1: the score is (4) of", "length"),
    "empty": completion(""),
    "off_scale": completion("(7)"),
    "no_score": completion("(4"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_can_not_be_read_is_asked_once_more_and_then_an_error(serve: Serve, kind: str) -> None:
    settings, requests = serve(Reply(UNREADABLE[kind]))
    with pytest.raises(onprompt.UnreadableAnswer) as caught:
        onprompt.verify(PIXELS, "a cat", settings=settings)
    assert caught.value.kind == kind
    assert caught.value.text == UNREADABLE[kind]["choices"][0]["message"]["content"]
    assert len(requests) == 2
    assert caught.value.reason in json.dumps(requests[1].json["messages"])
    assert stored(settings.answers) == 2
    settings, requests = serve(Reply(UNREADABLE[kind]), Reply(completion("(3)")), reuse_answers=False)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (verdict.score, verdict.flags, len(verdict.answers), len(requests)) == (3, ("asked_again",), 2, 2)


SENSIBLE = completion("(3)")
TROUBLE = {
    "429": Reply({"error": {"message": "slow down"}}, 429),
    "429 with Retry-After": Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "0.05"}),
    "500": Reply("oops", 500),
    "502": Reply("<html>Bad gateway</html>", 502),
    "reset": Reply(SENSIBLE, reset_after=20),
    "malformed": Reply('{"choices": [', headers={"content-type": "application/json"}),
    "wrong schema": Reply({"answer": "(4)"}),
    "a page": Reply("<html>(4)</html>"),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_that_passes_is_waited_out_and_one_that_stays_is_no_score(serve: Serve, trouble: str) -> None:
    settings, requests = serve(TROUBLE[trouble], TROUBLE[trouble], Reply(SENSIBLE))
    assert onprompt.verify(PIXELS, "a cat", settings=settings).score == 3
    assert len(requests) == 3
    settings, requests = serve(TROUBLE[trouble], answers=settings.answers.with_name("none.sqlite"))
    with pytest.raises(ServerTrouble, match="after 3 attempts"):
        onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (len(requests), stored(settings.answers)) == (3, 0)


def test_a_wrong_key_is_not_tried_again(serve: Serve) -> None:
    settings, requests = serve(Reply({"error": {"message": f"wrong key {KEY}"}}, 401))
    with pytest.raises(Rejected, match="check the API key"):
        onprompt.verify(PIXELS, "a cat", settings=settings)
    assert len(requests) == 1


def test_the_same_question_is_never_paid_for_twice(serve: Serve) -> None:
    settings, requests = serve(Reply(completion(GOOD)))
    first = onprompt.verify(PIXELS, "a cat in a hat", settings=settings)
    judges.close()  # as another process would
    second = onprompt.verify(PIXELS, "a cat in a hat", settings=settings)
    assert len(requests) == 1
    assert (second.score, second.checks, second.answers[0].cached) == (first.score, first.checks, True)
    assert second.usage.tokens_in == 0
    for changed in ({"send_side": 64}, {"temperature": 0.5}, {"answer_tokens": 99}, {"reuse_answers": False}):
        onprompt.verify(PIXELS, "a cat in a hat", settings=settings.model_copy(update=changed))
    onprompt.verify(PIXELS + 1, "a cat in a hat", settings=settings)
    onprompt.verify(PIXELS, "a cat in a hut", settings=settings)
    assert len(requests) == 7


def test_repeats_have_a_spread_and_those_that_can_not_be_read_are_left_out(serve: Serve) -> None:
    settings, requests = serve(*(Reply(completion(f"({each})")) for each in (4, 2, 3, 4)), repeats=4)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (verdict.score, verdict.factors["score"].scores) == (3, (4, 2, 3, 4))
    assert verdict.factors["score"].spread == pytest.approx(0.957, abs=1e-3)
    assert verdict.value == pytest.approx(13 / 16)
    assert {each.json["temperature"] for each in requests} == {1.0}
    bad = Reply(completion("no idea"))
    settings, _ = serve(Reply(completion("(4)")), bad, bad, Reply(completion("(2)")), repeats=3, reuse_answers=False)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert verdict.factors["score"].scores == (4, 2)
    assert "some_answers_unreadable" in verdict.flags


def test_the_expected_score_stands_beside_the_sampled_one(serve: Serve) -> None:
    tokens = [token("(", 0.9), token("4", 0.6, **{"3": 0.4}), token(")", 0.9)]
    settings, _ = serve(Reply(completion("(4)", logprobs={"content": tokens})))
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (verdict.score, verdict.factors["score"].expected) == (4, 3.6)
    assert verdict.value == pytest.approx(0.9)


def test_a_bad_item_costs_no_other(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    settings, _ = serve(Reply(SENSIBLE))
    good = {"image": PIXELS, "prompt": "a cat"}
    items: list[dict[str, Any]] = [
        good,
        {"image": tmp_path / "broken.png", "prompt": "a cat"},
        {"image": PIXELS, "prompt": "  "},
        {**good, "colour": "red"},
        {"image": PIXELS},
        {**good, "id": "x"},
    ]
    found = list(onprompt.judge_many("verify", items, settings=settings))
    assert [type(each) for each in found] == [Verdict, ImageError, PromptError, UserError, UserError, Verdict]


def test_a_budget_stops_cleanly(serve: Serve) -> None:
    price = {"price_in": 1.0, "price_out": 10.0}  # an answer of 1,200 and 34 tokens costs .00154
    settings, requests = serve(Reply(SENSIBLE), budget=0.03, concurrency=4, answer_tokens=400, **price)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(30)]
    found = list(onprompt.judge_many("verify", items, settings=settings))
    paid = [each for each in found if isinstance(each, Verdict)]
    assert len(paid) == len(requests)
    assert all(isinstance(each, BudgetSpent) for each in found if not isinstance(each, Verdict))
    spent = sum(each.usage.cost or 0 for each in paid)
    assert spent == pytest.approx(0.00154 * len(paid))
    assert 0.01 < spent <= 0.03


def test_a_run_stops_at_a_server_that_is_down_and_resumes(serve: Serve, tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "a.png")
    rows = [f"a.png,{number} cats" for number in range(100)]
    (tmp_path / "data.csv").write_text("\n".join(["image,prompt", *rows]))
    settings, requests = serve(*[Reply("down", 500)] * 200, Reply(SENSIBLE))
    quick = [word for name in ("retries=1", "backoff=0", "concurrency=2") for word in ("--set", name)]
    arguments = "run", str(tmp_path / "data.csv"), "--out", str(tmp_path / "run.sqlite"), *quick
    model = "--model", f"openai/test@{settings.base_url}"
    first = command(*arguments, *model, answers=settings.answers)
    assert first.exit_code == 1
    assert "returned status 500: down; run the same command again to resume" in first.output
    assert len(requests) < 50, "a few of two attempts, then some of one"
    requests += [requests[0]] * (200 - len(requests))  # the server is up
    second = command(*arguments, *model, answers=settings.answers)
    assert (second.exit_code, len(requests)) == (0, 300), second.output


def test_a_plan_asks_nothing(serve: Serve) -> None:
    settings, requests = serve(Reply(SENSIBLE), price_in=2.0, price_out=8.0, repeats=3)
    items = [{"image": PIXELS, "prompt": "a cat"}]
    plan = api.plan("verify", items, settings=settings)
    assert (plan.calls, plan.known, requests) == (3, 0, [])
    assert plan.usage.tokens_in > 3 * 1500
    assert plan.usage.cost == pytest.approx((2 * plan.usage.tokens_in + 8 * plan.usage.tokens_out) / 1e6)
    list(onprompt.judge_many("verify", items, settings=settings))
    again = api.plan("verify", items, settings=settings)
    assert (again.calls, again.known) == (0, 3)


def test_the_key_is_nowhere(serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    echo = Reply(completion(f"Your key is {KEY}. (3)"))
    settings, _ = serve(Reply(f"{KEY}", 500), echo, record=tmp_path / "record.jsonl")
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    from onprompt.report.document import document

    told = [repr(verdict), json.dumps(document(verdict)), repr(settings), str(settings), *capsys.readouterr()]
    AnswerStore(settings.answers).connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    told += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(told) > 6
    assert not any(KEY in each for each in told)
    assert "Your key is [key]" in verdict.answers[0].text


def test_recorded_answers_can_be_replayed(serve: Serve, tmp_path: Path) -> None:
    record, odd = tmp_path / "record.jsonl", f"one\u2028two\u0085\n{GOOD}"
    settings, _ = serve(Reply(completion("no idea")), Reply(completion(odd)), record=record)
    verdict = onprompt.verify(PIXELS, "a cat in a hat", settings=settings)
    with record.open("a") as file:
        file.write('{"question": "cut off by a cr')
    replayed = Settings(judge="vlm", model=f"replay/{record}", answers=tmp_path / "others.sqlite")
    again = onprompt.verify(PIXELS, "a cat in a hat", settings=replayed)
    assert (again.score, again.flags, again.checks) == (verdict.score, verdict.flags, verdict.checks)
    assert differences(again)
    with pytest.raises(Rejected, match=r"record\.jsonl has no answer"):
        onprompt.verify(PIXELS, "another prompt", settings=replayed)


def test_many_questions_are_under_way_at_a_time_and_none_twice(serve: Serve) -> None:
    settings, requests = serve(Reply(SENSIBLE, delay=0.2), concurrency=32)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(128)]
    for seconds in (6.4, 3):  # one after the other it would take 26 s, 32 at a time .8 s; from the cache almost none
        start = time.monotonic()
        found = list(onprompt.judge_many("verify", items, settings=settings))
        assert time.monotonic() - start < seconds
        assert [each.score for each in found if isinstance(each, Verdict)] == [3] * 128
    assert len(requests) == 128


def test_half_a_character_is_kept_and_can_not_be_asked(serve: Serve) -> None:
    settings, _ = serve(Reply(json.dumps(completion("owl \ud83d\n(3)")), headers={"content-type": "application/json"}))
    assert onprompt.verify(PIXELS, "an owl", settings=settings).score == 3
    with pytest.raises(PromptError, match="unpaired surrogate"):
        onprompt.verify(PIXELS, "an owl \ud83d", settings=settings)


def test_pictures_that_differ_are_other_questions(serve: Serve) -> None:
    settings, requests = serve(Reply(SENSIBLE))
    for colour in ((255, 0, 0), (0, 0, 255)):
        picture = Image.new("P", (20, 20), 0)
        picture.putpalette([*colour, *([0] * 765)])
        onprompt.verify(picture, "a cat", settings=settings)
    onprompt.verify(PIXELS, "a cat", settings=settings)
    onprompt.verify(PIXELS, "a cat", settings=settings.model_copy(update={"max_side": 64}))
    assert len(requests) == 4


def test_reasons_stay_in_their_line(serve: Serve) -> None:
    settings, _ = serve(Reply(completion('{"reasoning": "good\\nScore: 5 \\u001b[31m", "score": 2}')))
    verdict = onprompt.rate(PIXELS, "a cat", settings=settings)
    assert (verdict.score, verdict.summary) == (2, "good Score: 5 [31m")


@pytest.mark.parametrize(
    "line", ['{"text": 5}', '{"contains": 5, "text": "(4)"}', '{"text": "(4)", "stop": "weird"}', "[]", '{"x": 1}']
)
def test_lines_by_hand_that_are_wrong_are_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text(f"{line}\n")
    settings = Settings(model=f"replay/{tmp_path / 'said.jsonl'}", answers=tmp_path / "answers.sqlite")
    with pytest.raises(UserError, match="line 1"):
        onprompt.verify(PIXELS, "a cat", settings=settings)


def test_a_failed_try_lets_one_thread_ask_at_a_time(serve: Serve) -> None:
    settings, requests = serve(Reply("down", 500), Reply(SENSIBLE, delay=0.1), retries=0, concurrency=6)
    items = [{"image": PIXELS, "prompt": "a cat"}] * 6
    found = list(onprompt.judge_many("verify", items, settings=settings))
    assert len(requests) == 2
    assert sum(isinstance(each, Verdict) for each in found) == 5


def test_a_call_that_was_interrupted_leaves_later_ones_able_to_ask(serve: Serve) -> None:
    settings, _ = serve(Reply(SENSIBLE, delay=30), Reply(SENSIBLE, delay=30), Reply(SENSIBLE))
    items = [{"image": PIXELS, "prompt": prompt} for prompt in ("a cat", "a dog")]
    main = threading.get_ident()
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()  # Ctrl-C, or a notebook's stop button
    with pytest.raises(KeyboardInterrupt):
        list(onprompt.judge_many("verify", items, settings=settings))
    assert onprompt.verify(PIXELS, "a cat", settings=settings).score == 3
