"""A gate's decisions in markdown, for the summary of a job or a comment on a pull request."""

import re
from collections.abc import Iterator
from pathlib import Path

from onprompt.errors import UserError
from onprompt.gate.gate import Outcome
from onprompt.gate.results import Result
from onprompt.wording import plural
from onprompt.wording.terminal import printable

WORST = 10  # samples that are listed
LONGEST = 300  # characters of a text of others


def write(outcome: Outcome, path: Path) -> None:
    """Write the summary; it is added to what a file holds, as GITHUB_STEP_SUMMARY expects."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write("\n".join(lines(outcome)) + "\n")
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error


def lines(outcome: Outcome) -> Iterator[str]:
    """The decisions as a table, then the worst samples."""
    run = outcome.run
    yield f"### onprompt: {'passed' if outcome.passed else '**failed**'}"
    yield ""
    yield f"{plural(len(run.results), 'sample')}, {code(run.rubric)} by {code(run.judge)}"
    yield ""
    yield "| | condition | measured [95 % CI] |"
    yield "|---|---|---|"
    for decision in outcome.decisions:
        yield f"| {'✅' if decision.met else '❌'} | {code(decision.asked)} | {code(decision.measured)} |"
    yield ""
    yield from (f"- {code(note)}" for note in outcome.notes)
    yield from sample_lines(outcome)


def sample_lines(outcome: Outcome) -> Iterator[str]:
    """The samples with the lowest values, and those without a verdict."""
    judged = sorted((r for r in outcome.run.results if r.counts), key=lambda result: result.metrics["value"])
    faults = [result for result in outcome.run.results if result.error]
    for title, results in (("Lowest values", judged), ("No verdict", faults)):
        if results:
            yield ""
            yield f"<details><summary>{title} ({min(WORST, len(results))} of {len(results):,})</summary>"
            yield ""
            yield "| sample | scores | prompt | why |"
            yield "|---|---|---|---|"
            yield from map(row, results[:WORST])
            yield ""
            yield "</details>"


def row(result: Result) -> str:
    """A sample as a row of a table."""
    cells = (code(result.id), result.scores, code(result.prompt), code(result.error or result.summary))
    return f"| {' | '.join(cells)} |"


def code(text: str) -> str:
    """A text of others as a code span: no tags, no links, no mentions, and no end of a table's cell.

    A pipe would end the cell, and so would an escaped one after a backslash.
    """
    line = printable(" ".join(text.split())).replace("|", "¦")
    line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    if not line.strip():
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    padding = " " if "`" in line else ""
    return f"{fence}{padding}{line}{padding}{fence}"
