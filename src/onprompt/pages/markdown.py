"""A report as Markdown, for a pull request: the figures, and the worst and most disputed samples."""

from collections.abc import Iterator, Sequence

from onprompt.pages.figures import ColumnFigures, Entry, Figures, orders
from onprompt.pages.report import Report
from onprompt.report.agreement import TITLES
from onprompt.report.comparison import Comparison
from onprompt.report.statistics import Estimate
from onprompt.report.tables import markdown_table, shortened
from onprompt.report.tables import markdown_text as escape

LISTED, PAIRS = 5, 20  # samples of each order, and tests, that are listed


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
    yield from ("## Reproduce these numbers", "")
    yield from (f"```\n{recipe.commands.replace('`', '')}\n```\n" for recipe in report.recipes)


def headline(figures: Figures) -> Iterator[str]:
    """One row for each run."""
    rows = []
    for each in figures.columns:
        run = each.column.run.overview
        coverage = "–" if each.coverage is None else f"{100 * each.coverage:.0f} %"
        score = "–" if each.score is None else words(each.score)
        verdicts = f"{run.verdicts:,} of {run.samples:,}"
        rows.append([each.column.name, words(each.mean.mean), score, verdicts, coverage, f"{each.flagged:,}"])
    yield from markdown_table(
        ["run", "mean value [95 % interval]", "mean score", "verdicts", "coverage", "flagged"], rows
    )


def ranking(title: str, compared: Comparison) -> Iterator[str]:
    """Systems, the best first, and what the tests say."""
    yield from (f"## {title}", "")
    rows = [[str(n), each.name, words(each.mean), f"{each.items:,}"] for n, each in enumerate(compared.ranking, 1)]
    yield from markdown_table(["#", "name", "mean [95 % interval]", "samples"], rows)
    yield from (f"- {escape(pair.verdict)}" for pair in compared.pairs[:PAIRS])
    if len(compared.pairs) > PAIRS:
        yield f"- and {len(compared.pairs) - PAIRS} more"
    yield ""


def details(each: ColumnFigures, title: str) -> Iterator[str]:
    """Categories, kinds of checks, agreement with people and errors of one run."""
    if each.categories:
        yield from (f"## Categories{title}", "")
        yield from markdown_table(
            ["category", "mean", "samples"], ([c.name, words(c.mean), f"{c.items:,}"] for c in each.categories)
        )
    if each.kinds:
        yield from (f"## Kinds of checks{title}", "")
        names = [part.name for part in each.kinds[0].parts]
        rows = ([k.name, f"{k.number:,}", *(f"{100 * part.share:.0f} %" for part in k.parts)] for k in each.kinds)
        yield from markdown_table(["kind", "claims", *names], rows)
    if each.people:
        yield from (f"## Agreement with people{title}", "")
        judge, ceiling = each.people.overall.judge, each.people.overall.ceiling
        measured = [name for name in TITLES if judge[name].value is not None]
        rows = ([TITLES[name], words(judge[name]), words(ceiling[name])] for name in measured)
        yield from markdown_table(["measure", "judge", "one rater against the others"], rows)
    if each.errors:
        yield from (f"## Without a verdict{title}", "")
        yield from markdown_table(
            ["error", "samples", "for example"], ([k, f"{n:,}", shortened(m)] for k, n, m in each.errors)
        )


def samples(title: str, chosen: Sequence[Entry]) -> Iterator[str]:
    """Some samples with what is wrong with them."""
    rows = []
    for entry in chosen:
        values = ", ".join("–" if r is None or r.value is None else f"{r.value:.2f}" for r in entry.results)
        rows.append([shortened(entry.id), values, shortened(entry.prompt), shortened(entry.first.summary)])
    if rows:
        yield from (f"## {title}", "")
        yield from markdown_table(["sample", "value", "prompt", "summary"], rows)


def words(estimate: Estimate) -> str:
    """`0.63 [0.59, 0.67]`."""
    if estimate.value is None:
        return "–"
    return f"{estimate.value:.2f}" + ("" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]")
