"""A run of IllusionBench as one HTML file: recalls beside the paper's, groups, confusion, and the missed shapes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from markupsafe import Markup
from PIL import Image

from onprompt.errors import OnpromptError
from onprompt.illusion.protocol import QUESTIONS
from onprompt.illusion.results import Results, heading, tables
from onprompt.pages import rendering
from onprompt.pages.verdict_view import THUMBNAIL, PageImage, encode, in_address, reason
from onprompt.runs.reading import Run
from onprompt.settings import load
from onprompt.vision.image import load_picture, load_resized

MISSED = 60  # pictures


def write(run: Run, results: Results, scoring: str, out: Path) -> None:
    """Write the page."""
    folder = resources.files(__package__)
    css = rendering.asset("style.css", "report.css") + folder.joinpath("page.css").read_text("utf-8")
    asked = [row for row in results.rows if row.record.question == "shape" and scoring in row.outcomes]
    missed = [row.record for row in asked if not row.outcomes[scoring].shape]
    files = {row.id: row for row in run.rows()}
    answers = {(row.record.id, row.record.question): row.record.answer for row in results.rows}
    title, *notes = heading(results)
    page = rendering.environment().from_string(folder.joinpath("page.html").read_text("utf-8"))
    html = page.render(
        title=title,
        notes=notes,
        troubles=results.troubles,
        csp=rendering.policy(img_src="data:", style_src=rendering.source_hash(css), script_src=""),
        css=Markup(css),  # noqa: S704 our own file
        scoring=scoring,
        tables=list(tables(results, scoring)),
        confusions=[table for table in map(results.confusion, QUESTIONS) if table.rows],
        missed=[
            (each, picture(files[each.id].image, files[each.id].image_sha256, results)) for each in missed[:MISSED]
        ],
        missed_count=len(missed),
        asked=len(asked),
        answers=answers,
    )
    out.write_text(html, encoding="utf-8")


def picture(path: str, sha256: str, results: Results) -> PageImage:
    """What was judged, if the file still holds it; no other file is shown, for a stranger's run may name any."""
    size: Sequence[int] | None = results.about["size"]
    if not Path(path).is_absolute():
        return PageImage(missing="it was not judged from a file")
    try:
        shown = load_resized(path, load(), (size[0], size[1])) if size else load_picture(path, load())
    except OnpromptError as error:
        return PageImage(missing=reason(error))
    if shown.sha256 != sha256:
        return PageImage(missing="its file has changed since it was judged")
    image = Image.fromarray(shown.pixels)
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    return in_address(*encode(image))
