"""One writer of tables for the terminal, Markdown, LaTeX and HTML; a cell of others does nothing in any."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from onprompt.wording.terminal import printable

NUMBER = re.compile(r"[-+$]?[\d,]*\.?\d+( %)?")  # a column of these is aligned on the right
# What makes more than text of a text: the last three make links of `[this](…)` and of bare addresses.
SPECIAL = re.compile(r"[\\`*_<>|~&$@#]|\](?=[\[(:])|(?<=:)//|(?i:(?<=www)\.)")
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
LATEX |= {"ρ": r"$\rho$", "τ": r"$\tau$", "κ": r"$\kappa$", "–": "--", "×": r"$\times$"}
LONGEST = 120  # characters of a text of others
Cells = Iterable[Sequence[str]]


class Table(NamedTuple):
    """A table with its title, and the sentences that follow it."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()


def table_lines(head: Sequence[str], rows: Cells) -> Iterator[str]:
    """A table for the terminal, each column as wide as its longest cell."""
    cells = [list(row) for row in rows]
    columns = list(zip(*cells, strict=True)) or [()] * len(head)
    widths = [max(map(len, [name, *column])) for name, column in zip(head, columns, strict=True)]
    signs = [">" if column and all(map(NUMBER.fullmatch, column)) else "<" for column in columns]
    for row in (head, *cells):
        yield "  ".join(f"{cell:{sign}{width}}" for cell, sign, width in zip(row, signs, widths, strict=True)).rstrip()


def markdown_table(head: Sequence[str], rows: Cells) -> Iterator[str]:
    """A table in Markdown, and the blank line after it."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(map(markdown_text, row))} |" for row in rows)
    yield ""


def latex_table(head: Sequence[str], rows: Cells, caption: str) -> Iterator[str]:
    """A table in LaTeX, with the package booktabs."""
    top, *body = (" & ".join(map(latex_text, row)) + r" \\" for row in (head, *rows))
    yield from (r"\begin{table}", r"\centering", rf"\caption{{{latex_text(caption)}}}")
    yield from (rf"\begin{{tabular}}{{{'l' * len(head)}}}", r"\toprule", top, r"\midrule", *body, r"\bottomrule")
    yield from (r"\end{tabular}", r"\end{table}", "")


def html_table(head: Sequence[str], rows: Cells) -> str:
    """A table in HTML; nothing without a row."""
    lines = [f"<tr>{''.join(f'<td>{html_text(cell)}</td>' for cell in row)}</tr>" for row in rows]
    titles = "".join(f"<th>{html_text(name)}</th>" for name in head)
    return f"<table><tr>{titles}</tr>{''.join(lines)}</table>" if lines else ""


def markdown_text(text: str) -> str:
    """A text on one line that Markdown shows as it is: no link, no mention, no HTML, no end of a cell."""
    return SPECIAL.sub(lambda found: "".join(f"&#{ord(letter)};" for letter in found[0]), on_one_line(text))


def latex_text(text: str) -> str:
    """A text on one line that LaTeX shows as it is."""
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], on_one_line(text))


def html_text(text: str) -> str:
    """A text as HTML that does nothing."""
    return escape(printable(text))


def on_one_line(text: str) -> str:
    """A text without control characters and line breaks."""
    return " ".join(printable(text).split())


def shortened(text: str, length: int = LONGEST) -> str:
    """The beginning of a text."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
