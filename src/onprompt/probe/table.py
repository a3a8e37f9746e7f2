"""What became of the comparisons: passed, failed or without a verdict; as numbers, as a table, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onprompt.probe.cases import Comparison, Probe
from onprompt.report.statistics import wilson

FORMAT = "onprompt.probe/1"
HEAD = ("probe", "passed", "of", "rate", "95 % interval", "no verdict")


@dataclass(frozen=True, slots=True)
class Result:
    """A comparison, what the judge said, and whether that passes: None where it said nothing that counts."""

    comparison: Comparison
    passed: bool | None
    values: tuple[float | None, ...]
    scores: tuple[int | None, ...]
    why: str = ""  # there is no verdict


@dataclass(frozen=True, slots=True)
class Row:
    """A probe's results; there are none where the judge does not serve the rubric that it needs."""

    probe: Probe
    served: bool = False
    results: tuple[Result, ...] = ()

    @property
    def passed(self) -> int:
        return sum(each.passed is True for each in self.results)

    @property
    def judged(self) -> int:
        return sum(each.passed is not None for each in self.results)

    @property
    def no_verdict(self) -> int:
        return len(self.results) - self.judged

    @property
    def rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.passed, self.judged) if self.judged else None


@dataclass(frozen=True, slots=True)
class Report:
    """How a judge did."""

    judge: str
    model: str
    rubric: str
    rows: tuple[Row, ...]


def lines(report: Report) -> Iterator[str]:
    """The table, and why there is no verdict where there is none."""
    yield f"{report.judge}{f' ({report.model})' if report.model else ''}, {report.rubric}"
    yield ""
    cells = [HEAD, *(row_cells(row) for row in report.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    abouts = ["what passes", *(row.probe.about for row in report.rows)]
    for row, about in zip(cells, abouts, strict=True):
        name, *numbers = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([name.strip().ljust(widths[0]), *numbers, about])
    whys = Counter(each.why for row in report.rows for each in row.results if each.passed is None)
    if whys:
        yield ""
        yield from (f"no verdict {number} ×: {why}" for why, number in whys.most_common())


def row_cells(row: Row) -> tuple[str, ...]:
    """A row of the table."""
    if not row.served:
        return (row.probe.name, "", "", "", "not served", "")
    rate, interval = row.rate, row.interval
    return (
        row.probe.name,
        str(row.passed),
        str(row.judged),
        "–" if rate is None else f"{rate:.2f}",
        "–" if interval is None else f"{interval[0]:.2f}–{interval[1]:.2f}",
        str(row.no_verdict),
    )


def document(report: Report) -> dict[str, Any]:
    """The same as JSON, with every comparison."""
    return {
        "format": FORMAT,
        "judge": report.judge,
        "model": report.model,
        "rubric": report.rubric,
        "probes": [row_entry(row) for row in report.rows],
    }


def row_entry(row: Row) -> dict[str, Any]:
    """A probe with its comparisons."""
    return {
        "probe": row.probe.name,
        "passes_if": row.probe.about,
        "served": row.served,
        "passed": row.passed,
        "judged": row.judged,
        "rate": None if row.rate is None else round(row.rate, 4),
        "interval": None if row.interval is None else [round(each, 4) for each in row.interval],
        "no_verdict": row.no_verdict,
        "comparisons": [result_entry(each) for each in row.results],
    }


def result_entry(result: Result) -> dict[str, Any]:
    """A comparison: what was asked, what was said."""
    told = zip(result.comparison.asked, result.values, result.scores, strict=True)
    return {
        "passed": result.passed,
        "no_verdict": result.why or None,
        "asked": [
            {
                "picture": asked.picture,
                **({"before": asked.before} if asked.before else {}),
                "prompt": asked.prompt,
                "value": None if value is None else round(value, 4),
                "score": score,
            }
            for asked, value, score in told
        ],
    }
