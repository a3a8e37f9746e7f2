"""The jury, over real HTTP: three servers of which one may fail in any way, and nothing is ever made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import onprompt
from onprompt import serial
from onprompt.errors import PromptError, ServerTrouble, SettingsError, UnreadableAnswer, UserError
from onprompt.report.document import document
from onprompt.report.terminal import voice_lines
from onprompt.rubrics.verify import RUBRIC
from onprompt.settings import load
from tests.judges.claim_server import PIXELS
from tests.judges.jury.servers import NAMES, Serve, says
from tests.judges.test_vlm import UNREADABLE, WHY, factors
from tests.models.backends.server import Reply, Step
from tests.models.backends.test_openai import completion


def test_the_mean_of_three_models_and_what_each_says(serve: Serve) -> None:
    settings, requests = serve(says(4), says(3), says(3))
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (verdict.judge, verdict.score, verdict.flags) == ("jury", 3, ())
    assert verdict.value == pytest.approx((1 + 0.75 + 0.75) / 3)
    assert verdict.measures["spread"] == pytest.approx(0.25)
    said = [(voice.name, voice.factors["score"].score, voice.value, voice.error) for voice in verdict.voices]
    assert said == [("openai/a", 4, 1.0, ""), ("openai/b", 3, 0.75, ""), ("openai/c", 3, 0.75, "")]
    assert [voice.weight for voice in verdict.voices] == pytest.approx([1 / 3] * 3)
    assert verdict.factors["score"].scores == (4, 3, 3)
    assert [request.json["model"] for (request,) in requests] == ["a", "b", "c"]
    assert all(RUBRIC.text in request.json["messages"][0]["content"][0]["text"] for (request,) in requests)
    assert len(verdict.answers) == 3
    assert verdict.provenance["model"] == "openai/a, openai/b, openai/c"


def test_a_verdict_of_a_jury_is_stored_and_shown(serve: Serve) -> None:
    settings, requests = serve(says(4), says(0), Reply(UNREADABLE["refusal"]), price_in=1.0, price_out=0.0)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert set(verdict.flags) == {"judges_disagree", "model_unreadable"}
    assert verdict.measures["spread"] == 1.0
    assert serial.load(serial.dump(verdict)) == verdict
    entry = json.loads(json.dumps(document(verdict)))
    assert [voice["name"] for voice in entry["voices"]] == list(NAMES)
    assert "refusal" in entry["voices"][2]["error"]
    lines = [text for text, _ in voice_lines(verdict)]
    assert lines[0] == "Jury"
    assert lines[1].startswith("  openai/a: score 4, value 1.00, weight 0.50. ")
    assert lines[3].startswith("  openai/c: no score: unreadable answer")
    assert [len(each) for each in requests] == [1, 1, 2]
    assert verdict.usage.cost == pytest.approx(4 * 1200 / 1e6), "answers that can't be read are paid for, too"


TROUBLE = {
    "down": (Reply("oops", 500), "model_failed"),
    "busy": (Reply({"error": {"message": "slow down"}}, 429), "model_failed"),
    "reset": (says(0, reset_after=20), "model_failed"),
    "slow": (says(0, delay=30), "model_failed"),
    "wrong key": (Reply({"error": {"message": "wrong key"}}, 401), "model_failed"),
    "not JSON": (Reply("<html>(0)</html>"), "model_failed"),
    **{kind: (Reply(body), "model_unreadable") for kind, body in UNREADABLE.items()},
}


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("place", [0, 2])
def test_a_model_that_fails_leaves_the_verdict_to_the_others(serve: Serve, trouble: str, place: int) -> None:
    reply, flag = TROUBLE[trouble]
    scripts: list[Step] = [says(4), says(2)]
    scripts.insert(place, reply)
    settings, _ = serve(*scripts, timeout=0.4)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (verdict.value, verdict.score, verdict.flags) == (0.75, 3, (flag,))
    failed = verdict.voices[place]
    assert (failed.value, failed.weight, failed.factors) == (None, 0.0, {})
    assert failed.error
    assert [voice.weight for voice in verdict.voices if voice is not failed] == [0.5, 0.5]


def test_without_any_model_there_is_no_verdict(serve: Serve) -> None:
    settings, _ = serve(Reply("oops", 500), Reply(UNREADABLE["refusal"]))
    with pytest.raises(
        UnreadableAnswer, match=r"no model of the jury gave a score: openai/a: .*; openai/b: "
    ) as caught:
        onprompt.verify(PIXELS, "a cat", settings=settings)
    assert caught.value.kind == "refusal"
    assert caught.value.spent[0] == 2400
    down, _ = serve(Reply("oops", 500), Reply("oops", 502))
    with pytest.raises(ServerTrouble, match=r"openai/a: .*; openai/b: "):
        onprompt.verify(PIXELS, "a cat", settings=down)


def test_an_edit_has_all_factors(serve: Serve) -> None:
    settings, _ = serve(
        Reply(completion(factors("x", 7, 7, 7))), Reply(completion(factors("x", 6, 5, 2, why=f"{WHY} 2")))
    )
    verdict = onprompt.edit(PIXELS, PIXELS + 9, "make it red", id="x", settings=settings)
    assert {name: each.score for name, each in verdict.factors.items()} == {
        "alignment": 7,
        "completeness": 6,
        "plausibility": 5,
    }
    assert verdict.factors["alignment"].expected == pytest.approx(6.5)
    other = (5 / 6 * 4 / 6 * 1 / 6) ** (1 / 3)
    assert verdict.value == pytest.approx((1 + other) / 2)


def test_repeats_of_one_model_are_one_voice(serve: Serve) -> None:
    settings, requests = serve((says(4), says(2), says(0)), says(4), repeats=3)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert [len(each) for each in requests] == [3, 3]
    assert verdict.value == pytest.approx((0.5 + 1) / 2)
    assert [voice.weight for voice in verdict.voices] == [0.5, 0.5]


def test_weights_of_the_settings_and_of_weak_judges(serve: Serve) -> None:
    settings, _ = serve(says(4), says(0), jury_weights={"openai/b": 0.25})
    assert onprompt.verify(PIXELS, "a cat", settings=settings).value == pytest.approx(0.8)
    weak, _ = serve(says(4), says(0))
    first, second = weak.models
    renamed = weak.model_copy(update={"models": (first, second.replace("openai/b", "openai/llava-hf/llava-1.5-7b-hf"))})
    assert onprompt.verify(PIXELS, "a cat", settings=renamed).value == pytest.approx(1 / 1.2)


def test_what_several_models_mean(serve: Serve) -> None:
    settings, _ = serve(says(4), says(2))
    models, plain = list(settings.models), settings.model_copy(update={"models": ()})
    assert onprompt.verify(PIXELS, "a cat", models=models, settings=plain).judge == "jury"
    assert onprompt.verify(PIXELS, "a cat", judge="jury", models=models[:1], settings=plain).judge == "jury"
    with pytest.raises(UserError, match="asks one model"):
        onprompt.verify(PIXELS, "a cat", judge="vlm", models=models, settings=plain)
    with pytest.raises(UserError, match="the same model twice"):
        onprompt.verify(PIXELS, "a cat", models=[models[0], models[0]], settings=plain)
    with pytest.raises(UserError, match="not both"):
        onprompt.verify(PIXELS, "a cat", model="openai/a", models=models, settings=plain)
    with pytest.raises(UserError, match="a jury needs a model"):
        onprompt.verify(PIXELS, "a cat", judge="jury", settings=plain)
    with pytest.raises(PromptError):
        onprompt.verify(PIXELS, " ", settings=settings)


@pytest.mark.models
def test_the_evidence_has_a_voice(serve: Serve) -> None:
    settings, _ = serve(says(4), says(4), jury_evidence_weight=0.2)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    measured = onprompt.verify(PIXELS, "a dog", judge="evidence", settings=settings)
    assert [voice.name for voice in verdict.voices] == ["openai/a", "openai/b", "evidence"]
    assert verdict.voices[2].value == measured.value
    assert verdict.value == pytest.approx((1 + 0.2 * measured.value) / 1.2)
    assert (verdict.checks, verdict.evidence) == (measured.checks, measured.evidence)
    assert not any("http" in json.dumps(serial.dump(verdict)["provenance"][key], default=str) for key in ("settings",))
    assert measured.value < 0.5, "the image is grey"
    without, _ = serve(says(4), says(4))
    assert len(onprompt.verify(PIXELS, "a dog", settings=without).voices) == 2


@pytest.mark.models
def test_evidence_that_could_check_nothing_has_no_weight_but_says_so(
    serve: Serve, named_photo: Callable[[str], Path]
) -> None:
    photo, prompt = named_photo("coffee.png"), "Sieben Katzen sitzen auf einem Tisch"
    settings, _ = serve(says(4), says(4), jury_evidence_weight=0.2)
    verdict = onprompt.verify(photo, prompt, settings=settings)
    measured = onprompt.verify(photo, prompt, judge="evidence", settings=settings)
    voice = verdict.voices[2]
    assert (verdict.value, voice.weight, voice.error) == (1.0, 0.0, "nothing could be checked")
    assert (verdict.checks, verdict.coverage) == (measured.checks, 0.0)
    assert verdict.checks
    assert verdict.provenance["members"]["evidence"]["judge"] == "evidence"


@pytest.mark.models
def test_the_evidence_beside_a_single_model_and_alone(serve: Serve) -> None:
    settings, _ = serve(says(4), jury_evidence_weight=0.2)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    assert [voice.name for voice in verdict.voices] == ["openai/a", "evidence"]
    assert "judges_disagree" in verdict.flags
    assert verdict.value < 1
    failing, _ = serve(Reply("oops", 500), jury_evidence_weight=0.2)
    with pytest.raises(ServerTrouble, match="no model of the jury"):
        onprompt.verify(PIXELS, "a dog", settings=failing)


def test_settings_hold_models_and_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("onprompt.toml").write_text('models = ["openai/a", "openai/b"]\n[jury_weights]\n"openai/b" = 0.5\n')
    monkeypatch.setenv("ONPROMPT_CONFIG", "onprompt.toml")
    assert (load().models, load().jury_weights, load().judged_by) == (NAMES[:2], (("openai/b", 0.5),), "jury")
    monkeypatch.setenv("ONPROMPT_MODELS", "openai/a, openai/c@http://localhost:1/v1?x=1")
    monkeypatch.setenv("ONPROMPT_JURY_WEIGHTS", "openai/a=2,openai/c=0.5")
    assert load().models == ("openai/a", "openai/c@http://localhost:1/v1?x=1")
    assert load().jury_weights == (("openai/a", 2.0), ("openai/c", 0.5))
    with pytest.raises(SettingsError, match="twice"):
        load(models=["openai/a", "openai/a"])
    with pytest.raises(SettingsError, match="must be above 0"):
        load(jury_weights={"openai/a": 0.0})
