"""The sum that is shown is the sum that was made."""

import re

import pytest

from onprompt import verify
from onprompt.rubrics.verify import RUBRIC
from onprompt.settings import Settings
from tests.conftest import photo

PROMPTS = ["Two red cups next to a spoon on a wooden table, no cat", "a horse", "a cup and a laptop"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_sum_comes_out(prompt: str, settings: Settings) -> None:
    assert RUBRIC.explain
    verdict = verify(photo("coffee.png"), prompt, settings=settings)
    shown = list(RUBRIC.explain(verdict, settings))
    (terms, result), *more = (line.split(" = ")[1:] for line in shown if line.startswith("value = "))
    assert not more
    plain = re.sub(r"[()/ ]", "", terms.removesuffix("/ 4"))
    summed = sum(float(share) * int(points) for share, points in (term.split("×") for term in plain.split("+"))) / 4
    assert summed == pytest.approx(verdict.value, abs=0.002)
    assert float(result) == pytest.approx(verdict.value, abs=1e-4)
    assert any(line.startswith(f"score = ({verdict.score})") for line in shown)


def test_every_claim_is_shown_with_its_probability(settings: Settings) -> None:
    assert RUBRIC.explain
    verdict = verify(photo("coffee.png"), PROMPTS[0], settings=settings)
    shown = [line for line in RUBRIC.explain(verdict, settings) if re.match(r"  \d\.\d\d  ", line)]
    assert sorted(line.split()[0] for line in shown) == sorted(f"{check.probability:.2f}" for check in verdict.checks)


def test_what_nothing_can_check_is_limited_in_words(settings: Settings) -> None:
    assert RUBRIC.explain
    verdict = verify(photo("coffee.png"), "the zeitgeist", settings=settings)
    shown = list(RUBRIC.explain(verdict, settings))
    assert verdict.score is not None
    assert verdict.score <= 2
    limited = [line for line in shown if "since nothing could be checked" in line]
    assert all(line.endswith(f"{verdict.value:.4f}") for line in limited)
