"""An edit drawn: before, after and change map side by side, with boxes for what was kept, asked for, or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from onprompt.evidence.edits.observations import STROKE, compare_versions, is_marked
from onprompt.report.labels import BAD, GOOD, NEUTRAL, WEAK, place_labels
from onprompt.types import Box, EditEvidence, ObjectChange, Outcome, Verdict

PANEL = 560  # pixels of the longest side of each of the three images
GAP, HEAD, LABEL = 12, 30, 19
FAILED = (Outcome.MISSING, Outcome.MISMATCH)
KEPT, ASKED, NOT_ASKED, NOT_DONE = "kept", "as asked", "not asked for", "not done"
LEGEND = {KEPT: NEUTRAL, ASKED: GOOD, NOT_ASKED: WEAK, NOT_DONE: BAD}
TITLES = ("before", "after", "what changed")
HOT = np.array([(24, 26, 34), (88, 24, 99), (214, 60, 60), (250, 170, 40), (255, 245, 190)], dtype=np.float64)
FULL = 40.0  # ΔE that is drawn as the strongest change
MASK = (70, 160, 255)
MANY = 3  # boxes of one label from which only one bears it


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
    for label, color in (*LEGEND.items(), *((("mask", "#46a0ff"),) if bordered else ())):
        pen.rectangle((x, size[1] + HEAD + 9, x + 14, size[1] + HEAD + 23), fill=color)
        pen.text((x + 20, size[1] + HEAD + 5), label, fill="#111111", font=font)
        x += 44 + pen.textlength(label, font=font)
    return page


def heat(difference: np.ndarray) -> np.ndarray:
    """A difference as colors from black over red to white."""
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
    before, after, changed = (list[tuple[Box, str, str]]() for _ in panels)
    for change in sorted(evidence.objects, key=lambda c: c.kind != "unchanged"):
        color = LEGEND[change_of(change, verdict)]
        for boxes, sighting in ((before, change.before), (after, change.after)):
            if sighting:
                label = sighting.word if change.kind == "unchanged" else f"{sighting.word}: {change.kind}"
                boxes.append((sighting.box, label, color))
    for check in verdict.checks:
        if check.outcome is Outcome.MISSING and check.box:
            after.append((check.box, f"{NOT_DONE}: {check.claim.kind}", BAD))
    changed += [(box, "", "#ffffff") for box in evidence.regions]
    for panel, boxes in zip(panels, (before, after, changed), strict=True):
        draw_panel(panel, label_groups(boxes))


def label_groups(boxes: Sequence[tuple[Box, str, str]]) -> list[tuple[Box, str, str]]:
    """Of many boxes with the same label, the largest says how many there are; the others have none."""
    groups: dict[tuple[str, str], list[Box]] = {}
    for box, label, color in boxes:
        groups.setdefault((label, color), []).append(box)
    result = []
    for box, label, color in boxes:
        group = groups[label, color]
        if label and len(group) > MANY:
            label = f"{len(group)} x {label}" if box is max(group, key=lambda each: each.area) else ""
        result.append((box, label, color))
    return result


def change_of(change: ObjectChange, verdict: Verdict) -> str:
    """Kept, as asked, not asked for, or not done."""
    if change.kind == "unchanged":
        return KEPT
    if not change.asked:
        return NOT_ASKED
    operations = [check for check in verdict.checks if check.thing is not None]
    about = [check for check in operations if is_about(change, check.thing or 0, verdict)] or operations
    return NOT_DONE if any(check.outcome in FAILED for check in about) else ASKED


def is_about(change: ObjectChange, place: int, verdict: Verdict) -> bool:
    """Whether an operation is about an object."""
    edit = verdict.edit_evidence.edits[place] if verdict.edit_evidence else None
    things = {thing.canonical for scene in (edit.source, edit.result) for thing in scene.things} if edit else set()
    return any(s is not None and {s.label, s.word} & things for s in (change.before, change.after))


def draw_panel(panel: Image.Image, boxes: list[tuple[Box, str, str]]) -> None:
    """Boxes, then their labels, none of which covers another."""
    pen, font = ImageDraw.Draw(panel), ImageFont.load_default(14)
    width, height = panel.size
    for box, _, color in boxes:
        left, top, right, bottom = box.left * width, box.top * height, box.right * width, box.bottom * height
        right, bottom = max(right, left + 1), max(bottom, top + 1)
        pen.rectangle((left - 1, top - 1, right + 1, bottom + 1), outline="white", width=5)
        pen.rectangle((left, top, right, bottom), outline=color, width=3)
    labelled = [each for each in boxes if each[1]]
    widths = [pen.textlength(label, font=font) + 8 for _, label, _ in labelled]
    places = place_labels([box for box, _, _ in labelled], widths, LABEL, panel.size)
    for (_, label, color), place in zip(labelled, places, strict=True):
        pen.rectangle(place, fill=color)
        pen.text((place.left + 4, place.top + 1), label, fill="white", font=font)
