"""The results of one generation as reports need them: a light row per sample, and its checks counted by kind."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from onprompt.runs.findings import NOTHING_CHECKED
from onprompt.runs.ledger import Ledger
from onprompt.types import Outcome

FAILED = (Outcome.MISSING, Outcome.MISMATCH, Outcome.PARTIAL)
ROWS = """
SELECT s.number, s.id, s.prompt, s.model, s.category, s.given, v.score, v.value, v.flags, v.summary, v.factors,
    v.coverage, e.kind, e.message
FROM samples s
LEFT JOIN verdicts v ON v.sample = s.number AND v.generation = :generation AND v.of = s.version
LEFT JOIN errors e ON e.sample = s.number AND e.generation = :generation AND e.of = s.version
WHERE s.gone = 0 ORDER BY s.number
"""
CHECKS = """SELECT c.sample, c.kind, c.outcome FROM checks c
JOIN present_verdicts v ON v.sample = c.sample AND v.generation = c.generation WHERE c.generation = ?"""
BY_MODEL = """SELECT s.model, c.kind, c.outcome, count(*) FROM checks c
JOIN present_verdicts v ON v.sample = c.sample AND v.generation = c.generation JOIN samples s ON s.number = c.sample
WHERE c.generation = ? GROUP BY 1, 2, 3"""
UNCHECKED = """SELECT c.kind, c.asked, c.found, count(*) FROM checks c
JOIN present_verdicts v ON v.sample = c.sample AND v.generation = c.generation
WHERE c.generation = ? AND c.outcome = 'unverifiable' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2 LIMIT ?"""
LAST = "SELECT data, versions, created FROM runs WHERE generation = ? ORDER BY id DESC LIMIT 1"


class Result(NamedTuple):
    """A sample and what became of it; `value` is None without a verdict."""

    number: int
    id: str
    prompt: str
    model: str
    category: str
    given: str  # the inputs as JSON
    score: int | None
    value: float | None
    flags: tuple[str, ...]
    summary: str
    factors: Mapping[str, int]
    coverage: float | None
    error: str  # the kind of error, if there is no verdict
    message: str

    @property
    def counts(self) -> bool:
        """Whether it enters means: it has a verdict, and something could be checked."""
        return self.value is not None and NOTHING_CHECKED not in self.flags


class LastRun(NamedTuple):
    """What the last run of a generation read, with which versions, and when."""

    data: str
    versions: Mapping[str, str]
    created: str


def results(ledger: Ledger, generation: int) -> Iterator[Result]:
    """All samples that are still in the data, in order."""
    for row in ledger.query(ROWS, {"generation": generation}):
        stored = Result(*row)
        yield stored._replace(
            flags=tuple((row[8] or "").split()),
            summary=stored.summary or "",
            factors=json.loads(row[10]) if row[10] else {},
            error=stored.error or "",
            message=stored.message or "",
        )


def outcomes_by_kind(ledger: Ledger, generation: int) -> tuple[dict[str, dict[str, int]], dict[int, tuple[str, ...]]]:
    """How often each kind of check had which outcome; and by the number of a sample the kinds that failed."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    failed: dict[int, dict[str, None]] = {}
    for sample, kind, outcome in ledger.query(CHECKS, (generation,)):
        counts[kind][outcome] += 1
        if outcome in FAILED:
            failed.setdefault(sample, {})[kind] = None
    return {kind: dict(by_outcome) for kind, by_outcome in counts.items()}, {k: tuple(v) for k, v in failed.items()}


def outcomes_by_model(ledger: Ledger, generation: int) -> dict[str, dict[str, dict[str, int]]]:
    """For each generating model how often each kind of check had which outcome."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for model, kind, outcome, number in ledger.query(BY_MODEL, (generation,)):
        counts.setdefault(model, {}).setdefault(kind, {})[outcome] = number
    return counts


def unchecked(ledger: Ledger, generation: int, limit: int) -> list[tuple[Any, ...]]:
    """The claims that most often could not be checked: kind, what was asked, why, and how often."""
    return list(ledger.query(UNCHECKED, (generation, limit)))


def last_run(ledger: Ledger, generation: int) -> LastRun:
    """The last run of a generation."""
    data, versions, created = ledger.first(LAST, (generation,))
    return LastRun(data, ledger.read(versions, Mapping[str, str]), created)
