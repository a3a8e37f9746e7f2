"""What a run file holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onprompt import serial
from onprompt.errors import ImageError, NotFound, UserError
from onprompt.models.answer_store import AnswerStore
from onprompt.plugins import did_you_mean
from onprompt.runs.checksums import is_as_written
from onprompt.runs.ledger import Ledger, damaged, wrap_db_errors
from onprompt.settings import Settings
from onprompt.settings import load as load_settings
from onprompt.types import Decoded, Picture, Verdict

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
SUGGESTED = 10_000  # ids that are searched for a similar one
NOTHING_CHECKED = "not_verifiable"  # a flag: such a score is a placeholder, and stays out of means
REAL = f"present_verdicts WHERE generation = ? AND instr(flags, '{NOTHING_CHECKED}') = 0"
FAULTS = "SELECT kind, count(*) FROM present_errors WHERE generation = ? GROUP BY kind ORDER BY 2 DESC"
SPENT = "SELECT ifnull(sum(tokens_in + tokens_out), 0), sum(cost) FROM runs WHERE generation = ?"
OUTDATED = """SELECT count(*) FROM verdicts v JOIN samples s ON s.number = v.sample
WHERE generation = ? AND NOT s.gone AND v.of != s.version"""
READ_WHOLE = "SELECT read_whole FROM runs WHERE generation = ? ORDER BY id DESC LIMIT 1"
STORED = """SELECT s.number, document, given FROM documents d JOIN samples s ON s.number = d.sample
WHERE s.id = ? AND d.generation = ?"""
WHY_NONE = """SELECT kind, message FROM errors e JOIN samples s ON s.number = e.sample
WHERE s.id = ? AND e.generation = ?"""
PROMPT_MEANS = f"""SELECT avg(value), avg(score) FROM {REAL} GROUP BY
(SELECT iif(prompt = '', id, prompt) FROM samples WHERE number = sample)"""  # noqa: S608
KINDS = f"""SELECT c.kind, (SELECT iif(prompt = '', id, prompt) FROM samples WHERE number = c.sample) AS of_prompt,
c.outcome, sum(c.score), count(*) FROM checks c JOIN (SELECT sample, generation FROM {REAL}) v
ON v.sample = c.sample AND v.generation = c.generation GROUP BY c.kind, of_prompt, c.outcome"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Identity:
    """What is read of the identity of a way of judging; whatever else it holds is only compared."""

    rubric: str = ""
    judge: str = ""
    model: str | None = None
    models: tuple[str, ...] = ()
    split: str = ""
    size: tuple[int, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Identity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overview:
    """A run at a glance. Counts are of the samples and verdicts that are up to date."""

    identity: dict[str, Any]
    generation: int
    generations: int
    samples: int
    gone: int  # samples that are no longer in the data
    read_whole: bool  # whether the last run read all of its data
    outdated: int  # verdicts on images or prompts that have changed since
    verdicts: int
    mean: float | None  # of `value`, without placeholders
    placeholders: int  # verdicts for which nothing could be checked
    scores: dict[int, int]
    faults: dict[str, int]
    cost: float | None
    tokens: int


def overview(ledger: Ledger, generation: int) -> Overview:
    """The counts and means of one generation."""
    key = (generation,)
    samples, gone = ledger.first("SELECT count(*), ifnull(sum(gone), 0) FROM samples")
    verdicts, *_ = ledger.first("SELECT count(*) FROM present_verdicts WHERE generation = ?", key)
    mean, judged = ledger.first(f"SELECT avg(value), count(*) FROM {REAL}", key)  # noqa: S608
    scores = ledger.query(f"SELECT score, count(*) FROM {REAL} GROUP BY score", key)  # noqa: S608
    tokens, cost = ledger.first(SPENT, key)
    return Overview(
        identity=identity(ledger, generation),
        generation=generation,
        generations=len(generations(ledger)),
        samples=samples - gone,
        gone=gone,
        read_whole=ledger.first(READ_WHOLE, key) == (1,),
        outdated=ledger.first(OUTDATED, key)[0],
        verdicts=verdicts,
        mean=mean,
        placeholders=verdicts - judged,
        scores={score: count for score, count in scores if score is not None},
        faults=dict(ledger.query(FAULTS, key)),
        cost=cost,
        tokens=tokens,
    )


def prompt_means(ledger: Ledger, generation: int) -> tuple[list[float], list[float]]:
    """The mean value and the mean score of each prompt, without placeholders."""
    rows = list(ledger.query(PROMPT_MEANS, (generation,)))
    return [value for value, _ in rows], [score for _, score in rows if score is not None]


def check_sums(ledger: Ledger, generation: int) -> Iterator[tuple[Any, ...]]:
    """Rows of kind, prompt, outcome, the sum of the checks' scores and their number."""
    return ledger.query(KINDS, (generation,))


def identity(ledger: Ledger, generation: int) -> dict[str, Any]:
    """What a way of judging is: rubric, judge, model, settings, weights."""
    (text,) = ledger.first("SELECT identity FROM generations WHERE id = ?", (generation,))
    about: Identity = ledger.read(text, Identity)
    if not about.rubric or not about.judge:
        raise damaged(ledger.path, f"generation {generation} does not name its rubric and judge")
    return dict(json.loads(text))


def generations(ledger: Ledger) -> list[int]:
    """The numbers of all ways of judging in the file that were used."""
    used = "SELECT id FROM generations WHERE id IN (SELECT generation FROM runs) ORDER BY id"
    return [number for (number,) in ledger.query(used)]


def choose_generation(ledger: Ledger, wanted: int = 0) -> int:
    """The generation of the wanted number; by default the one that ran last. All rows of the file are checked."""
    ledger.check_types()
    known = generations(ledger)
    last = ledger.first("SELECT generation FROM runs ORDER BY id DESC LIMIT 1")
    if not known or not last:
        raise UserError(f"{ledger.path} has no verdicts yet")
    chosen = wanted or int(last[0])
    if chosen not in known:
        raise UserError(f"{ledger.path} has no generation {chosen}; there are: {', '.join(map(str, known))}")
    return chosen


def rows(ledger: Ledger, generation: int, worst: int = 0, flagged: bool = False) -> Iterator[dict[str, Any]]:
    """The samples with their results, in order; or only the worst, or those that need review."""
    condition = " AND v.value IS NOT NULL" if worst else ""
    condition += " AND (v.flags != '' OR e.kind IS NOT NULL)" if flagged else ""
    order = " ORDER BY v.value, s.number LIMIT :worst" if worst else " ORDER BY s.number"
    for row in ledger.query(ROWS + condition + order, {"generation": generation, "worst": worst}):
        yield dict(zip(COLUMNS, row, strict=True))


def stored_verdict(ledger: Ledger, generation: int, sample: str, answers: Path | None = None) -> Verdict:
    """The verdict on one sample, as it was, with the text of a model's answers if they are still cached."""
    row = ledger.first(STORED, (sample, generation))
    if not row and (fault := ledger.first(WHY_NONE, (sample, generation))):
        raise UserError(f"{sample!r} has no verdict: {fault[0]}: {fault[1]}")
    if not row:
        ids = [name for (name,) in ledger.query("SELECT id FROM samples LIMIT ?", (SUGGESTED,))]
        raise NotFound(f"{ledger.path} has no sample {sample!r}{did_you_mean(sample, ids)}")
    number, text, inputs = row
    with wrap_db_errors(ledger.path):
        if is_as_written(ledger.database, (number, generation)) is False:
            raise damaged(ledger.path, f"the verdict on {sample!r} is not as it was stored")
    document, given = ledger.read(text, dict), ledger.read(inputs, Mapping[str, Any])
    if not serial.is_current(document):
        raise UserError(
            f"{sample!r} was judged by another version of onprompt, whose verdicts can't be shown here "
            f"({document.get(serial.FORMAT)}); its scores and checks are in the run file all the same"
        )
    return with_texts(ledger.read_verdict(document, lambda picture: decode_again(picture, given)), answers)


def with_texts(verdict: Verdict, answers: Path | None) -> Verdict:
    """A verdict with the text of a model's answers; an answer that is no longer cached stays empty."""
    if not verdict.answers or not answers or not answers.is_file():
        return verdict
    with closing(AnswerStore(answers)) as store:
        cached = [store.get(answer.key) for answer in verdict.answers]
    texts = (each.text if each else "" for each in cached)
    return replace(verdict, answers=tuple(replace(a, text=t) for a, t in zip(verdict.answers, texts, strict=True)))


def decode_again(picture: Picture, given: Mapping[str, Any]) -> Decoded:
    """The pixels of a stored sample's image, if the file has not changed."""
    from onprompt.vision import decode_image

    settings = load_settings(max_side=picture.side)
    return decode_image(*judged_file(paths_of(picture, given), picture.sha256, settings), settings, picture.frame)


def judged_file(paths: Sequence[str], sha256: str, settings: Settings) -> tuple[bytes, str]:
    """The bytes and the name of the file that was judged, among those that a run file names.

    No other file is shown, served or copied, for a stranger's run file may name any; who takes the bytes decodes them.
    """
    from onprompt.vision import read_source  # with Pillow, which most commands do without

    if not paths:
        raise ImageError("it was not judged from a file", "not a file")
    for path in paths:
        name, data, _ = read_source(path, settings)
        if hashlib.sha256(data).hexdigest() == sha256:
            return data, name
    raise ImageError(f"{paths[0]} has changed since it was judged, or was judged at another size", "changed")


def paths_of(picture: Picture, given: Mapping[str, Any]) -> list[str]:
    """Where a stored sample's image may be: the inputs of its file name."""
    name = Path(picture.name).name
    paths = [value for value in given.values() if isinstance(value, str) and Path(value).name == name]
    return [path for path in paths if Path(path).is_absolute()]  # as images are stored; a prompt is no path
