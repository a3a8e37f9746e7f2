"""YOLO26 and YOLO-World (AGPL-3.0) on the same image: for names that both know, their scores are fused."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onprompt.settings import Settings
from onprompt.types import Detections, Name, NameMatch, Picture, Sighting
from onprompt.vision.boxes import Boxes, calibrate, load_curves
from onprompt.vision.vocabulary import COCO
from onprompt_yolo import CURVES, PACKAGES, world, yolo26


class FusedDetector:
    """A closed-set detector that is good at 80 classes, and an open-vocabulary one that knows many more names."""

    packages = PACKAGES

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.closed = yolo26.load(settings)
        self.open = world.load(settings)
        self.files = (*self.closed.files, *self.open.files)

    def see(self, picture: Picture, names: Sequence[Name]) -> Detections:
        """What both detect; of a name that one knows more closely, only that one's: no mere person for a woman."""
        closed, opened = self.closed.known(names), self.open.known(names)
        ours, theirs = closest(closed, opened), closest(opened, closed)
        scored = self.open.score(picture, names)
        sightings = calibrate_both(
            self.closed.candidates(picture, ours, any(name.fine for name in names)),
            self.open.candidates(scored, [name for name in names if name.label in theirs], theirs),
            (self.closed.curve.source, "yolo-world"),
            self.settings.min_confidence,
        )
        split = {name.label: name for name in names if name.label in theirs and name.split and name.split[0] in COCO}
        refined = [sighting for name in split.values() for sighting in refine(scored, name, sightings)]
        confident = [sighting for sighting in refined if sighting.confidence >= self.settings.min_confidence]
        rest = [sighting for sighting in sightings if sighting.label not in split]
        ordered = sorted((*rest, *confident), key=lambda sighting: -sighting.confidence)
        return Detections(tuple(ordered), {**opened, **ours, **theirs})


def closest(known: Mapping[str, NameMatch], other: Mapping[str, NameMatch]) -> dict[str, NameMatch]:
    """The names that one detector knows at least as closely as the other."""
    return {
        label: resolved
        for label, resolved in known.items()
        if label not in other or resolved.closeness >= other[label].closeness
    }


def calibrate_both(
    ours: Mapping[str, list[Boxes]],
    theirs: Mapping[str, list[Boxes]],
    curves: tuple[str, str],
    min_confidence: float,
) -> list[Sighting]:
    """The sightings of each name, by one detector or by both."""
    both = {label: [*ours[label], *theirs[label]] for label in ours if label in theirs}
    groups = (
        (both, " + ".join(curves)),
        ({label: candidates for label, candidates in ours.items() if label not in both}, curves[0]),
        ({label: candidates for label, candidates in theirs.items() if label not in both}, curves[1]),
    )
    return [
        sighting for group, curve in groups for sighting in calibrate(group, load_curves(CURVES)[curve], min_confidence)
    ]


def refine(scored: world.Scored, name: Name, sightings: Sequence[Sighting]) -> list[Sighting]:
    """Sightings of a broader class (person) as far as the open-vocabulary detector takes them for a name (woman)."""
    broader, _ = name.split or ("", ())
    by_box = {sighting.box: sighting for sighting in sightings if sighting.word == broader}
    return [
        replace(
            sighting,
            label=name.label,
            word=name.same[0],
            confidence=sighting.confidence * world.share_at(scored, name, box),
        )
        for box, sighting in by_box.items()
    ]


def load(settings: Settings) -> FusedDetector:
    """Both detectors, with their files fetched."""
    return FusedDetector(settings)
