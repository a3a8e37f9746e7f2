"""Many samples before a jury of real HTTP servers: plans, budgets, resuming, and the commands."""

from __future__ import annotations

import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import onprompt
from onprompt import api
from onprompt.errors import BudgetSpent
from onprompt.runs.run import JudgeJob
from onprompt.samples import load_rubric
from onprompt.types import Verdict
from onprompt.wording import plan_words
from tests.judges.claim_server import PIXELS
from tests.judges.jury.servers import NAMES, Serve, command, judged, prompt_of, prompts, rows, says, table
from tests.models.backends.server import Received, Reply


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


def test_all_models_are_asked_at_the_same_time(serve: Serve) -> None:
    settings, _ = serve(*[says(4, delay=0.2)] * 3, concurrency=4)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(20)]
    start = time.perf_counter()
    assert all(isinstance(each, Verdict) for each in onprompt.judge_many("verify", items, settings=settings))
    assert time.perf_counter() - start < 2.5, "1 s; one model after the other would take 3"


def test_the_command_line(serve: Serve, tmp_path: Path) -> None:
    settings, requests = serve(says(4), says(3))
    Image.fromarray(PIXELS).save("cat.png")
    jury = "--set", "jury_evidence_weight=0", *(option for model in settings.models for option in ("--model", model))

    def output(*arguments: str) -> str:
        done = command(*arguments, answers=settings.answers)
        assert done.exit_code == 0, done.output
        return str(done.output)

    shown = output("verify", "cat.png", "a cat", *jury).splitlines()
    assert (shown[0], shown[-1]) == ("Jury", "(4)")
    entry = json.loads(output("verify", "cat.png", "a cat", *jury, "--json"))
    assert [voice["name"] for voice in entry["voices"]] == list(NAMES[:2])
    assert [len(each) for each in requests] == [1, 1]
    assert "2 calls to 2 models" in output("verify", "cat.png", "cats", *jury, "--dry-run")
    table(tmp_path, 3)
    run = str(tmp_path / "run.sqlite")
    output("run", str(tmp_path / "data.csv"), "--out", run, *jury)
    assert "verify by jury openai/a, openai/b" in output("show", run)
    assert output("show", run, "--id", "1").splitlines()[:2] == shown[:2]


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
