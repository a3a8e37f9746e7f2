"""What a run's file tells: of the data as it is now, of the way of judging that ran last, of all that was spent."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onprompt.cli.showing import sample_line
from onprompt.errors import UserError
from onprompt.report.document import document
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Overview, Run, RunRow
from onprompt.runs.schema import verdict_digest
from tests.runs.commands import onprompt
from tests.runs.test_run import judged, scores, table

NOBODY = 65534  # a user who may write nowhere
USAGE = {"tokens_in": 100, "tokens_out": 7, "seconds": 1.0, "cost": None}
PRICES = {"price_in": 1.0, "price_out": 10.0}
Change = Callable[[Path], object]


def overview(folder: Path, configuration: int = 0) -> Overview:
    return Run(folder / "run.sqlite", configuration).overview


def rewrite(old: str, new: str) -> Change:
    """A change of the data."""
    return lambda folder: (folder / "data.csv").write_text((folder / "data.csv").read_text().replace(old, new))


def move(old: str, new: str) -> Change:
    """Another name for a file."""
    return lambda folder: (folder / old).rename(folder / new)


def rows(number: int) -> Change:
    return lambda folder: table(folder, number)


def late(folder: Path) -> None:
    shutil.copy2(folder / "cat.png", folder / "late.png")


BROKEN, AWAY = rewrite("3,cat.png,3", "3,cat.png\n9,cat.png,3"), move("cat.png", "away.png")
# What is done to the data of 9 samples, each time before they are judged again; then what the file tells.
CHANGES: dict[str, tuple[tuple[Change, ...], dict[str, Any]]] = {
    "samples leave": ((rows(5),), {"samples": 5, "verdicts": 5, "gone": 4}),
    "samples come back": ((rows(5), rows(9)), {"samples": 9, "verdicts": 9, "gone": 0}),
    "a row is broken": ((BROKEN,), {"samples": 10, "errors": {"bad_row": 1}}),
    "a row is mended": ((rewrite("3,cat.png,3 cats of 3", "3,cat.png"), rows(9)), {"verdicts": 9, "errors": {}}),
    "an image is away": ((AWAY,), {"verdicts": 0, "outdated": 9, "errors": {"ImageError: missing": 9}}),
    "an image comes back": ((AWAY, move("away.png", "cat.png")), {"verdicts": 9, "outdated": 0, "errors": {}}),
    "a missing image comes": ((rewrite("\n3,cat.png", "\n3,late.png"), late), {"verdicts": 9, "errors": {}}),
    "a prompt changes": (
        (rewrite("0 cats of 0", "an elephant"),),
        {"verdicts": 8, "outdated": 1, "errors": {"Rejected": 1}},
    ),
    "the table is cut off": (
        (rewrite("4,cat.png", '4,"cat.png'),),
        {"gone": 0, "read_whole": False, "verdicts": 9, "samples": 10},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_file_tells_after_the_data_have_changed(tmp_path: Path, name: str) -> None:
    steps, expected = CHANGES[name]
    data = table(tmp_path, 9)
    judged(tmp_path, data)
    for step in steps:
        step(tmp_path)
        judged(tmp_path, data)
    found = overview(tmp_path)
    assert {field: getattr(found, field) for field in expected} == expected
    assert len(scores(tmp_path)) == found.verdicts


def test_other_data_in_the_same_file(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 5))
    (other := tmp_path / "other.csv").write_text("id,image,prompt\nx,cat.png,3 cats\n")
    judged(tmp_path, other)
    assert (overview(tmp_path).samples, overview(tmp_path).gone) == (6, 0), "it takes nothing away"
    other.write_text((tmp_path / "data.csv").read_text().replace("cats of", "cats and"))
    with pytest.raises(UserError, match=r"another sample .0., from .*data\.csv; use unique ids"):
        judged(tmp_path, other)
    assert overview(tmp_path, 1).verdicts == 6


def test_data_that_moved_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    judged(tmp_path, table(tmp_path / "one", 3), model=f"replay/{tmp_path / 'one' / 'said.jsonl'}")
    (tmp_path / "one").rename(tmp_path / "two")
    summary = judged(tmp_path, tmp_path / "two" / "data.csv", model=f"replay/{tmp_path / 'two' / 'said.jsonl'}")
    assert (summary.before, summary.done, summary.configuration) == (3, 0, 1)
    assert (overview(tmp_path).samples, overview(tmp_path).gone) == (3, 0)


def test_ways_of_judging(tmp_path: Path) -> None:
    data = table(tmp_path, 12)
    judged(tmp_path, data)
    judged(tmp_path, data, repeats=2)
    told = onprompt("compare", tmp_path / "run.sqlite", "--by", "configuration")
    assert "vlm replay/said.jsonl (repeats 2)" in told.stdout, told.stderr
    assert "run, configuration 1 and run, configuration 2: Spearman ρ 1.000 [1.000, 1.000] on 12" in told.stdout
    assert "1  run, configuration" not in told.stdout, "judges are not ranked"
    judged(tmp_path, data)
    assert Run(tmp_path / "run.sqlite").configuration == 1, "the one that ran last"
    with pytest.raises(UserError, match="no configuration 7; there are: 1, 2"):
        Run(tmp_path / "run.sqlite", 7)


def test_answers_that_can_not_be_read_were_paid_for_and_what_was_spent_stays_spent(tmp_path: Path) -> None:
    data = table(tmp_path, 2)
    more: dict[str, Any] = {"usage": USAGE, "spots": [], "structured": False, "refused": []}
    said = {"text": "No number.", "stop": "end", "model": "m", **more}
    (tmp_path / "said.jsonl").write_text(json.dumps({"contains": "cats", "answer": said}) + "\n")
    summary = judged(tmp_path, data, **PRICES)
    assert summary.errors == {"no_score": 2}
    assert summary.tokens == 2 * 2 * 107, "each was asked twice"
    assert summary.cost == pytest.approx(4 * (100 * 1e-6 + 7 * 10e-6))
    os.utime(tmp_path / "cat.png", (9, 9))
    assert judged(tmp_path, data, **PRICES).cost == 0.0, "out of the store"
    assert overview(tmp_path).cost == pytest.approx(summary.cost)


def test_a_plan_counts_what_is_missing_and_names_what_is_broken(tmp_path: Path) -> None:
    data = table(tmp_path, 3)
    judged(tmp_path, data)
    table(tmp_path, 5, bad=["5,missing.png,2 cats"])
    model = f"replay/{tmp_path / 'said.jsonl'}"
    command = ("run", data, "--out", tmp_path / "run.sqlite", "--model", model, "--dry-run")
    assert onprompt(*command, "--limit", "4").stdout.startswith("1 call to ")
    told = onprompt(*command).stdout
    assert told.startswith("2 calls to "), told
    for words in ("(3 more cached)", "skipped 1 item, for example: ", "missing.png"):
        assert words in told
    assert overview(tmp_path).samples == 3, "a plan writes nothing"


SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background starts with it ignored
from pathlib import Path
from onprompt.cli.running import finish
from onprompt.runs.datasets import open_dataset
from onprompt.runs.run import run
from tests.runs.test_run import job
folder = Path(sys.argv[1])
def tell(summary):
    print(summary.done, flush=True)
    time.sleep(0.05)
judging = job(folder, concurrency=1)
data = open_dataset(str(folder / "data.csv"), judging.rubric, {})
finish(run(data, folder / "run.sqlite", judging, on_progress=tell))
"""


def test_stopped_by_hand_it_says_how_far_it_came(tmp_path: Path) -> None:
    data, paths = table(tmp_path, 200), os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SLOW, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=paths) as process:
        assert process.stdout
        while process.stdout.readline().strip() != "5":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        told = process.stdout.read()
    assert "interrupted; run the same command again to resume" in told
    assert not judged(tmp_path, data).errors
    assert len(scores(tmp_path)) == 200


def test_a_run_can_be_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 4))
    for path in tmp_path.parents:
        if path.name.startswith(("pytest-", "popen-")):  # which only their owner may enter
            path.chmod(0o755)
    tmp_path.chmod(0o555)
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os._exit(Run(tmp_path / "run.sqlite").overview.verdicts)
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    tmp_path.chmod(0o755)


@pytest.mark.parametrize("error", ["", "ImageError"])
def test_what_others_wrote_does_not_steer_the_terminal(error: str) -> None:
    wild = "a\x1b[2Jb\r\nc\x07"
    line = sample_line(RunRow(wild, wild, None if error else 0.5, 2, summary=wild, error=error, message=wild))
    assert line.isprintable()
    assert "a[2Jb c" in line


def test_a_stored_verdict_is_shown_when_its_image_is_gone_and_not_in_an_older_form(tmp_path: Path) -> None:
    judged(tmp_path, table(tmp_path, 1))
    run = Run(tmp_path / "run.sqlite")
    verdict = run.verdict("0")
    assert (verdict.answers[0].text, document(verdict)["image_size"]) == ("So many.\n(0)", [8, 8])
    (tmp_path / "cat.png").unlink()
    assert document(run.verdict("0"))["image_size"] is None
    with RunFile(tmp_path / "run.sqlite", writing=True) as file:
        file.database.execute("UPDATE documents SET document = ?", ('{"format": "onprompt.verify/4", "score": 0}',))
        file.database.execute("UPDATE verdicts SET digest = ?", (verdict_digest(file.database, (1, 1)),))
    with pytest.raises(UserError, match="'0' was judged by another version of onprompt"):
        run.verdict("0")
    assert overview(tmp_path).verdicts == 1
