"""One writer of tables for the terminal, Markdown and LaTeX; a cell of others does nothing in any."""

import re
from collections.abc import Iterable, Iterator, Sequence

from onprompt.wording.terminal import printable

NUMBER = re.compile(r"[-+$]?[\d,]*\.?\d+( %)?")  # a column of these is aligned on the right
# What makes more than text of a text: the last three make links of `[this](…)` and of bare addresses.
SPECIAL = re.compile(r"[\\`*_<>|~&$@#]|\](?=[\[(:])|(?<=:)//|(?i:(?<=www)\.)")
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
LATEX |= {"ρ": r"$\rho$", "τ": r"$\tau$", "α": r"$\alpha$", "κ": r"$\kappa$", "–": "--", "×": r"$\times$"}
LONGEST = 120  # characters of a text of others


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table for the terminal, each column as wide as its longest cell."""
    cells = [list(row) for row in rows]
    columns = list(zip(*cells, strict=True)) or [()] * len(header)
    widths = [max(map(len, [name, *column])) for name, column in zip(header, columns, strict=True)]
    signs = [">" if column and all(map(NUMBER.fullmatch, column)) else "<" for column in columns]
    for row in (header, *cells):
        yield "  ".join(f"{cell:{sign}{width}}" for cell, sign, width in zip(row, signs, widths, strict=True)).rstrip()


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown, and the blank line after it."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(map(markdown_text, row))} |" for row in rows)
    yield ""


def markdown_text(text: str) -> str:
    """A text on one line that Markdown shows as it is: no link, no mention, no HTML, no end of a cell."""
    line = " ".join(printable(text).split())
    return SPECIAL.sub(lambda found: "".join(f"&#{ord(letter)};" for letter in found[0]), line)


def latex_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table in LaTeX, with the package booktabs."""
    head, *body = (" & ".join(map(latex_text, row)) + r" \\" for row in (header, *rows))
    yield from (r"\begin{table}", r"\centering", rf"\caption{{{latex_text(caption)}}}")
    yield from (rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule")
    yield from (r"\end{tabular}", r"\end{table}", "")


def latex_text(text: str) -> str:
    """A text on one line that LaTeX shows as it is."""
    line = " ".join(printable(text).split())
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], line)


def shortened(text: str, length: int = LONGEST) -> str:
    """The beginning of a text."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
