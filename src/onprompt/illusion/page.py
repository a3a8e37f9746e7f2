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
from onprompt.illusion.protocol import QUESTIONS
from onprompt.illusion.results import GROUPINGS, Record, Results
from onprompt.illusion.scoring import SCORINGS
from onprompt.illusion.tables import TITLES, heading, notes, published
from onprompt.pages import rendering
from onprompt.pages.verdict_view import PictureFiles, Shown, encode
from onprompt.runs.reading import Run, RunRow
from onprompt.settings import load
from onprompt.vision.image import load_resized

MISSED = 60  # pictures
STYLE = """
.confusion td.number { padding: .3rem .45rem; }
.confusion thead th.number { writing-mode: vertical-rl; padding: .3rem .1rem; text-align: left; }
.confusion .right { outline: 2px solid var(--good); outline-offset: -2px; }
.heat-1 { background: color-mix(in srgb, var(--fill) 12%, transparent); }
.heat-2 { background: color-mix(in srgb, var(--fill) 30%, transparent); }
.heat-3 { background: color-mix(in srgb, var(--fill) 55%, transparent); }
.cards .card > p { margin: .15rem .6rem; } .cards .card { padding-bottom: .4rem; }
"""


def write(run: Run, results: Results, scoring: str, out: Path) -> None:
    """Write the page."""
    css = rendering.asset("style.css", "report.css") + STYLE
    template = resources.files(__package__).joinpath("page.html").read_text("utf-8")
    missed = [
        record for record in results.records if record.question == "shape" and is_missed(record, results, scoring)
    ]
    html = rendering.environment().from_string(template).render(
        title=heading(results),
        notes=list(notes(results)),
        troubles=list(results.troubles),
        csp=rendering.policy(img_src="data:", style_src=rendering.source_hash(css), script_src=""),
        css=Markup(css),  # noqa: S704 our own file
        scoring=scoring,
        scorings={name: recalls(results, name) for name in SCORINGS},
        published=published(results),
        paper=results.split.paper,
        groupings={
            TITLES[grouping]: {group: recalls(results, scoring, grouping, group) for group in groups}
            for grouping in GROUPINGS
            if (groups := results.groups(grouping))
        },
        confusion={question: confusion(results, question) for question in QUESTIONS},
        images=results.images,
        missed=list(islice(cards(run, results, missed), MISSED)),
        missed_count=len(missed),
    )  # fmt: skip
    out.write_text(html, encoding="utf-8")


def recalls(results: Results, scoring: str, grouping: str = "", group: str = "") -> list[dict[str, Any]]:
    """Shape and scene recall as the page draws them."""
    rates = [results.recall(scoring, question, grouping, group) for question in QUESTIONS]
    return [
        {"value": rate.value, "part": rate.part, "of": rate.of, "text": str(rate)}
        | dict(zip(("low", "high"), rate.interval or (None, None), strict=True))
        for rate in rates
    ]


def confusion(results: Results, question: str) -> dict[str, Any]:
    """A row for each label, a column for each option that was chosen, and how strong each cell is."""
    counts = results.confusion[question]
    order = [*results.split.options, "ambiguous", "none"]
    labels = sorted({label for label, _ in counts}, key=order.index)
    columns = sorted({chosen for _, chosen in counts} | set(labels), key=order.index)
    rows = {}
    for label in labels:
        total = sum(counts[label, column] for column in columns)
        shares = [counts[label, column] / total for column in columns]
        heats = [0 if not share else 1 if share < 0.2 else 2 if share < 0.5 else 3 for share in shares]
        rows[label] = [(column, counts[label, column], heat) for column, heat in zip(columns, heats, strict=True)]
    return {"columns": columns, "rows": rows}


def is_missed(record: Record, results: Results, scoring: str) -> bool:
    """Whether an answer to the shape question does not name the shape."""
    gold = record.gold if scoring != "strict" else record.meant or record.gold
    answer = record.answer
    return answer is not None and not SCORINGS[scoring](answer, gold.shape, gold.scene, results.split).shape


def cards(run: Run, results: Results, missed: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Pictures with what they show and what was answered."""
    rows = {row.id: row for row in run.rows()}
    said: dict[str, dict[str, str | None]] = {}
    for record in results.records:
        said.setdefault(record.id, {})[record.question] = record.answer
    for record in missed:
        row, meant = rows[record.id], record.meant or record.gold
        picture = thumbnail(row, results.about["size"])
        about = {"shape": meant.shape, "scene": meant.scene, "difficulty": meant.difficulty}
        yield {"picture": picture, "answers": said[record.id], **about}


def thumbnail(row: RunRow, size: Sequence[int] | None) -> Shown:
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
