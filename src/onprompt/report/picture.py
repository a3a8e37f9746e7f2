"""A verdict drawn on its image: boxes, labels and colour swatches, red for what is missing or wrong."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from onprompt import wording
from onprompt.errors import UserError
from onprompt.report.edit_picture import draw_versions
from onprompt.report.labels import COLOURS, Place, distinct, place_labels
from onprompt.report.terminal import WORST_FIRST, worst
from onprompt.types import Outcome, Picture, Sighting, Verdict, View

SIGNS = str.maketrans({"×": "x", "→": "->", "–": "-", "…": "..."})
WIDTH, HEIGHT = 900, 1400  # pixels of the image as drawn, at most
ROWS = 30  # findings listed below it
LABEL, SWATCH = 24, 20  # pixels of a label's height, and of each of its swatches

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def fit_page(picture: Picture) -> Image.Image:
    """The image scaled to the page."""
    image = Image.fromarray(picture.pixels)
    scale = min(WIDTH / image.width, HEIGHT / image.height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS)


def draw_view(view: View, low_confidence: float) -> Image.Image:
    """The image with its confident sightings and their outlines."""
    image = fit_page(view.picture)
    confident = [sighting for sighting in view.sightings if sighting.confidence >= low_confidence]
    shown = sorted(confident, key=lambda sighting: -sighting.box.area)
    for sighting in shown:
        tint(image, sighting)
    draw_sightings(image, [(sighting, COLOURS[Outcome.MATCHED]) for sighting in shown], image.size)
    return image


def tint(image: Image.Image, sighting: Sighting) -> None:
    """Lay the outline of a sighting over the image."""
    if sighting.mask is None:
        return
    left, top = round(sighting.box.left * image.width), round(sighting.box.top * image.height)
    size = max(1, round(sighting.box.width * image.width)), max(1, round(sighting.box.height * image.height))
    veil = Image.fromarray(sighting.mask.astype("uint8") * 70).resize(size, Image.Resampling.BILINEAR)
    image.paste(Image.new("RGB", size, COLOURS[Outcome.MATCHED]), (left, top), veil)


def draw(verdict: Verdict) -> Image.Image:
    """The image with its evidence, or both versions of an edited one, above a strip that lists the findings."""
    font = ImageFont.load_default(17)
    image = draw_versions(verdict) if "before" in verdict.sample.pictures else draw_image(verdict)
    strip = draw_strip(verdict, font, image.width)
    page = Image.new("RGB", (image.width, image.height + strip.height), "white")
    page.paste(image, (0, 0))
    page.paste(strip, (0, image.height))
    return page


def draw_image(verdict: Verdict) -> Image.Image:
    """The image with a box for each sighting that was chosen for an object."""
    image = fit_page(verdict.sample.picture)
    page = Image.new("RGB", (WIDTH, image.height), "white")
    page.paste(image, (0, 0))
    boxes = [(sighting, COLOURS[worst(verdict, index)]) for sighting, index in chosen_sightings(verdict)]
    draw_sightings(page, boxes, image.size)
    return page


def chosen_sightings(verdict: Verdict) -> list[tuple[Sighting, int]]:
    """The sightings chosen for each object, with its index; each thing once, small ones last, so that they lie on top.

    What was chosen for two objects has the colour of the worse one.
    """
    chosen = [
        (sighting, check.thing)
        for check in verdict.checks
        if check.claim.kind == "object" and check.thing is not None
        for sighting in check.chosen
    ]
    chosen.sort(key=lambda pair: WORST_FIRST.index(worst(verdict, pair[1])))
    first = distinct([sighting for sighting, _ in chosen])
    once = [pair for place, pair in enumerate(chosen) if first[place] == place]
    return sorted(once, key=lambda pair: -pair[0].box.area)


def draw_sightings(page: Image.Image, boxes: Sequence[tuple[Sighting, str]], size: tuple[int, int]) -> None:
    """Boxes in their colours, then the labels, none of which covers another."""
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(17)
    texts = [f" {sighting.word} {sighting.confidence:.2f} " for sighting, _ in boxes]
    widths = [
        pen.textlength(text, font=font) + SWATCH * len(sighting.colours)
        for text, (sighting, _) in zip(texts, boxes, strict=True)
    ]
    for sighting, colour in boxes:
        box = sighting.box
        left, top, right, bottom = box.left * size[0], box.top * size[1], box.right * size[0], box.bottom * size[1]
        right, bottom = max(right, left + 1), max(bottom, top + 1)
        pen.rectangle((left - 1, top - 1, right + 1, bottom + 1), outline="white", width=6)  # visible on any picture
        pen.rectangle((left, top, right, bottom), outline=colour, width=4)
    places = place_labels([sighting.box for sighting, _ in boxes], widths, LABEL, size)
    for (sighting, colour), text, place in zip(boxes, texts, places, strict=True):
        draw_label(pen, sighting, text, colour, place, font)


def draw_label(pen: ImageDraw.ImageDraw, sighting: Sighting, text: str, colour: str, place: Place, font: Font) -> None:
    """The word and the confidence of a sighting, and its dominant colours."""
    pen.rectangle(place, fill=colour, outline="white")
    pen.text((place.left, place.top + 2), text, fill="white", font=font)
    for number, swatch in enumerate(reversed(sighting.colours), 1):
        x = place.right - SWATCH * number
        pen.rectangle((x, place.top + 3, x + 17, place.top + 20), fill=swatch.rgb, outline="white")


def draw_strip(verdict: Verdict, font: Font, width: int) -> Image.Image:
    """The prompt, each pair in its colour, and the score."""
    factors = ", ".join(f"{name} {factor.score}" for name, factor in verdict.factors.items())
    result = f"{factors}, value {verdict.value:.2f}" if verdict.score is None else f"({verdict.score})"
    rows = [(f'"{verdict.sample.prompt}"  ->  {result}', "#111111")]
    pairs = wording.pairs(verdict)
    rows += [(f"{asked}:  {found}", COLOURS[worst(verdict, i)]) for i, (asked, found) in enumerate(pairs[:ROWS])]
    if len(pairs) > ROWS:
        rows.append((f"and {len(pairs) - ROWS} more", "#111111"))
    probe = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    wrapped = [(line, colour) for text, colour in rows for line in wrap(text, probe, font, width)]
    strip = Image.new("RGB", (width, 20 + 26 * len(wrapped)), "white")
    pen = ImageDraw.Draw(strip)
    for number, (line, colour) in enumerate(wrapped):
        pen.text((14, 10 + 26 * number), line, fill=colour, font=font)
    return strip


def wrap(text: str, probe: ImageDraw.ImageDraw, font: Font, width: int) -> list[str]:
    """Lines that fit the width; very long texts are cut. Pillow's own font has only Latin letters and few signs."""
    printable = "".join(letter if ord(letter) < 0x250 else "?" for letter in text[:500].translate(SIGNS))
    rows = [""]
    for word in printable.split():
        for piece in textwrap.wrap(word, 60):
            longer = f"{rows[-1]} {piece}" if rows[-1] else piece
            if probe.textlength(longer, font=font) > width - 28:
                rows.append(f"    {piece}")
            else:
                rows[-1] = longer
    return rows


def check_path(path: Path, image: str) -> None:
    """Refuse a bad path before the work is done, not after it."""
    if Image.registered_extensions().get(path.suffix.lower()) not in Image.SAVE:
        raise UserError(f"can't write an image to {path}: the name must end in .png, .jpg or the like")
    if not path.parent.is_dir():
        raise UserError(f"can't write the image to {path}: no such folder: {path.parent}")
    if path.exists() and Path(image).exists() and path.samefile(image):
        raise UserError(f"{path} is the judged image itself; choose another file")


def save(verdict: Verdict, path: Path) -> None:
    """Write the image of a verdict."""
    write(draw(verdict), path)


def save_view(view: View, path: Path, low_confidence: float) -> None:
    """Write the image of a view."""
    write(draw_view(view, low_confidence), path)


def write(image: Image.Image, path: Path) -> None:
    """Write an image in the format of the file's suffix."""
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise UserError(f"can't write the image to {path}: {error}") from error
