"""What a gate looks at: the samples of a run with their scores, or why there are none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onprompt.report.ratings import Item
from onprompt.runs import findings
from onprompt.runs.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Result:
    """A sample: `metrics` are value, coverage and the scores of the rubric's factors; empty without a verdict."""

    id: str
    prompt: str
    metrics: Mapping[str, float]
    flags: tuple[str, ...] = ()
    summary: str = ""
    error: str = ""
    cost: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it is in means and shares."""
        return bool(self.metrics) and not self.is_counted_as("not_verifiable")

    @property
    def scores(self) -> str:
        """`score 2, value 0.44, coverage 1.00`."""
        numbers = {name: f"{n:.2f}" if name in ("value", "coverage") else f"{n:g}" for name, n in self.metrics.items()}
        return ", ".join(f"{name} {number}" for name, number in numbers.items())

    def is_counted_as(self, what: str) -> bool:
        """Whether it is one of the errors, of those that are not verifiable, or of the flagged."""
        return {
            "errors": bool(self.error) or not self.metrics,
            "not_verifiable": findings.NOTHING_CHECKED in self.flags,
            "flagged": bool(self.flags),
        }[what]

    @property
    def item(self) -> Item:
        """For a comparison."""
        return Item(self.id, self.prompt, self.metrics["value"] if self.counts else None)


@dataclass(frozen=True, slots=True)
class RunResults:
    """A run: who judged it, by which rubric, whether all of its data was read, and its samples."""

    path: Path
    rubric: str
    judge: str
    complete: bool
    results: tuple[Result, ...]


def read(path: Path, generation: int = 0) -> RunResults:
    """The results of a run file, of the generation that ran last or of another."""
    with Ledger(path) as ledger:
        number = findings.choose_generation(ledger, generation)
        about = findings.identity(ledger, number)
        rubric = " ".join(filter(None, (about["rubric"], about.get("split"))))
        judge = " ".join(filter(None, (about["judge"], about.get("model"))))
        complete = ledger.first(findings.READ_WHOLE, (number,)) == (1,)
        return RunResults(path, rubric, judge, complete, tuple(map(to_result, findings.rows(ledger, number))))


def to_result(row: Mapping[str, Any]) -> Result:
    """A sample as a gate sees it; one that was not judged yet has an error, too."""
    if row["value"] is None:
        error = f"{row['error']}: {row['message']}" if row["error"] else "not judged yet"
        return Result(row["id"], row["prompt"], {}, error=error)
    metrics = {name: float(score) for name, score in json.loads(row["factors"]).items()} | {"value": row["value"]}
    metrics |= {} if row["coverage"] is None else {"coverage": row["coverage"]}
    return Result(row["id"], row["prompt"], metrics, tuple(row["flags"].split()), row["summary"], cost=row["cost"])
