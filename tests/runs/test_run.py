"""Runs: what is kept, what is done again, and that nothing is lost however they end."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from onprompt.api import judges
from onprompt.errors import StoreError, UserError
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs import datasets
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import ReviewFile
from onprompt.runs.run import JudgeJob, Summary, run, sample_columns
from onprompt.runs.schema import DIGESTED
from onprompt.settings import Settings

pytestmark = pytest.mark.slow

SAID = [{"contains": f"{number} cats", "text": f"So many.\n({number % 5})"} for number in range(9, -1, -1)]


def table(folder: Path, number: int, **more: Any) -> Path:
    """A CSV of pictures, and of prompts that name a number of cats."""
    if not (folder / "cat.png").exists():  # written anew it would be another
        Image.fromarray(np.full((8, 8, 3), 99, np.uint8)).save(folder / "cat.png")
    lines = [f"{index},cat.png,{index % 10} cats of {index}" for index in range(number)]
    (folder / "data.csv").write_text("\n".join(["id,image,prompt", *lines, *more.get("bad", [])]) + "\n")
    (folder / "said.jsonl").write_text("\n".join(json.dumps(line) for line in SAID) + "\n")
    return folder / "data.csv"


def job(folder: Path, **changed: Any) -> JudgeJob:
    usual = {"model": f"replay/{folder / 'said.jsonl'}", "answers": folder / "answers.sqlite", "concurrency": 4}
    return JudgeJob("verify", Settings(**{**usual, **changed}))


def judged(folder: Path, data: Path, **changed: Any) -> Summary:
    return run(datasets.open_dataset(str(data), VERIFY, {}), folder / "run.sqlite", job(folder, **changed))


def scores(folder: Path) -> dict[str, int | None]:
    return {row.id: row.score for row in Run(folder / "run.sqlite").rows() if row.value is not None}


def test_every_sample_gets_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = judged(tmp_path, data := table(tmp_path, 40))
    assert (summary.done, summary.before, summary.errors.total(), summary.configuration) == (40, 0, 0, 1)
    assert scores(tmp_path) == {str(index): index % 10 % 5 for index in range(40)}
    monkeypatch.chdir(tmp_path)
    again = judged(tmp_path, Path(data.name))
    assert (again.done, again.before, again.new) == (0, 40, False), "the way to the data makes no difference"


def test_only_what_is_new_or_changed_is_done(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 10))
    (tmp_path / "cat.png").unlink()
    data = table(tmp_path, 15)
    text = data.read_text().replace("3,cat.png,3 cats of 3", "3,cat.png,4 cats of 3")
    data.write_text(text)
    stamp = (tmp_path / "cat.png").stat()
    summary = judged(tmp_path, data)
    assert (summary.done, summary.before) == (15, 0), "the picture was written anew"
    os.utime(tmp_path / "cat.png", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    data.write_text(text.replace("4,cat.png,4 cats of 4", "4,cat.png,9 cats of 4"))
    summary = judged(tmp_path, data)
    assert (summary.done, summary.before) == (1, 14)
    assert scores(tmp_path)["4"] == 4


def test_other_settings_are_another_configuration(tmp_path: Path) -> None:
    data = table(tmp_path, 5)
    judged(tmp_path, data)
    other = judged(tmp_path, data, send_side=64)
    assert (other.configuration, other.new, other.done) == (2, True, 5)
    assert other.changed == "send_side"
    same = judged(tmp_path, data, concurrency=9, retries=1)
    assert (same.configuration, same.new, same.before) == (1, False, 5)
    (tmp_path / "said.jsonl").write_text('{"text": "(1)"}')
    judges.close()
    others = judged(tmp_path, data)
    assert (others.configuration, others.done) == (3, 5), "other answers are of another model"


def test_a_bad_row_and_an_unreadable_answer_cost_no_other(tmp_path: Path) -> None:
    data = table(tmp_path, 5, bad=["x,none.png,1 cats", "y,cat.png", "z,cat.png,a dog"])
    half = r'{"text": "\ud83d no idea"}'  # of a character
    (tmp_path / "said.jsonl").write_text(f"{(tmp_path / 'said.jsonl').read_text()}{half}\n")
    summary = judged(tmp_path, data)
    assert summary.done == 5
    assert summary.errors == {"ImageError: missing": 1, "bad_row": 1, "no_score": 1}
    rows = {row.error: row for row in Run(tmp_path / "run.sqlite").rows(flagged=True)}
    assert len(rows) == 3
    assert rows["no_score"].text == "? no idea"


def test_nothing_but_refusals_ends_a_run(tmp_path: Path) -> None:
    data = table(tmp_path, 200)
    (tmp_path / "said.jsonl").write_text(json.dumps({"contains": "no such words", "text": "(4)"}) + "\n")
    summary = judged(tmp_path, data)
    assert 20 <= summary.errors["Rejected"] <= 20 + 8, "four threads have up to two samples each in progress"
    assert "has no answer to this question" in summary.stopped


def test_two_runs_can_not_write_to_one_file(tmp_path: Path) -> None:
    data = table(tmp_path, 3)
    with RunFile(tmp_path / "run.sqlite", writing=True), pytest.raises(StoreError, match="another run is writing"):
        judged(tmp_path, data)


def test_files_that_are_no_runs(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as base:
        base.execute("CREATE TABLE t (x)")
    (tmp_path / "empty.sqlite").write_text("")
    (tmp_path / "text.sqlite").write_text("no database " * 99)
    for opened in (RunFile, ReviewFile):
        with pytest.raises(UserError, match="no such run file"):
            opened(tmp_path / "none.sqlite")
        for name in ("empty", "text", "other"):
            with pytest.raises(UserError, match="is not a run file of onprompt"):
                opened(tmp_path / f"{name}.sqlite")
    with pytest.raises(UserError, match="is not a run file of onprompt"):
        RunFile(tmp_path / "other.sqlite", writing=True)


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 20))
    file = RunFile(tmp_path / "run.sqlite", writing=True)
    pages = file.database.execute("PRAGMA page_count").fetchone()[0]
    file.database.execute(f"PRAGMA max_page_count = {pages}")
    big = "x" * 100_000
    with pytest.raises(StoreError, match="full"):
        file.add_configuration({"x": big})
    with pytest.raises(StoreError, match="full"):
        file.add_samples([dict.fromkeys(DIGESTED["samples"], "") | {"id": f"{big}{number}"} for number in range(20)], 1)
    file.close()
    assert len(scores(tmp_path)) == 20


PROGRAM = """
import sys
from pathlib import Path
from onprompt.runs import datasets
from onprompt.runs.run import JudgeJob
from onprompt.runs.run import run
from onprompt.settings import Settings
folder = Path(sys.argv[1])
settings = Settings(model=f"replay/{folder / 'said.jsonl'}", answers=folder / "answers.sqlite", concurrency=4)
job = JudgeJob("verify", settings)
run(datasets.open_dataset(str(folder / "data.csv"), job.rubric, {}), folder / "run.sqlite", job)
"""


def verdicts(path: Path) -> int:
    """How many there are so far, in a file that is intact."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=10)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        try:
            return int(base.execute("SELECT count(*) FROM verdicts").fetchone()[0])
        except sqlite3.OperationalError:  # killed before it made its tables
            return 0


def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path: Path) -> None:
    table(tmp_path, 2000)
    chance, path = random.Random(0), tmp_path / "run.sqlite"
    for wanted in sorted(chance.sample(range(1600), 10)):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)])
        while process.poll() is None and verdicts(path) <= wanted:
            time.sleep(0.005)
        assert process.poll() is None, "it must be killed before its end"
        time.sleep(chance.uniform(0, 0.02))
        process.kill()
        process.wait()
    assert 100 < verdicts(path) < 2000
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
    assert scores(tmp_path) == {str(index): index % 10 % 5 for index in range(2000)}


@pytest.mark.parametrize("columns", ["before,after,instruction,mask", "mask,instruction,after,before"])
def test_a_sample_has_the_version_that_earlier_releases_gave_it(tmp_path: Path, columns: str) -> None:
    version = "2552fac32d620b2642b194d6c657a1a43a0f9a04f46a97be7195899e77ce3152"
    cells = {"before": "a.png", "after": "b.png", "instruction": "make it red", "mask": "m.png"}
    row = ",".join(cells[name] for name in columns.split(","))
    (tmp_path / "edits.csv").write_text(f"id,{columns}\n1,{row}\n")
    (entered,) = datasets.open_dataset(str(tmp_path / "edits.csv"), EDIT, {}).rows()
    assert sample_columns(entered, EDIT)["version"] == version, "or verdicts in run files would be taken for outdated"
