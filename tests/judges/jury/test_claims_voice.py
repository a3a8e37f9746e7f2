"""A model that is asked claim by claim sits in a jury, beside the rubric's own question or without it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import onprompt
from onprompt import api, serial
from onprompt.errors import PromptError, UserError
from onprompt.settings import Settings
from tests.judges.claim_server import PIXELS
from tests.judges.jury.servers import Serve, says
from tests.models.backends.server import Received, Reply
from tests.models.backends.test_openai import completion

PROMPT = "two brown owls on a branch"  # with five claims
BOTH = ["openai/a", "claims:openai/a", "openai/b"]


def asks_claims(request: Received) -> bool:
    return "Statements:" in json.dumps(request.json["messages"])


def both_ways(score: int, *words: str) -> Any:
    """A model that gives a score, or a word for each claim."""
    claims = json.dumps({str(number): word for number, word in enumerate(words, 1)})
    return lambda request: Reply(completion(claims)) if asks_claims(request) else says(score)


def with_models(settings: Settings, names: list[str], **more: Any) -> Settings:
    """The settings for models by name, each with the address of its server."""
    urls = dict(model.split("@") for model in settings.models)
    models = tuple(f"{name}@{urls[name.removeprefix('claims:')]}" for name in names)
    return settings.model_copy(update={"models": models, **more})


def test_two_voices_of_one_model_share_its_weight(serve: Serve) -> None:
    plain, requests = serve(both_ways(4, "yes", "yes", "no", "yes", "yes"), says(2))
    settings = with_models(plain, BOTH)
    planned = api.plan("verify", [{"image": PIXELS, "prompt": PROMPT}], settings=settings)
    assert [(part.model, part.calls) for part in planned.parts] == [(name, 1) for name in BOTH]
    verdict = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert [voice.name for voice in verdict.voices] == BOTH
    assert [voice.value for voice in verdict.voices] == [1.0, 0.75, 0.5], "one wrong attribute"
    assert [voice.weight for voice in verdict.voices] == [0.25, 0.25, 0.5]
    assert verdict.value == pytest.approx(0.25 + 0.25 * 0.75 + 0.25)
    assert serial.load(serial.dump(verdict)) == verdict
    assert set(verdict.provenance["members"]) == set(BOTH)
    again = onprompt.verify(PIXELS, PROMPT, settings=settings)
    assert (again.voices, again.usage.tokens_in) == (verdict.voices, 0)
    assert [len(each) for each in requests] == [2, 1]


@pytest.mark.parametrize(
    ("words", "names", "more", "weights", "flags"),
    [
        (["yes"] * 5, BOTH[1:], {}, [0.5, 0.5], ()),
        (["yes"] * 5, BOTH, {"jury_weights": (("claims:openai/a", 2.0),)}, [0.25, 0.5, 0.25], ()),
        (["perhaps"], BOTH, {}, [0.5, 0.0, 0.5], ("model_unreadable",)),
    ],
)
def test_weights(
    serve: Serve, words: list[str], names: list[str], more: dict[str, Any], weights: list[float], flags: tuple[str, ...]
) -> None:
    plain, _ = serve(both_ways(4, *words), says(2))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=with_models(plain, names, **more))
    assert [voice.weight for voice in verdict.voices] == weights
    assert set(flags) <= set(verdict.flags)


def test_without_claims_it_says_nothing(serve: Serve) -> None:
    plain, requests = serve(both_ways(4), says(2))
    verdict = onprompt.verify(PIXELS, "beautiful", settings=with_models(plain, BOTH))
    silent = verdict.voices[1]
    assert (silent.value, silent.weight, silent.error) == (None, 0.0, "nothing could be checked")
    assert (verdict.value, verdict.flags, len(requests[0])) == (0.75, (), 1)
    only = with_models(plain, ["claims:openai/a"], judge="jury")
    with pytest.raises(PromptError, match="no model of the jury gave a score: claims:openai/a: nothing could be"):
        onprompt.verify(PIXELS, "beautiful", settings=only)


def test_claims_that_nobody_can_tell_are_paid_for(serve: Serve) -> None:
    plain, _ = serve(both_ways(4, *["cannot tell"] * 5), says(2))
    verdict = onprompt.verify(PIXELS, PROMPT, settings=with_models(plain, BOTH))
    assert (verdict.voices[1].value, verdict.value, len(verdict.answers)) == (None, 0.75, 3)
    assert verdict.usage.tokens_in == 3 * 1200


def test_where_it_does_not_belong(serve: Serve) -> None:
    plain, _ = serve(says(4), says(2))
    with pytest.raises(UserError, match="for 'edit' claims need evidence"):
        onprompt.edit(PIXELS, PIXELS, "make it red", settings=with_models(plain, BOTH))
    with pytest.raises(UserError, match="the same model twice"):
        onprompt.verify(PIXELS, PROMPT, settings=with_models(plain, [*BOTH, "claims:openai/a"]))
