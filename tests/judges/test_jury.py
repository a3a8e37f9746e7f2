"""The jury, over real HTTP: three servers of which one may fail in any way, and nothing is ever made up."""

from __future__ import annotations

import json
import os
import pickle
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import SecretStr
from typer.testing import CliRunner

import onprompt
from onprompt import api, samples, serial
from onprompt.cli import app
from onprompt.errors import BudgetSpent, PromptError, ServerTrouble, SettingsError, UnreadableAnswer, UserError
from onprompt.models.client import close_all
from onprompt.report.document import document
from onprompt.report.terminal import voice_lines
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import datasets, findings
from onprompt.runs.job import JudgeJob
from onprompt.runs.ledger import Ledger
from onprompt.runs.run import Summary, run
from onprompt.settings import Settings, load
from onprompt.types import Verdict
from onprompt.wording import plan_words
from tests.judges.test_vlm import PIXELS, UNREADABLE, WHY, factors
from tests.models.backends.server import KEY, Received, Reply, Scripted, Step
from tests.models.backends.test_openai import completion

NAMES = ("openai/a", "openai/b", "openai/c")
Serve = Callable[..., tuple[Settings, list[list[Received]]]]


def says(score: int, **more: Any) -> Reply:
    return Reply(completion(f"All is well.\n({score})"), **more)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Settings for a jury of as many servers as there are scripts, and the requests of each."""
    servers: list[Scripted] = []

    def start(*scripts: Step | tuple[Step, ...], **settings: Any) -> tuple[Settings, list[list[Received]]]:
        started = [Scripted(*(script if isinstance(script, tuple) else (script,))) for script in scripts]
        servers.extend(server.__enter__() for server in started)
        models = tuple(f"{name}@{server.url}" for name, server in zip(NAMES, started, strict=False))
        usual = {"models": models, "api_key": SecretStr(KEY), "jury_evidence": False}
        quick = {"answers": tmp_path / "answers.sqlite", "timeout": 5.0, "backoff": 0.01, "retries": 1}
        return Settings(**{**usual, **quick, **settings}), [server.requests for server in started]

    yield start
    close_all()
    for server in servers:
        server.__exit__()


def test_the_mean_of_three_models_and_what_each_says(serve: Serve) -> None:
    settings, requests = serve(says(4), says(3), says(3))
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert (verdict.judge, verdict.score, verdict.flags) == ("jury", 3, ())
    assert verdict.value == pytest.approx((1 + 0.75 + 0.75) / 3)
    assert verdict.measures["spread"] == pytest.approx(0.25)
    assert [(voice.name, voice.factors["score"].score, voice.value, voice.error) for voice in verdict.voices] == [
        ("openai/a", 4, 1.0, ""),
        ("openai/b", 3, 0.75, ""),
        ("openai/c", 3, 0.75, ""),
    ]
    assert sum(voice.weight for voice in verdict.voices) == pytest.approx(1)
    assert verdict.factors["score"].scores == (4, 3, 3)
    assert [len(each) for each in requests] == [1, 1, 1]
    assert [each[0].json["model"] for each in requests] == ["a", "b", "c"]
    assert all(RUBRIC.text in each[0].json["messages"][0]["content"][0]["text"] for each in requests)
    assert len(verdict.answers) == 3
    assert verdict.provenance["model"] == "openai/a, openai/b, openai/c"


def test_a_verdict_of_a_jury_is_stored_and_shown(serve: Serve) -> None:
    settings, _ = serve(says(4), says(0), Reply(UNREADABLE["refusal"]))
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert serial.load(serial.dump(verdict)) == verdict
    entry = json.loads(json.dumps(document(verdict)))
    assert [voice["name"] for voice in entry["voices"]] == list(NAMES)
    assert "refusal" in entry["voices"][2]["error"]
    lines = [text for text, _ in voice_lines(verdict)]
    assert lines[0] == "Jury"
    assert lines[1].startswith("  openai/a: score 4, value 1.00, weight 0.50. ")
    assert lines[3].startswith("  openai/c: no score: unreadable answer")


def test_models_that_are_far_apart_are_flagged(serve: Serve) -> None:
    settings, _ = serve(says(4), says(1))
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert verdict.flags == ("judges_disagree",)
    assert verdict.measures["spread"] == 0.75
    calm = settings.model_copy(update={"jury_spread": 0.8})
    assert onprompt.verify(PIXELS, "a cat", settings=calm).flags == ()


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


def test_an_answer_that_can_not_be_read_is_paid_for_and_kept(serve: Serve) -> None:
    settings, requests = serve(says(4), Reply(UNREADABLE["refusal"]), price_in=1.0, price_out=0.0)
    verdict = onprompt.verify(PIXELS, "a cat", settings=settings)
    assert [len(each) for each in requests] == [1, 2]
    assert verdict.usage.tokens_in == 3 * 1200
    assert verdict.usage.cost == pytest.approx(3 * 1200 / 1e6)


def test_a_bad_prompt_is_the_users_error(serve: Serve) -> None:
    settings, requests = serve(says(4), says(4))
    with pytest.raises(PromptError):
        onprompt.verify(PIXELS, " ", settings=settings)
    assert requests == [[], []]


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


def test_one_budget_for_all_models(serve: Serve) -> None:
    settings, requests = serve(says(4), says(4), price_in=1.0, price_out=1.0, budget=0.02)
    onprompt.verify(PIXELS, "a cat", settings=settings)
    items = [{"image": PIXELS, "prompt": f"{number} cats"} for number in range(10)]
    results = list(onprompt.judge_many("verify", items, settings=settings))
    assert any(isinstance(each, BudgetSpent) for each in results)
    assert not any(isinstance(each, Verdict) and each.flags for each in results), "an empty purse is no failed model"
    assert sum(len(each) for each in requests) * 1240 / 1e6 < 0.02
    assert samples.load_judge("verify", settings).spent() < 0.02


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


def table(folder: Path, number: int) -> Path:
    Image.fromarray(np.full((8, 8, 3), 99, np.uint8)).save(folder / "cat.png")
    lines = [f"{index},cat.png,{index} cats" for index in range(number)]
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *lines]) + "\n")
    return folder / "data.csv"


def judged(folder: Path, settings: Settings) -> Summary:
    data = datasets.open_dataset(str(folder / "data.csv"), RUBRIC, {})
    return run(data, folder / "run.sqlite", JudgeJob("verify", settings))


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    with Ledger(folder / "run.sqlite") as ledger:
        return {row["id"]: row for row in findings.rows(ledger, findings.choose_generation(ledger))}


def prompts(requests: list[Received]) -> Counter[str]:
    return Counter(json.dumps(request.json["messages"]).rpartition("Input Prompt: ")[2] for request in requests)


def test_a_run_completes_verdicts_of_a_model_that_was_down(serve: Serve, tmp_path: Path) -> None:
    table(tmp_path, 6)
    up = threading.Event()
    settings, requests = serve(says(4), lambda _: says(2) if up.is_set() else Reply("oops", 500), retries=0)
    first = judged(tmp_path, settings)
    assert (first.done, first.incomplete, first.faults.total()) == (6, 6, 0)
    assert {(row["value"], row["flags"]) for row in rows(tmp_path).values()} == {(1.0, "model_failed")}
    up.set()
    second = judged(tmp_path, settings)
    assert (second.done, second.incomplete, second.before) == (6, 0, 0)
    assert {(row["value"], row["flags"]) for row in rows(tmp_path).values()} == {(0.75, "")}
    assert set(prompts(requests[0]).values()) == {1}
    assert (judged(tmp_path, settings).before, len(requests[0])) == (6, 6)


SCRIPT = """
import sys
from pathlib import Path
from onprompt.settings import Settings, load
from tests.judges.test_jury import judged
judged(Path(sys.argv[1]), Settings.model_validate_json(sys.argv[2]))
"""


def test_a_killed_run_is_resumed_and_each_answer_is_paid_for_once(serve: Serve, tmp_path: Path) -> None:
    table(tmp_path, 60)
    settings, requests = serve(
        lambda _: says(4, delay=0.02), lambda _: says(2, delay=0.05), Reply(UNREADABLE["refusal"]), concurrency=4
    )
    root = str(Path(__file__).parent.parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path]), "OPENAI_API_KEY": KEY}
    sent = settings.model_dump_json(exclude={"api_key"})
    for killed in range(2):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path), sent], env=environment)
        while process.poll() is None and len(requests[1]) < 15 * (killed + 1):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(rows(tmp_path)) < 60 or any(row["value"] is None for row in rows(tmp_path).values())
    summary = judged(tmp_path, settings)
    assert summary.done + summary.before == 60
    found = rows(tmp_path)
    assert {(row["value"], row["flags"]) for row in found.values()} == {(0.75, "model_unreadable")}
    # An answer on its way when the process was killed is lost; no other is asked for again.
    for asked, times in zip(requests, (1, 1, 2), strict=True):
        assert 60 * times <= len(asked) <= 60 * times + 2 * settings.concurrency


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


def test_the_evidence_has_a_voice(serve: Serve) -> None:
    settings, _ = serve(says(4), says(4), jury_evidence=True)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    measured = onprompt.verify(PIXELS, "a dog", judge="evidence", settings=settings)
    assert [voice.name for voice in verdict.voices] == ["openai/a", "openai/b", "evidence"]
    assert verdict.voices[2].value == measured.value
    assert verdict.value == pytest.approx((1 + 0.2 * measured.value) / 1.2)
    assert (verdict.checks, verdict.evidence) == (measured.checks, measured.evidence)
    assert not any("http" in json.dumps(serial.dump(verdict)["provenance"][key], default=str) for key in ("settings",))
    assert measured.value < 0.5, "the image is grey"
    assert all(voice.disputed for voice in verdict.voices[:2]), "they see a dog that the detector does not"
    assert any("contradicted: " in text for text, _ in voice_lines(verdict))
    without, _ = serve(says(4), says(4))
    assert len(onprompt.verify(PIXELS, "a dog", settings=without).voices) == 2


def test_the_evidence_beside_a_single_model(serve: Serve) -> None:
    settings, _ = serve(says(4), jury_evidence=True)
    verdict = onprompt.verify(PIXELS, "a dog", settings=settings)
    assert [voice.name for voice in verdict.voices] == ["openai/a", "evidence"]
    assert "judges_disagree" in verdict.flags
    assert verdict.value < 1


def test_the_evidence_alone_is_no_jury(serve: Serve) -> None:
    settings, _ = serve(Reply("oops", 500), jury_evidence=True)
    with pytest.raises(ServerTrouble, match="no model of the jury"):
        onprompt.verify(PIXELS, "a dog", settings=settings)


def test_settings_hold_models_and_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("onprompt.toml").write_text('models = ["openai/a", "openai/b"]\n[jury_weights]\n"openai/b" = 0.5\n')
    assert (load().models, load().jury_weights, load().judged_by) == (NAMES[:2], (("openai/b", 0.5),), "jury")
    monkeypatch.setenv("ONPROMPT_MODELS", "openai/a, openai/c@http://localhost:1/v1?x=1")
    monkeypatch.setenv("ONPROMPT_JURY_WEIGHTS", "openai/a=2,openai/c=0.5")
    assert load().models == ("openai/a", "openai/c@http://localhost:1/v1?x=1")
    assert load().jury_weights == (("openai/a", 2.0), ("openai/c", 0.5))
    with pytest.raises(SettingsError, match="twice"):
        load(models=["openai/a", "openai/a"])
    with pytest.raises(SettingsError, match="must be above 0"):
        load(jury_weights={"openai/a": 0.0})


def command(*arguments: str, answers: Path) -> Any:
    environment = {"ONPROMPT_ANSWERS": str(answers), "ONPROMPT_API_KEY": KEY, "ONPROMPT_RETRIES": "0"}
    return CliRunner().invoke(app, arguments, env=environment)


def test_the_command_line(serve: Serve, tmp_path: Path) -> None:
    settings, requests = serve(says(4), says(3))
    Image.fromarray(PIXELS).save("cat.png")
    models = [option for model in settings.models for option in ("--model", model)]
    shown = command("verify", "cat.png", "a cat", *models, "--no-evidence", answers=settings.answers)
    assert shown.exit_code == 0, shown.output
    assert shown.output.splitlines()[0] == "Jury"
    assert shown.output.splitlines()[-1] == "(4)"
    entry = command("verify", "cat.png", "a cat", *models, "--no-evidence", "--json", answers=settings.answers)
    assert [voice["name"] for voice in json.loads(entry.output)["voices"]] == list(NAMES[:2])
    assert [len(each) for each in requests] == [1, 1]
    dry = command("verify", "cat.png", "cats", *models, "--no-evidence", "--dry-run", answers=settings.answers)
    assert "2 calls to 2 models" in dry.output
    single = command("verify", "cat.png", "a cat", *models[:2], "--no-evidence", answers=settings.answers)
    assert isinstance(single.exception, UserError)
    table(tmp_path, 3)
    out = ("--out", str(tmp_path / "run.sqlite"))
    done = command("run", str(tmp_path / "data.csv"), *out, *models, "--no-evidence", answers=settings.answers)
    assert done.exit_code == 0, done.output
    assert "verify by openai/a, openai/b" in command("show", out[1], answers=settings.answers).output
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
        return says(int(json.dumps(request.json["messages"]).rpartition("Input Prompt: ")[2][2]) % 5)

    def wrong(request: Received) -> Reply:
        return says(4 - int(json.dumps(request.json["messages"]).rpartition("Input Prompt: ")[2][2]) % 5)

    settings, _ = serve(right, wrong)
    table(tmp_path, 10)
    judged(tmp_path, settings)
    ratings = "\n".join(f"{index},{index % 5},{min(4, index % 5 + 1)}" for index in range(10))
    (tmp_path / "ratings.csv").write_text(f"id,r1,r2\n{ratings}\n")
    arguments = ("agree", str(tmp_path / "run.sqlite"), "--human", str(tmp_path / "ratings.csv"))
    found = json.loads(command(*arguments, "--json", answers=settings.answers).output)["voices"]
    assert found["openai/a"]["judge"]["spearman"]["value"] > 0.9
    assert found["openai/b"]["judge"]["spearman"]["value"] < -0.9
    assert found["openai/a + openai/b"]["judge"]["spearman"]["value"] is None, "they cancel out"
    shown = command(*arguments, answers=settings.answers).output.splitlines()
    names = [line.split("  ")[0] for line in shown[-4:]]
    assert (names[0], names[-1]) == ("openai/a", "one rater vs. the others")
