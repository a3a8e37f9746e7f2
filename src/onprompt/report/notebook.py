"""What a notebook shows of a verdict: its factors, picture and claims; and of a comparison: means and tests."""

import base64
from collections.abc import Iterable, Sequence
from html import escape

from onprompt import wording
from onprompt.errors import OnpromptError
from onprompt.report import comparison
from onprompt.report.labels import COLORS
from onprompt.report.picture import compose, draw, encode
from onprompt.report.terminal import figures
from onprompt.types import Verdict
from onprompt.wording.labels import OUTCOMES
from onprompt.wording.terminal import printable

SIDE = 700  # pixels: a notebook holds a picture for each verdict that is shown


def png(verdict: Verdict) -> bytes:
    """The drawn verdict as a PNG file."""
    return encode(draw(verdict), "PNG")


def html(verdict: Verdict) -> str:
    """The verdict; every text of others is escaped."""
    factors = ", ".join(f"{name} {factor.score}" for name, factor in verdict.factors.items())
    interval = " [{:.2f}, {:.2f}]".format(*verdict.interval) if verdict.interval else ""
    return (
        f"<div><p><b>{text(factors)}</b>, value {verdict.value:.2f}{interval} ({text(verdict.rubric)} by "
        f"{text(verdict.judge)}): {text(verdict.summary)}</p>{picture(verdict)}{table(verdict)}"
        f"<p><small>{text(figures(verdict))}</small></p></div>"
    )


def picture(verdict: Verdict) -> str:
    """The drawn verdict inside of the page; where the image can't be opened any more, why."""
    try:
        image = compose(verdict, caption=False).painted()
    except OnpromptError as error:
        return f"<p><i>{text(str(error))}</i></p>"
    image.thumbnail((SIDE, SIDE * 2))
    data = base64.b64encode(encode(image, "JPEG")).decode()
    return f'<img alt="{text(verdict.sample.prompt)}" src="data:image/jpeg;base64,{data}">'


def comparison_html(compared: comparison.Comparison) -> str:
    """Systems in their order, and what the tests say."""
    tests = "".join(f"<li>{text(pair.verdict)}</li>" for pair in compared.pairs)
    return f"<div>{means(compared.ranking)}<ul>{tests}</ul></div>"


def means(groups: Iterable[comparison.Group]) -> str:
    """Means with their intervals."""
    rows = [(group.name, group.mean.short, group.score.short, f"{group.items:,}") for group in groups]
    return grid(("", "mean value [95 % interval]", "mean score", "samples"), rows)


def grid(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    cells = "".join("<tr>" + "".join(f"<td>{text(each)}</td>" for each in row) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{cells}</table>" if cells else ""


def table(verdict: Verdict) -> str:
    """A row for each claim: what was asked for, what was found, and how likely it holds."""
    is_edit, rows = "before" in verdict.sample.pictures, ""
    for check in verdict.checks:
        color, outcome = COLORS[check.outcome], OUTCOMES[check.outcome][is_edit]
        likely = f"{check.probability:.2f}" if check.source != "none" else "–"
        words = wording.full_claim(check.claim), wording.finding_words(check)
        cells = "".join(f"<td>{text(each)}</td>" for each in (check.claim.kind, *words))
        rows += f'<tr>{cells}<td style="color:{color}">{outcome}</td><td>{likely}</td></tr>'
    head = "".join(f"<th>{name}</th>" for name in ("kind", "asked for", "found", "outcome", "probability"))
    return f"<table><tr>{head}</tr>{rows}</table>" if rows else ""


def text(words: str) -> str:
    """A text as HTML that does nothing."""
    return escape(printable(words))
