"""People: joints and postures (MoveNet), whether a face smiles (MediaPipe), apparent sex and age (a probe of our own).

The probe was trained by training/people/train.py on photos with captions; PERSON_KIND.md is its model card.
"""

import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
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
from onprompt.vision.runtime import Network, Source, network, openvino_core, ov, source, thread_safe_cache
from onprompt.vision.vocabulary import TERMS, values_by_word

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

FACE_FILES = ("face_landmarker.task",)
FACE_SIDE = 256  # pixels of the square that the landmark network takes
MIN_PRESENCE = 0.5  # probability of a face
MIN_FACE = 25  # pixels of a face's square; in a smaller one a mouth can't be read
FACE_MARGIN = 1.5  # side of the square around a face, in sizes of the face
OUTER_EYES = 33, 263  # landmarks, the right eye's first
SMILES = 44, 45  # indices of mouthSmileLeft and mouthSmileRight among the 52 blendshapes
NO_SMILE, SMILE = 0.2, 0.7  # blendshape values: surely no smile, surely a smile
SMILE_PRECISION = 0.8  # how often people agree: bench/vision.py
BLENDSHAPE_LANDMARKS = np.array(TERMS["expression"]["landmarks"])
FACE_NETWORKS = {  # of the file; the shape of each one's input
    "face_landmarks_detector.tflite": (1, FACE_SIDE, FACE_SIDE, 3),
    "face_blendshapes.tflite": (1, len(BLENDSHAPE_LANDMARKS), 2),
}
SMILING = frozenset(TERMS["expression"]["smiling"].split())
NOT_SMILING = frozenset(TERMS["expression"]["not smiling"].split())

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


# ---- faces -----------------------------------------------------------------------------------------------------------


@thread_safe_cache
def load_face(made_of: Source) -> tuple[Network, ...]:
    """Landmarks and blendshapes, compiled once per process."""

    def read(member: str) -> ov.Model:
        """OpenVINO reads models from files only; on Windows, it may still hold one when it should be deleted."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, zipfile.ZipFile(made_of.file) as task:
            return openvino_core().read_model(task.extract(member, folder))

    networks = FACE_NETWORKS.items()
    return tuple(network(Path(name).stem, made_of, partial(read, name), shapes=[shape]) for name, shape in networks)


def smile_traits(picture: Picture, person: Person, settings: Settings) -> list[Trait]:
    """Smiling or not, if the face is large enough."""
    if (smile := smile_score(picture, person, settings)) is None:
        return []
    probability = ramp(smile, NO_SMILE, SMILE)
    value = "smiling" if probability >= 0.5 else "not smiling"
    return [Trait("expression", value, round(SMILE_PRECISION * max(probability, 1 - probability), 4))]


def smile_score(picture: Picture, person: Person, settings: Settings) -> float | None:
    """How far the corners of the mouth are drawn up, in [0, 1]; None where no face can be read."""
    transform = crop_from_joints(person)
    if transform is None:
        return None
    landmarks, blendshapes = load_face(source(FACE_FILES, settings))
    points: Point = np.empty((0, 2))
    for _ in range(2):  # joints place a face roughly; its own landmarks place it well
        crop = cv2.warpAffine(picture.pixels, transform, (FACE_SIDE, FACE_SIDE), flags=cv2.INTER_CUBIC)
        coordinates, presence = landmarks.run([crop[None].astype(np.float32) / 255])[:2]
        if 1 / (1 + np.exp(-float(presence.item()))) < MIN_PRESENCE:
            return None
        points = coordinates.reshape(-1, 3)[:, :2]
        transform = crop_from_landmarks(points, transform)
    if FACE_SIDE / np.hypot(*transform[0, :2]) < MIN_FACE:
        return None
    (values,) = blendshapes.run([points[None, BLENDSHAPE_LANDMARKS].astype(np.float32)])
    return float(values[list(SMILES)].mean())


def crop_from_joints(person: Person) -> Point | None:
    """The transform to the square around a face, estimated from nose, eyes and ears."""
    joints = person.joints
    if not {"nose", "left eye", "right eye"} <= joints.keys():
        return None
    middle = person.middle("eye")
    ears = [float(np.hypot(*(joints[name] - middle))) for name in ("left ear", "right ear") if name in joints]
    across, down = joints["left eye"] - joints["right eye"], joints["nose"] - middle
    face = max(2.2 * max(float(np.hypot(*across)), *ears, 0.0), 3.2 * float(np.hypot(*down)))
    return crop_transform(middle + 0.6 * down, across, 0.9 * FACE_MARGIN * face)


def crop_from_landmarks(points: Point, transform: Point) -> Point:
    """The transform to the square around a face, from its landmarks in another square."""
    inverse = cv2.invertAffineTransform(transform)
    points = points @ inverse[:, :2].T + inverse[:, 2]
    low, high = points.min(axis=0), points.max(axis=0)
    right, left = (points[index] for index in OUTER_EYES)
    return crop_transform((low + high) / 2, left - right, FACE_MARGIN * float((high - low).max()))


def crop_transform(centre: Point, across: Point, size: float) -> Point:
    """The affine transform that rotates and scales a square of the image so that the line between the eyes is level."""
    angle = float(np.degrees(np.arctan2(across[1], across[0])))
    rotation = cv2.getRotationMatrix2D((float(centre[0]), float(centre[1])), angle, FACE_SIDE / max(size, 1.0))
    shift = np.zeros((2, 3))
    shift[:, 2] = FACE_SIDE / 2 - np.asarray(centre)
    return np.asarray(rotation, dtype=np.float64) + shift


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
