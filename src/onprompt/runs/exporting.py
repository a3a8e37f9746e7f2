"""The samples of a run in a file of another format: CSV, JSON lines, Parquet, or a folder of the library datasets."""

import csv
import itertools
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from onprompt.errors import ImageError, UserError
from onprompt.files import replacing
from onprompt.models.answer_store import AnswerStore
from onprompt.plugins import did_you_mean
from onprompt.runs.reading import COLUMNS, Run, RunRow, judged_file
from onprompt.settings import load as load_settings
from onprompt.wording.terminal import printable

BATCH = 10_000  # rows of Parquet in memory
# How a cell begins that a spreadsheet would evaluate, full-width or not. A cell begins at a line break, too,
# and at whatever may separate cells: where a comma is the decimal point, Excel takes ; for the separator of any CSV,
# and quotes around a text don't hold it together then.
FORMULA = re.compile(r"""(^|[;|\t\r\n])(?=[\s"]{0,20}[=+\-@＝＋－＠])|^(?=[\t\r\n])""")
NEEDS = "{} needs {}: pip install 'onprompt[data]'"


def with_answers(row: RunRow, answers: AnswerStore, lost: list[str]) -> dict[str, Any]:
    """A row with the texts of the model's answers, as a JSON list, in place of their keys.

    An answer that is no longer cached is null, and its key is added to `lost`.
    """
    cached = [answers.get(key) for key in row.answers]
    lost += [key for key, answer in zip(row.answers, cached, strict=True) if answer is None]
    return row.document | {"answers": json.dumps([each.text if each else None for each in cached], ensure_ascii=False)}


def export(
    run: Run, path: Path, kind: str, answers: AnswerStore | None = None, excel_safe: bool = False
) -> tuple[int, int]:
    """Write all samples to a file, with the raw answers if given; returns how many, and how many answers are lost."""
    writers: dict[str, Callable[[Iterator[dict[str, Any]], Path], None]] = {
        "csv": partial(write_csv, encoding="utf-8-sig") if excel_safe else write_csv,  # Excel takes a BOM for UTF-8
        "jsonl": write_jsonl,
        "parquet": write_parquet,
        "datasets": partial(write_datasets, run),
    }
    if kind not in writers:
        raise UserError(f"no format {kind!r}{did_you_mean(kind, writers)}")
    if kind == "datasets" and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{path} exists already; choose a new folder with --out")
    lost: list[str] = []
    numbers = itertools.count()
    samples: Iterator[dict[str, Any]] = (
        with_answers(row, answers, lost) if answers else row.document for row in run.rows()
    )
    samples = map(without_formulas, samples) if excel_safe else samples
    with replacing(path) as new:
        writers[kind]((sample for sample, _ in zip(samples, numbers)), new)  # noqa: B905 numbers have no end
    return next(numbers), len(lost)


def without_formulas(sample: dict[str, Any]) -> dict[str, Any]:
    """A sample whose cells no spreadsheet reads as a formula: an apostrophe marks each as text."""
    return {n: FORMULA.sub(r"\1'", value) if isinstance(value, str) else value for n, value in sample.items()}


def write_csv(samples: Iterator[dict[str, Any]], path: Path, encoding: str = "utf-8") -> None:
    """A line per sample; control characters are spelled out, for many look at a CSV on a terminal."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for sample in samples:
            writer.writerow({n: printable(value) if isinstance(value, str) else value for n, value in sample.items()})


def write_jsonl(samples: Iterator[dict[str, Any]], path: Path) -> None:
    """A JSON object per sample."""
    with path.open("w", encoding="utf-8") as file:
        for sample in samples:
            answers = sample["answers"] or ""
            nested = {
                "factors": json.loads(sample["factors"] or "{}"),
                "answers": json.loads(answers) if answers[:1] == "[" else answers,
            }
            file.write(json.dumps({**sample, **nested}, ensure_ascii=False) + "\n")


def write_parquet(samples: Iterator[dict[str, Any]], path: Path) -> None:
    """A typed table, for large runs."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError(NEEDS.format("Parquet", "pyarrow")) from None
    types = {"int64": pyarrow.int64(), "float64": pyarrow.float64(), "string": pyarrow.string()}
    schema = pyarrow.schema([(name, types[type_of(name)]) for name in COLUMNS])
    with parquet.ParquetWriter(path, schema) as file:
        while batch := list(itertools.islice(samples, BATCH)):
            file.write_table(pyarrow.Table.from_pylist(batch, schema))


def type_of(column: str) -> str:
    """The type of a column, by the name that Arrow has for it."""
    if column in ("score", "tokens_in", "tokens_out"):
        return "int64"
    return "float64" if column in ("value", "low", "high", "coverage", "cost") else "string"


def write_datasets(run: Run, samples: Iterator[dict[str, Any]], path: Path) -> None:
    """A folder for `datasets.load_from_disk`, with the images in it; one that is gone, or was not judged, is None."""
    try:
        from datasets import Dataset, Features, Image, Value
    except ImportError:
        raise UserError(NEEDS.format("a folder of datasets", "datasets")) from None
    features = {name: Image() if name == "image" else Value(type_of(name)) for name in COLUMNS}
    digests = {row.id: row.image_sha256 for row in run.rows() if row.value is not None}
    data = [{**sample, "image": judged_image(sample["image"], digests.get(sample["id"], ""))} for sample in samples]
    columns = {name: [sample[name] for sample in data] for name in COLUMNS}
    Dataset.from_dict(columns, Features(features)).save_to_disk(str(path))  # which copies the images into it


def judged_image(path: str, sha256: str) -> str | None:
    """The path of an image, if it still is the one that was judged: a stranger's run may name any file."""
    from onprompt.vision import decode_image

    settings = load_settings()
    try:
        decode_image(*judged_file([path] if Path(path).is_absolute() else [], sha256, settings), settings, 0)
    except ImageError:
        return None
    return path
