"""A report's tables as Markdown, for a pull request, or as LaTeX, for a paper."""

from collections.abc import Iterator

from onprompt.pages.figures import orders
from onprompt.pages.report import Report
from onprompt.report.agreement import TITLES
from onprompt.report.comparison import group_table, ranking_table
from onprompt.report.tables import Table, latex_table, latex_text, markdown_table, markdown_text, shortened

LISTED = 5  # samples of each order
ORDERS = {"worst": "Samples with the lowest values", "disputed": "Most disputed samples"}


def tables(report: Report) -> Iterator[Table]:
    """The tables of a report."""
    rows = []
    for each in report.figures.columns:
        run, whole = each["column"].run.overview, each["whole"]
        coverage = "–" if each["coverage"] is None else f"{100 * each['coverage']:.0f} %"
        counts = f"{run.verdicts:,} of {run.samples:,}", coverage, f"{each['to_look_at']:,}"
        rows.append([each["column"].name, whole.mean.short, whole.score.short, *counts])
    head = ["run", "mean value [95 % CI]", "mean score [95 % CI]", "verdicts", "coverage", "to look at"]
    yield Table(head, rows, "Runs")
    if report.figures.runs:
        yield ranking_table(report.figures.runs, "Ranking of runs")
    for each in report.figures.columns:
        of = f" ({each['column'].name})" if len(report.columns) > 1 else ""
        if each["leaderboard"]:
            yield ranking_table(each["leaderboard"], f"Generating models{of}")
        for grid in each["grids"]:
            cells = [[name, *("–" if c is None else f"{c[0]:.2f} ({c[1]:,})" for c in row)] for name, row in grid.rows]
            yield Table(["model", *(name for _, name in grid.columns)], cells, f"{grid.title}, and their number{of}")
        yield group_table("category", each["categories"], 2)._replace(title=f"Categories{of}")
        shares = [[k.name, f"{k.number:,}", *(f"{100 * part[2]:.0f} %" for part in k.parts)] for k in each["kinds"]]
        names = [part[0] for part in each["kinds"][0].parts] if each["kinds"] else []
        yield Table(["kind", "claims", *names], shares, f"Kinds of claims{of}")
        if each["people"]:
            judge, ceiling = each["people"].overall.judge, each["people"].overall.ceiling
            measured = [name for name in TITLES if judge[name].value is not None]
            people = [[TITLES[name], judge[name].short, ceiling[name].short] for name in measured]
            yield Table(["measure", "judge", "one rater against the others"], people, f"Agreement with people{of}")
        errors = [[kind, f"{number:,}", shortened(message)] for kind, number, message in each["errors"]]
        yield Table(["error", "samples", "for example"], errors, f"Without a verdict{of}")


def sample_tables(report: Report) -> Iterator[Table]:
    """Some samples with what is wrong with them."""
    found = orders(report.entries)
    for name, title in ORDERS.items():
        rows = []
        for entry in found.get(name, ())[:LISTED]:
            values = ", ".join("–" if r is None or r.value is None else f"{r.value:.2f}" for r in entry.results)
            rows.append([shortened(entry.id), values, shortened(entry.prompt), shortened(entry.first.summary)])
        yield Table(["sample", "value", "prompt", "summary"], rows, title)


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


def latex(report: Report) -> str:
    """The tables, each with its title and its tests as a caption."""
    lines = [f"% {latex_text(report.title)}: {latex_text(report.figures.conclusion)}", r"% \usepackage{booktabs}", ""]
    for table in tables(report):
        if table.rows:
            lines += latex_table(table.head, table.rows, ". ".join([table.title, *table.notes]))
    return "\n".join(lines)
