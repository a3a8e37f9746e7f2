"""A report as Markdown, for a pull request: the figures, and the worst and most disputed samples."""

import re
from collections.abc import Iterable, Iterator, Sequence

from onprompt.pages.figures import ColumnFigures, Figures
from onprompt.pages.judged import Entry, orders
from onprompt.pages.report import Report
from onprompt.report.agreement import TITLES
from onprompt.report.comparison import Comparison
from onprompt.report.statistics import Estimate
from onprompt.wording.terminal import printable

LISTED, PAIRS = 5, 20  # samples of each order, and tests, that are listed
TEXT = 120  # characters of a text
# What makes more than text of a text: the last three make links of `[this](…)` and of bare addresses.
SPECIAL = re.compile(r"[\\`*_<>|~&$@#]|\](?=[\[(:])|(?<=:)//|(?i:(?<=www)\.)")


def markdown(report: Report) -> str:
    """The whole report."""
    return "\n".join([f"# {escape(report.title)}", "", escape(report.subtitle), "", *body(report)]).rstrip() + "\n"


def body(report: Report) -> Iterator[str]:
    """The sections."""
    yield from (f"> {escape(warning)}\n" for warning in report.figures.warnings)
    yield from headline(report.figures)
    if report.figures.runs:
        yield from ranking("Runs", report.figures.runs)
    for each in report.figures.columns:
        title = f" ({escape(each.column.name)})" if len(report.columns) > 1 else ""
        if each.leaderboard:
            yield from ranking(f"Generating models{title}", each.leaderboard)
        yield from details(each, title)
    names = {"worst": "Worst samples", "disputed": "Most disputed samples"}
    for name, order in orders(report.entries).items():
        if name in names:
            yield from samples(names[name], order[:LISTED])
    yield from ("## The same numbers again", "")
    yield from (f"```\n{recipe.commands.replace('`', '')}\n```\n" for recipe in report.recipes)


def headline(figures: Figures) -> Iterator[str]:
    """One row for each run."""
    rows = []
    for each in figures.columns:
        run = each.column.overview
        coverage = "–" if each.coverage is None else f"{100 * each.coverage:.0f} %"
        score = "–" if each.score is None else words(each.score)
        verdicts = f"{run.verdicts:,} of {run.samples:,}"
        rows.append([each.column.name, words(each.mean.mean), score, verdicts, coverage, f"{each.flagged:,}"])
    yield from table(["run", "mean value [95 % interval]", "mean score", "verdicts", "coverage", "flagged"], rows)


def ranking(title: str, compared: Comparison) -> Iterator[str]:
    """Systems, the best first, and what the tests say."""
    yield from (f"## {title}", "")
    rows = [[str(n), each.name, words(each.mean), f"{each.items:,}"] for n, each in enumerate(compared.ranking, 1)]
    yield from table(["#", "name", "mean [95 % interval]", "samples"], rows)
    yield from (f"- {escape(pair.verdict)}" for pair in compared.pairs[:PAIRS])
    if len(compared.pairs) > PAIRS:
        yield f"- and {len(compared.pairs) - PAIRS} more"
    yield ""


def details(each: ColumnFigures, title: str) -> Iterator[str]:
    """Categories, kinds of checks, agreement with people and errors of one run."""
    if each.categories:
        yield from (f"## Categories{title}", "")
        yield from table(
            ["category", "mean", "samples"], ([c.name, words(c.mean), f"{c.items:,}"] for c in each.categories)
        )
    if each.kinds:
        yield from (f"## Kinds of checks{title}", "")
        names = [part.name for part in each.kinds[0].parts]
        rows = ([k.name, f"{k.number:,}", *(f"{100 * part.share:.0f} %" for part in k.parts)] for k in each.kinds)
        yield from table(["kind", "claims", *names], rows)
    if each.people:
        yield from (f"## Agreement with people{title}", "")
        judge, ceiling = each.people.overall.judge, each.people.overall.ceiling
        measured = [name for name in TITLES if judge[name].value is not None]
        rows = ([TITLES[name], words(judge[name]), words(ceiling[name])] for name in measured)
        yield from table(["measure", "judge", "one rater against the others"], rows)
    if each.errors:
        yield from (f"## Without a verdict{title}", "")
        yield from table(["error", "samples", "for example"], ([k, f"{n:,}", cut(m)] for k, n, m in each.errors))


def samples(title: str, chosen: Sequence[Entry]) -> Iterator[str]:
    """Some samples with what is wrong with them."""
    rows = []
    for entry in chosen:
        values = ", ".join("–" if r is None or r.value is None else f"{r.value:.2f}" for r in entry.results)
        rows.append([cut(entry.id), values, cut(entry.prompt), cut(entry.first.summary)])
    if rows:
        yield from (f"## {title}", "")
        yield from table(["sample", "value", "prompt", "summary"], rows)


def words(estimate: Estimate) -> str:
    """`0.63 [0.59, 0.67]`."""
    if estimate.value is None:
        return "–"
    return f"{estimate.value:.2f}" + ("" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table; whatever its cells hold stays in them."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(map(escape, row))} |" for row in rows)
    yield ""


def cut(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"


def escape(text: str) -> str:
    """A text on one line that Markdown shows as it is: no link, no mention, no HTML."""
    line = " ".join(printable(text).split())
    return SPECIAL.sub(lambda found: "".join(f"&#{ord(letter)};" for letter in found[0]), line)
