"""Every claim put to a model, over real HTTP, with and without token probabilities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import onprompt
from onprompt import api, serial
from onprompt.api import judges
from onprompt.errors import BudgetSpent, ServerTrouble, UserError
from onprompt.models.answer_store import AnswerStore
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import datasets
from onprompt.runs.run import JudgeJob, run
from onprompt.types import Found, Outcome, Verdict
from onprompt.wording import sentence
from tests.judges.atoms.server import (
    BRANCH,
    BROWN,
    ON,
    OWL,
    PIXELS,
    PROMPT,
    SENTENCES,
    TWO,
    Serve,
    asked,
    chances_of,
    checks,
    outcomes,
    words_of,
)
from tests.models.backends.server import KEY, Received, Reply
from tests.models.backends.test_openai import complaint, completion

MODES = pytest.mark.parametrize("per_call", [40, 1])


@MODES
def test_every_claim_gets_its_own_probability(serve: Serve, per_call: int) -> None:
    truth = {OWL: 0.99, TWO: 0.8, BROWN: 0.7, ON: 0.95, BRANCH: 0.9}
    settings, requests = serve(chances_of(truth), atoms_per_call=per_call)
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert sorted(each for request in requests for each in asked(request)) == sorted(SENTENCES)
    assert len(requests) == (1 if per_call > 1 else 5)
    assert [check.finding.probability for check in verdict.checks] == pytest.approx(list(truth.values()), abs=1e-5)
    assert verdict.value == pytest.approx(float(np.prod(list(truth.values()))) ** 0.2, abs=1e-5)
    assert (verdict.score, verdict.coverage, verdict.flags) == (4, 1.0, ())
    assert verdict.summary == "The image matches the prompt."
    assert sentence(verdict.checks[2]) == "asked for brown owl: yes (0.70) (confidence 0.70, openai/test)"


@MODES
def test_without_probabilities_the_words_count(serve: Serve, per_call: int) -> None:
    settings, _ = serve(words_of({TWO: "no"}), atoms_per_call=per_call, atoms_mean="arithmetic")
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert outcomes(verdict) == {
        "two brown owls": Outcome.MATCHED,
        "2 × owl": Outcome.MISMATCH,
        "brown owl": Outcome.MATCHED,
        "owl on a branch": Outcome.MATCHED,
        "a branch": Outcome.MATCHED,
    }
    assert (verdict.value, verdict.flags) == (0.8, ("no_probabilities",))
    assert all(check.finding.probability is None for check in verdict.checks)
    assert verdict.score == 3
    geometric = onprompt.verify(PIXELS, PROMPT, settings=settings.model_copy(update={"atoms_mean": "geometric"}))
    assert geometric.value == pytest.approx(0.02**0.2)


@MODES
def test_a_claim_that_the_model_can_not_decide_is_left_out(serve: Serve, per_call: int) -> None:
    settings, _ = serve(words_of({BROWN: "Can't tell", TWO: "no"}), atoms_per_call=per_call, atoms_mean="arithmetic")
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert checks(verdict)["brown owl"].finding.kind is Found.NOT_ANSWERED
    assert outcomes(verdict)["brown owl"] is Outcome.UNVERIFIABLE
    assert (verdict.value, verdict.coverage) == (0.75, 0.8)
    assert "claims_unanswered" not in verdict.flags
    assert "Not checked: owl (brown)." in verdict.summary


def test_details_of_a_missing_object_are_not_asked(serve: Serve) -> None:
    settings, requests = serve(words_of({OWL: "no"}), atoms_per_call=1, atoms_mean="arithmetic")
    plan = api.plan("verify", [{"image": PIXELS, "prompt": PROMPT}], settings=settings)
    assert plan.calls == 5
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert {each for request in requests for each in asked(request)} == {OWL, BRANCH}
    assert verdict.value == 0.5
    again = api.plan("verify", [{"image": PIXELS, "prompt": PROMPT}], settings=settings)
    assert (again.calls, again.known) == (0, 2)


@pytest.mark.parametrize("lost", [OWL, BRANCH])
def test_details_of_a_missing_object_do_not_count(serve: Serve, lost: str) -> None:
    settings, requests = serve(chances_of({lost: 0.02, ON: 0.01, TWO: 0.9, BROWN: 0.9}), atoms_mean="arithmetic")
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == 1
    found = outcomes(verdict)
    if lost == OWL:
        assert verdict.value == pytest.approx((0.02 + 0.9) / 2, abs=1e-5)
        assert [check.finding.kind for check in verdict.checks[:4]] == [Found.MISSING, *[Found.OBJECT_MISSING] * 3]
        assert verdict.checks[0].finding.probability == pytest.approx(0.02, abs=1e-5)
    else:
        assert verdict.value == pytest.approx((0.02 + 3 * 0.9) / 4, abs=1e-5)
        assert checks(verdict)["owl on a branch"].finding.kind is Found.TARGET_MISSING
        assert found["brown owl"] is Outcome.MATCHED


def test_what_is_between_yes_and_no_is_of_low_confidence(serve: Serve) -> None:
    settings, _ = serve(chances_of({OWL: 0.5, BROWN: 0.45}))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert outcomes(verdict)["two brown owls"] is Outcome.LOW_CONFIDENCE
    assert outcomes(verdict)["brown owl"] is Outcome.LOW_CONFIDENCE
    assert "low_confidence" in verdict.flags


def test_what_must_not_be_there_is_asked_for_and_inverted(serve: Serve) -> None:
    cat, red = "This can be seen in the image: cats.", "In the image, the car has this color: red."
    settings, requests = serve(chances_of({cat: 0.1, red: 0.8}))
    verdict = onprompt.verify(PIXELS, "a car that is not red, and no cats", settings=settings)
    assert asked(requests[0]) == ["This can be seen in the image: car.", red, cat]
    assert checks(verdict)["no cats"].finding.probability == pytest.approx(0.9, abs=1e-5)
    assert outcomes(verdict)["no cats"] is Outcome.MATCHED
    assert outcomes(verdict)["not red car"] is Outcome.MISMATCH
    assert verdict.value == pytest.approx((0.9 * 0.2 * 0.9) ** (1 / 3), abs=1e-5)


BROKEN = {
    "missing": ({"1": "yes", "2": "yes", "4": "no", "5": "yes"}, ["brown owl"]),
    "repeated": ('{"1": "yes", "2": "no", "2": "yes", "3": "yes", "4": "no", "5": "yes"}', ["2 × owl"]),
    "out_of_order": ('{"1": "yes", "3": "yes", "2": "yes", "4": "no", "5": "yes"}', ["2 × owl"]),
    "unreadable": ({"1": "yes", "2": "yes", "3": "perhaps", "4": "no", "5": 1}, ["brown owl", "a branch"]),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_wrong_answer_is_an_error_for_its_claim_alone(serve: Serve, fault: str) -> None:
    said, wrong = BROKEN[fault]
    settings, requests = serve(Reply(completion(said if isinstance(said, str) else json.dumps(said))))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == 1
    assert "claims_unanswered" in verdict.flags
    for name, check in checks(verdict).items():
        if name in wrong:
            assert (check.outcome, check.finding.notes) == (Outcome.UNVERIFIABLE, (fault,))
        else:
            assert check.outcome is (Outcome.MISMATCH if name == "owl on a branch" else Outcome.MATCHED)
    assert verdict.coverage == pytest.approx(1 - len(wrong) / 5)


def test_an_answer_that_nobody_asked_for_changes_nothing(serve: Serve) -> None:
    said = {**{str(n): "yes" for n in range(1, 6)}, "6": "no", "note": "a nice image"}
    settings, _ = serve(Reply(completion(json.dumps(said))))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert (verdict.value, verdict.score) == (1.0, 4)
    assert verdict.flags == ("extra_answers", "no_probabilities")


@pytest.mark.parametrize("bad", ["All true!", "[]", "{}", '["yes", "no"]', '{"1": "maybe"}', '{"6": "yes"}', " "])
def test_an_answer_that_is_unreadable_as_a_whole_is_asked_for_once_more(serve: Serve, bad: str) -> None:
    settings, requests = serve(Reply(completion(bad)), words_of({}))
    settings = settings.model_copy(update={"chances": False})
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert (len(requests), verdict.value) == (2, 1.0)
    assert "asked_again" in verdict.flags


@pytest.mark.parametrize(("per_call", "calls"), [(40, 2), (1, 5)])
def test_nothing_readable_is_an_error_and_no_score(serve: Serve, per_call: int, calls: int) -> None:
    settings, requests = serve(Reply(completion("I'm sorry, but I can't help with that.")), atoms_per_call=per_call)
    with pytest.raises(onprompt.UnreadableAnswer) as caught:
        onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == calls
    assert "sorry" in caught.value.text
    assert caught.value.spent[0] == 1200 * calls
    assert AnswerStore(settings.answers).outcomes() == {"refusal" if per_call > 1 else "no_score": calls}


MANY = ", ".join(
    f"a {colour} {thing}"
    for colour, thing in zip(
        ("red", "blue", "green", "yellow", "white", "black", "brown", "gray", "pink", "purple"),
        ("cup", "ball", "car", "chair", "cat", "dog", "horse", "hat", "book", "boat"),
        strict=True,
    )
)


def test_twenty_claims_cost_one_call_and_a_second_time_none(serve: Serve) -> None:
    settings, requests = serve(chances_of({}))
    first = onprompt.verify(PIXELS, MANY, settings=settings)
    assert (len(first.checks), len(asked(requests[0])), len(requests)) == (20, 20, 1)
    schema = requests[0].json["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == [str(n) for n in range(1, 21)]
    judges.close()  # as another process would
    second = onprompt.verify(PIXELS, MANY, settings=settings)
    assert len(requests) == 1
    assert (second.checks, second.value, second.usage.tokens_in) == (first.checks, first.value, 0)


def test_more_claims_than_fit_into_one_question_take_several(serve: Serve) -> None:
    settings, requests = serve(chances_of({}), atoms_per_call=8)
    verdict = onprompt.verify(PIXELS, MANY, settings=settings)
    assert [len(asked(request)) for request in requests] == [8, 8, 4]
    assert verdict.coverage == 1.0


def test_without_a_schema_the_answer_is_read_all_the_same(serve: Serve) -> None:
    def plain(request: Received) -> Reply:
        if "response_format" in request.json:
            return complaint("response_format is not supported")
        said = json.dumps({str(n): "yes" for n in range(1, len(asked(request)) + 1)})
        return Reply(completion(f"```json\n{said}\n```"))

    settings, _ = serve(plain)
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert (verdict.value, verdict.answers[0].structured) == (1.0, False)


def test_the_whole_image_is_asked_about(serve: Serve) -> None:
    night = "The image as a whole has this lighting: night."
    settings, requests = serve(chances_of({night: 0.05}))
    verdict = onprompt.verify(PIXELS, "a cat at night", settings=settings)
    assert asked(requests[0]) == ["This can be seen in the image: cat.", night]
    assert outcomes(verdict)["night image"] is Outcome.MISMATCH
    assert "the image as a whole (lighting: asked for night, no (0.05))" in verdict.summary


def test_objects_of_one_name_are_told_apart(serve: Serve) -> None:
    settings, requests = serve(chances_of({}))
    verdict = onprompt.verify(PIXELS, "three red balls left of two blue balls", settings=settings)
    assert asked(requests[0]) == [
        "This can be seen in the image: ball.",
        "Counting every red ball in the image gives exactly 3.",
        "In the image, at least one ball has this color: red.",
        "In the image, each red ball is left of the blue ball.",
        "Counting every blue ball in the image gives exactly 2.",
        "In the image, at least one ball has this color: blue.",
    ]
    assert len(verdict.checks) == 7


def test_text_actions_and_what_lies_between(serve: Serve) -> None:
    settings, requests = serve(chances_of({}))
    prompt = "a sign that says 'OPEN', a man running, a woman with a bag, and a bird between a tree and a house"
    onprompt.verify(PIXELS, prompt, settings=settings)
    found = asked(requests[0])
    assert 'This text can be read on the sign: "OPEN".' in found
    assert "In the image, the man is doing this: run." in found
    assert "In the image, the woman has the bag." in found
    assert "In the image, the bird is between the tree and the house." in found


@pytest.mark.parametrize("prompt", ["beautiful", "Sieben Katzen sitzen auf einem Tisch"])
def test_a_prompt_without_claims_asks_nothing_and_says_so(serve: Serve, prompt: str) -> None:
    settings, requests = serve(Reply(status=500))
    verdict = onprompt.verify(PIXELS, prompt, settings=settings)
    assert (requests, verdict.answers, verdict.value) == ([], (), settings.prior)
    assert "not_verifiable" in verdict.flags
    assert "placeholder" in verdict.summary
    assert all(sentence(check).endswith("the model was not asked") for check in verdict.checks)
    assert api.plan("verify", [{"image": PIXELS, "prompt": prompt}], settings=settings).calls == 0


def test_an_important_object_weighs_more(serve: Serve) -> None:
    settings, _ = serve(chances_of({OWL: 0.6}, 0.9), atoms_mean="arithmetic")
    plain = onprompt.verify(PIXELS, "an owl and a branch", settings=settings)
    major = onprompt.verify(PIXELS, "an owl and a branch", major=["owl"], settings=settings)
    assert plain.value == pytest.approx(0.75, abs=1e-5)
    assert major.value == pytest.approx(0.7, abs=1e-5)


def test_it_rates_and_does_not_judge_edits(serve: Serve) -> None:
    settings, _ = serve(words_of({ON: "no"}))
    assert onprompt.rate(PIXELS, PROMPT, settings=settings).score == 2  # all elements, and no relation
    assert onprompt.rate(PIXELS, "two brown owls", settings=settings).score == 5
    with pytest.raises(UserError, match="does not support 'edit'"):
        onprompt.edit(PIXELS, PIXELS, "make it red", settings=settings)


def test_it_needs_no_model_file(serve: Serve, tmp_path: Path) -> None:
    settings, _ = serve(words_of({}), home=tmp_path / "nothing", mirror=str(tmp_path / "nowhere"))
    assert onprompt.verify(PIXELS, PROMPT, settings=settings).score == 4
    assert not (tmp_path / "nothing").exists()


def test_a_verdict_can_be_stored_and_shown(serve: Serve) -> None:
    from onprompt.report.document import document
    from onprompt.report.terminal import lines

    settings, _ = serve(chances_of({BROWN: 0.1}))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert serial.load(json.loads(json.dumps(serial.dump(verdict)))) == verdict
    shown = [line for line, _ in lines(verdict)]
    assert "  ('two brown owls', 'yes (0.90); color: asked for brown, no (0.10)')" in shown
    assert "Image shows" not in shown
    assert KEY not in json.dumps(document(verdict))


def test_trouble_costs_a_sample_and_paid_answers_are_kept(serve: Serve) -> None:
    good = chances_of({})
    assert callable(good)
    fail = Reply("down", 500)
    settings, requests = serve(good, good, fail, fail, good, atoms_per_call=1)
    with pytest.raises(ServerTrouble):
        onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == 4
    assert onprompt.verify(PIXELS, PROMPT, settings=settings).coverage == 1.0
    assert len(requests) == 4 + 3


def test_a_budget_stops_it(serve: Serve) -> None:
    price = {"price_in": 1.0, "price_out": 10.0}  # an answer costs .00154
    settings, requests = serve(chances_of({}), budget=0.01, concurrency=2, answer_tokens=400, **price)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(2, 22)]
    found = list(onprompt.judge_many("verify", items, settings=settings))
    paid = [each for each in found if isinstance(each, Verdict)]
    assert 0 < len(paid) == len(requests) < 20
    assert all(isinstance(each, BudgetSpent) for each in found if not isinstance(each, Verdict))


def test_a_run_is_resumed_and_answers_are_never_paid_for_twice(serve: Serve, tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "owl.png")
    rows = [f"{n},owl.png,{n} owls on a branch" for n in range(2, 8)]
    (tmp_path / "data.csv").write_text("\n".join(["id,image,prompt", *rows[:3]]))
    settings, requests = serve(chances_of({}))

    def judged(out: str, **changed: Any) -> Any:
        job = JudgeJob("verify", settings.model_copy(update=changed))
        return run(datasets.open_dataset(str(tmp_path / "data.csv"), RUBRIC, {}), tmp_path / out, job)

    assert (judged("run.sqlite").done, len(requests)) == (3, 3)
    (tmp_path / "data.csv").write_text("\n".join(["id,image,prompt", *rows]))
    assert (judged("run.sqlite").done, len(requests)) == (3, 6)
    assert (judged("run.sqlite").done, judged("other.sqlite").done, len(requests)) == (0, 6, 6)
    assert judged("run.sqlite", atoms_mean="arithmetic").new
    assert len(requests) == 6
