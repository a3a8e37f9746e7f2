"""Many samples before a jury of real HTTP servers: plans, budgets, resuming, and the commands."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import onprompt
from onprompt import api
from onprompt.errors import BudgetSpent
from onprompt.runs.run import JudgeJob
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.types import Verdict
from onprompt.wording import plan_words
from tests.judges.claim_server import PIXELS
from tests.judges.jury.servers import NAMES, Serve, command, judged, prompt_of, prompts, rows, says, table
from tests.judges.test_vlm import UNREADABLE
from tests.models.backends.server import KEY, Received, Reply
from tests.models.backends.test_openai import completion


def test_one_budget_for_all_models(serve: Serve) -> None:
    settings, requests = serve(says(4), says(4), price_in=1.0, price_out=1.0, budget=0.02)
    onprompt.verify(PIXELS, "a cat", settings=settings)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(10)]
    results = list(onprompt.judge_many("verify", items, settings=settings))
    assert any(isinstance(each, BudgetSpent) for each in results)
    assert not any(isinstance(each, Verdict) and each.flags for each in results), "an empty purse is no failed model"
    assert sum(len(each) for each in requests) * 1240 / 1e6 < 0.02
    assert 0 < api.judges.get(load_rubric("verify"), settings).spent() < 0.02


def test_the_plan_is_that_of_all_models(serve: Serve) -> None:
    settings, requests = serve(says(4), says(4), price_in=1.0, price_out=1.0)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(3)]
    onprompt.verify(PIXELS, "0 cats", settings=settings)
    planned = api.plan("verify", items, settings=settings)
    assert (planned.calls, planned.known, [part.calls for part in planned.parts]) == (4, 2, [2, 2])
    assert planned.usage.cost == pytest.approx(sum(part.usage.cost or 0.0 for part in planned.parts))
    words = plan_words(planned).splitlines()
    assert [line.partition(":")[0] for line in words] == [
        "2 calls to openai/a (1 more cached)",
        "2 calls to openai/b (1 more cached)",
        "4 calls to 2 models (2 more cached)",
    ]
    assert [len(each) for each in requests] == [1, 1]


def test_answers_of_a_single_model_and_of_a_jury_are_the_same(serve: Serve) -> None:
    settings, requests = serve(says(4), says(2))
    name, _, url = settings.models[0].partition("@")
    alone = settings.model_copy(update={"model": name, "models": (), "base_url": url})
    assert onprompt.verify(PIXELS, "a cat", settings=alone).judge == "vlm"
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert [len(each) for each in requests] == [1, 1]
    assert [answer.cached for answer in verdict.answers] == [True, False]
    (again,) = onprompt.judge_many("verify", [{"image": PIXELS, "prompt": "a cat"}], settings=settings)
    assert isinstance(again, Verdict)
    assert (again.value, again.voices, again.usage.tokens_in) == (verdict.value, verdict.voices, 0)
    assert [len(each) for each in requests] == [1, 1]


def test_a_run_completes_verdicts_of_a_model_that_was_down(serve: Serve, tmp_path: Path) -> None:
    table(tmp_path, 6)
    up = threading.Event()
    settings, requests = serve(says(4), lambda _: says(2) if up.is_set() else Reply("oops", 500), retries=0)
    first = judged(tmp_path, settings)
    assert (first.done, first.incomplete, first.errors.total()) == (6, 6, 0)
    assert {(row.value, row.flags) for row in rows(tmp_path).values()} == {(1.0, ("model_failed",))}
    up.set()
    second = judged(tmp_path, settings)
    assert (second.done, second.incomplete, second.before) == (6, 0, 0)
    assert {(row.value, row.flags) for row in rows(tmp_path).values()} == {(0.75, ())}
    assert set(prompts(requests[0]).values()) == {1}
    assert (judged(tmp_path, settings).before, len(requests[0])) == (6, 6)


SCRIPT = """
import sys
from collections.abc import Callable
from pathlib import Path
from onprompt.settings import Settings, load
from tests.judges.jury.servers import judged
judged(Path(sys.argv[1]), Settings.model_validate_json(sys.argv[2]))
"""


def kill_in_the_middle(folder: Path, settings: Settings, reached: Callable[[], bool]) -> None:
    """Start a run in a process of its own, and kill it at a moment."""
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path]), "OPENAI_API_KEY": KEY}
    sent = settings.model_dump_json(exclude={"api_key"})
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), sent], env=environment)
    while process.poll() is None and not reached():
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it must be hit before its end"


@pytest.mark.slow
def test_a_killed_run_is_resumed_and_each_answer_is_paid_for_once(serve: Serve, tmp_path: Path) -> None:
    table(tmp_path, 60)
    settings, requests = serve(
        lambda _: says(4, delay=0.02), lambda _: says(2, delay=0.05), Reply(UNREADABLE["refusal"]), concurrency=4
    )
    for wanted in (15, 30):
        kill_in_the_middle(tmp_path, settings, lambda wanted=wanted: len(requests[1]) >= wanted)  # type: ignore[misc]
    summary = judged(tmp_path, settings)
    assert summary.done + summary.before == 60
    found = rows(tmp_path)
    assert {(row.value, row.flags) for row in found.values()} == {(0.75, ("model_unreadable",))}
    # An answer on its way when the process was killed is lost; no other is asked for again.
    for asked, times in zip(requests, (1, 1, 2), strict=True):
        assert 60 * times <= len(asked) <= 60 * times + 2 * settings.concurrency


@pytest.mark.slow
def test_a_killed_run_with_trouble_at_any_moment(serve: Serve, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 shown if the test fails
    chance, calm = random.Random(seed), threading.Event()
    replies: dict[str, list[str]] = {}  # what the third model replied, by prompt
    troubles = {
        "down": Reply("oops", 500),
        "slow": says(0, delay=4),
        "reset": says(0, reset_after=20),
        "nonsense": Reply(completion("What a lovely picture!")),
        "refusal": Reply(UNREADABLE["refusal"]),
    }

    def third(request: Received) -> Reply:
        kind = "right" if calm.is_set() else chance.choice(["right", *troubles])
        replies.setdefault(prompt_of(request), []).append(kind)
        return troubles.get(kind, says(0))

    table(tmp_path, 60)
    settings, requests = serve(says(4), lambda _: says(2, delay=0.02), third, concurrency=4, timeout=2.0, retries=0)
    for wanted in (15, 30):
        kill_in_the_middle(tmp_path, settings, lambda wanted=wanted: len(requests[1]) >= wanted)  # type: ignore[misc]
    judged(tmp_path, settings)
    calm.set()
    time.sleep(settings.backoff)
    patient = settings.model_copy(update={"breaker_pause": 0.0})
    assert judged(tmp_path, patient).incomplete == 0
    for name, row in rows(tmp_path).items():
        said = replies[f"{name} cats"]
        unreadable = sum(kind in ("nonsense", "refusal") for kind in said)
        if "right" in said and row.value == 0.5:
            assert row.flags == ("judges_disagree",)
        else:  # both of its answers were paid for, and neither has a score
            assert (row.value, row.flags, unreadable >= 2) == (0.75, ("model_unreadable",), True)
    lost = 2 * settings.concurrency  # on their way when the process was killed
    for asked in requests[:2]:
        assert 60 <= len(asked) <= 60 + lost
    assert sum(kinds.count("right") > 1 for kinds in replies.values()) <= lost
    before = [len(asked) for asked in requests]
    assert judged(tmp_path, patient).before == 60
    assert [len(asked) for asked in requests] == before


@pytest.mark.slow
def test_three_models_take_as_long_as_the_slowest(serve: Serve) -> None:
    slow = [lambda _: says(4, delay=0.2), lambda _: says(4, delay=0.1), lambda _: says(4, delay=0.2)]
    settings, _ = serve(*slow, concurrency=4)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(40)]
    name, _, url = settings.models[0].partition("@")
    alone = settings.model_copy(update={"model": name, "models": (), "base_url": url, "reuse_answers": False})
    list(onprompt.judge_many("verify", items[:1], settings=settings.model_copy(update={"reuse_answers": False})))

    def seconds(chosen: Settings) -> float:
        start = time.perf_counter()
        assert all(isinstance(each, Verdict) for each in onprompt.judge_many("verify", items, settings=chosen))
        return time.perf_counter() - start

    together = settings.model_copy(update={"reuse_answers": False})
    ratio = statistics.median(seconds(together) / seconds(alone) for _ in range(3))
    assert ratio < 1.25, "bench/jury_speed.py measures the ratio itself; one model after the other would take 2.5"


def test_the_command_line(serve: Serve, tmp_path: Path) -> None:
    settings, requests = serve(says(4), says(3))
    Image.fromarray(PIXELS).save("cat.png")
    models = [option for model in settings.models for option in ("--model", model)]
    shown = command("verify", "cat.png", "a cat", *models, "--set", "jury_evidence_weight=0", answers=settings.answers)
    assert shown.exit_code == 0, shown.output
    assert shown.output.splitlines()[0] == "Jury"
    assert shown.output.splitlines()[-1] == "(4)"
    entry = command(
        "verify", "cat.png", "a cat", *models, "--set", "jury_evidence_weight=0", "--json", answers=settings.answers
    )
    assert [voice["name"] for voice in json.loads(entry.output)["voices"]] == list(NAMES[:2])
    assert [len(each) for each in requests] == [1, 1]
    dry = command(
        "verify", "cat.png", "cats", *models, "--set", "jury_evidence_weight=0", "--dry-run", answers=settings.answers
    )
    assert "2 calls to 2 models" in dry.output
    table(tmp_path, 3)
    out = ("--out", str(tmp_path / "run.sqlite"))
    done = command(
        "run", str(tmp_path / "data.csv"), *out, *models, "--set", "jury_evidence_weight=0", answers=settings.answers
    )
    assert done.exit_code == 0, done.output
    assert "verify by jury openai/a, openai/b" in command("show", out[1], answers=settings.answers).output
    one = command("show", out[1], "--id", "1", answers=settings.answers)
    assert one.output.splitlines()[:2] == shown.output.splitlines()[:2]


def test_a_job_of_a_jury_can_be_sent_and_has_an_identity(serve: Serve) -> None:
    settings, _ = serve(says(4), says(3))
    job = JudgeJob("verify", settings)
    sent = pickle.loads(pickle.dumps(job))
    assert json.dumps(sent.identity) == json.dumps(job.identity)
    assert (job.bound_by, job.slots) == ("server", 2 * settings.concurrency)
    changed: list[dict[str, Any]] = [
        {"jury_evidence_weight": 0.3},
        {"jury_weights": (("openai/a", 2.0),)},
        {"models": settings.models[:1]},
    ]
    others = [JudgeJob("verify", settings.model_copy(update=update)).identity for update in changed]
    assert all(identity != job.identity for identity in others)
    alone = settings.model_copy(update={"models": (), "model": "openai/a"})
    same = JudgeJob("verify", alone.model_copy(update={"jury_evidence_weight": 0.3}))
    assert same.identity == JudgeJob("verify", alone).identity, "only a jury depends on it"


def test_agreement_of_every_voice(serve: Serve, tmp_path: Path) -> None:
    def right(request: Received) -> Reply:
        return says(int(prompt_of(request)[0]) % 5)

    def wrong(request: Received) -> Reply:
        return says(4 - int(prompt_of(request)[0]) % 5)

    settings, _ = serve(right, wrong)
    table(tmp_path, 10)
    judged(tmp_path, settings)
    ratings = "\n".join(f"{index},{index % 5},{min(4, index % 5 + 1)}" for index in range(10))
    (tmp_path / "ratings.csv").write_text(f"id,r1,r2\n{ratings}\n")
    arguments = ("agree", str(tmp_path / "run.sqlite"), "--human", str(tmp_path / "ratings.csv"))
    found = json.loads(command(*arguments, "--json", answers=settings.answers).output)["voices"]
    assert found["openai/a"]["judge"]["spearman"]["value"] > 0.9
    assert found["openai/b"]["judge"]["spearman"]["value"] < -0.9
    assert found["the jury"]["judge"]["spearman"]["value"] is None, "they cancel out"
    shown = command(*arguments, answers=settings.answers).output.splitlines()
    title = next(place for place, line in enumerate(shown) if line.startswith("voice of the jury"))
    assert [line.split("  ")[0] for line in shown[title + 1 : title + 3]] == ["openai/a", "openai/b"]
