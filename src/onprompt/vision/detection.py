"""Step 2: detect the objects in an image, then measure them. What that takes can be loaded ahead."""

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

import cv2
import numpy as np

from onprompt.settings import Settings
from onprompt.types import Detections, Name, Picture, Sighting, Trait
from onprompt.vision import backbone, color, geometry, masks, people
from onprompt.vision.detectors import load_detector
from onprompt.vision.matchers import load_matcher
from onprompt.vision.runtime import on_single_core, openvino_core, source, thread_state
from onprompt.weights import blobs

APPEARANCE_FILES = (*masks.FILES, *people.POSE_FILES, *people.FACE_FILES)
PEOPLE = frozenset({"person", *people.WORDS})
MAX_MEASURED = 24  # sightings per image whose appearance is measured
UNSURE = 0.6  # confidence below which an object in an unusual color may have been missed
CONTRAST = (2.0, (8, 8))  # limit and tiles of adaptive histogram equalization
IN_FRONT = 0.5  # confidence from which a sighting may hide another one
OCCLUDED = 0.3  # share of a box that an object in front of it covers, from which it is occluded


def detect(
    picture: Picture, names: Sequence[Name], settings: Settings, measured: Collection[str] | None = None
) -> Detections:
    """The sightings in an image, with measurements.

    Size and position are measured for all. Masks, colors and posture cost more and are measured for confident
    sightings of the names in `measured`; by default, of all names that were asked for.
    """
    seen = see_without_colors(picture, load_detector(settings).see(picture, names), names, settings)
    kinds = {name.label for name in names if people.traits_said(name)}
    return measure(picture, seen, settings, measured, kinds)


def see_without_colors(picture: Picture, seen: Detections, names: Sequence[Name], settings: Settings) -> Detections:
    """What is seen, with what a gray image shows better: detectors hardly know a green bicycle."""
    surest = {sighting.label: sighting.confidence for sighting in reversed(seen.sightings)}
    doubtful = [name for name in names if name.colored and surest.get(name.label, 0.0) < UNSURE]
    if not doubtful or seen.known.keys().isdisjoint(name.label for name in doubtful):
        return seen
    gray = cv2.createCLAHE(*CONTRAST).apply(cv2.cvtColor(picture.pixels, cv2.COLOR_RGB2GRAY))
    decoded = picture.decoded._replace(pixels=np.asarray(cv2.cvtColor(gray, cv2.COLOR_GRAY2RGB), dtype=np.uint8))
    other = load_detector(settings).see(replace(picture, decode=lambda: decoded), doubtful)
    best = {sighting.label: sighting.confidence for sighting in reversed(other.sightings)}
    better = {name.label for name in doubtful if best.get(name.label, 0.0) > surest.get(name.label, 0.0)}
    kept = [sighting for sighting in seen.sightings if sighting.label not in better]
    added = [sighting for sighting in other.sightings if sighting.label in better]
    return replace(seen, sightings=tuple(sorted([*kept, *added], key=lambda sighting: -sighting.confidence)))


def measure(
    picture: Picture, seen: Detections, settings: Settings, labels: Collection[str] | None, kinds: Collection[str] = ()
) -> Detections:
    """The sightings with size and position, those of some labels with their appearance.

    `kinds` are the labels that say more of a person than that it is one.
    """
    wanted = set(seen.known if labels is None else labels)
    fronts = [sighting for sighting in seen.sightings if sighting.confidence >= IN_FRONT]
    located = [measure_geometry(sighting, fronts, settings) for sighting in seen.sightings]
    chosen = select_for_appearance([sighting for sighting in located if sighting.label in wanted], settings)
    persons = people.detect_people(picture, settings) if any(sighting.word in PEOPLE for sighting in chosen) else ()
    gain = color.exposure_gain(picture.pixels) if chosen else 1.0
    measured = [
        measure_appearance(sighting, picture, gain, persons, settings) if sighting in chosen else sighting
        for sighting in located
    ]
    narrower = {label for label, known in seen.known.items() if known.closeness < 1 and label in kinds}
    told = select_for_appearance([s for s in measured if s.word in PEOPLE and s.label in narrower], settings)
    for index, sighting in enumerate(measured):
        if sighting in told:
            traits = people.kind_traits(picture, sighting.box, settings)
            measured[index] = replace(sighting, traits=(*sighting.traits, *traits))
    return Detections(tuple(measured), seen.known)


def select_for_appearance(sightings: Sequence[Sighting], settings: Settings) -> list[Sighting]:
    """The most confident sightings: all above the threshold; of a label that has none, the best if it may count."""
    confident = [sighting for sighting in sightings if sighting.confidence >= settings.low_confidence]
    labels = {sighting.label for sighting in confident}
    weak = {sighting.label: sighting for sighting in reversed(sightings) if sighting.label not in labels}
    return [*confident, *(best for best in weak.values() if best.confidence >= settings.min_confidence)][:MAX_MEASURED]


def measure_geometry(sighting: Sighting, fronts: Sequence[Sighting], settings: Settings) -> Sighting:
    """Add size, position, truncation and occlusion by the confident sightings."""
    size, position = geometry.size_of(sighting.box, settings), geometry.position_of(sighting.box)
    traits = [
        Trait("size", size, geometry.size_confidence(sighting.box, settings)),
        Trait("position", position, geometry.position_confidence(sighting.box)),
    ]
    if truncated := geometry.is_truncated(sighting.box):
        traits.append(Trait("visibility", "truncated", 1.0))
    covered = max((occlusion(sighting, other) for other in fronts if other is not sighting), default=0.0)
    if covered >= OCCLUDED:
        traits.append(Trait("visibility", "occluded", round(min(1.0, covered), 4)))
    return replace(sighting, size=size, position=position, truncated=truncated, traits=(*sighting.traits, *traits))


def occlusion(sighting: Sighting, other: Sighting) -> float:
    """The share of a box that another object covers whose lower edge is lower."""
    box, front = sighting.box, other.box
    lower = front.bottom > box.bottom
    smaller = front.area < box.area  # a larger object may be what it stands on
    if not (lower and smaller) or box.iou(front) >= 0.5:  # one object under two names, or twice
        return 0.0
    return geometry.containment(box, front)


def measure_appearance(
    sighting: Sighting, picture: Picture, gain: float, persons: Sequence[people.Person], settings: Settings
) -> Sighting:
    """Add mask and colors; for a person, joints, posture and expression."""
    box = sighting.box
    mask = masks.segment(picture, box, settings) if sighting.mask is None else sighting.mask
    patches = color.dominant_colors(masks.masked_pixels(picture, box, mask), gain, color.MIN_PATCH)
    colors = tuple(swatch for swatch in patches if swatch.share >= settings.color_share)
    traits = [
        *(Trait("color", swatch.name, color.swatch_confidence(swatch)) for swatch in colors),
        *([Trait("pattern", "multicolored", 0.6)] if len(patches) >= color.MANY_COLORS else []),
        *sighting.traits,
    ]
    joints = sighting.joints
    if sighting.word in PEOPLE and (person := people.match_person(persons, box)):
        height, width = picture.pixels.shape[:2]
        joints = tuple((name, (float(x / width), float(y / height))) for name, (x, y) in person.joints.items())
        traits += [*people.posture_traits(person), *people.smile_traits(picture, person, settings)]
    return replace(sighting, mask=mask, colors=colors, joints=joints, traits=tuple(traits))


@cache
def load_ahead(settings: Settings, measured: bool = False) -> None:
    """Begin to load in a thread what every verdict needs, or what measures appearance; once per process.

    Only if networks were compiled before, else files may have to be fetched first. What fails here fails again where
    it is needed, and is reported then.
    """
    # What loads models may import torch, which is best imported by one thread alone.
    if settings.names_a_model or not any(blobs.folder(settings).glob(f"*{blobs.SUFFIX}")):
        return
    single_core = on_single_core()
    detector: list[Callable[[], object]] = [partial(load_detector, settings)]
    matcher = [
        partial(load_matcher, settings),
        lambda: backbone.load_backbone(source(backbone.FILES, settings), backbone.OUTPUTS),
    ]
    appearance = [
        lambda: masks.load_segmenter(source(masks.FILES, settings)),
        lambda: people.load_joints(source(people.POSE_FILES, settings)),
    ]

    def work() -> None:
        thread_state.single_core, thread_state.at_once = single_core, True
        for load in appearance if measured else [*detector, *(matcher if settings.matcher else ())]:
            with suppress(Exception):
                load()

    openvino_core()  # which sets a variable of the environment for a moment: no other thread should run then
    threading.Thread(target=work, name="onprompt-ahead").start()
