"""The sum that is shown is the sum that was made."""

import math
import re

import pytest

from onprompt import verify
from onprompt.report.arithmetic import lines
from onprompt.settings import Settings
from tests.conftest import photo

PROMPTS = ["Two red cups next to a spoon on a wooden table, no cat", "a horse", "the zeitgeist", "a cup and a laptop"]


def worked_out(sum_in_words: str) -> float:
    """A line's sum without its notes, done by Python."""
    plain = re.sub(r"\([a-z ,]+\)", "", sum_in_words).replace("×", "*")
    functions = {"sigmoid": lambda odds: 1 / (1 + math.exp(-odds)), "ln": math.log}
    return float(eval(plain, {"__builtins__": {}} | functions))


@pytest.mark.parametrize("prompt", PROMPTS)
def test_every_sum_comes_out(prompt: str, settings: Settings) -> None:
    verdict = verify(photo("coffee.png"), prompt, settings=settings)
    shown = list(lines(verdict, settings))
    sums = [line.split(" = ") for line in shown if line.count(" = ") == 2]
    assert sums
    for _, words, result in sums:
        if "so 1" not in words:
            assert worked_out(words) == pytest.approx(float(result), abs=0.02)
    assert any(line.startswith(f"score = ({verdict.score})") for line in shown)
    assert shown[-1].endswith(f"{verdict.value:.4f}")
