"""Everything that is known of an edit before grading: both versions, how they differ, and the objects in each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from onprompt import stages
from onprompt.evidence import observe
from onprompt.evidence.beliefs import log_odds
from onprompt.evidence.edits import objects
from onprompt.language import parse_edit
from onprompt.settings import Settings
from onprompt.types import Box, Detections, Edit, Name, ObjectChange, Picture, Sample, Scene, Sighting, Thing
from onprompt.vision.adjustments import made, measure_adjustments
from onprompt.vision.backbone import feature_similarity
from onprompt.vision.boxes import Floats
from onprompt.vision.change import Change, Mask, cells_of, compare
from onprompt.vision.detection import detect
from onprompt.vision.global_properties import is_blank
from onprompt.vision.image import open_picture
from onprompt.vision.matchers import load_matcher
from onprompt.vision.ocr import read_text

WHOLE = ("restyle", "background")  # operations that may change all of the image
CONTEXT = 0.15  # of a region that is shown to the matcher with it, as a fraction of its sides
REDRAWN = 0.5, 0.7  # correlation of edges, and similarity of features, below which an image was redrawn
ANOTHER = 0.25, 0.55  # … below which it is another image
CLOSE = 0.5  # share of the image up to which a region is worth a closer look
LARGEST = 5  # regions that are searched, and reported
MARGINS = 0.0, 0.5  # around a region that is searched, as a fraction of its sides: exactly it, then more
SAME = 0.5  # IoU from which an object is one that was asked for, under another name
MARKED = 0.5  # share of an object within the mask from which the mask is about it
FLOOR = 0.001  # probabilities of the matcher are clipped to this distance from 0 and 1
WHITE = 127  # from which a pixel of a mask is marked
STROKE = 0.2  # share of a cell from which a stroke of a mask marks it
REST = 0.2  # share of the image that has to be left for an adjustment of all of it to be seen beside an edit
CONSEQUENCES = ("recolored", "turned", "moved", "resized", "changed")  # of an adjustment, for each object


@dataclass(frozen=True)
class EditObservations:
    """What was asked for, both versions of the image, and how they differ."""

    edits: tuple[Edit, ...]
    pictures: tuple[Picture, Picture]
    seen: tuple[Detections, Detections]
    lines: tuple[tuple[Sighting, ...], tuple[Sighting, ...]]  # of text
    change: Change
    mask: Mask | None
    similarity: Floats  # of features, at each place of a grid
    blank: bool
    settings: Settings
    notes: tuple[str, ...] = ()

    @cached_property
    def adjusted(self) -> dict[str, float]:
        """What was done to the image as a whole."""
        return measure_adjustments(self.change, self.change.overlap)

    @cached_property
    def adjustments(self) -> tuple[str, ...]:
        """The adjustments that were made: where only a part changed, those that the rest shows, too."""
        rest, found = self.change.overlap & ~self.change.changed, made(self.adjusted)
        if self.is_global or rest.mean() < REST:
            return found
        outside = made(measure_adjustments(self.change, rest)) if found else ()
        return tuple(name for name in found if name in outside)

    @cached_property
    def objects(self) -> tuple[ObjectChange, ...]:
        """The change of each object; asked for is what has a name of the instruction, is there, or within the mask."""
        before, after = (version.sightings for version in self.seen)
        changes = objects.match_objects(before, after, self.change, self.settings.low_confidence)
        both = [[s for s in (each.before, each.after) if s] for each in changes]
        names = {thing.canonical for edit in self.edits for thing in (*edit.source.things, *edit.result.things)}
        named = [s.box for versions in both for s in versions if {s.label, s.word} & names]
        asked = [
            any(s.box.iou(box) >= SAME for s in versions for box in named) or all(self.in_mask(s.box) for s in versions)
            for versions in both
        ]
        return tuple(replace(each, asked=own) for each, own in zip(changes, asked, strict=True))

    @property
    def unasked(self) -> tuple[ObjectChange, ...]:
        """What became of objects without being asked for; that all are brighter or mirrored follows from the edit."""
        implied = CONSEQUENCES if self.is_global else ()
        return tuple(change for change in self.objects if not change.asked and change.kind not in implied)

    def in_mask(self, box: Box) -> bool:
        """Whether an object is mostly within the mask, where the edit may change it."""
        return self.mask is not None and bool(self.mask[cells_of(box, self.mask.shape)].mean() >= MARKED)

    @property
    def is_global(self) -> bool:
        """Whether the instruction is about the image as a whole."""
        return any(edit.operation in WHOLE or asked_for(edit) for edit in self.edits)

    @cached_property
    def kept(self) -> float:
        """How similar the two versions are where no change was asked for, outside the mask if there is one."""
        if self.mask is None:
            return float(np.median(self.similarity))
        shape = self.similarity.shape[1::-1]
        outside = cv2.resize(self.mask.astype(np.uint8), shape, interpolation=cv2.INTER_NEAREST) == 0
        return float(np.median(self.similarity[outside] if outside.any() else self.similarity))

    @cached_property
    def failure(self) -> str:
        """The common failures: nothing was done, the image was redrawn, is another one, or broken."""
        if self.blank:
            return "broken"
        if not self.change.regions and not self.adjustments:
            return "unchanged"
        edges, features = self.change.structure, float(np.median(self.similarity))
        if edges < ANOTHER[0] and features < ANOTHER[1]:
            return "another_image"
        return "redrawn" if edges < REDRAWN[0] and features < REDRAWN[1] and not self.is_global else ""

    def estimate(self, phrase: str, version: int, closely: bool = False) -> float:
        """The matcher's log-odds of a phrase before (0) or after (1); closely: where most changed, 0 if nothing did."""
        picture = self.pictures[version]
        if closely:
            if not self.change.regions:
                return 0.0
            pixels = (self.change.before, self.change.after)[version]
            part = pixels[cells_of(wider(self.change.regions[0].box, CONTEXT), pixels.shape)]
            picture = open_picture(np.ascontiguousarray(part), self.settings)
        return log_odds(load_matcher(self.settings).phrase_probabilities(picture, [phrase])[0], FLOOR)


def observe_edit(sample: Sample, settings: Settings) -> EditObservations:
    """Read the instruction, compare the two versions, and detect the objects in both."""
    stages.enter("parse")
    edits = parse_edit(sample.prompt, settings)
    stages.enter("compare")
    before, after = sample.pictures["before"], sample.picture
    change = compare_versions(sample)
    aspects = (picture.pixels.shape[1] / picture.pixels.shape[0] for picture in (before, after))
    pictures = (before, after)
    if change.turned or change.crop or abs(np.log(np.divide(*aspects))) >= 0.01:  # both in the frame of the original
        pictures = open_picture(change.before, settings), open_picture(change.after, settings)
    names, blank = names_to_detect(edits), is_blank(after) and not is_blank(before)
    stages.enter("detect")
    seen = (
        detect(pictures[0], names, settings, names_to_measure(edits)),
        detect(pictures[1], names, settings, new_colored(edits)),
    )
    if change.regions and not blank:
        seen = seen[0], look_closer(seen[1], pictures[1], change, edits, settings)
    lines: tuple[tuple[Sighting, ...], tuple[Sighting, ...]] = (), ()
    if any(observe.asks_for_text(scene) for edit in edits for scene in (edit.source, edit.result)):
        frame = change.crop or Box(0.0, 0.0, 1.0, 1.0)
        read = (replace(line, box=placed(line.box, frame)) for line in read_text(after, settings))
        lines = read_text(before, settings), tuple(read)
    mask, notes = read_mask(sample.pictures.get("mask"), change)
    similarity = feature_similarity(change.before, change.after, settings)
    return EditObservations(edits, pictures, seen, lines, change, mask, similarity, blank, settings, notes)


def compare_versions(sample: Sample) -> Change:
    """How the two versions of a sample differ."""
    return compare(sample.pictures["before"].pixels, sample.picture.pixels)


# -- what is asked for, and looked for ---------------------------------------------------------------------------------


@cache
def adjustment_words() -> dict[str, Any]:
    """Words, and the adjustments of the image as a whole that they ask for."""
    return tomllib.loads(Path(__file__).with_name("adjustments.toml").read_text(encoding="utf-8"))


def asked_for(edit: Edit) -> tuple[str, ...]:
    """The adjustments that would carry out an operation on the image as a whole; none if it names an object."""
    data, said = adjustment_words(), f"{edit.value} {edit.phrase}".lower()
    named = edit.target is not None and edit.target.canonical not in data["frame"]
    others = any(thing.canonical not in data["frame"] for thing in edit.result.things)
    if named or (others and edit.operation not in ("restyle", "recolor")):
        return ()
    if re.search(rf"\b({'|'.join(data['artwork'])})\b", said):
        return ()
    found: list[str] = next((names for word, names in data["asked"].items() if re.search(rf"\b(?:{word})", said)), [])
    less = any(word in said for word in data["less"])
    return tuple(data["opposites"].get(name, name) if less else name for name in found)


def names_to_detect(edits: Sequence[Edit]) -> list[Name]:
    """The names in an instruction, of what is there and of what should be."""
    scenes = [scene for edit in edits for scene in (edit.source, edit.result)]
    scenes += [Scene("", (edit.target,), flags=edit.source.flags) for edit in edits if edit.target]
    return list({name.label: name for scene in reversed(scenes) for name in observe.names_to_detect(scene)}.values())


def names_to_measure(edits: Sequence[Edit]) -> set[str]:
    """The names whose colors before the edit tell which of several objects is meant, or are to change."""
    measured = set().union(*(observe.names_to_measure(edit.source) for edit in edits))
    return measured | {edit.target.canonical for edit in edits if edit.target and edit.operation == "recolor"}


def new_colored(edits: Sequence[Edit]) -> set[str]:
    """The names of what should be new and of a color."""
    new = [thing for edit in edits if edit.operation in ("add", "replace") for thing in new_things(edit)]
    return {thing.canonical for thing in new for each in thing.attributes if each.kind == "color"}


def new_things(edit: Edit) -> list[Thing]:
    """What should be there afterwards and was not."""
    there = {thing.canonical for thing in edit.source.things}
    return [thing for thing in edit.result.things if not thing.absent and thing.canonical not in there]


def look_closer(
    seen: Detections, after: Picture, change: Change, edits: Sequence[Edit], settings: Settings
) -> Detections:
    """What was detected after the edit; something new that was overlooked is searched where the image changed.

    Of several new things any region may hold some; another is where most changed.
    """
    found, names, colored = list(seen.sightings), names_to_detect(edits), new_colored(edits)
    new = [thing for edit in edits for thing in new_things(edit) if thing.canonical in seen.known]
    numbers = {thing.canonical: thing.count.low if thing.count.explicit else 1 for thing in new}
    for place, (region, margin) in enumerate(product(change.regions[:LARGEST], MARGINS)):
        sure = [s.label for s in found if s.confidence >= settings.low_confidence and objects.is_touched(s.box, change)]
        searched = {name for name, number in numbers.items() if number > 1 or place < len(MARGINS)}
        wanted = {name for name in searched if sure.count(name) < numbers[name]}
        if wanted and region.box.area <= CLOSE:
            area = wider(region.box, margin)
            part = open_picture(np.ascontiguousarray(after.pixels[cells_of(area, after.pixels.shape)]), settings)
            looked = detect(part, [name for name in names if name.label in wanted], settings, wanted & colored)
            closer = [replace(s, box=placed(s.box, area)) for s in looked.sightings if s.label in wanted]
            mine = objects.unique([*(s for s in found if s.label in wanted), *closer])
            found = [*(s for s in found if s.label not in wanted), *mine]
    return replace(seen, sightings=tuple(found))


# -- boxes and masks -------------------------------------------------------------------------------------------------


def placed(box: Box, area: Box) -> Box:
    """A box of a part of the image, in the image."""
    left, top = area.left + box.left * area.width, area.top + box.top * area.height
    return Box(left, top, left + box.width * area.width, top + box.height * area.height)


def wider(box: Box, margin: float) -> Box:
    """A region with some of what is around it."""
    across, down = margin * box.width, margin * box.height
    around = Box(box.left - across, box.top - down, box.right + across, box.bottom + down)
    return around.overlap(Box(0.0, 0.0, 1.0, 1.0))


def read_mask(picture: Picture | None, change: Change) -> tuple[Mask | None, tuple[str, ...]]:
    """Where the edit may change something, in the frame of the change; a mask without a border is none."""
    if picture is None:
        return None, ()
    marked = np.asarray(picture.pixels.mean(axis=2) > WHITE, dtype=np.bool_)
    if marked.all() or not marked.any():
        return None, ("mask_all_white" if marked.all() else "mask_all_black",)
    rows, columns = change.changed.shape
    share = cv2.resize(marked.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA)
    mask = np.asarray(share >= min(STROKE, float(share.max())), dtype=np.bool_)
    aspect = np.log(picture.pixels.shape[1] / picture.pixels.shape[0] / (columns / rows))
    return mask, ("mask_of_another_shape",) if abs(aspect) > 0.02 else ()
