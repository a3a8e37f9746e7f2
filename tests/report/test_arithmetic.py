"""The sum that is shown is the sum that was made."""

import re

import pytest

from onprompt import edit, rate, verify
from onprompt.rubrics import edit as edit_rubric
from onprompt.rubrics import rate as rate_rubric
from onprompt.rubrics import verify as verify_rubric
from onprompt.settings import Settings
from tests.conftest import photo

PROMPTS = ["Two red cups next to a spoon on a wooden table, no cat", "a horse", "the zeitgeist", "a cup and a laptop"]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize(("judge", "rubric"), [(verify, verify_rubric), (rate, rate_rubric)], ids=["verify", "rate"])
def test_every_sum_comes_out(prompt: str, judge: object, rubric: object, settings: Settings) -> None:
    verdict = judge(photo("coffee.png"), prompt, settings=settings)  # type: ignore[operator]
    shown = list(rubric.explain(verdict, settings))  # type: ignore[attr-defined]
    (value,) = (line for line in shown if line.startswith("value = "))
    words, result, *_ = re.split(r" = |, reduced to", value.removeprefix("value = "))
    plain = words.replace("×", "*")
    assert float(eval(plain, {"__builtins__": {}})) == pytest.approx(float(result), abs=0.002)
    assert re.findall(r"\d\.\d{4}", value)[-1] == f"{verdict.value:.4f}"
    assert any(line.startswith(f"score = ({verdict.score})") for line in shown)
    assert sum(line.startswith("  ") for line in shown) == len(verdict.checks), "a line for each claim"


def test_the_factors_of_an_edit_come_out(settings: Settings) -> None:
    before = photo("coffee.png")
    after = before.copy()
    after[:, :, 0] = 255 - after[:, :, 0]
    verdict = edit(before, after, "remove the spoon and add two red cups", settings=settings)
    shown = list(edit_rubric.explain(verdict, settings))
    (value,) = (line for line in shown if line.startswith("value = "))
    words, result = value.removeprefix("value = ").split(" = ")
    plain = words.replace("×", "*").replace("^", "**")
    assert float(eval(plain, {"__builtins__": {}})) == pytest.approx(float(result), abs=0.002)
    assert result == f"{verdict.value:.4f}"
    for name, factor in verdict.factors.items():
        (line,) = (line for line in shown if line.startswith(f"{name} = ({factor.score}): "))
        share, finest = re.findall(r"1 \+ (.+) × 6 = (.+), rounded", line)[0]
        assert 1 + 6 * float(share) == pytest.approx(float(finest), abs=0.01)
        assert round(float(finest)) == factor.score
    assert sum(line.startswith("  ") for line in shown) == len(verdict.checks), "a line for each claim"
