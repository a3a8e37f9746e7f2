"""Claims put to a model over real HTTP, with and without token probabilities, and with evidence first."""

from __future__ import annotations

import base64
import io
import itertools
import json
import operator
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import onprompt
from onprompt import api, serial
from onprompt.api import judges
from onprompt.errors import ServerTrouble, UserError
from onprompt.judges.claims import DISAGREE
from onprompt.settings import Settings
from onprompt.types import Found, Outcome
from onprompt.wording import sentence
from tests.judges.claim_server import (
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
from tests.judges.jury.servers import command
from tests.models.backends.server import KEY, Received, Reply
from tests.models.backends.test_openai import complaint, completion, token
from tests.models.test_answer_store import stored

MODES = pytest.mark.parametrize("per_call", [40, 1])
MODEL = "openai/test"


# -- what is asked ---------------------------------------------------------------------------------------------------


@MODES
def test_every_claim_gets_its_own_probability(serve: Serve, per_call: int) -> None:
    truth = {OWL: 0.99, TWO: 0.8, BROWN: 0.78, ON: 0.95, BRANCH: 0.9}
    settings, requests = serve(chances_of(truth), claims_per_call=per_call)
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert sorted(each for request in requests for each in asked(request)) == sorted(SENTENCES)
    assert len(requests) == (1 if per_call > 1 else 5)
    assert [check.probability for check in verdict.checks] == pytest.approx(list(truth.values()), abs=1e-4)
    assert {check.source for check in verdict.checks} == {MODEL}
    assert (verdict.judge, verdict.coverage, verdict.measures["estimated"]) == ("claims", 1.0, 0.0)
    assert sentence(verdict.checks[2]) == f"expected brown owl: yes (0.78) (probability 0.78, {MODEL})"


@MODES
def test_without_probabilities_the_words_count(serve: Serve, per_call: int) -> None:
    settings, _ = serve(words_of({ON: "no"}), claims_per_call=per_call)
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert {name for name, outcome in outcomes(verdict).items() if outcome is Outcome.MISMATCH} == {"owl on a branch"}
    assert [check.probability for check in verdict.checks] == [1.0, 1.0, 1.0, 0.0, 1.0]
    assert (verdict.score, verdict.value, verdict.interval) == (3, 0.75, (0.75, 0.75))
    assert verdict.flags == ("no_probabilities",)
    assert all(check.finding.probability is None for check in verdict.checks)


def test_the_sentences(serve: Serve) -> None:
    settings, requests = serve(chances_of({}))
    prompt = (
        "a sign that says 'OPEN', a man running, a woman with a bag, a bird between a tree and a house, a glass vase, "
        "a cat on the left, many cars, a cup of coffee, a stylish hat, a red ball and a blue ball, at night"
    )
    onprompt.verify(PIXELS, prompt, settings=settings)
    found = asked(requests[0])
    assert {
        'This text can be read on the sign: "OPEN".',
        "In the image, the man is running.",
        "In the image, the woman has the bag.",
        "In the image, the bird is between the tree and the house.",
        "In the image, the vase is made of glass.",
        "In the image, the cat has this position: left.",
        "This describes how many there are in the image: many cars.",
        "In the image, the cup contains coffee.",
        'In the image, the hat fits the description "stylish".',
        "In the image, at least one ball is red.",
        "In the image, at least one ball is blue.",
        'The image as a whole fits the description "night".',
    } <= set(found)
    assert len(found) == len(set(found)), "nothing is asked twice"


def test_what_must_not_be_there_is_asked_about_as_if_it_were(serve: Serve) -> None:
    cat, red = "This can be seen in the image: cats.", "In the image, the car is red."
    settings, requests = serve(chances_of({cat: 0.1, red: 0.8}))
    verdict = onprompt.verify(PIXELS, "a car that is not red, and no cats", settings=settings)
    assert asked(requests[0]) == ["This can be seen in the image: car.", red, cat]
    found = checks(verdict)
    assert [found[name].probability for name in ("no cats", "not red car")] == pytest.approx([0.9, 0.2], abs=1e-4)
    assert (found["no cats"].outcome, found["not red car"].outcome) == (Outcome.MATCHED, Outcome.MISMATCH)
    assert outcomes(onprompt.verify(PIXELS, "a bus without people", settings=settings))["no people"] is Outcome.MISMATCH
    assert asked(requests[1])[1] == "This can be seen in the image: bus with people."


@pytest.mark.parametrize(
    ("gone", "left"), [(OWL, {OWL, BRANCH}), (BRANCH, {OWL, BRANCH, TWO, BROWN})], ids=["object", "target"]
)
def test_one_by_one_details_of_absent_objects_are_not_asked(serve: Serve, gone: str, left: set[str]) -> None:
    settings, requests = serve(words_of({gone: "no"}), claims_per_call=1)
    item = {"image": PIXELS, "prompt": PROMPT}
    assert api.plan("verify", [item], settings=settings).calls == 5
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert {each for request in requests for each in asked(request)} == left
    again = api.plan("verify", [item], settings=settings)
    assert (again.calls, again.known) == (0, len(left))
    relation = checks(verdict)["owl on a branch"]
    assert (relation.outcome, relation.source) == (Outcome.UNVERIFIABLE, "none")
    assert sentence(relation).startswith("expected owl on a branch: the model was not asked (")
    assert [check.finding.kind for check in verdict.checks].count(Found.MISSING) == 1


@pytest.mark.parametrize("prompt", ["beautiful", "Sieben Katzen sitzen auf einem Tisch"])
def test_a_prompt_without_claims_asks_nothing_and_says_so(serve: Serve, prompt: str) -> None:
    settings, requests = serve(Reply(status=500))
    verdict = onprompt.verify(PIXELS, prompt, settings=settings)
    assert (requests, verdict.answers, verdict.coverage) == ([], (), 0.0)
    assert "not_verifiable" in verdict.flags
    assert verdict.score == 2, "nobody can tell"
    assert all("the model was not asked" in sentence(check) for check in verdict.checks)
    assert api.plan("verify", [{"image": PIXELS, "prompt": prompt}], settings=settings).calls == 0


MANY = ", ".join(
    f"a {colour} {thing}"
    for colour, thing in zip(
        ("red", "blue", "green", "yellow", "white", "black", "brown", "gray", "pink", "purple"),
        ("cup", "ball", "car", "chair", "cat", "dog", "horse", "hat", "book", "boat"),
        strict=True,
    )
)


def test_twenty_claims_cost_one_call_or_several_and_a_second_time_none(serve: Serve) -> None:
    settings, requests = serve(chances_of({}))
    item = {"image": PIXELS, "prompt": MANY}
    assert api.plan("verify", [item, item], settings=settings)[1:3] == (1, 1)
    first = onprompt.verify(PIXELS, MANY, settings=settings)
    assert (len(first.checks), len(asked(requests[0])), len(requests)) == (20, 20, 1)
    schema = requests[0].json["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == [str(n) for n in range(1, 21)]
    judges.close()  # as another process would
    second = onprompt.verify(PIXELS, MANY, settings=settings)
    assert len(requests) == 1
    assert (second.checks, second.value, second.usage.tokens_in) == (first.checks, first.value, 0)
    few = settings.model_copy(update={"claims_per_call": 8, "reuse_answers": False})
    assert api.plan("verify", [item], settings=few).calls == 3
    assert onprompt.verify(PIXELS, MANY, settings=few).coverage == 1.0
    assert [len(asked(request)) for request in requests[1:]] == [8, 8, 4]


@pytest.mark.parametrize("chances", [True, False], ids=["probabilities", "words"])
def test_a_claim_is_paid_for_once_whatever_the_prompt(serve: Serve, chances: bool) -> None:
    server = chances_of({OWL: 0.9, BRANCH: 0.2}) if chances else words_of({OWL: "cannot tell", BRANCH: "no"})
    settings, requests = serve(server)
    first = onprompt.verify(PIXELS, "an owl and a branch", settings=settings)
    judges.close()  # as another process would
    prompts = "a branch, an owl and a hat", "an owl and a hat"
    items = [{"image": PIXELS, "prompt": prompt} for prompt in prompts]
    assert api.plan("verify", items[:1], settings=settings)[1:3] == (1, 2)
    second, third = (onprompt.verify(PIXELS, prompt, settings=settings) for prompt in prompts)
    hat = "This can be seen in the image: hat."

    def paid() -> list[list[str]]:
        return [asked(request) for request in requests if chances or "logprobs" not in request.json]

    assert paid() == [[OWL, BRANCH], [hat]]
    for verdict, names in ((second, ("an owl", "a branch")), (third, ("an owl",))):
        for name in names:
            found, before = checks(verdict)[name], checks(first)[name]
            assert (found.finding, found.probability) == (before.finding, before.probability)
        assert ("no_probabilities" in verdict.flags) is not chances
    assert (second.usage.tokens_in, third.usage.tokens_in) == (1200, 0), "of the question about the hat"
    assert api.plan("verify", items, settings=settings)[1:3] == (0, 5)
    onprompt.verify(np.full((20, 30, 3), 90, dtype=np.uint8), prompts[1], settings=settings)
    onprompt.verify(PIXELS, prompts[1], settings=settings.model_copy(update={"temperature": 0.5}))
    assert paid()[2:] == [[OWL, hat]] * 2, "about another image, and with another option"


def test_a_claim_without_a_readable_reply_is_asked_again_with_the_next_prompt(serve: Serve) -> None:
    settings, requests = serve(words_of({BRANCH: "perhaps"}))
    onprompt.verify(PIXELS, "an owl and a branch", settings=settings)
    onprompt.verify(PIXELS, "a branch, an owl and a hat", settings=settings)
    assert asked(requests[-1]) == [BRANCH, "This can be seen in the image: hat."]


@pytest.mark.parametrize("reads", [True, False])
def test_recorded_claims_are_replayed_whatever_is_cached(serve: Serve, tmp_path: Path, reads: bool) -> None:
    prompts, path = ("an owl and a branch", "a branch, an owl and a hat"), tmp_path / "recorded.jsonl"
    settings, requests = serve(chances_of({BRANCH: 0.2}), record=path)
    recorded = [onprompt.verify(PIXELS, prompt, settings=settings) for prompt in prompts]
    assert [len(asked(request)) for request in requests] == [2, 3]
    again = Settings(judge="claims", model=f"replay/{path}", answers=tmp_path / "other.sqlite", reuse_answers=reads)
    for prompt, verdict in zip(prompts, recorded, strict=True):
        assert onprompt.verify(PIXELS, prompt, settings=again).value == verdict.value


@pytest.mark.parametrize("chances", [True, False], ids=["probabilities", "words"])
def test_the_order_of_the_keys_changes_nothing(serve: Serve, chances: bool) -> None:
    """Some servers write the keys in the order of the alphabet: 1, 10, 2."""

    def sorted_keys(request: Received) -> Reply:
        words = {str(n): "no" if n % 3 else "yes" for n in range(1, len(asked(request)) + 1)}
        order = sorted(words) if sort else list(words)
        tokens = [token("{", 1.0)]
        for name in order:
            tokens += [token(f'"{name}": "', 1.0), token(words[name], 0.8, maybe=0.1), token('", ', 1.0)]
        tokens[-1] = token('"}', 1.0)
        text = "".join(each["token"] for each in tokens)
        if not chances:
            return complaint("logprobs are not supported") if "logprobs" in request.json else Reply(completion(text))
        return Reply(completion(text, logprobs={"content": tokens}))

    sort = False
    settings, _ = serve(sorted_keys)
    plain = onprompt.verify(PIXELS, MANY, settings=settings)
    sort = True
    other, _ = serve(sorted_keys, reuse_answers=False)
    mixed = onprompt.verify(PIXELS, MANY, settings=other)
    assert mixed.answers[0].text != plain.answers[0].text
    assert (mixed.checks, mixed.value) == (plain.checks, plain.value)


# -- what is read ----------------------------------------------------------------------------------------------------


@MODES
def test_can_not_tell_leaves_the_prior(serve: Serve, per_call: int) -> None:
    settings, _ = serve(words_of({BROWN: "Can't tell"}), claims_per_call=per_call)
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    brown = checks(verdict)["brown owl"]
    assert (brown.finding.kind, brown.finding.notes, brown.outcome) == (Found.NOT_ANSWERED, (), Outcome.UNVERIFIABLE)
    assert (brown.source, verdict.coverage) == ("none", 0.8)
    assert 0.5 < brown.probability < 1
    # One wrong attribute among two objects costs a point.
    assert verdict.value == pytest.approx(brown.probability + (1 - brown.probability) * 3 / 4)
    assert "claims_unanswered" not in verdict.flags
    assert "the model can't tell" in sentence(brown)


BROKEN = {
    "": ({**{str(n): "yes" for n in (1, 2, 3, 5)}, "4": "no", "6": "no", "note": "a nice image"}, []),
    "missing": ({"1": "yes", "2": "yes", "4": "no", "5": "yes"}, ["brown owl"]),
    "repeated": ('{"1": "yes", "2": "no", "2": "yes", "3": "yes", "4": "no", "5": "yes"}', ["2 × owl"]),
    "unreadable": ({"1": "yes", "2": "yes", "3": "perhaps", "4": "no", "5": 1}, ["brown owl", "a branch"]),
}


@pytest.mark.parametrize("error", BROKEN)
def test_a_wrong_answer_is_an_error_for_its_claim_alone(serve: Serve, error: str) -> None:
    said, wrong = BROKEN[error]
    settings, requests = serve(Reply(completion(said if isinstance(said, str) else json.dumps(said))))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == 1
    assert ("claims_unanswered" in verdict.flags) is bool(wrong)
    for name, check in checks(verdict).items():
        if name in wrong:
            assert (check.outcome, check.finding.notes) == (Outcome.UNVERIFIABLE, (error,))
            assert "the model" in sentence(check)
        else:
            assert check.outcome is (Outcome.MISMATCH if name == "owl on a branch" else Outcome.MATCHED)
    assert verdict.coverage == pytest.approx(1 - len(wrong) / 5)


@pytest.mark.parametrize("bad", ["All true!", "[]", "{}", '["yes", "no"]', '{"1": "maybe"}', '{"6": "yes"}', " "])
def test_an_answer_that_is_unreadable_as_a_whole_is_asked_for_once_more(serve: Serve, bad: str) -> None:
    settings, requests = serve(Reply(completion(bad)), words_of({}))
    settings = settings.model_copy(update={"logprobs": False})
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert (len(requests), verdict.value) == (2, 1.0)
    assert "asked_again" in verdict.flags


@pytest.mark.parametrize(("per_call", "calls"), [(40, 2), (1, 10)])
def test_nothing_readable_is_an_error_and_no_score(serve: Serve, per_call: int, calls: int) -> None:
    settings, requests = serve(Reply(completion("I'm sorry, but I can't help with that.")), claims_per_call=per_call)
    with pytest.raises(onprompt.UnreadableAnswer) as caught:
        onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == calls
    assert "sorry" in caught.value.text
    assert caught.value.spent[0] == 1200 * calls
    assert stored(settings.answers) == calls


def test_without_a_schema_the_answer_is_read_all_the_same(serve: Serve) -> None:
    def plain(request: Received) -> Reply:
        if "response_format" in request.json:
            return complaint("response_format is not supported")
        said = json.dumps({str(n): "yes" for n in range(1, len(asked(request)) + 1)})
        return Reply(completion(f"```json\n{said}\n```"))

    settings, _ = serve(plain)
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert (verdict.value, verdict.answers[0].structured) == (1.0, False)


# -- the verdict -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rubric", "bottom", "steps"), [("verify", 0, 4), ("rate", 1, 4)])
def test_the_value_is_the_mean_over_all_that_may_be_true(serve: Serve, rubric: str, bottom: int, steps: int) -> None:
    judge = getattr(onprompt, rubric)
    likely = {OWL: 0.8, "In the image, the owl is brown.": 0.6, BRANCH: 0.3}
    prompt, mean = "a brown owl and a branch", 0.0
    for truth in itertools.product((True, False), repeat=3):
        settings, _ = serve(words_of(dict.fromkeys(itertools.compress(likely, map(operator.not_, truth)), "no")))
        certain = judge(PIXELS, prompt, settings=settings)
        share = (certain.score - bottom) / steps
        assert (certain.value, certain.interval) == (share, (share, share)), "certain claims have the rubric's score"
        mean += share * float(np.prod([p if holds else 1 - p for p, holds in zip(likely.values(), truth, strict=True)]))
    settings, _ = serve(chances_of(likely))
    verdict = judge(PIXELS, prompt, settings=settings)
    assert verdict.value == pytest.approx(mean, abs=1e-3)
    assert verdict.interval[0] < verdict.value < verdict.interval[1]
    assert "low_confidence" in verdict.flags
    assert "Uncertain: " in verdict.summary


def test_an_important_object_weighs_more_and_no_model_file_is_needed(serve: Serve, tmp_path: Path) -> None:
    settings, _ = serve(words_of({OWL: "no"}), home=tmp_path / "nothing", mirror=str(tmp_path / "nowhere"))
    prompt = "an owl, a branch, a cup and a hat"
    plain = onprompt.verify(PIXELS, prompt, settings=settings)
    major = onprompt.verify(PIXELS, prompt, major=["owl"], settings=settings)
    assert plain.measures["presence"] == 0.75
    assert major.measures["presence"] is not None
    assert major.measures["presence"] < 0.75
    assert not (tmp_path / "nothing").exists()


def test_a_verdict_can_be_stored_and_shown(serve: Serve, tmp_path: Path) -> None:
    from onprompt.report.document import document
    from onprompt.report.terminal import lines

    settings, _ = serve(chances_of({BROWN: 0.1}))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert serial.load(json.loads(json.dumps(serial.dump(verdict)))) == verdict
    shown = [line for line, _ in lines(verdict)]
    assert "  ('two brown owls', 'yes (0.90); color: expected brown, no (0.10)')" in shown
    assert "Image shows" not in shown
    assert not verdict.prompt_evidence or not verdict.prompt_evidence.looked
    stored = json.dumps(document(verdict))
    assert KEY not in stored
    assert str(tmp_path) not in stored
    about = verdict.provenance
    assert (about["judge"], about["model"], about["question"]) == ("claims", MODEL, "claims/1")
    assert about["settings"]["model"] == MODEL
    assert not {"detector", "matcher"} & about["settings"].keys()
    assert "weights" not in about


def test_trouble_costs_a_sample_and_paid_answers_are_kept(serve: Serve) -> None:
    good = chances_of({})
    fail = Reply("down", 500)
    settings, requests = serve(good, good, fail, fail, good, claims_per_call=1)
    with pytest.raises(ServerTrouble):
        onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert len(requests) == 4
    assert onprompt.verify(PIXELS, PROMPT, settings=settings).coverage == 1.0
    assert len(requests) == 4 + 3


# -- evidence first --------------------------------------------------------------------------------------------------

CUP = "A porcelain cup on a table and an astrolabe"
PORCELAIN, ASTROLABE = "In the image, the cup is made of porcelain.", "This can be seen in the image: astrolabe."


@pytest.fixture
def coffee(named_photo: Callable[[str], Path]) -> Path:
    return named_photo("coffee.png")


def test_only_open_claims_are_asked_and_every_source_is_right(serve: Serve, coffee: Path) -> None:
    settings, requests = serve(chances_of({PORCELAIN: 0.97, ASTROLABE: 0.04}), measured=True)
    assert api.plan("verify", [{"image": coffee, "prompt": CUP}], settings=settings).calls == 1
    verdict = onprompt.verify(coffee, CUP, settings=settings)
    assert [asked(request) for request in requests] == [[PORCELAIN, ASTROLABE]]
    alone = onprompt.verify(coffee, CUP)
    by_model = {name for name, check in checks(verdict).items() if check.source == MODEL}
    assert by_model == {"porcelain cup", "an astrolabe"}
    assert all(checks(alone)[name] == check for name, check in checks(verdict).items() if name not in by_model)
    assert outcomes(verdict)["an astrolabe"] is Outcome.MISSING
    assert (verdict.coverage, verdict.measures["estimated"]) == (1.0, 0.0)
    assert "whole" not in {check.claim.kind for check in verdict.checks}
    assert verdict.provenance["weights"]
    assert (verdict.provenance["judge"], verdict.provenance["settings"]["detector"]) == ("claims", "coco")
    assert str(coffee.parent) not in json.dumps(verdict.provenance)
    right = onprompt.verify(coffee, CUP, settings=serve(words_of({}), measured=True)[0])
    assert (right.score, verdict.score) == (4, 2)
    assert right.value > alone.value > verdict.value


def test_nothing_open_asks_nothing(serve: Serve, coffee: Path) -> None:
    settings, requests = serve(Reply(status=500), measured=True)
    verdict = onprompt.verify(coffee, "a cup on a table", settings=settings)
    assert (verdict.score, verdict.answers) == (4, ())
    onprompt.verify(coffee, "a wooden elephant next to a cup", settings=settings)
    onprompt.verify(np.full((64, 64, 3), 255, np.uint8), CUP, settings=settings)
    onprompt.verify(coffee, "Sieben Katzen sitzen auf einem Tisch", settings=settings)
    assert requests == [], "not of details of what is not there, of a blank image or in another language"


@pytest.mark.parametrize("bad", ["Yes to all!", '{"1": "cannot tell", "2": "can\'t tell"}'])
def test_what_the_model_can_not_tell_stays_as_it_was(serve: Serve, coffee: Path, bad: str) -> None:
    settings, requests = serve(Reply(completion(bad)), measured=True)
    verdict, alone = onprompt.verify(coffee, CUP, settings=settings), onprompt.verify(coffee, CUP)
    assert (verdict.checks, verdict.value, verdict.score) == (alone.checks, alone.value, alone.score)
    assert len(requests) == (2 if "Yes" in bad else 1)
    assert ("claims_unanswered" in verdict.flags) is ("Yes" in bad)


@pytest.mark.parametrize(("chance", "disagree"), [(0.9, False), (0.1, True)])
def test_an_answer_against_weak_evidence_is_flagged(
    serve: Serve, named_photo: Callable[[str], Path], chance: float, disagree: bool
) -> None:
    photo, few = named_photo("bus.jpg"), "Counting every handbag in the image gives 1 to 3."
    weak = checks(onprompt.verify(photo, "a handbag"))["1 × handbag"]
    assert weak.outcome is Outcome.LOW_CONFIDENCE
    assert weak.probability > 0.5 + DISAGREE
    settings, requests = serve(chances_of({few: chance}), measured=True)
    verdict = onprompt.verify(photo, "a handbag", settings=settings)
    assert asked(requests[0]) == ["This can be seen in the image: handbag.", few]
    assert ("judges_disagree" in verdict.flags) is disagree


@MODES
def test_the_model_is_told_what_was_measured(serve: Serve, named_photo: Callable[[str], Path], per_call: int) -> None:
    settings, requests = serve(chances_of({}), measured=True, claims_per_call=per_call)
    verdict = onprompt.verify(named_photo("astronaut.png"), "a bottle and an astrolabe", settings=settings)
    said = "\n".join(request.json["messages"][0]["content"][-1]["text"] for request in requests)
    measured = said.partition("This can be seen in the image: bottle.")[2].split("\n")[1]
    assert re.fullmatch(r"   Measured: .+ \(probability 0\.\d\d\)", measured)
    unknown = said.partition("astrolabe.")[2].split("\n")[1]
    assert "Measured" not in unknown, "of what no detector knows nothing was measured"
    assert "Measurements can be wrong" in said
    name = "claims-measured/1" if per_call > 1 else "claims-single-measured/1"
    assert verdict.provenance["question"] == name


@MODES
def test_the_region_of_a_claim_is_sent_beside_the_image(serve: Serve, coffee: Path, per_call: int) -> None:
    settings, requests = serve(chances_of({}), measured=True, crops=True, claims_per_call=per_call)
    verdict = onprompt.verify(coffee, CUP, settings=settings)
    box = next(check.box for check in verdict.checks if check.box)
    first = next(request for request in requests if PORCELAIN in asked(request))
    images = [part["image_url"]["url"] for part in first.json["messages"][0]["content"] if part["type"] == "image_url"]
    sizes = [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size for url in images]
    whole, region = sizes
    assert region[0] / whole[0] == pytest.approx(min(1, 1.3 * box.width), abs=0.15)
    assert region[1] < whole[1]
    texts = [part["text"] for part in first.json["messages"][0]["content"] if part["type"] == "text"]
    assert "Region of the image for statement 1:" in texts[0]
    assert verdict.provenance["crops"] is True
    asked_before = len(requests)
    onprompt.verify(coffee, CUP, settings=settings)
    assert len(requests) == asked_before
    with pytest.raises(UserError, match="crops need evidence"):
        onprompt.verify(coffee, CUP, settings=settings.model_copy(update={"measured": False}))


@pytest.mark.parametrize(("chance", "score"), [(0.97, 4), (0.03, 3)])
def test_a_narrower_kind_is_asked_about(serve: Serve, coffee: Path, chance: float, score: int) -> None:
    mug = "This can be seen in the image: mug."
    settings, requests = serve(chances_of({mug: chance}), measured=True)
    verdict = onprompt.verify(coffee, "a mug", settings=settings)
    assert [asked(request) for request in requests] == [[mug]]
    assert [check.claim.kind for check in verdict.checks if check.source == MODEL] == ["kind"]
    assert verdict.score == score
    assert ("kind: expected mug, no (0.03)" in verdict.summary) is (score == 3)


def test_edits_need_evidence_and_only_what_was_not_measured_is_asked(serve: Serve, coffee: Path) -> None:
    after = np.asarray(Image.open(coffee).convert("RGB")).copy()
    after[40:140, 40:160] = (30, 200, 60)
    instruction = "let the cup look antique and remove the table"
    settings, requests = serve(chances_of({}, 0.99), measured=True, claims_per_call=1)
    with pytest.raises(UserError, match="claims need evidence: --judge claims --measured"):
        onprompt.edit(coffee, after, instruction, settings=settings.model_copy(update={"measured": False}))
    verdict = onprompt.edit(coffee, after, instruction, settings=settings)
    own = onprompt.edit(coffee, after, instruction)
    assert [asked(request) for request in requests] == [["let the cup look antique"]]
    content = requests[0].json["messages"][0]["content"]
    assert [part["type"] for part in content].count("image_url") == 2, "both versions are shown"
    antique, table = verdict.checks[:2]
    assert (antique.outcome, antique.source) == (Outcome.MATCHED, MODEL)
    assert table == own.checks[1]
    assert verdict.factors["completeness"].score > own.factors["completeness"].score
    assert verdict.provenance["question"] == "claims-edit/1"


def test_the_option(serve: Serve, coffee: Path) -> None:
    settings, requests = serve(chances_of({}))
    options = "--judge", "claims", "--measured", "--model", f"{MODEL}@{settings.base_url}"
    done = command("verify", str(coffee), CUP, *options, answers=settings.answers)
    assert (done.exit_code, [asked(request) for request in requests]) == (0, [[PORCELAIN, ASTROLABE]])
