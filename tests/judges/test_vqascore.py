"""The probability of yes by real HTTP, and servers that give none."""

from __future__ import annotations

import pytest

import onprompt
from onprompt import api
from onprompt.errors import Rejected, UnreadableAnswer
from onprompt.types import Verdict
from tests.judges.claim_server import PIXELS, Serve
from tests.models.backends.server import Received, Reply
from tests.models.backends.test_openai import complaint, completion, token
from tests.models.test_answer_store import stored

SAMPLE = {"image": PIXELS, "prompt": "two dogs"}


def said(word: str, chance: float, **others: float) -> Reply:
    """An answer of one word with probabilities."""
    return Reply(completion(word, logprobs={"content": [token(word, chance, **others)]}))


def judged(settings: onprompt.Settings) -> Verdict:
    """The one verdict, or its error."""
    (result,) = api.judge_many("vqascore", [SAMPLE], settings=settings)
    if isinstance(result, Exception):
        raise result
    return result


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (said("Yes", 0.6, No=0.2), 0.75),
        (said("No", 0.6, Yes=0.2), 0.25),
        (said("yes", 0.5, Yes=0.3, no=0.2), 0.8),
        (said("Yes", 1.0), 1.0),
    ],
)
def test_the_value_is_the_probability_of_yes(serve: Serve, reply: Reply, value: float) -> None:
    settings, requests = serve(reply, judge="vlm")
    verdict = judged(settings)
    assert verdict.value == pytest.approx(value, abs=1e-4)
    assert verdict.score == round(100 * value)
    (request,) = requests
    assert request.json["logprobs"] is True
    text = request.json["messages"][0]["content"][-1]["text"]
    assert text == 'Does this figure show "two dogs"? Please answer yes or no.'
    assert judged(settings).value == verdict.value
    assert len(requests) == 1, "the second answer is cached"


def test_servers_without_probabilities_are_refused_by_name(serve: Serve) -> None:
    def refuses(request: Received) -> Reply:
        return complaint("logprobs are not supported") if "logprobs" in request.json else Reply(completion("Yes"))

    for script in (refuses, Reply(completion("Yes"))):
        settings, _ = serve(script, judge="vlm", reuse_answers=False)
        with pytest.raises(Rejected, match=r"^openai/test at http://127\.0\.0\.1:\d+ gives no token probabilities"):
            judged(settings)


def test_neither_yes_nor_no_is_no_score(serve: Serve) -> None:
    settings, requests = serve(said("It", 0.9, Yes=0.05, No=0.02), judge="vlm")
    with pytest.raises(UnreadableAnswer, match="neither yes nor no"):
        judged(settings)
    assert len(requests) == 2, "it is asked once more"
    assert stored(settings.answers) == 2
