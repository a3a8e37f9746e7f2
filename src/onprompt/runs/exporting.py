"""A run in a file of another format: its samples or their claims as rows.

A row of samples has a column for each factor, for its reason where there are several, and for each of the user's own.
"""

import csv
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.files import replacing
from onprompt.plugins import did_you_mean
from onprompt.runs.reading import COLUMNS, WHOLE, Run, RunRow, own_name
from onprompt.wording.terminal import printable

CLAIMS = "claims."  # before a format: a row for each claim
ABOUT_SAMPLES = ("id", "prompt", "model", "category")
ABOUT_CLAIMS = ("kind", "asked", "found", "outcome", "probability", "source")
BATCH = 10_000  # rows of Parquet in memory
REALS = ("value", "low", "high", "coverage", "cost", "probability")
Rows = Iterator[dict[str, Any]]
Types = Mapping[str, str]  # of each column, by the name that Arrow has for it


def export(run: Run, path: Path, kind: str) -> int:
    """Write all samples or claims to a file; how many there were."""
    of_claims, form = kind.startswith(CLAIMS), kind.removeprefix(CLAIMS)
    if form not in WRITERS:
        raise UserError(f"no format {kind!r}{did_you_mean(kind, (*WRITERS, *(CLAIMS + name for name in WRITERS)))}")
    number = 0

    def counted() -> Rows:
        nonlocal number
        for row in claim_rows(run) if of_claims else sample_rows(run):
            number += 1
            yield row

    with replacing(path) as new:
        WRITERS[form](counted(), new, column_types(run, of_claims))
    return number


def column_types(run: Run, of_claims: bool) -> dict[str, str]:
    """The columns of a file in their order, with their types."""
    factors = [] if of_claims else run.factors()
    names = (*ABOUT_SAMPLES, *ABOUT_CLAIMS) if of_claims else COLUMNS
    types = {name: "int64" if name in WHOLE else "float64" if name in REALS else "string" for name in names}
    types |= {f"factor_{name}": "int64" for name in factors}
    types |= {f"reason_{name}": "string" for name in factors if len(factors) > 1}
    return types | {name: "string" if text else "float64" for name, text in run.own_columns().items()}


def sample_rows(run: Run) -> Rows:
    """The samples, with the reasons of their factors where there are several."""
    for row, found in by_sample(run.rows(), run.documents() if len(run.factors()) > 1 else ()):
        reasons = (about for _, _, document in found for about in document.factors.items())
        yield row.document | {f"reason_{name}": about.get("reason") or "" for name, about in reasons}


def claim_rows(run: Run) -> Rows:
    """Every claim of every sample, with what names the sample and the user's own columns."""
    for row, checks in by_sample(run.rows(), run.checks()):
        own = {own_name(name): cell for name, cell in row.own.items()}
        for check in checks:
            about = {name: getattr(row, name) for name in ABOUT_SAMPLES}
            yield about | {name: getattr(check, name) for name in ABOUT_CLAIMS} | own


def by_sample(rows: Iterable[RunRow], parts: Iterable[Any]) -> Iterator[tuple[RunRow, list[Any]]]:
    """Each row with its parts, which begin with its number and are in the same order: neither is held in memory."""
    groups = groupby(parts, key=lambda part: part[0])
    number, own = next(groups, (None, iter(())))
    for row in rows:
        while number is not None and number < row.number:  # of a sample that is gone
            number, own = next(groups, (None, iter(())))
        yield row, list(own) if number == row.number else []


def write_csv(rows: Rows, path: Path, types: Types) -> None:
    """A line per row; control characters are spelled out, for many look at a CSV on a terminal."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, types)
        writer.writeheader()
        for row in rows:
            writer.writerow({n: printable(value) if isinstance(value, str) else value for n, value in row.items()})


def write_jsonl(rows: Rows, path: Path, types: Types) -> None:  # noqa: ARG001
    """A JSON object per row."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_parquet(rows: Rows, path: Path, types: Types) -> None:
    """A typed table, for large runs."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError("Parquet needs pyarrow: pip install 'onprompt[data]'") from None
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in types.items()])
    with parquet.ParquetWriter(path, schema) as file:
        while batch := list(itertools.islice(rows, BATCH)):
            for row in batch:  # of the user's own columns, one cell may be a number and another a text
                row |= {n: str(row[n]) for n in types if types[n] == "string" and row.get(n) is not None}
            file.write_table(pyarrow.Table.from_pylist(batch, schema))


WRITERS: dict[str, Callable[[Rows, Path, Types], None]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}
