"""Files that `export` writes: complete or not there."""

from __future__ import annotations

import csv
import json
import random
import string
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from onprompt.errors import UserError
from onprompt.runs import exporting
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.run import to_stored
from onprompt.types import FactorScore
from tests.pages.stored import Stored, stored_run
from tests.runs.commands import onprompt

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


@pytest.mark.parametrize(("kind", "before"), [("csv", True), ("jsonl", False), ("parquet", True), ("geneval", False)])
def test_a_full_disk_leaves_nothing_but_what_was_there(large: Path, kind: str, before: bool) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    out = large.parent / "out" / "all"
    out.parent.mkdir()
    if before:
        out.write_text("of an earlier run")
    command = [sys.executable, "-c", LIMITED, "export", str(large), "--to", kind, "--out", str(out)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2, result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"onprompt: can't write {out}: ")
    assert last.endswith("File too large")
    assert "Traceback" not in result.stderr
    assert [path.read_text() for path in out.parent.iterdir()] == (["of an earlier run"] if before else [])


def test_a_device_is_written_to_and_stays_one(large: Path) -> None:
    full = onprompt("export", large, "--out", "/dev/full")
    assert (full.returncode, full.stderr) == (2, "onprompt: can't write /dev/full: No space left on device\n")
    assert Path("/dev/full").is_char_device()
    assert onprompt("export", large, "--out", "/dev/stdout").stdout.startswith("id,prompt,image,")


@pytest.fixture
def factors(tmp_path: Path) -> Run:
    """A run of two factors with reasons, on data with columns of its own, of which one has a name that is taken."""
    run = Run(stored_run(tmp_path / "run.sqlite", [Stored("a"), Stored("b", value=None), Stored("c", model="m")]))
    verdict = run.verdict("a")
    made = {name: FactorScore(score, f"because {name}") for name, score in (("alignment", 6), ("completeness", 3))}
    with RunFile(run.path, writing=True) as file:
        for number in (1, 3):
            file.save_verdict(1, to_stored(number, replace(verdict, factors=made)))
        for number, own in enumerate(({"seed": 7, "score": "x"}, {"seed": 2.5}, {"seed": "none"}), 1):
            given = json.dumps({"image": "i.png", "columns": own})
            file.database.execute("UPDATE samples SET given = ?, digest = NULL WHERE number = ?", (given, number))
    return run


def written(run: Run, kind: str) -> list[dict[str, object]]:
    """The rows of an export."""
    path = run.path.with_name(f"out.{kind}")
    parquet = pytest.importorskip("pyarrow.parquet") if kind.endswith("parquet") else None
    number = exporting.export(run, path, kind)
    if parquet:
        rows = parquet.read_table(path).to_pylist()
    else:
        with path.open(newline="") as file:
            rows = [*csv.DictReader(file)] if kind.endswith("csv") else [*map(json.loads, file)]
    assert len(rows) == number
    return rows  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_factors_reasons_and_own_columns_are_columns(factors: Run, kind: str) -> None:
    a, b, _ = written(factors, kind)
    assert (str(a["factor_alignment"]), str(a["factor_completeness"])) == ("6", "3")
    assert a["reason_completeness"] == "because completeness"
    assert (str(a["seed"]), a["data_score"]) == ("7", "x")
    assert b.get("factor_alignment") in (None, "")
    assert (str(b["seed"]), b.get("data_score") in (None, "")) == ("2.5", True)


def test_tables_elsewhere_have_the_same_columns(factors: Run) -> None:
    shown = json.loads(onprompt("show", factors.path, "--json").stdout.splitlines()[0])
    assert (shown["factor_alignment"], shown["seed"], shown["data_score"]) == (6, 7, "x")
    pytest.importorskip("pandas")
    frame = factors.to_pandas()
    assert (frame.loc["a", "factor_alignment"], frame.loc["a", "seed"], frame.loc["a", "data_score"]) == (6, 7, "x")


@pytest.mark.parametrize("kind", ["claims.csv", "claims.jsonl", "claims.parquet"])
def test_claims_are_rows(factors: Run, kind: str) -> None:
    rows = written(factors, kind)
    checks = factors.verdict("a").checks
    assert [row["id"] for row in rows] == ["a"] * len(checks) + ["c"] * len(checks)
    assert (rows[-1]["model"], rows[-1]["seed"]) == ("m", "none")
    for row, check in zip(rows, checks, strict=False):
        assert (row["kind"], row["outcome"], row["source"]) == (check.claim.group, check.outcome.value, check.source)
        assert float(str(row["probability"])) == check.probability
        assert row["asked"]
        assert row["found"]


def test_names_of_formats_and_files(factors: Run) -> None:
    with pytest.raises(UserError, match=r"no format 'claims\.xlsx'"):
        exporting.export(factors, factors.path.with_name("x"), "claims.xlsx")
    name = factors.path.with_name("run.claims.jsonl")
    told = onprompt("export", factors.path, "--to", "claims.jsonl").stdout
    assert told == f"{2 * len(factors.verdict('a').checks)} claims written to {name}\n"
    assert name.exists()
