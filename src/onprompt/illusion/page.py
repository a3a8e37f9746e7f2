"""A run of IllusionBench as one HTML file: recalls beside the paper's, groups, confusion, and the missed shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

from markupsafe import Markup
from PIL import Image

from onprompt.errors import ImageError
from onprompt.illusion.results import Record, Results, heading, notes, tables
from onprompt.pages import rendering
from onprompt.pages.verdict_view import PageImage, PictureFiles, encode
from onprompt.runs.reading import Run, RunRow
from onprompt.settings import load
from onprompt.vision.image import load_resized

MISSED = 60  # pictures


def write(run: Run, results: Results, scoring: str, out: Path) -> None:
    """Write the page."""
    template, own_css = (
        resources.files(__package__).joinpath(name).read_text("utf-8") for name in ("page.html", "page.css")
    )
    css = rendering.asset("style.css", "report.css") + own_css
    asked = [row for row in results.rows if row.record.question == "shape" and scoring in row.outcomes]
    missed = [row.record for row in asked if not row.outcomes[scoring].shape]
    html = rendering.environment().from_string(template).render(
        title=heading(results),
        notes=list(notes(results)),
        troubles=list(results.troubles),
        csp=rendering.policy(img_src="data:", style_src=rendering.source_hash(css), script_src=""),
        css=Markup(css),  # noqa: S704 our own file
        scoring=scoring,
        tables=list(tables(results, scoring)),
        images=results.images,
        missed=list(islice(cards(run, results, missed), MISSED)),
        missed_count=len(missed),
    )  # fmt: skip
    out.write_text(html, encoding="utf-8")


def cards(run: Run, results: Results, missed: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Pictures with what they show and what was answered."""
    rows = {row.id: row for row in run.rows()}
    said: dict[str, dict[str, str | None]] = {}
    for each in results.rows:
        said.setdefault(each.record.id, {})[each.record.question] = each.record.answer
    for record in missed:
        row, meant = rows[record.id], record.meant or record.gold
        picture = thumbnail(row, results.about["size"])
        about = {"shape": meant.shape, "scene": meant.scene, "difficulty": meant.difficulty}
        yield {"picture": picture, "answers": said[record.id], **about}


def thumbnail(row: RunRow, size: Sequence[int] | None) -> PageImage:
    """The picture of a sample, if its file is still what was judged: by its hash, or by that of its resized pixels."""
    files = PictureFiles(None, 0)
    if not size or not row.image_sha256 or not Path(row.image).is_absolute():
        return files.thumbnail(files.show_file(row.image, row.image_sha256))

    def resized() -> tuple[bytes, int, int]:
        picture = load_resized(row.image, load(), (size[0], size[1]))
        if picture.sha256 != row.image_sha256:
            raise ImageError(f"{row.image} has changed since it was judged", "changed")
        return encode(Image.fromarray(picture.pixels))

    return files.thumbnail(files.show(row.image_sha256, resized))
