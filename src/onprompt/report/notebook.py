"""A verdict in a notebook: the picture with its boxes, and a table of what was asked for and found."""

import base64
import io
from html import escape

from PIL import Image

from onprompt import wording
from onprompt.errors import OnpromptError
from onprompt.report.labels import COLOURS
from onprompt.report.picture import draw
from onprompt.report.terminal import figures, worst
from onprompt.types import Verdict
from onprompt.wording.terminal import printable

SIDE = 700  # pixels: a notebook holds a picture for each verdict that is shown


def png(verdict: Verdict) -> bytes:
    """The drawn verdict as a PNG file."""
    return encode(draw(verdict), "PNG")


def html(verdict: Verdict) -> str:
    """The drawn verdict, which lists its findings; every text of others is escaped."""
    factors = ", ".join(f"{name} {factor.score}" for name, factor in verdict.factors.items())
    return (
        f"<div><p><b>{text(factors)}</b> ({text(verdict.rubric)} by {text(verdict.judge)}): {text(verdict.summary)}</p>"
        f"{picture_or_table(verdict)}<p><small>{text(figures(verdict))}</small></p></div>"
    )


def picture_or_table(verdict: Verdict) -> str:
    """The drawn verdict inside of the page; where the image can't be opened any more, why, and the findings."""
    try:
        image = draw(verdict)
    except OnpromptError as error:
        return f"<p><i>{text(str(error))}</i></p>{table(verdict)}"
    image.thumbnail((SIDE, SIDE * 2))
    data = base64.b64encode(encode(image, "JPEG")).decode()
    return f'<img alt="{text(alternative(verdict))}" src="data:image/jpeg;base64,{data}">'


def alternative(verdict: Verdict) -> str:
    """The picture in words, for those who can't see it."""
    found = "; ".join(f"{asked}: {found}" for asked, found in wording.pairs(verdict))
    return f"{verdict.sample.prompt}: {found}" if found else verdict.sample.prompt


def table(verdict: Verdict) -> str:
    """A row per object: what was asked for, and what was found."""
    rows = "".join(
        f'<tr><td>{text(asked)}</td><td style="color:{COLOURS[worst(verdict, index)]}">{text(found)}</td></tr>'
        for index, (asked, found) in enumerate(wording.pairs(verdict))
    )
    return f"<table><tr><th>asked for</th><th>found</th></tr>{rows}</table>" if rows else ""


def encode(image: Image.Image, kind: str) -> bytes:
    """The bytes of an image file."""
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def text(words: str) -> str:
    """A text as HTML that does nothing."""
    return escape(printable(words))
