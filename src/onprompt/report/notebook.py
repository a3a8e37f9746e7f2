"""A verdict in a notebook: the picture with its boxes, and a table of what was asked for and found."""

import base64
import io
from html import escape

from PIL import Image

from onprompt import wording
from onprompt.errors import OnpromptError
from onprompt.report.picture import COLOURS, draw
from onprompt.report.terminal import figures, worst
from onprompt.types import Verdict
from onprompt.wording.terminal import printable

SIDE = 700  # pixels: a notebook holds a picture for each verdict that is shown


def png(verdict: Verdict) -> bytes:
    """The drawn verdict as a PNG file."""
    return encode(draw(verdict), "PNG")


def html(verdict: Verdict) -> str:
    """The drawn verdict, then a row per object; every text of others is escaped."""
    rows = "".join(
        f'<tr><td>{text(asked)}</td><td style="color:{COLOURS[worst(verdict, index)]}">{text(found)}</td></tr>'
        for index, (asked, found) in enumerate(wording.pairs(verdict))
    )
    factors = ", ".join(f"{name} {factor.score}" for name, factor in verdict.factors.items())
    table = f"<table><tr><th>asked for</th><th>found</th></tr>{rows}</table>" if rows else ""
    return (
        f"<div><p><b>{text(factors)}</b> ({text(verdict.rubric)} by {text(verdict.judge)}): {text(verdict.summary)}</p>"
        f"{image_tag(verdict)}{table}<p><small>{text(figures(verdict))}</small></p></div>"
    )


def image_tag(verdict: Verdict) -> str:
    """The drawn verdict inside of the page; a note where the image can't be opened any more."""
    try:
        image = draw(verdict)
    except OnpromptError as error:
        return f"<p><i>{text(str(error))}</i></p>"
    image.thumbnail((SIDE, SIDE * 2))
    data = base64.b64encode(encode(image, "JPEG")).decode()
    return f'<img alt="{text(verdict.sample.prompt)}" src="data:image/jpeg;base64,{data}">'


def encode(image: Image.Image, kind: str) -> bytes:
    """The bytes of an image file."""
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def text(words: str) -> str:
    """A text as HTML that does nothing."""
    return escape(printable(words))
