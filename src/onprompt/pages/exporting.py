"""A report's tables as Markdown, for a pull request, or as LaTeX, for a paper."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from onprompt.pages.figures import orders
from onprompt.pages.report import Report
from onprompt.report.agreement import TITLES
from onprompt.report.comparison import Comparison, ranks
from onprompt.report.tables import latex_table, latex_text, markdown_table, markdown_text, shortened

LISTED, PAIRS = 5, 20  # samples of each order, and tests, that are listed


class Table(NamedTuple):
    """A table of a report, with sentences that follow it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def tables(report: Report) -> Iterator[Table]:
    """The tables of a report."""
    rows = []
    for each in report.figures.columns:
        run = each["column"].run.overview
        coverage = "–" if each["coverage"] is None else f"{100 * each['coverage']:.0f} %"
        verdicts = f"{run.verdicts:,} of {run.samples:,}"
        both = each["whole"].mean.short, each["whole"].score.short
        rows.append([each["column"].name, *both, verdicts, coverage, f"{each['to_look_at']:,}"])
    head = ["run", "mean value [95 % interval]", "mean score", "verdicts", "coverage", "to look at"]
    yield Table("Runs", head, rows)
    if report.figures.runs:
        yield ranking("Ranking of runs", report.figures.runs)
    for each in report.figures.columns:
        of = f" ({each['column'].name})" if len(report.columns) > 1 else ""
        if each["leaderboard"]:
            yield ranking(f"Generating models{of}", each["leaderboard"])
        for grid in each["grids"]:
            cells = ((name, *("–" if c is None else f"{c[0]:.2f} ({c[1]:,})" for c in row)) for name, row in grid.rows)
            yield Table(f"{grid.title}, and their number{of}", ["model", *(name for _, name in grid.columns)], [*cells])
        means = [[c.name, c.mean.short, f"{c.items:,}"] for c in each["categories"]]
        yield Table(f"Categories{of}", ["category", "mean", "samples"], means)
        shares = [[k.name, f"{k.number:,}", *(f"{100 * part[2]:.0f} %" for part in k.parts)] for k in each["kinds"]]
        names = [part[0] for part in each["kinds"][0].parts] if each["kinds"] else []
        yield Table(f"Kinds of claims{of}", ["kind", "claims", *names], shares)
        if each["people"]:
            judge, ceiling = each["people"].overall.judge, each["people"].overall.ceiling
            measured = [name for name in TITLES if judge[name].value is not None]
            people = [[TITLES[name], judge[name].short, ceiling[name].short] for name in measured]
            yield Table(f"Agreement with people{of}", ["measure", "judge", "one rater against the others"], people)
        errors = [[kind, f"{number:,}", shortened(message)] for kind, number, message in each["errors"]]
        yield Table(f"Without a verdict{of}", ["error", "samples", "for example"], errors)


def ranking(title: str, compared: Comparison) -> Table:
    """Systems, the best first, and what the tests say."""
    place = ranks(compared)
    rows = [[str(place[each.name]), each.name, each.mean.short, f"{each.items:,}"] for each in compared.ranking]
    notes = [pair.verdict for pair in compared.pairs[:PAIRS]]
    more = [f"and {len(compared.pairs) - PAIRS} more"] if len(compared.pairs) > PAIRS else []
    return Table(title, ["rank", "name", "mean [95 % interval]", "samples"], rows, [*notes, *more])


def markdown(report: Report) -> str:
    """The whole report, with the worst and most disputed samples."""
    lines = [f"# {markdown_text(report.title)}", "", markdown_text(report.figures.conclusion), ""]
    lines += [f"{markdown_text(report.subtitle)}.", ""]
    lines += [f"> {markdown_text(warning)}\n" for warning in report.figures.warnings]
    for table in [*tables(report), *sample_tables(report)]:
        if table.rows:
            lines += [f"## {markdown_text(table.title)}", "", *markdown_table(table.head, table.rows)]
            lines += [*(f"- {markdown_text(note)}" for note in table.notes), *([""] if table.notes else [])]
    lines += ["## Reproduce these numbers", ""]
    lines += [f"```\n{recipe['commands'].replace('`', '')}\n```\n" for recipe in report.recipes]
    return "\n".join(lines).rstrip() + "\n"


def sample_tables(report: Report) -> Iterator[Table]:
    """Some samples with what is wrong with them."""
    names = {"worst": "Samples with the lowest values", "disputed": "Most disputed samples"}
    for name, order in orders(report.entries).items():
        rows = []
        for entry in order[:LISTED] if name in names else ():
            values = ", ".join("–" if r is None or r.value is None else f"{r.value:.2f}" for r in entry.results)
            rows.append([shortened(entry.id), values, shortened(entry.prompt), shortened(entry.first.summary)])
        yield Table(names.get(name, ""), ["sample", "value", "prompt", "summary"], rows)


def latex(report: Report) -> str:
    """The tables, each with its title and its tests as a caption."""
    lines = [f"% {latex_text(report.title)}: {latex_text(report.figures.conclusion)}", r"% \usepackage{booktabs}", ""]
    for table in tables(report):
        if table.rows:
            lines += latex_table(". ".join([table.title, *table.notes]), table.head, table.rows)
    return "\n".join(lines)
