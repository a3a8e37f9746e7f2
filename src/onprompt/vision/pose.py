"""Body posture: joints by MoveNet, and postures as plain geometry of the joints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Picture, Trait
from onprompt.vision.boxes import Floats, letterbox
from onprompt.vision.geometry import ramp
from onprompt.vision.runtime import Network, Source, network, openvino_core, source, thread_safe_cache
from onprompt.vision.vocabulary import values_by_word

FILES = ("movenet-multipose.tflite",)
SIDE = 256  # pixels; always a square, since OpenVINO keeps memory for each shape
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
Point = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Person:
    """A person's box, and the visible joints in pixels, so that angles are true; what needs others is a KeyError."""

    box: Box
    joints: dict[str, Point]

    def middle(self, joint: str) -> Point:
        """The midpoint of a pair of joints, or the visible one of the two."""
        visible = [self.joints[name] for side in SIDES if (name := f"{side} {joint}") in self.joints]
        if not visible:
            raise KeyError(joint)
        return np.asarray(np.mean(visible, axis=0))

    @property
    def torso(self) -> Point:
        """The vector from the hips to the shoulders."""
        return self.middle("shoulder") - self.middle("hip")

    def in_torsos(self, length: float) -> float:
        """A length in pixels as a multiple of the torso's."""
        return length / max(float(np.linalg.norm(self.torso)), 1e-6)

    def drop(self, joint: str) -> float:
        """How far a pair of joints is below the hips, in torsos."""
        return self.in_torsos(float(self.middle(joint)[1] - self.middle("hip")[1]))

    @property
    def stride(self) -> float:
        """The distance between the ankles, in torsos."""
        return self.in_torsos(float(np.linalg.norm(self.joints["left ankle"] - self.joints["right ankle"])))

    @property
    def knee_angle(self) -> float:
        """The angle in degrees at the knee that is bent more."""
        angles = self.angles("hip", "knee", "ankle")
        if not angles:
            raise KeyError("knee")
        return min(angles)

    def angles(self, first: str, corner: str, last: str) -> list[float]:
        """The angle at a joint in degrees, on each side where it is visible."""
        angles = []
        for side in SIDES:
            a, b, c = (self.joints.get(f"{side} {name}") for name in (first, corner, last))
            if a is not None and b is not None and c is not None:
                u, v = a - b, c - b
                cosine = u @ v / max(float(np.linalg.norm(u) * np.linalg.norm(v)), 1e-6)
                angles.append(float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))))
        return angles


@thread_safe_cache
def load_joints(made_of: Source) -> Network:
    """The network, compiled once per process."""
    shapes = ((1, SIDE, SIDE, 3),)
    return network("movenet", made_of, lambda: openvino_core().read_model(made_of.file), shapes=shapes)


def detect_people(picture: Picture, settings: Settings) -> tuple[Person, ...]:
    """Up to six people."""
    height, width = picture.pixels.shape[:2]
    padded, inner = letterbox(picture.pixels, SIDE, SIDE, fill=0, enlarge=cv2.INTER_AREA)
    (rows,) = load_joints(source(FILES, settings)).run([padded[None]])
    scale = np.array([padded.shape[1] / inner[0], padded.shape[0] / inner[1]])
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


Posture = Callable[[Person], float | None]
POSTURES: dict[str, Posture] = {}


def posture(score: Callable[[Person], float]) -> Posture:
    """Register a posture: how likely it is, in [0, 1], or None where the joints that it needs are not visible."""

    @wraps(score)
    def score_if_visible(person: Person) -> float | None:
        try:
            return score(person)
        except KeyError:
            return None

    POSTURES[score.__name__.replace("_", " ")] = score_if_visible
    return score_if_visible


def upright(person: Person) -> float:
    """The torso is within 30° of vertical; 0 from 60° on."""
    x, y = person.torso
    return ramp(float(np.degrees(np.arctan2(abs(x), -y))), 60, 30)


@posture
def sitting(person: Person) -> float:
    """The torso is upright and the knees are little lower than the hips: .35 torsos, where standing has .8."""
    return upright(person) * ramp(person.drop("knee"), 0.65, 0.35)


@posture
def standing(person: Person) -> float:
    """The torso is upright, the knees are straight and the feet far below the hips."""
    return upright(person) * ramp(person.knee_angle, 120, 150) * ramp(person.drop("ankle"), 0.8, 1.2)


@posture
def walking(person: Person) -> float:
    """Upright, the feet at least half a torso apart, and no knee bent sharply."""
    return upright(person) * ramp(person.stride, 0.25, 0.5) * ramp(person.knee_angle, 90, 120)


@posture
def running(person: Person) -> float:
    """A knee is bent, the feet are far apart, and the knees are below the hips."""
    return ramp(person.stride, 0.5, 0.9) * ramp(person.knee_angle, 150, 120) * ramp(person.drop("knee"), 0.2, 0.5)


@posture
def jumping(person: Person) -> float:
    """The feet are drawn up under a body that does not sit; never sure, since joints don't show the ground."""
    return 0.6 * ramp(person.drop("ankle"), 1.3, 0.9) * ramp(person.drop("knee"), 0.2, 0.5)


@posture
def lying(person: Person) -> float:
    """The torso is within 30° of horizontal; 0 from 50° on."""
    x, y = person.torso
    return ramp(float(np.degrees(np.arctan2(abs(y), abs(x)))), 50, 30)


@posture
def arms_raised(person: Person) -> float:
    """A wrist is higher than its shoulder, by a quarter of a torso."""
    pairs = [(person.joints.get(f"{side} shoulder"), person.joints.get(f"{side} wrist")) for side in SIDES]
    lifts = [float(shoulder[1] - wrist[1]) for shoulder, wrist in pairs if shoulder is not None and wrist is not None]
    if not lifts:
        raise KeyError("wrist")
    return ramp(person.in_torsos(max(lifts)), 0.0, 0.25)


@posture
def crouching(person: Person) -> float:
    """The knees are bent sharply and the hips are close to the feet."""
    return ramp(person.knee_angle, 110, 80) * ramp(person.drop("ankle"), 1.0, 0.6)


def posture_of(action: str) -> str | None:
    """The posture that an action names: `sitting down` → `sitting`, `with arms raised` → `arms raised`."""
    words = action.lower().split()
    raised = {"raised", "raising", "raise", "up"} & {*words[:1], *words[-1:]}
    if raised and {"arm", "arms", "hand", "hands"} & set(words):
        return "arms raised"
    return next((POSTURE_WORDS[word] for word in words if word in POSTURE_WORDS), None)


# How often people name the posture that the joints show: bench/vision.py, on captions of photos. Joints can't tell
# walking from standing with the feet apart, nor whether there is air under the feet.
EXCLUSIVE = ("sitting", "standing", "lying")  # at most one of these is true of a person
PRECISION = {"sitting": 0.8, "lying": 0.8, "standing": 0.6, "arms raised": 0.45}
OTHER_PRECISION = 0.4


def traits(person: Person) -> list[Trait]:
    """The postures that are likelier than not, by descending confidence."""
    scores = {name: score(person) for name, score in POSTURES.items()}
    found = [
        Trait("action", name, round(score * PRECISION.get(name, OTHER_PRECISION), 4))
        for name, score in scores.items()
        if score is not None and score >= 0.5
    ]
    return sorted(found, key=lambda trait: -trait.confidence)
