"""Two detectors that look at the same picture: what both see is surer than what one sees alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.settings import Settings
from onprompt.types import Look, Name, Picture, Seen, Sighting
from onprompt.vision.calibration import agreed
from onprompt.vision.detectors import coco, world
from onprompt.vision.vocabulary import COCO

SAME_OBJECT = 0.5  # IoU from which two boxes of one label are one object


class Fused:
    """PicoDet and YOLO-World."""

    files = (*coco.Coco.files, *world.World.files)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        low = settings.model_copy(update={"missing_below": 0.05})  # weak sightings may add up
        self.coco = coco.Coco(low)
        self.world = world.World(low)

    def see(self, looks: Sequence[Look]) -> list[Seen]:
        """One picture after the other: each already keeps all cores busy."""
        return [self.see_one(look.picture, look.names) for look in looks]

    def see_one(self, picture: Picture, names: Sequence[Name]) -> Seen:
        """The union of both, with one confidence for what both see."""
        closest = self.closest(names)
        ours = self.coco.see_one(picture, [name for name in names if self.coco in closest[name.label]])
        theirs = self.world.see_one(picture, [name for name in names if self.world in closest[name.label]])
        merged = [fuse(a, b) for a, b in paired(ours.sightings, theirs.sightings)]
        sure = sorted(
            (each for each in merged if each.confidence >= self.settings.missing_below), key=lambda s: -s.confidence
        )
        return Seen(tuple(sure), {**ours.known, **theirs.known})  # where both know a name, equally well

    def closest(self, names: Sequence[Name]) -> dict[str, list[coco.Coco | world.World]]:
        """Who is asked for each name: those that understand it best, so that no mere person passes for a woman."""
        known = {detector: detector.known(names) for detector in (self.coco, self.world)}
        found: dict[str, list[coco.Coco | world.World]] = {}
        for name in (name.label for name in names):
            closeness = {detector: each[name].closeness for detector, each in known.items() if name in each}
            found[name] = [detector for detector, own in closeness.items() if own == max(closeness.values())]
        return found


def paired(ours: Sequence[Sighting], theirs: Sequence[Sighting]) -> list[tuple[Sighting | None, Sighting | None]]:
    """Sightings of one label at one place side by side; the rest alone."""
    free = list(theirs)
    pairs: list[tuple[Sighting | None, Sighting | None]] = []
    for mine in ours:
        rivals = [other for other in free if other.label == mine.label]
        best = max(rivals, key=lambda other: other.box.iou(mine.box), default=None)
        if best and best.box.iou(mine.box) >= SAME_OBJECT:
            free.remove(best)
            pairs.append((mine, best))
        else:
            pairs.append((mine, None))
    return [*pairs, *((None, other) for other in free)]


def fuse(ours: Sighting | None, theirs: Sighting | None) -> Sighting:
    """One sighting of a pair: the surer box, and the probability that the pair's two scores stand for."""
    if ours and theirs:
        surer = max(ours, theirs, key=lambda s: s.confidence)
        return replace(surer, confidence=agreed(ours.confidence, theirs.confidence), source="picodet + yolo-world")
    if ours:
        return replace(ours, confidence=agreed(ours.confidence, None))
    assert theirs  # noqa: S101 (a pair holds at least one)
    return replace(theirs, confidence=agreed(None, theirs.confidence)) if theirs.word in COCO else theirs


def load(settings: Settings) -> Fused | coco.Coco:
    """Both detectors, or the permissive one alone."""
    return coco.Coco(settings) if settings.permissive else Fused(settings)
