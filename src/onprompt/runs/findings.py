"""What a run's file holds, to show and to export."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onprompt import serial
from onprompt.errors import ImageError, UserError
from onprompt.models.answer_store import AnswerStore
from onprompt.plugins import did_you_mean
from onprompt.runs.ledger import Ledger, wrap_db_errors
from onprompt.settings import Settings
from onprompt.types import Decoded, Picture, Verdict
from onprompt.vision.image import open_picture

COLUMNS = (
    *("id", "prompt", "image", "model", "category", "score", "value", "flags", "summary"),
    *("factors", "coverage", "tokens_in", "tokens_out", "cost", "answers", "error", "message"),
)
ROWS = """
SELECT s.id, s.prompt, s.image, s.model, s.category, v.score, v.value, v.flags, v.summary, v.factors, v.coverage,
    v.tokens_in, v.tokens_out, v.cost, v.answers, e.kind, e.message
FROM samples s
LEFT JOIN verdicts v ON v.sample = s.number AND v.generation = :generation AND v.of = s.version
LEFT JOIN errors e ON e.sample = s.number AND e.generation = :generation AND e.of = s.version
WHERE s.gone = 0
"""
NAMES_TRIED = 10_000  # ids among which a similar one is looked for
AT_ONCE = 10_000  # rows of Parquet that are held
NOTHING_CHECKED = "not_verifiable"  # a flag: such a score is a placeholder, and stays out of means
REAL = f"present_verdicts WHERE generation = ? AND instr(flags, '{NOTHING_CHECKED}') = 0"
FAULTS = "SELECT kind, count(*) FROM present_errors WHERE generation = ? GROUP BY kind ORDER BY 2 DESC"
SPENT = "SELECT ifnull(sum(tokens_in + tokens_out), 0), sum(cost) FROM runs WHERE generation = ?"
OUTDATED = """SELECT count(*) FROM verdicts v JOIN samples s ON s.number = v.sample
WHERE generation = ? AND NOT s.gone AND v.of != s.version"""


@dataclass(frozen=True, slots=True)
class Overview:
    """A run at a glance."""

    identity: dict[str, Any]
    generation: int
    generations: int
    samples: int
    gone: int  # samples that are no longer in the data, and in none of these figures
    read_whole: bool  # whether the last run read all of its data
    outdated: int  # verdicts on pictures or words that have changed since, in no figure
    verdicts: int
    mean: float | None  # of `value`, over verdicts that stand on something
    placeholders: int  # verdicts that stand on nothing
    scores: dict[int, int]
    faults: dict[str, int]
    cost: float | None
    tokens: int


def overview(ledger: Ledger, generation: int) -> Overview:
    """The counts and means of one generation."""
    key = (generation,)
    with wrap_db_errors(ledger.path):
        ask = ledger.base.execute
        samples, gone = ask("SELECT count(*), ifnull(sum(gone), 0) FROM samples").fetchone()
        (verdicts,) = ask("SELECT count(*) FROM present_verdicts WHERE generation = ?", key).fetchone()
        mean, judged = ask(f"SELECT avg(value), count(*) FROM {REAL}", key).fetchone()  # noqa: S608
        scores = ask(f"SELECT score, count(*) FROM {REAL} GROUP BY score", key).fetchall()  # noqa: S608
        faults = ask(FAULTS, key).fetchall()
        tokens, cost = ask(SPENT, key).fetchone()
        (outdated,) = ask(OUTDATED, key).fetchone()
        (read,) = ask("SELECT read_whole FROM runs WHERE generation = ? ORDER BY id DESC LIMIT 1", key).fetchone()
        return Overview(
            identity(ledger, generation),
            generation,
            len(generations(ledger)),
            samples - gone,
            gone,
            bool(read),
            outdated,
            verdicts,
            mean,
            verdicts - judged,
            {score: count for score, count in scores if score is not None},
            dict(faults),
            cost,
            tokens,
        )


def identity(ledger: Ledger, generation: int) -> dict[str, Any]:
    """What a way of judging is: rubric, judge, model, settings, weights."""
    with wrap_db_errors(ledger.path):
        found = ledger.base.execute("SELECT identity FROM generations WHERE id = ?", (generation,)).fetchone()
    return dict(json.loads(found[0]))


def generations(ledger: Ledger) -> list[int]:
    """The numbers of all ways of judging in the file."""
    with wrap_db_errors(ledger.path):
        return [number for (number,) in ledger.base.execute("SELECT id FROM generations ORDER BY id")]


def generation_of(ledger: Ledger, wanted: int = 0) -> int:
    """The generation that is wanted, if there is one of that number; by itself the one that ran last."""
    there = generations(ledger)
    with wrap_db_errors(ledger.path):
        last = ledger.base.execute("SELECT generation FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    if not there or not last:
        raise UserError(f"{ledger.path} holds no verdict yet")
    if wanted and wanted not in there:
        raise UserError(f"{ledger.path} has no generation {wanted}; there are: {', '.join(map(str, there))}")
    return wanted or int(last[0])


def rows(ledger: Ledger, generation: int, worst: int = 0, flagged: bool = False) -> Iterator[dict[str, Any]]:
    """The samples with what became of them, in their order; or the worst, or those that a person should look at."""
    wanted = " AND v.value IS NOT NULL" if worst else ""
    wanted += " AND (v.flags != '' OR e.kind IS NOT NULL)" if flagged else ""
    order = " ORDER BY v.value, s.number LIMIT :worst" if worst else " ORDER BY s.number"
    with wrap_db_errors(ledger.path):
        found = ledger.base.execute(ROWS + wanted + order, {"generation": generation, "worst": worst})
        for row in found:
            yield dict(zip(COLUMNS, row, strict=True))


STORED = """SELECT document, given FROM documents d JOIN samples s ON s.number = d.sample
WHERE s.id = ? AND d.generation = ?"""
WHY_NONE = """SELECT kind, message FROM errors e JOIN samples s ON s.number = e.sample
WHERE s.id = ? AND e.generation = ?"""


def stored_verdict(ledger: Ledger, generation: int, sample: str, answers: AnswerStore | None = None) -> Verdict:
    """The verdict on one sample, as it was; a model's answers have their text if the store of answers has it."""
    with wrap_db_errors(ledger.path):
        row = ledger.base.execute(STORED, (sample, generation)).fetchone()
        fault = ledger.base.execute(WHY_NONE, (sample, generation)).fetchone()
        ids = [name for (name,) in ledger.base.execute("SELECT id FROM samples")] if not (row or fault) else []
    if row is None and fault:
        raise UserError(f"{sample!r} has no verdict: {fault[0]}: {fault[1]}")
    if row is None:
        raise UserError(f"{ledger.path} has no sample {sample!r}{did_you_mean(sample, ids[:NAMES_TRIED])}")
    document, given = json.loads(row[0]), json.loads(row[1])
    for answer in document.get("answers", ()):
        cached = answers.get(answer.get("key", "")) if answers else None
        answer["text"] = cached.text if cached else ""
    return serial.load(document, lambda picture: decode_again(picture, given))


def decode_again(picture: Picture, given: dict[str, Any]) -> Decoded:
    """The pixels of a stored sample's picture, if the file is still what it was."""
    name = Path(picture.name).name
    paths = [value for value in given.values() if isinstance(value, str) and Path(value).name == name]
    if not paths:
        raise ImageError(f"{picture.name} was not judged from a file, so it can't be shown again", "not a file")
    settings = Settings(max_side=picture.side)
    opened = [open_picture(path, settings, picture.frame) for path in paths]
    same = next((each for each in opened if each.sha256 == picture.sha256), None)
    if same is None:
        raise ImageError(f"{paths[0]} has changed since it was judged", "changed")
    return same.decoded


def bundled(found: Iterator[dict[str, Any]], answers: AnswerStore, lost: list[str]) -> Iterator[dict[str, Any]]:
    """The samples with what the model said, as a JSON list in the place of the keys.

    A null stands for an answer that the store has no more; its key is added to `lost`.
    """
    for row in found:
        keys = (row["answers"] or "").split()
        said = [answers.get(key) for key in keys]
        lost += [key for key, answer in zip(keys, said, strict=True) if answer is None]
        yield {**row, "answers": json.dumps([each.text if each else None for each in said], ensure_ascii=False)}


def export(
    ledger: Ledger, generation: int, path: Path, kind: str, answers: AnswerStore | None = None
) -> tuple[int, int]:
    """Write all samples to a file, with the raw answers if given; gives how many, and how many answers are lost."""
    writers = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}
    if kind not in writers:
        raise UserError(f"no format {kind!r}; there are: {', '.join(writers)}")
    lost: list[str] = []
    try:
        found = rows(ledger, generation)
        return writers[kind](bundled(found, answers, lost) if answers else found, path), len(lost)
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error


def write_csv(found: Iterator[dict[str, Any]], path: Path) -> int:
    """A line for each sample."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in found:
            writer.writerow(row)
            count += 1
    return count


def write_jsonl(found: Iterator[dict[str, Any]], path: Path) -> int:
    """A JSON object for each sample."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for row in found:
            said = row["answers"] or ""
            nested = {
                "factors": json.loads(row["factors"] or "{}"),
                "answers": json.loads(said) if said[:1] == "[" else said,
            }
            file.write(json.dumps({**row, **nested}, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_parquet(found: Iterator[dict[str, Any]], path: Path) -> int:
    """A table for those who have many."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError("Parquet needs pyarrow: pip install 'onprompt[data]'") from None
    kinds = {"score": pyarrow.int64(), "tokens_in": pyarrow.int64(), "tokens_out": pyarrow.int64()}
    kinds |= dict.fromkeys(("value", "coverage", "cost"), pyarrow.float64())
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in COLUMNS])
    count = 0
    with parquet.ParquetWriter(path, schema) as file:
        while some := list(itertools.islice(found, AT_ONCE)):
            file.write_table(pyarrow.Table.from_pylist(some, schema))
            count += len(some)
    return count
