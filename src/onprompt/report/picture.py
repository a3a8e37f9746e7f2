"""A verdict drawn on its image, or an edit as before, after and what changed; red for what is missing or wrong.

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
from onprompt.evidence.edits.observations import compare_versions
from onprompt.report.labels import Place, place_labels
from onprompt.report.terminal import worst
from onprompt.report.view import COLORS, Mark, edit_marks, image_marks
from onprompt.runs.reading import decode_again
from onprompt.types import Outcome, Picture, Verdict, View
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
INK, WHITE = "#111111", "#ffffff"
PANEL, GAP, HEAD = 560, 12, 30  # pixels of the longest side of each version of an edit, between them, and above them
TITLES = ("before", "after", "what changed")
LEGEND = {"kept": "kept", "matched": "as requested", "unasked": "not asked for", "missing": "not done"}
HOT = np.array([(24, 26, 34), (88, 24, 99), (214, 60, 60), (250, 170, 40), (255, 245, 190)], dtype=np.float64)
FULL = 40.0  # ΔE that is drawn as the strongest change


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
        rows = [(f'"{verdict.sample.prompt}"  ->  {result}', INK)]
        pairs = wording.pairs(verdict)
        for place, (asked, found) in enumerate(pairs[:ROWS]):
            code = found.partition(" ")[0]
            rows.append((f"{asked}:  {found.replace(code, PLAIN.get(code, code), 1)}", COLORS[worst(verdict, place)]))
        if len(pairs) > ROWS:
            rows.append((f"and {len(pairs) - ROWS} more", INK))
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

    def boxes(self, marks: Sequence[Mark], area: Place | None = None) -> None:
        """Boxes in their colors, then the labels, none of which covers another; on the whole image, or on an area."""
        unit, area = self.unit, area or Place(0, 0, *self.image.size)
        width, height = area.right - area.left, area.bottom - area.top
        for box, kind, *_ in marks:
            left, top = area.left + box.left * width, area.top + box.top * height
            right, bottom = area.left + box.right * width, area.top + box.bottom * height
            for thick, outline in ((6, WHITE), (3.5, COLORS[kind])):  # visible on any picture
                corners = left, top, max(right, left + 1), max(bottom, top + 1)
                self.shapes.append(Shape(*corners, outline=outline, width=thick * unit))
        labelled = [mark for mark in marks if mark.label]
        stated = ("" if mark.confidence is None else f"{mark.confidence:.2f} " for mark in labelled)
        texts = [f" {latin(mark.label[:60])} {confidence}" for mark, confidence in zip(labelled, stated, strict=True)]
        widths = [self.length(text) for text in texts]
        places = place_labels([mark.box for mark in labelled], widths, LABEL * unit, (width, height))
        for mark, text, place in zip(labelled, texts, places, strict=True):
            left, top = area.left + place.left, area.top + place.top
            corners = left, top, area.left + place.right, area.top + place.bottom
            self.shapes.append(Shape(*corners, fill=COLORS[mark.kind], outline=WHITE, width=unit))
            self.write(left, top + 2 * unit, text, WHITE)

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
        drawing = draw_versions(verdict)
    else:
        drawing = Drawing(enlarged(verdict.sample.picture.pixels if pixels is None else pixels))
        drawing.boxes([mark for mark in image_marks(verdict) if mark.label])
    drawing.height = drawing.image.height
    if caption:
        drawing.caption(verdict)
    return drawing


def draw_versions(verdict: Verdict) -> Drawing:
    """Both versions of an edited image and what changed side by side, with titles and a legend, in the usual sizes."""
    change = compare_versions(verdict.sample)
    images = [Image.fromarray(pixels) for pixels in (change.before, change.after, heat(change.difference))]
    scale = PANEL / max(images[0].size)
    width, height = (round(side * scale) for side in images[0].size)
    drawing = Drawing(Image.new("RGB", (3 * width + 2 * GAP, height + 2 * HEAD), "white"), unit=1)
    for place, (image, title, marks) in enumerate(zip(images, TITLES, edit_marks(verdict), strict=True)):
        left = place * (width + GAP)
        drawing.image.paste(image.resize((width, height), Image.Resampling.LANCZOS), (left, HEAD))
        drawing.write(left + 2, 5, title, INK)
        drawing.boxes(marks, Place(left, HEAD, left + width, HEAD + height))
    x, y = 2.0, height + HEAD + 9
    for kind, words in LEGEND.items():
        drawing.shapes.append(Shape(x, y, x + 14, y + 14, COLORS[kind]))
        drawing.write(x + 20, y - 4, words, INK)
        x += 44 + drawing.length(words)
    return drawing


def heat(difference: np.ndarray) -> np.ndarray:
    """A difference as colors from black over red to white."""
    level = np.clip(difference / FULL, 0, 1) * (len(HOT) - 1)
    stops = np.arange(len(HOT))
    return np.stack([np.interp(level, stops, HOT[:, channel]) for channel in range(3)], axis=2).astype(np.uint8)


def draw(verdict: Verdict) -> Image.Image:
    """The drawing as pixels."""
    return compose(verdict).painted()


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
    """Write the image of a view with its confident sightings."""
    drawing = Drawing(enlarged(view.picture.pixels))
    confident = [sighting for sighting in view.sightings if sighting.confidence >= low_confidence]
    shown = sorted(confident, key=lambda sighting: -sighting.box.area)
    drawing.boxes([Mark(s.box, Outcome.MATCHED, s.word, confidence=s.confidence) for s in shown])
    drawing.height = drawing.image.height
    write(drawing.painted(), path)


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
