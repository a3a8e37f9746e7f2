"""The results of probes: passed, failed or without a verdict, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onprompt.probe.cases import Comparison, Probe
from onprompt.report.statistics import wilson
from onprompt.types import Verdict

HEADER = ("probe", "passed", "of", "rate", "95 % CI", "no verdict")


@dataclass(frozen=True, slots=True)
class Result:
    """A comparison, the verdict on each of its cases, and whether it passes: None if one is missing, and `why`."""

    comparison: Comparison
    passed: bool | None
    verdicts: tuple[Verdict | None, ...]
    why: str = ""

    def document(self) -> dict[str, Any]:
        """JSON."""
        asked = []
        for case, verdict in zip(self.comparison.cases, self.verdicts, strict=True):
            before = {"before": case.before} if case.before else {}
            value, score = (round(verdict.value, 4), verdict.score) if verdict else (None, None)
            asked.append({"picture": case.picture, **before, "prompt": case.prompt, "value": value, "score": score})
        return {"passed": self.passed, "no_verdict": self.why or None, "asked": asked}


@dataclass(frozen=True, slots=True)
class Row:
    """A probe's results; none if the judge doesn't support its rubric."""

    probe: Probe
    served: bool = False
    results: tuple[Result, ...] = ()

    @property
    def passed(self) -> int:
        return sum(result.passed is True for result in self.results)

    @property
    def judged(self) -> int:
        return sum(result.passed is not None for result in self.results)

    @property
    def no_verdict(self) -> int:
        return len(self.results) - self.judged

    @property
    def rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.passed, self.judged) if self.judged else None

    def cells(self) -> tuple[str, ...]:
        """The row of the table, under HEADER."""
        if not self.served:
            return (self.probe.name, "", "", "", "unsupported", "")
        rate = "–" if self.rate is None else f"{self.rate:.2f}"
        interval = "{:.2f}–{:.2f}".format(*self.interval) if self.interval else "–"
        return (self.probe.name, str(self.passed), str(self.judged), rate, interval, str(self.no_verdict))

    def document(self) -> dict[str, Any]:
        """JSON."""
        return {
            "probe": self.probe.name,
            "passes_if": self.probe.about,
            "served": self.served,
            "passed": self.passed,
            "judged": self.judged,
            "rate": None if self.rate is None else round(self.rate, 4),
            "interval": None if self.interval is None else [round(bound, 4) for bound in self.interval],
            "no_verdict": self.no_verdict,
            "comparisons": [result.document() for result in self.results],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A judge's results."""

    judge: str
    model: str
    rubric: str
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[str]:
        """A table, and the reasons for missing verdicts."""
        yield f"judge: {self.judge}{f' ({self.model})' if self.model else ''}, rubric: {self.rubric}\n"
        table = [HEADER, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row, about in zip(table, ["passes if", *(row.probe.about for row in self.rows)], strict=True):
            numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            yield "  ".join([row[0].ljust(widths[0]), *numbers, about])
        reasons = Counter(result.why for row in self.rows for result in row.results if result.passed is None)
        yield from ([""] if reasons else [])
        yield from (f"{number} × no verdict: {reason}" for reason, number in reasons.most_common())

    def document(self) -> dict[str, Any]:
        """JSON, with every comparison."""
        header = {"format": "onprompt.probe/1", "judge": self.judge, "model": self.model, "rubric": self.rubric}
        return {**header, "probes": [row.document() for row in self.rows]}
