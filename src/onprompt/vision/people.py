"""People: joints and postures (MoveNet), apparent sex and age (a probe of our own).

The probe was trained by training/people/train.py on photos with captions; PERSON_KIND.md is its model card.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Name, Picture, Trait
from onprompt.vision import backbone
from onprompt.vision.boxes import Floats, Pixels
from onprompt.vision.geometry import ramp
from onprompt.vision.runtime import Network, Source, network, openvino_core, source, thread_safe_cache
from onprompt.vision.vocabulary import values_by_word

POSE_FILES = ("movenet-multipose.tflite",)
POSE_SIDE = 256  # pixels; always a square, since OpenVINO keeps memory for each shape
JOINTS = (
    *("nose", "left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder", "left elbow"),
    *("right elbow", "left wrist", "right wrist", "left hip", "right hip", "left knee", "right knee", "left ankle"),
    "right ankle",
)
MIN_JOINT_SCORE = 0.2
MIN_PERSON_SCORE = 0.2
MIN_IOU = 0.4  # of a person's box with a sighting's
SIDES = ("left", "right")
POSTURE_WORDS = values_by_word("posture")
# How often people name the posture that the joints show: bench/vision.py, on captions of photos. There are no others:
# joints hardly tell walking, running or jumping from standing.
PRECISION = {"sitting": 0.8, "lying": 0.8, "standing": 0.6}
Point = NDArray[np.floating[Any]]

KIND_WEIGHTS = Path(__file__).with_name("person_kind.npz")
KIND_FILES = (*backbone.FILES, str(KIND_WEIGHTS))
KINDS = {"sex": ("male", "female"), "age": ("adult", "child")}  # what a probability of 0 and of 1 stands for
MALE, FEMALE, CHILD = ("sex", "male"), ("sex", "female"), ("age", "child")
# What each word says. "girl" and "boy" are also said of adults, so that age never speaks against them.
WORDS = {
    "man": (MALE,),
    "woman": (FEMALE,),
    "boy": (MALE, CHILD),
    "girl": (FEMALE, CHILD),
    "child": (CHILD,),
    "baby": (CHILD,),
}
KIND_MARGIN = 0.1  # of a box's width and height, added on each side
GRAY = 124  # about the mean of ImageNet
DECIDED = 0.75  # probability from which a kind is told
MIN_PERSON = 32  # pixels of a box's shorter side; in a smaller one it can't be told


# ---- joints ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Person:
    """A person's box, and the visible joints in pixels, so that angles are true; what needs others is a KeyError."""

    box: Box
    joints: Mapping[str, Point]

    def middle(self, joint: str) -> Point:
        """The midpoint of a pair of joints, or the visible one of the two."""
        visible = [self.joints[name] for side in SIDES if (name := f"{side} {joint}") in self.joints]
        if not visible:
            raise KeyError(joint)
        return np.asarray(np.mean(visible, axis=0))

    def posture_probabilities(self) -> dict[str, float]:
        """How likely the body lies, sits or stands, as far as the joints that tell it are visible."""
        found: dict[str, float] = {}
        with suppress(KeyError):
            hip = self.middle("hip")
            x, y = self.middle("shoulder") - hip
            torso = max(float(np.hypot(x, y)), 1e-6)
            upright = ramp(float(np.degrees(np.arctan2(abs(x), -y))), 60, 30)
            found["lying"] = ramp(float(np.degrees(np.arctan2(abs(y), abs(x)))), 50, 30)
            knee = float(self.middle("knee")[1] - hip[1]) / torso  # how far below the hips
            found["sitting"] = upright * ramp(knee, 0.65, 0.35)
            ankle = float(self.middle("ankle")[1] - hip[1]) / torso
            found["standing"] = upright * ramp(knee, 0.5, 0.8) * ramp(ankle, 0.8, 1.2)
        return found


@thread_safe_cache
def load_joints(made_of: Source) -> Network:
    """The network, compiled once per process."""
    shapes = ((1, POSE_SIDE, POSE_SIDE, 3),)
    return network("movenet", made_of, lambda: openvino_core().read_model(made_of.file), shapes=shapes)


def detect_people(picture: Picture, settings: Settings) -> tuple[Person, ...]:
    """Up to six people."""
    height, width = picture.pixels.shape[:2]
    inner = [max(1, round(length * POSE_SIDE / max(width, height))) for length in (width, height)]
    padded = np.zeros((POSE_SIDE, POSE_SIDE, 3), dtype=np.uint8)
    padded[: inner[1], : inner[0]] = cv2.resize(picture.pixels, inner, interpolation=cv2.INTER_AREA)
    (rows,) = load_joints(source(POSE_FILES, settings)).run([padded[None]])
    scale = POSE_SIDE / np.array(inner)
    return tuple(parse_person(row, scale, (width, height)) for row in rows[0] if row[-1] >= MIN_PERSON_SCORE)


def parse_person(row: Floats, scale: Point, size: tuple[int, int]) -> Person:
    """A person from the network's output: y, x and score of 17 joints, then the box and its score."""
    points = row[:51].reshape(17, 3).astype(np.float64)
    pixels = points[:, 1::-1] * scale * size
    joints = {name: pixels[index] for index, name in enumerate(JOINTS) if points[index, 2] >= MIN_JOINT_SCORE}
    top, left, bottom, right = (float(value) for value in row[51:55])
    corners = left * scale[0], top * scale[1], right * scale[0], bottom * scale[1]
    return Person(Box(*np.clip(corners, 0, 1).tolist()), joints)


def match_person(people: Sequence[Person], box: Box) -> Person | None:
    """The person whose box overlaps that of a sighting most, if it does enough."""
    best = max(people, key=lambda person: person.box.iou(box), default=None)
    return best if best and best.box.iou(box) >= MIN_IOU else None


def posture_of(action: str) -> str | None:
    """The posture that an action names: `sitting down` → `sitting`."""
    return next((POSTURE_WORDS[word] for word in action.lower().split() if word in POSTURE_WORDS), None)


def posture_traits(person: Person) -> list[Trait]:
    """The postures that are likelier than not."""
    likely = person.posture_probabilities().items()
    return [Trait("action", name, round(value * PRECISION[name], 4)) for name, value in likely if value >= 0.5]


# ---- sex and age -----------------------------------------------------------------------------------------------------


def traits_said(name: Name) -> tuple[tuple[str, str], ...]:
    """The kinds and values that a name says, by itself or as a kind of another: a bride is a woman."""
    return next((WORDS[word] for word in (name.label, *name.broader) if word in WORDS), ())


@cache
def load_kinds() -> dict[str, Floats]:
    """A weight for each feature and an intercept, for each kind."""
    with np.load(KIND_WEIGHTS, allow_pickle=False) as data:
        return {name: data[name].astype(np.float32) for name in data.files}


def kind_traits(picture: Picture, box: Box, settings: Settings) -> list[Trait]:
    """The sex and age of the person in a box with calibrated probabilities, as far as they can be told."""
    height, width = picture.pixels.shape[:2]
    if min(box.width * width, box.height * height) < MIN_PERSON:
        return []
    precise = settings.model_copy(update={"precision": "f32"})  # as it was trained
    hidden, _ = backbone.run_backbone(person_crops(picture.pixels, box), precise)
    weights = load_kinds()
    odds = {kind: hidden.ravel() @ weights[kind] + weights[f"{kind}.intercept"] for kind in KINDS}
    chances = {kind: float(1 / (1 + np.exp(-odds[kind]))) for kind in KINDS}  # of the second: female, or child
    kinds = [Trait(kind, KINDS[kind][p >= 0.5], round(max(p, 1 - p), 4)) for kind, p in chances.items()]
    return [trait for trait in kinds if trait.confidence >= DECIDED]


def person_crops(pixels: Pixels, box: Box) -> list[Pixels]:
    """The whole person, padded to a square, then head and shoulders: the top of the box, as high as it is wide.

    Both with a margin, in the resolution of the training photos.
    """
    height, width = pixels.shape[:2]
    crop = pixels[span(box.top, box.bottom, height), span(box.left, box.right, width)]
    whole = backbone.recompress(backbone.shrink(crop))
    down, across = (max(whole.shape[:2]) - side for side in whole.shape[:2])
    borders = (down // 2, down - down // 2), (across // 2, across - across // 2), (0, 0)
    return [np.pad(whole, borders, constant_values=GRAY), np.ascontiguousarray(whole[: whole.shape[1]])]


def span(low: float, high: float, length: int) -> slice:
    """The pixels between two fractions of a side, with the margin."""
    margin = KIND_MARGIN * (high - low)
    first = min(max(0, round((low - margin) * length)), length - 1)
    return slice(first, max(first + 1, min(length, round((high + margin) * length))))
