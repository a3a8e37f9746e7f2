"""What a run and its commands say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from onprompt.cli.running import progress_line
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.run import Summary, to_stored
from tests.models.backends.server import Reply, Scripted
from tests.pages.stored import Stored, stored_run
from tests.runs.commands import told as onprompt
from tests.runs.test_run import judged, table


def says(text: str) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Reply({"model": "m", "choices": [choice]})


BAD, GOOD = says("no idea"), says("Reasoning: fine\nScore: 4")


@pytest.mark.parametrize("name", ["rate", "run"])
def test_a_bad_answer_out_of_the_cache_says_so_and_can_be_asked_for_again(tmp_path: Path, name: str) -> None:
    data = table(tmp_path, 1)
    words = {
        "rate": (tmp_path / "cat.png", "a cat"),
        "run": (data, "--rubric", "rate", "--out", tmp_path / "run.sqlite"),
    }
    failed = {"rate": 5, "run": 1}[name]
    with Scripted(BAD, BAD, GOOD) as server:
        command = (name, *words[name], "--model", "openai/m", "--set", f"base_url={server.url}")
        first, second = onprompt(*command), onprompt(*command)
        assert (first[0], second[0], len(server.requests)) == (failed, failed, 2), "each was asked twice"
        assert "--ask-again" not in first[1]
        assert "this answer is from the answer cache: --ask-again asks the model anew" in second[1]
        assert onprompt(*command, "--ask-again")[0] == 0
        assert (onprompt(*command)[0], len(server.requests)) == (0, 3), "the new answer has replaced the old one"


def test_the_progress(tmp_path: Path) -> None:
    summary = Summary(tmp_path, before=400, done=20, cost=0.5)
    assert progress_line(summary, 1000, 10.0) == "420 of 1,000, 2.0 per second, 5 min left, $0.50"


SAMPLES = [Stored(str(n), f"prompt {n}", n / 10, ("a", "b")[n % 2]) for n in range(10)]


def test_judges_of_the_same_images_are_named_and_not_ranked(tmp_path: Path) -> None:
    """One judge with ten scores, and one with another detector that says the half."""
    one = stored_run(tmp_path / "one.sqlite", SAMPLES)
    half = [replace(sample, value=(sample.value or 0) / 2) for sample in SAMPLES]
    other = stored_run(tmp_path / "two.sqlite", half, detector="coco")
    code, text = onprompt("compare", one, other)
    assert code == 0
    assert "one  evidence (detector strong)  0.450 [" in text
    assert "two  evidence (detector coco)    0.225 [" in text
    assert "one and two: Spearman ρ 1.000 [1.000, 1.000] on 10 common samples; two − one: -0.225 [" in text
    assert "better" not in text
    (pair,) = json.loads(onprompt("compare", one, other, "--json")[1])["pairs"]
    assert (pair["samples"], pair["spearman"]["value"], pair["difference"]["value"]) == (10, 1.0, -0.225)
    code, text = onprompt("compare", one, other, "--by", "model")
    assert (code, "by different judges: compare --by model in one of them" in text) == (2, True)
    assert "1  b  0.500" in onprompt("compare", one, "--by", "model")[1]
    assert "only 'one' to compare: name another run, or use --by model" in onprompt("compare", one)[1]


def test_judges_of_other_images_are_ranked_with_a_warning_and_rubrics_are_not(tmp_path: Path) -> None:
    one, edits = stored_run(tmp_path / "one.sqlite", SAMPLES), stored_run(tmp_path / "e.sqlite", SAMPLES, rubric="edit")
    worse = [Stored(f"x{n}", f"prompt {n}", n / 20) for n in range(10)]
    text = onprompt("compare", one, stored_run(tmp_path / "two.sqlite", worse, detector="coco"))[1]
    assert "one is better than two" in text
    warning = "these runs are by different judges, whose values differ in meaning"
    assert f"{warning}: evidence (detector coco), evidence (detector strong)" in text
    assert onprompt("compare", one, edits) == (2, "can't compare runs of different rubrics: edit, verify")


def test_rows_that_can_not_be_judged_or_repeat_an_id(tmp_path: Path) -> None:
    data = table(tmp_path, 0)
    rows = ["id,image,prompt,model,category", "a,cat.png,1 cats,m,counts", "b,cat.png,,m,counts", "c,cat.png,\0,m,x"]
    data.write_text("\n".join([*rows, "a,cat.png,2 cats,m,x"]) + "\n")
    command = ("run", data, "--out", tmp_path / "run.sqlite", "--model", f"replay/{tmp_path / 'said.jsonl'}")
    code, text = onprompt(*command)
    assert code == 1
    assert "1 row repeats the id of an earlier row and got a new one: 'a' → 'a#2'" in text
    found = {row.id: (row.model, row.category, row.error) for row in Run(tmp_path / "run.sqlite").rows()}
    good = {"a": ("m", "counts", ""), "a#2": ("m", "x", "")}
    assert found == {**good, "b": ("m", "counts", "bad_row"), "c": ("m", "x", "bad_row")}, "what could be read is kept"
    assert [row.image for row in Run(tmp_path / "run.sqlite").rows()][1] == str(tmp_path / "cat.png")


EDITS = r"looks like a table for the rubric edit \(.*\): add --rubric edit; or"


@pytest.mark.parametrize(
    ("table_of", "options", "code", "message"),
    [
        ("id,image,prompt\n", (), 2, r"data\.csv has no samples"),
        ("before,after,instruction\ncat.png,cat.png,1 cats\n", (), 2, EDITS),
        ("source_image,image,instruction\ncat.png,cat.png,1 cats\n", (), 2, EDITS),
        ("source_image,image,instruction\ncat.png,cat.png,1 cats\n", ("--rubric", "verify"), 0, "1 verdict, 0 errors"),
        ("image,instruction\ncat.png,1 cats\n", (), 0, "prompt from 'instruction'"),
    ],
)
def test_tables_that_are_not_judged(
    tmp_path: Path, table_of: str, options: tuple[str, ...], code: int, message: str
) -> None:
    data = table(tmp_path, 0)
    data.write_text(table_of)
    model = ("--model", f"replay/{tmp_path / 'said.jsonl'}")
    ended, text = onprompt("run", data, "--out", tmp_path / "run.sqlite", *model, *options)
    assert (ended, (tmp_path / "run.sqlite").exists()) == (code, not code)
    assert re.search(message, text)


def test_a_flag_with_spaces_is_read_as_it_was_written(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 1))
    flags = ("too long, by far", "100% red", "low_confidence")
    run = Run(tmp_path / "run.sqlite")
    verdict = replace(run.verdict("0"), flags=flags)
    with RunFile(tmp_path / "run.sqlite", writing=True) as file:
        file.save_verdict(1, to_stored(1, verdict))
    assert next(run.rows()).flags == run.verdict("0").flags == flags
