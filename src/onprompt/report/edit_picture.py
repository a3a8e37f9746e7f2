"""An edit drawn: before, after and change map side by side, with boxes for what was kept, asked for, or not."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from onprompt.evidence.edits.observations import STROKE, compare_versions, is_marked
from onprompt.types import Box, EditEvidence, ObjectChange, Outcome, Verdict

PANEL = 560  # pixels of the longest side of each of the three images
GAP, HEAD, LABEL = 12, 30, 19
KEPT, ASKED, NOT_ASKED, MISSING = "#8a8f98", "#2e9e4f", "#d99a00", "#d03030"
LEGEND = (("kept", KEPT), ("as asked", ASKED), ("not asked for", NOT_ASKED), ("not done", MISSING))
TITLES = ("before", "after", "what changed")
HOT = np.array([(24, 26, 34), (88, 24, 99), (214, 60, 60), (250, 170, 40), (255, 245, 190)], dtype=np.float64)
FULL = 40.0  # ΔE that is drawn as the strongest change
MASK = (70, 160, 255)


def draw_versions(verdict: Verdict) -> Image.Image:
    """Three panels with their titles and a legend."""
    sample = verdict.sample
    change = compare_versions(sample)
    images = [Image.fromarray(pixels) for pixels in (change.before, change.after, heat(change.difference))]
    scale = PANEL / max(images[0].size)
    size = round(images[0].width * scale), round(images[0].height * scale)
    panels = [image.resize(size, Image.Resampling.LANCZOS) for image in images]
    marked = is_marked(sample.pictures["mask"]) if "mask" in sample.pictures else None
    bordered = marked is not None and marked.any() and not marked.all()
    if marked is not None:
        for panel in panels:
            outline_mask(panel, marked)
    if verdict.edit_evidence:
        draw_boxes(panels, verdict, verdict.edit_evidence)
    page = Image.new("RGB", (3 * size[0] + 2 * GAP, size[1] + 2 * HEAD), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(17)
    for place, (panel, title) in enumerate(zip(panels, TITLES, strict=True)):
        left = place * (size[0] + GAP)
        page.paste(panel, (left, HEAD))
        pen.text((left + 2, 5), title, fill="#111111", font=font)
    x = 2.0
    for label, colour in (*LEGEND, *((("mask", "#46a0ff"),) if bordered else ())):
        pen.rectangle((x, size[1] + HEAD + 9, x + 14, size[1] + HEAD + 23), fill=colour)
        pen.text((x + 20, size[1] + HEAD + 5), label, fill="#111111", font=font)
        x += 44 + pen.textlength(label, font=font)
    return page


def heat(difference: np.ndarray) -> np.ndarray:
    """A difference as colours from black over red to white."""
    level = np.clip(difference / FULL, 0, 1) * (len(HOT) - 1)
    stops = np.arange(len(HOT))
    return np.stack([np.interp(level, stops, HOT[:, channel]) for channel in range(3)], axis=2).astype(np.uint8)


def outline_mask(panel: Image.Image, marked: np.ndarray) -> None:
    """The border of a mask."""
    white = Image.fromarray(marked.astype(np.uint8) * 255)
    small = np.asarray(white.resize(panel.size, Image.Resampling.BOX)) > 255 * STROKE
    edge = np.zeros_like(small)
    for axis in (0, 1):
        for shift in (-2, -1, 1, 2):
            edge |= small != np.roll(small, shift, axis)
    edge[:2] = edge[-2:] = False
    edge[:, :2] = edge[:, -2:] = False
    panel.paste(Image.new("RGB", panel.size, MASK), (0, 0), Image.fromarray(edge.astype(np.uint8) * 255))


def draw_boxes(panels: list[Image.Image], verdict: Verdict, evidence: EditEvidence) -> None:
    """Every object in the version that shows it, and where an operation was not carried out."""
    before, after, changed = map(Panel, panels)
    for change in sorted(evidence.objects, key=lambda c: c.kind != "unchanged"):
        colour = colour_of(change, verdict)
        for panel, sighting in ((before, change.before), (after, change.after)):
            if sighting:
                label = sighting.word if change.kind == "unchanged" else f"{sighting.word}: {change.kind}"
                panel.box(sighting.box, label, colour)
    for check in verdict.checks:
        if check.outcome is Outcome.MISSING and check.box:
            after.box(check.box, f"not done: {check.claim.kind}", MISSING)
    for box in evidence.regions:
        changed.box(box, "", "#ffffff")


def colour_of(change: ObjectChange, verdict: Verdict) -> str:
    """Kept, as asked, or not asked for."""
    if change.kind == "unchanged":
        return KEPT
    if not change.asked:
        return NOT_ASKED
    about = [check for check in verdict.checks if check.thing is not None and names(change, check.thing, verdict)]
    about = about or [check for check in verdict.checks if check.thing is not None]
    return MISSING if all(check.outcome is Outcome.MISSING for check in about) else ASKED


def names(change: ObjectChange, place: int, verdict: Verdict) -> bool:
    """Whether an operation is about an object."""
    edit = verdict.edit_evidence.edits[place] if verdict.edit_evidence else None
    things = {thing.canonical for scene in (edit.source, edit.result) for thing in scene.things} if edit else set()
    return any(s is not None and {s.label, s.word} & things for s in (change.before, change.after))


class Panel:
    """An image on which boxes are drawn, with labels that do not cover each other."""

    def __init__(self, image: Image.Image) -> None:
        self.pen, self.size, self.font = ImageDraw.Draw(image), image.size, ImageFont.load_default(14)
        self.taken: list[tuple[float, float, float]] = []  # left, top and right of the labels

    def box(self, box: Box, label: str, colour: str) -> None:
        """A box with its label inside the image."""
        width, height = self.size
        left, top, right, bottom = box.left * width, box.top * height, box.right * width, box.bottom * height
        self.pen.rectangle((left, top, max(right, left + 1), max(bottom, top + 1)), outline=colour, width=3)
        if label:
            wide = self.pen.textlength(label, font=self.font) + 8
            x = max(0.0, min(left, width - wide))
            places = [max(0.0, top - LABEL), *(top + LABEL * step for step in range(8))]
            y = next((y for y in places if y + LABEL <= height and self.is_free(x, y, x + wide)), places[0])
            self.taken.append((x, y, x + wide))
            self.pen.rectangle((x, y, x + wide, y + LABEL), fill=colour)
            self.pen.text((x + 4, y + 1), label, fill="white", font=self.font)

    def is_free(self, left: float, top: float, right: float) -> bool:
        """Whether no label is in the way."""
        return all(right <= x or left >= end or abs(top - y) >= LABEL for x, y, end in self.taken)
