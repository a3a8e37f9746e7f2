"""Everything that is known of an edit before grading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np

from onprompt import stages
from onprompt.evidence import observe
from onprompt.evidence.edits import adjustments, objects
from onprompt.language import name_of, parse_edit
from onprompt.settings import Settings
from onprompt.types import Box, Edit, EditEvidence, Name, ObjectChange, Picture, Sample, Seen, Sighting
from onprompt.vision.backbone import feature_similarity
from onprompt.vision.boxes import Floats, Pixels
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
LARGEST = 5  # regions that are reported
SAME = 0.5  # IoU from which an object is one that was asked for, under another name
MARKED = 0.5  # share of an object within the mask from which the mask is about it
FLOOR = 0.001  # probabilities of the matcher are clipped to this distance from 0 and 1
WHITE = 127  # from which a pixel of a mask is marked
STROKE = 0.2  # share of a cell from which a stroke of a mask marks it
REST = 0.2  # share of the image that has to be left for an adjustment of all of it to be seen beside an edit
CONSEQUENCES = ("recoloured", "turned", "moved", "resized", "changed")  # of an adjustment, for each object


@dataclass(frozen=True)
class EditObservations:
    """What was asked for, both versions of the image, and how they differ."""

    edits: tuple[Edit, ...]
    pictures: tuple[Picture, Picture]
    seen: tuple[Seen, Seen]
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
        return adjustments.measure(self.change, self.change.overlap)

    @cached_property
    def adjustments(self) -> tuple[str, ...]:
        """The adjustments that were made: where only a part changed, those that the rest shows, too."""
        rest = self.change.overlap & ~self.change.changed
        made = adjustments.made(self.adjusted)
        if self.is_global or not made or rest.mean() < REST:
            return made
        outside = adjustments.made(adjustments.measure(self.change, rest))
        return tuple(name for name in made if name in outside)

    @cached_property
    def objects(self) -> tuple[ObjectChange, ...]:
        """What became of each object."""
        asked = {thing.canonical for edit in self.edits for thing in (*edit.source.things, *edit.result.things)}
        before, after = (seen.sightings for seen in self.seen)
        changes = objects.match_objects(before, after, self.change, asked, self.settings)
        return tuple(replace(change, asked=change.asked or self.in_mask(change)) for change in changes)

    @property
    def unasked(self) -> tuple[ObjectChange, ...]:
        """What became of objects without being asked for; that all are brighter or mirrored follows from the edit."""
        implied = CONSEQUENCES if self.is_global else ()
        asked = [s.box for change in self.objects if change.asked for s in (change.before, change.after) if s]
        return tuple(
            change
            for change in self.objects
            if not change.asked
            and change.kind not in implied
            and not any(s and s.box.iou(box) >= SAME for box in asked for s in (change.before, change.after))
        )

    def in_mask(self, change: ObjectChange) -> bool:
        """Whether an object is mostly within the mask, where the edit may change it."""
        boxes = [sighting.box for sighting in (change.before, change.after) if sighting]
        mask = self.mask
        return mask is not None and all(mask[cells_of(box, mask.shape)].mean() >= MARKED for box in boxes)

    @property
    def is_global(self) -> bool:
        """Whether the instruction is about the image as a whole."""
        return any(edit.operation in WHOLE or adjustments.asked_for(edit) for edit in self.edits)

    @cached_property
    def kept(self) -> float:
        """How similar the two versions are where no change was asked for: the median over the image."""
        cells = self.similarity[self.outside(self.similarity.shape)]
        return float(np.median(cells)) if cells.size else float(np.median(self.similarity))

    def outside(self, shape: tuple[int, ...]) -> Mask:
        """Where nothing may change: outside the mask, if there is one; everywhere else it is not known before."""
        if self.mask is None or self.mask.all():
            return np.ones(shape, dtype=np.bool_)
        small = cv2.resize(self.mask.astype(np.uint8), (shape[1], shape[0]), interpolation=cv2.INTER_NEAREST)
        return np.asarray(small == 0, dtype=np.bool_) if (small == 0).any() else np.ones(shape, dtype=np.bool_)

    @cached_property
    def failure(self) -> str:
        """The common failures: nothing was done, the image was redrawn, is another one, or broken."""
        if self.blank:
            return "broken"
        if not self.change.regions and not self.adjustments:
            return "unchanged"
        shown = self.change.structure, float(np.median(self.similarity))
        if all(value < limit for value, limit in zip(shown, ANOTHER, strict=True)):
            return "another_image"
        redrawn = all(value < limit for value, limit in zip(shown, REDRAWN, strict=True))
        return "redrawn" if redrawn and not self.is_global else ""

    @cached_property
    def regions(self) -> tuple[Box, ...]:
        """Where the result should be seen: in the heaviest change, and within the mask."""
        heaviest = [region.box for region in self.change.regions[:1]]
        return (*heaviest, *([box_of(self.mask)] if self.mask is not None and self.mask.any() else []))

    def estimate_whole(self, phrase: str) -> tuple[float, float]:
        """The matcher's log-odds of a phrase in the image, before and after."""
        before, after = (self.estimate(picture, phrase) for picture in self.pictures)
        return before, after

    def estimate_regions(self, phrase: str, version: int) -> float:
        """The same in the regions that changed, before (0) or after (1); 0 if there is none."""
        pixels = (self.change.before, self.change.after)[version]
        crops = [open_picture(crop(pixels, box), self.settings) for box in self.regions]
        return float(np.mean([self.estimate(part, phrase) for part in crops])) if crops else 0.0

    def estimate(self, picture: Picture, phrase: str) -> float:
        """The matcher's log-odds of a phrase in one image."""
        probability = load_matcher(self.settings).phrase_probabilities(picture, [phrase])[0]
        clipped = min(max(float(probability), FLOOR), 1 - FLOOR)
        return float(np.log(clipped / (1 - clipped)))

    def evidence(self) -> EditEvidence:
        """The evidence of a verdict."""
        return EditEvidence(
            self.edits,
            self.seen[1].sightings,
            self.objects,
            tuple(region.box for region in self.change.regions[:LARGEST]),
            self.failure,
            self.adjustments,
        )


def observe_edit(sample: Sample, settings: Settings) -> EditObservations:
    """Read the instruction, compare the two versions, and detect the objects in both."""
    stages.enter("parse")
    edits = parse_edit(sample.prompt, settings)
    stages.enter("compare")
    before, after = sample.pictures["before"], sample.picture
    change = compare_versions(sample)
    aligned = align_picture(after, change, before, settings)
    names = names_to_detect(edits)
    blank = is_blank(after) and not is_blank(before)
    stages.enter("detect")
    # The outline before the edit is that of the target, whose colours are compared.
    first = before if aligned is after else open_picture(change.before, settings)  # both at the same size
    coloured = new_colours(edits)
    seen = detect(first, names, settings, names_to_measure(edits)), detect(aligned, names, settings, coloured)
    if change.regions and not blank:
        seen = seen[0], look_closer(seen, aligned, change, edits, settings, coloured)
    text = any(observe.asks_for_text(scene) for edit in edits for scene in (edit.source, edit.result))
    lines: tuple[tuple[Sighting, ...], tuple[Sighting, ...]] = (), ()
    if text:
        lines = read_text(before, settings), in_frame(read_text(after, settings), change.crop)
    mask, notes = read_mask(sample.pictures.get("mask"), change)
    similarity = feature_similarity(change.before, change.after, settings)
    pictures = first, aligned
    return EditObservations(edits, pictures, seen, lines, change, mask, similarity, blank, settings, notes)


def look_closer(
    seen: tuple[Seen, Seen],
    after: Picture,
    change: Change,
    edits: Sequence[Edit],
    settings: Settings,
    measured: set[str],
) -> Seen:
    """What was detected after the edit; something new that was overlooked is searched in the region that changed.

    Of several new things each region may hold one.
    """
    things = [t for edit in edits for t in edit.result.things if not t.absent and t.canonical in seen[1].known]
    sure = [[s for s in version.sightings if s.confidence >= settings.low_confidence] for version in seen]
    labels = {thing.canonical for thing in things} - {s.label for version in sure for s in version}
    several = {thing.canonical for thing in things if thing.count.explicit and thing.count.low > 1}
    found: list[Sighting] = []
    for place, region in enumerate(change.regions[:LARGEST]):
        box = region.box
        here = several - {s.label for s in sure[1] if s.box.overlap(box).area >= SAME * s.box.area}
        wanted = here | (labels if place == 0 else set())
        if wanted and box.area <= CLOSE:
            part = open_picture(np.ascontiguousarray(after.pixels[cells_of(box, after.pixels.shape)]), settings)
            closer = detect(part, [name_of(label) for label in sorted(wanted)], settings, wanted & measured)
            found += [replace(s, box=placed(s.box, box)) for s in closer.sightings if s.label in wanted]
    return Seen((*seen[1].sightings, *found), seen[1].known)


def placed(box: Box, area: Box) -> Box:
    """A box of a part of the image, in the image."""
    left, top = area.left + box.left * area.width, area.top + box.top * area.height
    return Box(left, top, left + box.width * area.width, top + box.height * area.height)


def wider(box: Box) -> Box:
    """A region with some of what is around it."""
    across, down = CONTEXT * box.width, CONTEXT * box.height
    return Box(
        *(max(0.0, box.left - across), max(0.0, box.top - down)),
        *(min(1.0, box.right + across), min(1.0, box.bottom + down)),
    )


def compare_versions(sample: Sample) -> Change:
    """How the two versions of a sample differ."""
    return compare(sample.pictures["before"].pixels, sample.picture.pixels)


def align_picture(after: Picture, change: Change, before: Picture, settings: Settings) -> Picture:
    """The edited image in the frame of the original; itself if it has that frame already."""
    if not change.turned and change.crop is None and same_shape(before.pixels, after.pixels):
        return after
    return open_picture(change.after, settings)


def same_shape(first: Pixels, second: Pixels) -> bool:
    """Whether two images have the same aspect ratio, within a pixel or so."""
    a, b = (image.shape[1] / image.shape[0] for image in (first, second))
    return bool(abs(np.log(a / b)) < 0.01)


def names_to_detect(edits: Sequence[Edit]) -> list[Name]:
    """The names in an instruction, of what is there and of what should be."""
    names: dict[str, Name] = {}
    for edit in edits:
        for scene in (edit.source, edit.result):
            for name in observe.names_to_detect(scene):
                names.setdefault(name.label, name)
        if edit.target and observe.NOT_ENGLISH not in edit.source.flags:
            names.setdefault(edit.target.canonical, name_of(edit.target.canonical))
    return list(names.values())


def names_to_measure(edits: Sequence[Edit]) -> set[str]:
    """The names whose colours tell which of several objects is meant, or are to change."""
    measured = set().union(*(observe.names_to_measure(edit.source) for edit in edits))
    return measured | {edit.target.canonical for edit in edits if edit.target and edit.operation == "recolour"}


def new_colours(edits: Sequence[Edit]) -> set[str]:
    """The names of what should be new and of a color."""
    things = [thing for edit in edits if edit.operation in ("add", "replace") for thing in edit.result.things]
    return {t.canonical for t in things if not t.absent and any(a.kind == "color" for a in t.attributes)}


def read_mask(picture: Picture | None, change: Change) -> tuple[Mask | None, tuple[str, ...]]:
    """Where the edit may change something, in the frame of the change; a mask without a border is none."""
    if picture is None:
        return None, ()
    marked = is_marked(picture)
    if marked.all() or not marked.any():
        return None, ("mask_all_white" if marked.all() else "mask_all_black",)
    rows, columns = change.changed.shape
    share = cv2.resize(marked.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA)
    mask = np.asarray(share >= min(STROKE, float(share.max())), dtype=np.bool_)
    aspect = np.log(picture.pixels.shape[1] / picture.pixels.shape[0] / (columns / rows))
    return mask, ("mask_of_another_shape",) if abs(aspect) > 0.02 else ()


def is_marked(picture: Picture) -> Mask:
    """The white pixels of a mask."""
    return np.asarray(picture.pixels.mean(axis=2) > WHITE, dtype=np.bool_)


def in_frame(lines: Sequence[Sighting], crop: Box | None) -> tuple[Sighting, ...]:
    """Lines of the edited image in the frame of the original."""
    return tuple(lines) if crop is None else tuple(replace(line, box=placed(line.box, crop)) for line in lines)


def box_of(mask: Mask) -> Box:
    """The box around a mask."""
    rows, columns = np.nonzero(mask)
    height, width = mask.shape
    return Box(columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height)


def crop(pixels: Pixels, box: Box) -> Pixels:
    """A region with some of what is around it."""
    return np.ascontiguousarray(pixels[cells_of(wider(box), pixels.shape)])
