"""Step 2: from a picture to what is in it. Detect, then measure."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace

from onprompt import plugins
from onprompt.settings import Settings
from onprompt.types import Box, Detector, Look, Name, Picture, Seen, Sighting, Trait
from onprompt.vision import colour, face, geometry, masks, pose, shape

PEOPLE = frozenset({"person", "man", "woman", "boy", "girl", "child", "baby"})
CROWD = 10  # sure sightings of one name from which it is a crowd, whose number is a range
MOST = 24  # sightings that are measured closely in one picture
HIDDEN = 0.3  # share of a box that another object in front of it covers, from which it is partly hidden

loaded: dict[Settings, Detector] = {}
loading = threading.Lock()


def detector(settings: Settings) -> Detector:
    """The detector that the settings name, made once for each set of settings; networks are shared between them."""
    with loading:
        if settings not in loaded:
            name = settings.detector.partition(":")[0]  # `hf:IDEA-Research/grounding-dino-tiny` names a model too
            loaded[settings] = plugins.load("vision.detectors", name).load(settings)
        return loaded[settings]


def look(picture: Picture, names: Sequence[Name], settings: Settings, closely: Collection[str] | None = None) -> Seen:
    """What the detector sees, each sighting measured.

    Size and place are told of all; masks, colours, shape and posture cost more, and are told of sure sightings of the
    names in `closely`; without it, of all names that were asked for.
    """
    return look_many([picture], names, settings, closely)[0]


def look_many(
    pictures: Sequence[Picture], names: Sequence[Name], settings: Settings, closely: Collection[str] | None = None
) -> list[Seen]:
    """The same for several pictures, which the detector may look at together."""
    seen = detector(settings).see([Look(picture, names) for picture in pictures])
    return [measured(*pair, settings, closely) for pair in zip(pictures, seen, strict=True)]


def measured(picture: Picture, seen: Seen, settings: Settings, closely: Collection[str] | None) -> Seen:
    """What was seen, with size, place and, where that is wanted, all the rest."""
    wanted = set(seen.known if closely is None else closely)
    placed = [place(each, seen.sightings, settings) for each in seen.sightings]
    chosen = worth_measuring([each for each in placed if each.label in wanted], settings)
    people = pose.people(picture, settings) if any(is_person(each) for each in chosen) else ()
    gain = colour.exposure(picture.pixels)
    told = [measure(each, picture, gain, people, settings) if each in chosen else each for each in placed]
    return Seen((*told, *crowds(told, settings)), seen.known)


def worth_measuring(sightings: Sequence[Sighting], settings: Settings) -> list[Sighting]:
    """The sure sightings; of a name that has none, the one that is surest if any serves. Of very many, the surest."""
    sure = [each for each in sightings if each.confidence >= settings.low_confidence]
    labels = {each.label for each in sure}
    weak = {each.label: each for each in reversed(sightings) if each.label not in labels}
    return [*sure, *(each for each in weak.values() if each.confidence >= settings.missing_below)][:MOST]


def place(sighting: Sighting, all_of_them: Sequence[Sighting], settings: Settings) -> Sighting:
    """Size, position, and what keeps it from being seen whole."""
    size, position = geometry.size_of(sighting.box, settings), geometry.position_of(sighting.box)
    notes = [
        Trait("size", size, geometry.sure_of_size(sighting.box, settings)),
        Trait("position", position, geometry.sure_of_position(sighting.box)),
    ]
    if cut := geometry.truncated(sighting.box):
        notes.append(Trait("visibility", "truncated", 1.0))
    covered = max((cover(sighting, other) for other in all_of_them if other is not sighting), default=0.0)
    if covered >= HIDDEN:
        notes.append(Trait("visibility", "occluded", round(min(1.0, covered), 4)))
    return replace(
        sighting,
        size=size,
        position=position,
        truncated=cut,
        traits=(*sighting.traits, *notes),
    )


def cover(behind: Sighting, before: Sighting) -> float:
    """The share of a box that another covers whose foot is lower, and which is another thing, surely seen."""
    lower = before.box.bottom > behind.box.bottom and before.confidence >= 0.5
    smaller = before.box.area < behind.box.area  # what is larger may be what it stands on
    same = behind.box.iou(before.box) >= 0.5  # one thing under two names, or twice
    return behind.box.overlap(before.box).area / behind.box.area if lower and smaller and not same else 0.0


def is_person(sighting: Sighting) -> bool:
    """Whether a sighting is of a human being, by the detector's word."""
    return sighting.word in PEOPLE


def measure(
    sighting: Sighting, picture: Picture, gain: float, people: Sequence[pose.Person], settings: Settings
) -> Sighting:
    """Mask, colours, shape, posture and expression."""
    mask = masks.outline(picture, sighting.box, settings) if sighting.mask is None else sighting.mask
    patches = colour.dominant(masks.pixels_inside(picture, sighting.box, mask), gain, colour.PATCH)
    colours = tuple(each for each in patches if each.share >= settings.colour_share)
    traits = [
        *(Trait("color", each.name, colour.sure(each)) for each in colours),
        *([Trait("pattern", "multicolored", 0.6)] if len(patches) >= colour.MANY else []),
        *sighting.traits,
        *([] if sighting.truncated else shape.traits(mask, aspect(sighting.box, picture))),
    ]
    someone = pose.who(people, sighting.box) if is_person(sighting) else None
    if someone is None:
        return replace(sighting, mask=mask, colours=colours, traits=tuple(traits))
    size = picture.pixels.shape[1], picture.pixels.shape[0]
    joints = tuple((name, (float(at[0] / size[0]), float(at[1] / size[1]))) for name, at in someone.joints.items())
    traits += [*pose.traits(someone), *face.traits(picture, someone, settings)]
    return replace(sighting, mask=mask, colours=colours, joints=joints, traits=tuple(traits))


def aspect(box: Box, picture: Picture) -> float:
    """Width over height of a box, in pixels."""
    height, width = picture.pixels.shape[:2]
    return float(box.width * width / max(box.height * height, 1e-6))


def crowds(sightings: Sequence[Sighting], settings: Settings) -> list[Sighting]:
    """For each name with very many sightings, one that stands for all: at least the sure ones, at most all."""
    by_label: dict[str, list[Sighting]] = {}
    for each in sightings:
        by_label.setdefault(each.label, []).append(each)
    found = []
    for label, mine in by_label.items():
        sure = sum(each.confidence >= settings.low_confidence for each in mine)
        if sure >= CROWD:
            around = Box(
                min(each.box.left for each in mine),
                min(each.box.top for each in mine),
                max(each.box.right for each in mine),
                max(each.box.bottom for each in mine),
            )
            # As many as are sure is the least; those that small size and crowding hide are at most half as many again.
            crowd = Sighting(
                label, mine[0].word, around, settings.missing_below, mine[0].source, count=(sure, round(sure * 1.5))
            )
            found.append(place(crowd, (), settings))
    return found
