"""Many at a time by the evidence judge."""

import subprocess
import sys
from pathlib import Path

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


def test_threads_may_come_first_in_a_fresh_process() -> None:
    program = f"""
import onprompt
items = [dict(image={str(photo_path("coffee.png"))!r}, prompt=prompt) for prompt in {PROMPTS!r}]
print([found.score for found in onprompt.judge_many("verify", items)])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{[onprompt.verify(photo_path('coffee.png'), prompt).score for prompt in PROMPTS]}\n"


def test_a_pool_of_threads_may_make_the_first_calls() -> None:
    program = f"""
from concurrent.futures import ThreadPoolExecutor
import onprompt
with ThreadPoolExecutor(8) as pool:
    print(list(pool.map(lambda _: onprompt.verify({str(photo_path("coffee.png"))!r}, "a spoon").score, range(8))))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{[onprompt.verify(photo_path('coffee.png'), 'a spoon').score] * 8}\n"
