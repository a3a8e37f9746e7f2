"""What a notebook shows of a verdict: its factors, picture and claims; and of a comparison: means and tests."""

import base64

from onprompt.errors import OnpromptError
from onprompt.report.comparison import Comparison, ranking_table
from onprompt.report.picture import compose, draw, encode
from onprompt.report.tables import html_table, html_text
from onprompt.report.terminal import figures
from onprompt.report.view import check_view
from onprompt.types import Verdict

SIDE = 700  # pixels: a notebook holds a picture for each verdict that is shown
HEAD = ("kind", "asked for", "found", "outcome", "probability")


def png(verdict: Verdict) -> bytes:
    """The drawn verdict as a PNG file."""
    return encode(draw(verdict), "PNG")


def html(verdict: Verdict) -> str:
    """The verdict; every text of others is escaped."""
    factors = ", ".join(f"{name} {factor.score}" for name, factor in verdict.factors.items())
    interval = " [{:.2f}, {:.2f}]".format(*verdict.interval) if verdict.interval else ""
    about = f", value {verdict.value:.2f}{interval} ({verdict.rubric} by {verdict.judge}): {verdict.summary}"
    checks = (check_view(check, "before" in verdict.sample.pictures) for check in verdict.checks)
    rows = [(c.kind, c.asked, c.found, c.word, f"{c.probability:.2f}" if c.source else "–") for c in checks]
    return (
        f"<div><p><b>{html_text(factors)}</b>{html_text(about)}</p>{picture(verdict)}{html_table(HEAD, rows)}"
        f"<p><small>{html_text(figures(verdict))}</small></p></div>"
    )


def picture(verdict: Verdict) -> str:
    """The drawn verdict inside of the page; where the image can't be opened any more, why."""
    try:
        image = compose(verdict, caption=False).painted()
    except OnpromptError as error:
        return f"<p><i>{html_text(str(error))}</i></p>"
    image.thumbnail((SIDE, SIDE * 2))
    data = base64.b64encode(encode(image, "JPEG")).decode()
    return f'<img alt="{html_text(verdict.sample.prompt)}" src="data:image/jpeg;base64,{data}">'


def comparison_html(compared: Comparison) -> str:
    """Systems in their order, and what the tests say."""
    table = ranking_table(compared)
    notes = "".join(f"<li>{html_text(note)}</li>" for note in table.notes)
    return f"<div>{html_table(table.head, table.rows)}<ul>{notes}</ul></div>"
