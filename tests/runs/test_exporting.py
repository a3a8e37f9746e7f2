"""Files that `export` writes: complete or not there, and without cells that a spreadsheet would evaluate."""

from __future__ import annotations

import csv
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest

from onprompt.runs import exporting
from onprompt.runs.reading import Run
from tests.pages.stored import Stored, stored_run

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
from onprompt.cli import main
sys.argv = ["onprompt", *sys.argv[1:]]
main()
"""


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A run whose export takes half a megabyte."""
    chance = random.Random(0)
    prompts = ["".join(chance.choices(string.printable, k=20_000)) for _ in range(25)]
    return stored_run(tmp_path / "run.sqlite", [Stored(str(n), prompt) for n, prompt in enumerate(prompts)])


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "datasets", "geneval"])
@pytest.mark.parametrize("before", [False, True])
def test_a_full_disk_leaves_nothing_but_what_was_there(large: Path, kind: str, before: bool) -> None:
    if kind in ("parquet", "datasets"):
        pytest.importorskip(kind.replace("parquet", "pyarrow"))
    out = large.parent / "out" / "all"
    out.parent.mkdir()
    if before and kind != "datasets":
        out.write_text("of an earlier run")
    command = [sys.executable, "-c", LIMITED, "export", str(large), "--to", kind, "--out", str(out)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2, result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"onprompt: can't write {out}: ")
    assert last.endswith("File too large")
    assert "Traceback" not in result.stderr
    assert [path.name for path in out.parent.iterdir()] == (["all"] if before and kind != "datasets" else [])
    assert not before or kind == "datasets" or out.read_text() == "of an earlier run"


def test_a_device_is_written_to_and_stays_one(large: Path) -> None:
    command = [sys.executable, "-m", "onprompt", "export", str(large), "--out"]
    full = subprocess.run([*command, "/dev/full"], capture_output=True, text=True, timeout=120)
    assert (full.returncode, full.stderr) == (2, "onprompt: can't write /dev/full: No space left on device\n")
    assert Path("/dev/full").is_char_device()
    piped = subprocess.run([*command, "/dev/stdout"], capture_output=True, text=True, timeout=120)
    assert piped.stdout.startswith("id,prompt,image,")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠SUM(1)", "'＠SUM(1)"),
        ("\tx", "'\tx"),
        ("a cup;=cmd|' /C calc'!A0;", "a cup;'=cmd|' /C calc'!A0;"),
        ("a cup; ＝1+1", "a cup;' ＝1+1"),
        ('a cup;"=1+1"', 'a cup;\'"=1+1"'),
        ("a cup\n@SUM(1)", "a cup\n'@SUM(1)"),
        ("a cup\t-1|+2", "a cup\t'-1|'+2"),
        ("a cup = a mug, 1+1; e-mail", "a cup = a mug, 1+1; e-mail"),
    ],
)
def test_no_cell_is_a_formula_whatever_separates_cells(tmp_path: Path, text: str, safe: str) -> None:
    run = stored_run(tmp_path / "run.sqlite", [Stored("a", text, model=text)])
    exporting.export(Run(run), tmp_path / "out.csv", "csv", excel_safe=True)
    written = (tmp_path / "out.csv").read_text("utf-8-sig")
    (row,) = csv.DictReader(written.splitlines(keepends=True))
    assert (row["prompt"], row["model"]) == (safe, safe)
    for separator in ",;\t|":  # as a program reads it that takes this one for the separator, and knows no quotes
        cells = [cell.strip(' "') for line in written.splitlines()[1:] for cell in line.split(separator)]
        assert not [cell for cell in cells if cell.startswith(tuple("=+@＝＋－＠"))] or separator == ","


def test_cells_of_many_separators_take_no_time() -> None:
    assert exporting.without_formulas({"prompt": "\t" * 1_000_000})["prompt"].startswith("'\t")
