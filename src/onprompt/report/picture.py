"""A verdict as a picture: boxes, labels, colour swatches; red for what is missing or wrong."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from onprompt.errors import UserError
from onprompt.report.terminal import worst
from onprompt.types import Outcome, Sighting, Verdict

COLOURS = {
    Outcome.MATCHED: "#2e9e4f",
    Outcome.PARTIAL: "#d99a00",
    Outcome.LOW_CONFIDENCE: "#d99a00",
    Outcome.MISMATCH: "#d03030",
    Outcome.MISSING: "#d03030",
    Outcome.UNVERIFIABLE: "#7a7a7a",
}
SIGNS = str.maketrans({"×": "x", "→": "->", "“": '"', "”": '"', "–": "-", "…": "..."})
WIDTH = 900  # pixels of the picture as drawn


def draw(verdict: Verdict) -> Image.Image:
    """The image with its evidence, above a strip that lists every object asked for."""
    image = Image.fromarray(verdict.picture.pixels)
    image = image.resize((WIDTH, max(1, round(image.height * WIDTH / image.width))), Image.Resampling.LANCZOS)
    font = ImageFont.load_default(17)
    pen = ImageDraw.Draw(image)
    for index, thing in enumerate(verdict.scene.things):
        for sighting in verdict.sightings:
            if sighting.label == thing.canonical:
                draw_sighting(pen, sighting, COLOURS[worst(verdict, index)], font, image.size)
    strip = draw_strip(verdict, font)
    page = Image.new("RGB", (WIDTH, image.height + strip.height), "white")
    page.paste(image, (0, 0))
    page.paste(strip, (0, image.height))
    return page


def draw_sighting(
    pen: ImageDraw.ImageDraw,
    sighting: Sighting,
    colour: str,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    size: tuple[int, int],
) -> None:
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


def draw_strip(verdict: Verdict, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> Image.Image:
    """The prompt, each pair in its colour, and the score."""
    rows = [(f"“{verdict.scene.prompt}”  →  ({verdict.score})", "#111111")]
    for index, (asked, found) in enumerate(verdict.pairs):
        rows.append((f"{asked}:  {found}", COLOURS[worst(verdict, index)]))
    probe = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    wrapped = [(line, colour) for text, colour in rows for line in wrap(text, probe, font)]
    strip = Image.new("RGB", (WIDTH, 20 + 26 * len(wrapped)), "white")
    pen = ImageDraw.Draw(strip)
    for number, (line, colour) in enumerate(wrapped):
        pen.text((14, 10 + 26 * number), line, fill=colour, font=font)
    return strip


def wrap(text: str, probe: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> list[str]:
    """Lines that fit the width; very long texts are cut. Pillow's own font has Latin letters but few signs."""
    rows = [""]
    for word in text[:600].translate(SIGNS).split(" "):
        longer = f"{rows[-1]} {word}".strip()
        if rows[-1] and probe.textlength(longer, font=font) > WIDTH - 28:
            rows.append(f"    {word}")
        else:
            rows[-1] = longer if rows[-1] == "" else f"{rows[-1]} {word}"
    return rows


def save(verdict: Verdict, path: Path) -> None:
    """Write the picture; the file's ending says in which format."""
    try:
        draw(verdict).save(path)
    except (OSError, ValueError) as error:
        raise UserError(f"can't write the picture to {path}: {error}") from error
