"""A verdict as a picture: boxes, labels, colour swatches; red for what is missing or wrong."""

from __future__ import annotations

import textwrap
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from onprompt import wording
from onprompt.errors import UserError
from onprompt.report.terminal import worst
from onprompt.types import Outcome, Picture, Sighting, Verdict, View

COLOURS = {
    Outcome.MATCHED: "#2e9e4f",
    Outcome.PARTIAL: "#d99a00",
    Outcome.LOW_CONFIDENCE: "#d99a00",
    Outcome.MISMATCH: "#d03030",
    Outcome.MISSING: "#d03030",
    Outcome.UNVERIFIABLE: "#7a7a7a",
}
SIGNS = str.maketrans({"×": "x", "→": "->", "–": "-", "…": "..."})
WIDTH = 900  # pixels of the picture as drawn
HEIGHT = 1400
ROWS = 30  # findings that are listed below it

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def enlarged(picture: Picture) -> Image.Image:
    """The picture at the size at which it is drawn."""
    image = Image.fromarray(picture.pixels)
    scale = min(WIDTH / image.width, HEIGHT / image.height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS)


def draw_view(view: View, sure: float) -> Image.Image:
    """The image with all that was seen in it for sure, and the outlines that were found."""
    image = enlarged(view.picture)
    shown = sorted((each for each in view.sightings if each.confidence >= sure), key=lambda each: -each.box.area)
    for sighting in shown:
        image = tinted(image, sighting)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(17)
    for sighting in shown:
        draw_sighting(pen, sighting, COLOURS[Outcome.MATCHED], font, image.size)
    return image


def tinted(image: Image.Image, sighting: Sighting) -> Image.Image:
    """The image with the outline of a sighting laid over it."""
    if sighting.mask is None:
        return image
    left, top = round(sighting.box.left * image.width), round(sighting.box.top * image.height)
    size = max(1, round(sighting.box.width * image.width)), max(1, round(sighting.box.height * image.height))
    veil = Image.fromarray(sighting.mask.astype("uint8") * 70).resize(size, Image.Resampling.BILINEAR)
    image.paste(Image.new("RGB", size, COLOURS[Outcome.MATCHED]), (left, top), veil)
    return image


def draw(verdict: Verdict) -> Image.Image:
    """The image with its evidence, above a strip that lists every object asked for."""
    image = enlarged(verdict.sample.picture)
    font = ImageFont.load_default(17)
    pen = ImageDraw.Draw(image)
    for sighting, index in shown(verdict):
        draw_sighting(pen, sighting, COLOURS[worst(verdict, index)], font, image.size)
    strip = draw_strip(verdict, font)
    page = Image.new("RGB", (WIDTH, image.height + strip.height), "white")
    page.paste(image, (0, 0))
    page.paste(strip, (0, image.height))
    return page


def shown(verdict: Verdict) -> list[tuple[Sighting, int]]:
    """The sightings that answer for an object, with its index; small ones last, so that they lie on top."""
    found = [
        (sighting, check.thing)
        for check in verdict.checks
        if check.claim.kind == "object" and check.thing is not None
        for sighting in check.chosen
    ]
    return sorted(found, key=lambda pair: -pair[0].box.area)


def draw_sighting(pen: ImageDraw.ImageDraw, sighting: Sighting, colour: str, font: Font, size: tuple[int, int]) -> None:
    """A box, its label and its dominant colours."""
    box = sighting.box
    left, top, right, bottom = box.left * size[0], box.top * size[1], box.right * size[0], box.bottom * size[1]
    pen.rectangle((left, top, right, bottom), outline=colour, width=4)
    text = f" {sighting.word} {sighting.confidence:.2f} "
    width = pen.textlength(text, font=font)
    y = max(0.0, top - 24)
    pen.rectangle((left, y, left + width + 20 * len(sighting.colours), y + 24), fill=colour)
    pen.text((left, y + 2), text, fill="white", font=font)
    for number, swatch in enumerate(sighting.colours):
        x = left + width + 20 * number
        pen.rectangle((x, y + 3, x + 17, y + 20), fill=swatch.rgb, outline="white")


def draw_strip(verdict: Verdict, font: Font) -> Image.Image:
    """The prompt, each pair in its colour, and the score."""
    rows = [(f'"{verdict.sample.prompt}"  ->  ({verdict.score})', "#111111")]
    pairs = wording.pairs(verdict)
    rows += [(f"{asked}:  {found}", COLOURS[worst(verdict, i)]) for i, (asked, found) in enumerate(pairs[:ROWS])]
    if len(pairs) > ROWS:
        rows.append((f"and {len(pairs) - ROWS} more", "#111111"))
    probe = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    wrapped = [(line, colour) for text, colour in rows for line in wrap(text, probe, font)]
    strip = Image.new("RGB", (WIDTH, 20 + 26 * len(wrapped)), "white")
    pen = ImageDraw.Draw(strip)
    for number, (line, colour) in enumerate(wrapped):
        pen.text((14, 10 + 26 * number), line, fill=colour, font=font)
    return strip


def wrap(text: str, probe: ImageDraw.ImageDraw, font: Font) -> list[str]:
    """Lines that fit the width; very long texts are cut. Pillow's own font has Latin letters and few signs."""
    printable = "".join(letter if ord(letter) < 0x250 else "?" for letter in text[:500].translate(SIGNS))
    rows = [""]
    for word in printable.split():
        for piece in textwrap.wrap(word, 60):
            longer = f"{rows[-1]} {piece}" if rows[-1] else piece
            if probe.textlength(longer, font=font) > WIDTH - 28:
                rows.append(f"    {piece}")
            else:
                rows[-1] = longer
    return rows


def can_write(path: Path, image: str) -> None:
    """Complain before the work is done, not after it."""
    endings = Image.registered_extensions()
    if path.suffix.lower() not in endings or endings[path.suffix.lower()] not in Image.SAVE:
        raise UserError(f"can't write a picture to {path}: its name must end in .png, .jpg or the like")
    if not path.parent.is_dir():
        raise UserError(f"can't write the picture to {path}: there is no folder {path.parent}")
    if path.exists() and Path(image).exists() and path.samefile(image):
        raise UserError(f"{path} is the picture itself; write the result to another file")


def save(verdict: Verdict, path: Path) -> None:
    """Write a verdict's picture."""
    write(draw(verdict), path)


def save_view(view: View, path: Path, sure: float) -> None:
    """Write the picture of what was seen."""
    write(draw_view(view, sure), path)


def write(image: Image.Image, path: Path) -> None:
    """Write a picture; the file's ending says in which format."""
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise UserError(f"can't write the picture to {path}: {error}") from error
