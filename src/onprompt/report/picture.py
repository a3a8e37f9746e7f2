"""A verdict drawn on its image: boxes and labels, red for what is missing or wrong.

A drawing is a picture with shapes over it and a caption below, written as pixels or as SVG.
"""

import base64
import io
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from onprompt import wording
from onprompt.errors import OnpromptError, UserError
from onprompt.report.edit_picture import draw_versions
from onprompt.report.labels import COLORS, distinct, located, place_labels
from onprompt.report.terminal import WORST_FIRST, worst
from onprompt.runs.reading import decode_again
from onprompt.types import Outcome, Picture, Sighting, Verdict, View
from onprompt.wording.labels import OUTCOMES

# The protocol's words, which a reader of a figure need not know.
PLAIN = {each.name: OUTCOMES[each][0] for each in (Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE, Outcome.MISSING)}
SIGNS = str.maketrans({"×": "x", "→": "->", "–": "-", "…": "...", "“": '"', "”": '"', "’": "'"})
WIDTH, HEIGHT = 900, 1400  # pixels that a smaller image is enlarged to
LARGEST = 16_000  # pixels of the longer side of an image that is drawn as it is in its file
ROWS = 30  # findings listed below the image
QUALITY = 95  # of JPEG, also within a PDF
USUAL = 9.6  # units of a letter's width in a text
TEXT, LABEL, ROW = 17, 24, 26  # sizes on an image of that width


class Shape(NamedTuple):
    """A rectangle, filled or with an outline; or a text, whose left end and top are given."""

    left: float
    top: float
    right: float
    bottom: float
    fill: str = ""
    outline: str = ""
    width: float = 0
    text: str = ""


@dataclass
class Drawing:
    """An image, the shapes over it, and the height of the page, on which a caption may follow the image."""

    image: Image.Image
    shapes: list[Shape] = field(default_factory=list)
    height: float = 0
    unit: float = 0  # by how much sizes are larger than on an image of the usual width

    def __post_init__(self) -> None:
        self.unit = self.unit or self.image.width / WIDTH

    def length(self, text: str) -> float:
        return ImageFont.load_default(TEXT * self.unit).getlength(text)

    def write(self, x: float, y: float, text: str, color: str) -> None:
        self.shapes.append(Shape(x, y, x + self.length(text), y + TEXT * self.unit, color, text=text))

    def caption(self, verdict: Verdict) -> None:
        """The prompt, each pair in its color, and the score."""
        factors = ", ".join(f"{name} {factor.score}" for name, factor in verdict.factors.items())
        result = f"{factors}, value {verdict.value:.2f}" if verdict.score is None else f"({verdict.score})"
        rows = [(f'"{verdict.sample.prompt}"  ->  {result}', "#111111")]
        pairs = wording.pairs(verdict)
        for place, (asked, found) in enumerate(pairs[:ROWS]):
            code = found.partition(" ")[0]
            rows.append((f"{asked}:  {found.replace(code, PLAIN.get(code, code), 1)}", COLORS[worst(verdict, place)]))
        if len(pairs) > ROWS:
            rows.append((f"and {len(pairs) - ROWS} more", "#111111"))
        self.height += 10 * self.unit
        for text, color in rows:
            for line in self.wrap(text):
                self.write(14 * self.unit, self.height, line, color)
                self.height += ROW * self.unit
        self.height += 10 * self.unit

    def wrap(self, text: str) -> list[str]:
        """Lines that fit the width, whose letters are seldom wider than the usual one; very long texts are cut."""
        letters = int((self.image.width / self.unit - 28) / USUAL)
        return textwrap.wrap(latin(text[:500]), max(letters, 10), subsequent_indent="    ")

    def boxes(self, boxes: Sequence[tuple[Sighting, str]]) -> None:
        """Boxes in their colors, then the labels, none of which covers another."""
        unit, (width, height) = self.unit, self.image.size
        for sighting, color in boxes:
            box = sighting.box
            left, top = box.left * width, box.top * height
            right, bottom = max(box.right * width, left + 1), max(box.bottom * height, top + 1)
            for thick, outline in ((6, "#ffffff"), (3.5, color)):  # visible on any picture
                self.shapes.append(Shape(left, top, right, bottom, outline=outline, width=thick * unit))
        texts = [label_text(sighting) for sighting, _ in boxes]
        widths = [self.length(text) for text in texts]
        places = place_labels([sighting.box for sighting, _ in boxes], widths, LABEL * unit, (width, height))
        for (_, color), text, place in zip(boxes, texts, places, strict=True):
            self.shapes.append(Shape(*place, fill=color, outline="#ffffff", width=unit))
            self.write(place.left, place.top + 2 * unit, text, "#ffffff")

    def painted(self) -> Image.Image:
        """As pixels."""
        page = Image.new("RGB", (self.image.width, round(self.height)), "white")
        page.paste(self.image, (0, 0))
        pen, font = ImageDraw.Draw(page), ImageFont.load_default(TEXT * self.unit)
        for shape in self.shapes:
            if shape.text:
                # Pillow's own font has no other letters.
                text = unicodedata.normalize("NFKD", shape.text).encode("ascii", "ignore").decode()
                pen.text((shape.left, shape.top), text, fill=shape.fill, font=font)
            else:
                around, width = shape.width / 2, max(1, round(shape.width)) if shape.width else 0
                corners = shape.left - around, shape.top - around, shape.right + around, shape.bottom + around
                pen.rectangle(corners, fill=shape.fill or None, outline=shape.outline or None, width=width)
        return page

    def svg(self) -> str:
        """As SVG, with the image in it; a text is exactly as wide as it was measured."""
        width, height = self.image.width, round(self.height)
        source = f"data:image/png;base64,{base64.b64encode(encode(self.image, 'PNG')).decode()}"
        size, baseline = TEXT * self.unit, 0.95 * TEXT * self.unit
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="{size:.1f}">',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            f'<image href="{source}" width="{width}" height="{self.image.height}"/>',
        ]
        for s in self.shapes:
            across, down = s.right - s.left, s.bottom - s.top
            if s.text:
                at = f'x="{s.left:.1f}" y="{s.top + baseline:.1f}" textLength="{across:.1f}"'
                how = f'lengthAdjust="spacingAndGlyphs" fill="{s.fill}" xml:space="preserve"'
                parts.append(f"<text {at} {how}>{escape(s.text)}</text>")
            else:
                at = f'x="{s.left:.1f}" y="{s.top:.1f}" width="{across:.1f}" height="{down:.1f}"'
                outline = f' stroke="{s.outline}" stroke-width="{s.width:.1f}"' if s.outline else ""
                parts.append(f'<rect {at} fill="{s.fill or "none"}"{outline}/>')
        return "\n".join([*parts, "</svg>", ""])


def label_text(sighting: Sighting) -> str:
    """The word of a sighting, or the text that was read there, and the confidence."""
    name = f'"{sighting.text}"' if sighting.text else sighting.word
    return f" {latin(name[:60])} {sighting.confidence:.2f} "


def latin(text: str) -> str:
    """A text in the letters and signs that can be drawn."""
    spaced = " ".join(text.translate(SIGNS).split())
    return "".join(letter if ord(letter) < 0x250 and letter.isprintable() else "?" for letter in spaced)


def enlarged(pixels: np.ndarray) -> Image.Image:
    """An image at its own size, or at the usual width if it is smaller."""
    image = Image.fromarray(pixels)
    scale = min(WIDTH / image.width, HEIGHT / image.height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS) if scale > 1 else image


def full_size(picture: Picture) -> np.ndarray:
    """The pixels of a picture as its file has them, if that is still where it was, or else as it was judged."""
    try:
        return decode_again(replace(picture, side=LARGEST), {"image": str(Path(picture.name).absolute())}).pixels
    except OnpromptError:
        return picture.pixels


def compose(verdict: Verdict, pixels: np.ndarray | None = None, caption: bool = True) -> Drawing:
    """The image with its evidence, or both versions of an edited one, above a list of the findings."""
    if "before" in verdict.sample.pictures:
        drawing = Drawing(draw_versions(verdict), unit=1)  # its own text has the usual size
    else:
        drawing = Drawing(enlarged(verdict.sample.picture.pixels if pixels is None else pixels))
        drawing.boxes([(sighting, COLORS[outcome]) for sighting, outcome in chosen_sightings(verdict)])
    drawing.height = drawing.image.height
    if caption:
        drawing.caption(verdict)
    return drawing


def chosen_sightings(verdict: Verdict) -> list[tuple[Sighting, Outcome]]:
    """The sightings and the texts that were chosen, with the worst outcome of what each was chosen for.

    Each thing is there once; small ones are last, so that they lie on top.
    """
    chosen = [
        (sighting, check.outcome if sighting.text or check.thing is None else worst(verdict, check.thing))
        for check in verdict.checks
        for sighting in located(verdict, check)
        if check.claim.kind == "object" or sighting.text
    ]
    chosen.sort(key=lambda pair: WORST_FIRST.index(pair[1]))
    first = distinct([sighting for sighting, _ in chosen])
    once = [pair for place, pair in enumerate(chosen) if first[place] == place]
    return sorted(once, key=lambda pair: -pair[0].box.area)


def draw(verdict: Verdict) -> Image.Image:
    """The drawing as pixels."""
    return compose(verdict).painted()


def draw_view(view: View, low_confidence: float) -> Image.Image:
    """The image with its confident sightings."""
    drawing = Drawing(enlarged(view.picture.pixels))
    confident = [sighting for sighting in view.sightings if sighting.confidence >= low_confidence]
    shown = sorted(confident, key=lambda sighting: -sighting.box.area)
    drawing.boxes([(sighting, COLORS[Outcome.MATCHED]) for sighting in shown])
    drawing.height = drawing.image.height
    return drawing.painted()


def check_path(path: Path, image: str) -> None:
    """Refuse a bad path before the work is done, not after it."""
    suffix = path.suffix.lower()
    if suffix != ".svg" and Image.registered_extensions().get(suffix) not in Image.SAVE:
        raise UserError(f"can't write an image to {path}: the name must end in .png, .jpg, .svg, .pdf or the like")
    if not path.parent.is_dir():
        raise UserError(f"can't write the image to {path}: no such folder: {path.parent}")
    if path.exists() and Path(image).exists() and path.samefile(image):
        raise UserError(f"{path} is the judged image itself; choose another file")


def save(verdict: Verdict, path: Path, caption: bool = True) -> None:
    """Write the image of a verdict, in the resolution of its file."""
    drawing = compose(verdict, full_size(verdict.sample.picture), caption)
    write(drawing.svg() if path.suffix.lower() == ".svg" else drawing.painted(), path)


def save_view(view: View, path: Path, low_confidence: float) -> None:
    """Write the image of a view."""
    write(draw_view(view, low_confidence), path)


def write(image: Image.Image | str, path: Path) -> None:
    """Write an image in the format of the file's suffix; of what JPEG compresses as little as is worth it."""
    try:
        if isinstance(image, str):
            path.write_text(image, "utf-8")
        else:
            image.save(path, quality=QUALITY)
    except (OSError, ValueError) as error:
        raise UserError(f"can't write the image to {path}: {error}") from error


def encode(image: Image.Image, kind: str) -> bytes:
    """The bytes of an image file."""
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()
