"""Many at a time by the evidence judge."""

import subprocess
import sys
from pathlib import Path

import pytest

import onprompt
from onprompt import Verdict
from onprompt.errors import ImageError
from tests.conftest import photo_path

PROMPTS = ("a red cup on a table", "two dogs", "a spoon", "a laptop")


def test_many_are_judged_like_one(tmp_path: Path) -> None:
    items = [{"image": photo_path("coffee.png"), "prompt": prompt} for prompt in PROMPTS]
    items.insert(2, {"image": tmp_path / "none.png", "prompt": "a cup"})
    found = list(onprompt.judge_many("verify", items))
    assert isinstance(found.pop(2), ImageError)
    alone = [onprompt.verify(photo_path("coffee.png"), prompt) for prompt in PROMPTS]
    assert [each.value for each in found if isinstance(each, Verdict)] == [each.value for each in alone]


@pytest.mark.parametrize(
    "how",
    [
        "onprompt.judge_many('verify', [dict(image=photo, prompt=prompt) for prompt in prompts])",
        "ThreadPoolExecutor(8).map(lambda prompt: onprompt.verify(photo, prompt), prompts)",
    ],
)
def test_threads_may_come_first_in_a_fresh_process(how: str) -> None:
    photo = str(photo_path("coffee.png"))
    program = f"""
from concurrent.futures import ThreadPoolExecutor
import onprompt
photo, prompts = {photo!r}, {PROMPTS!r}
print([found.score for found in {how}])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{[onprompt.verify(photo, prompt).score for prompt in PROMPTS]}\n"
