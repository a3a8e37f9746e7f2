"""A run in a file of another format: its samples or their claims as rows, or a folder of the library datasets.

A row of samples has a column for each factor, for its reason where there are several, and for each of the user's own.
"""

import csv
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from onprompt.errors import ImageError, UserError
from onprompt.files import replacing
from onprompt.models.answer_store import AnswerStore
from onprompt.plugins import did_you_mean
from onprompt.runs.reading import COLUMNS, WHOLE, Run, RunRow, judged_file
from onprompt.settings import load as load_settings
from onprompt.wording.terminal import printable

FORMATS = ("csv", "jsonl", "parquet", "datasets")
CLAIMS = "claims."  # before a format: a row for each claim
ABOUT_CLAIMS = ("kind", "asked", "found", "outcome", "probability", "source")
BATCH = 10_000  # rows of Parquet in memory
REALS = ("value", "low", "high", "coverage", "cost", "probability")
# How a cell begins that a spreadsheet would evaluate, full-width or not. A cell begins at a line break, too,
# and at whatever may separate cells: where a comma is the decimal point, Excel takes ; for the separator of any CSV,
# and quotes around a text don't hold it together then.
FORMULA = re.compile(r"""(^|[;|\t\r\n])(?=[\s"]{0,20}[=+\-@＝＋－＠])|^(?=[\t\r\n])""")
NEEDS = "{} needs {}: pip install 'onprompt[data]'"
Rows = Iterable[dict[str, Any]]
Types = Mapping[str, str]  # of each column, by the name that Arrow has for it


def export(
    run: Run, path: Path, kind: str, answers: AnswerStore | None = None, excel_safe: bool = False
) -> tuple[int, int]:
    """Write all samples or claims to a file, with the raw answers if given; how many, and how many answers are lost."""
    of_claims, form = kind.startswith(CLAIMS), kind.removeprefix(CLAIMS)
    if form not in FORMATS or (of_claims and form == "datasets"):
        raise UserError(f"no format {kind!r}{did_you_mean(kind, (*FORMATS, *(CLAIMS + name for name in FORMATS[:3])))}")
    if form == "datasets" and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{path} exists already; choose a new folder with --out")
    lost: list[str] = []
    numbers = itertools.count()
    writers: dict[str, Callable[[Rows, Path, Types], None]] = {
        "csv": partial(write_csv, encoding="utf-8-sig") if excel_safe else write_csv,  # Excel takes a BOM for UTF-8
        "jsonl": write_jsonl,
        "parquet": write_parquet,
        "datasets": partial(write_datasets, run),
    }
    rows = claim_rows(run) if of_claims else sample_rows(run, answers, lost)
    rows = map(without_formulas, rows) if excel_safe else rows
    with replacing(path) as new:
        writers[form]((row for row, _ in zip(rows, numbers)), new, column_types(run, of_claims))  # noqa: B905 no end
    return next(numbers), len(lost)


def column_types(run: Run, of_claims: bool) -> dict[str, str]:
    """The columns of a file in their order, with their types."""
    factors = [] if of_claims else run.factors()
    names = ["id", "prompt", "model", "category", *ABOUT_CLAIMS] if of_claims else list(COLUMNS)
    types = {name: "int64" if name in WHOLE else "float64" if name in REALS else "string" for name in names}
    types |= {f"factor_{name}": "int64" for name in factors}
    types |= {f"reason_{name}": "string" for name in factors if len(factors) > 1}
    return types | {name: "string" if text else "float64" for name, text in run.own_columns().items()}


def sample_rows(run: Run, answers: AnswerStore | None, lost: list[str]) -> Iterator[dict[str, Any]]:
    """The samples, if wanted with the texts of the model's answers, as a JSON list, in place of their keys.

    An answer that is no longer cached is null, and its key is added to `lost`.
    """
    several = len(run.factors()) > 1
    found = by_sample(run.rows(), run.reasons() if several else ())
    for row, reasons in found:
        given = row.document | {f"reason_{name}": why for _, name, why in reasons}
        if answers:
            cached = [answers.get(key) for key in row.answers]
            lost += [key for key, answer in zip(row.answers, cached, strict=True) if answer is None]
            texts = [each.text if each else None for each in cached]
            given["answers"] = json.dumps(texts, ensure_ascii=False)
        yield given


def claim_rows(run: Run) -> Iterator[dict[str, Any]]:
    """Every claim of every sample, with what names the sample and the user's own columns."""
    for row, checks in by_sample(run.rows(), run.checks()):
        own = {name: cell for name, cell in row.document.items() if name not in COLUMNS and name[:7] != "factor_"}
        about = {name: getattr(row, name) for name in ("id", "prompt", "model", "category")}
        for check in checks:
            yield about | {name: getattr(check, name) for name in ABOUT_CLAIMS} | own


def by_sample(rows: Iterable[RunRow], parts: Iterable[Any]) -> Iterator[tuple[RunRow, list[Any]]]:
    """Each row with its parts, which begin with its number and are in the same order: neither is held in memory."""
    groups = groupby(parts, key=lambda part: part[0])
    number, own = next(groups, (None, iter(())))
    for row in rows:
        while number is not None and number < row.number:  # of a sample that is gone
            number, own = next(groups, (None, iter(())))
        yield row, list(own) if number == row.number else []


def without_formulas(sample: dict[str, Any]) -> dict[str, Any]:
    """A sample whose cells no spreadsheet reads as a formula: an apostrophe marks each as text."""
    return {n: FORMULA.sub(r"\1'", value) if isinstance(value, str) else value for n, value in sample.items()}


def write_csv(rows: Rows, path: Path, types: Types, encoding: str = "utf-8") -> None:
    """A line per row; control characters are spelled out, for many look at a CSV on a terminal."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, types)
        writer.writeheader()
        for row in rows:
            writer.writerow({n: printable(value) if isinstance(value, str) else value for n, value in row.items()})


def write_jsonl(rows: Rows, path: Path, types: Types) -> None:  # noqa: ARG001
    """A JSON object per row."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            answers = row.get("answers") or ""
            texts = {"answers": json.loads(answers)} if answers[:1] == "[" else {}
            file.write(json.dumps({**row, **texts}, ensure_ascii=False) + "\n")


def write_parquet(rows: Rows, path: Path, types: Types) -> None:
    """A typed table, for large runs."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError(NEEDS.format("Parquet", "pyarrow")) from None
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in types.items()])
    left = iter(rows)
    with parquet.ParquetWriter(path, schema) as file:
        while batch := [typed(row, types) for row in itertools.islice(left, BATCH)]:
            file.write_table(pyarrow.Table.from_pylist(batch, schema))


def typed(row: Mapping[str, Any], types: Types) -> dict[str, Any]:
    """A row with every column: of the user's own, one cell may be a number and another a text."""
    found = {name: row.get(name) for name in types}
    return {
        name: str(cell) if cell is not None and types[name] == "string" and not isinstance(cell, str) else cell
        for name, cell in found.items()
    }


def write_datasets(run: Run, rows: Rows, path: Path, types: Types) -> None:
    """A folder for `datasets.load_from_disk`, with the images in it; one that is gone, or was not judged, is None."""
    try:
        from datasets import Dataset, Features, Image, Value
    except ImportError:
        raise UserError(NEEDS.format("a folder of datasets", "datasets")) from None
    features = {name: Image() if name == "image" else Value(kind) for name, kind in types.items()}
    digests = {row.id: row.image_sha256 for row in run.rows() if row.value is not None}
    data = [typed(row | {"image": judged_image(row["image"], digests.get(row["id"], ""))}, types) for row in rows]
    columns = {name: [row[name] for row in data] for name in types}
    Dataset.from_dict(columns, Features(features)).save_to_disk(str(path))  # which copies the images into it


def judged_image(path: str, sha256: str) -> str | None:
    """The path of an image, if it still is the one that was judged: a stranger's run may name any file."""
    from onprompt.vision.image import decode_image

    settings = load_settings()
    try:
        decode_image(*judged_file([path] if Path(path).is_absolute() else [], sha256, settings), settings, 0)
    except ImageError:
        return None
    return path
