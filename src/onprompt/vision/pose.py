"""How people hold themselves: joints by MoveNet, and postures as plain geometry of the joints.

Each posture is a function of one person with an answer in [0, 1], or None where the joints that it needs are not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Box, Picture, Trait
from onprompt.vision.boxes import Floats
from onprompt.vision.geometry import ramp
from onprompt.vision.runtime import Network, core, once
from onprompt.weights.cache import paths

FILES = ("movenet-multipose.tflite",)
SIDE, STEP = 256, 32  # pixels of the longer side, and what both must be multiples of
JOINTS = (
    *("nose", "left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder", "left elbow"),
    *("right elbow", "left wrist", "right wrist", "left hip", "right hip", "left knee", "right knee", "left ankle"),
    "right ankle",
)
SEEN = 0.2  # score from which a joint is seen
PERSON = 0.2  # score from which a person is one
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Person:
    """Someone's box and the places of the joints that are seen, in pixels, so that angles are true."""

    box: Box
    joints: dict[str, NDArray[np.float64]]

    def middle(self, joint: str) -> NDArray[np.float64] | None:
        """The middle of a pair of joints, or the one that is seen."""
        found = [self.joints[name] for side in SIDES if (name := f"{side} {joint}") in self.joints]
        return np.mean(found, axis=0) if found else None

    def torso(self) -> NDArray[np.float64] | None:
        """From the hips to the shoulders."""
        shoulders, hips = self.middle("shoulder"), self.middle("hip")
        return None if shoulders is None or hips is None else shoulders - hips

    def angles(self, first: str, corner: str, last: str) -> list[float]:
        """The angle at a joint, in degrees, on each side where it can be seen."""
        found = []
        for side in SIDES:
            a, b, c = (self.joints.get(f"{side} {name}") for name in (first, corner, last))
            if a is not None and b is not None and c is not None:
                one, other = a - b, c - b
                cosine = one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-6)
                found.append(float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))))
        return found


@once
def network(path: Path) -> Network:
    """Compiled once in a process."""
    return Network(core().read_model(path))


def people(picture: Picture, settings: Settings) -> tuple[Person, ...]:
    """Up to six people."""
    height, width = picture.pixels.shape[:2]
    ratio = SIDE / max(height, width)
    inner = max(1, round(width * ratio)), max(1, round(height * ratio))
    padded = np.zeros((-(-inner[1] // STEP) * STEP, -(-inner[0] // STEP) * STEP, 3), dtype=np.uint8)
    padded[: inner[1], : inner[0]] = cv2.resize(picture.pixels, inner, interpolation=cv2.INTER_AREA)
    (rows,) = network(paths(FILES, settings)[FILES[0]]).run([padded[None]])
    scale = np.array([padded.shape[1] / inner[0], padded.shape[0] / inner[1]])
    return tuple(person(row, scale, (width, height)) for row in rows[0] if row[-1] >= PERSON)


def person(row: Floats, scale: NDArray[np.float64], size: tuple[int, int]) -> Person:
    """A person out of the network's numbers: 17 times y, x and score, then the box and its score."""
    points = row[:51].reshape(17, 3).astype(np.float64)
    places = points[:, 1::-1] * scale * size
    joints = {name: places[index] for index, name in enumerate(JOINTS) if points[index, 2] >= SEEN}
    top, left, bottom, right = (float(value) for value in row[51:55])
    return Person(
        Box(*np.clip((left * scale[0], top * scale[1], right * scale[0], bottom * scale[1]), 0, 1).tolist()), joints
    )


def who(people_seen: Sequence[Person], box: Box) -> Person | None:
    """The person whose box is that of a sighting, or nearly."""
    best = max(people_seen, key=lambda each: each.box.iou(box), default=None)
    return best if best and best.box.iou(box) >= 0.4 else None


def upright(one: Person) -> float | None:
    """The torso stands within 30° of vertical; no longer at 60°."""
    torso = one.torso()
    return None if torso is None else ramp(float(np.degrees(np.arctan2(abs(torso[0]), -torso[1]))), 60, 30)


def lying(one: Person) -> float | None:
    """The torso lies within 30° of horizontal."""
    torso = one.torso()
    return None if torso is None else ramp(float(np.degrees(np.arctan2(abs(torso[1]), abs(torso[0])))), 50, 30)


def legs(one: Person) -> tuple[float, float] | None:
    """How far the knees and the ankles are below the hips, in torsos."""
    torso, hips, knees, ankles = one.torso(), one.middle("hip"), one.middle("knee"), one.middle("ankle")
    if torso is None or hips is None or knees is None or ankles is None:
        return None
    length = max(float(np.linalg.norm(torso)), 1e-6)
    return float(knees[1] - hips[1]) / length, float(ankles[1] - hips[1]) / length


def sitting(one: Person) -> float | None:
    """The torso is upright and the knees are hardly lower than the hips: by .35 torsos, where standing has .8."""
    trunk, torso, hips, knees = upright(one), one.torso(), one.middle("hip"), one.middle("knee")
    if trunk is None or torso is None or hips is None or knees is None:
        return None
    drop = float(knees[1] - hips[1]) / max(float(np.linalg.norm(torso)), 1e-6)
    return trunk * ramp(drop, 0.65, 0.35)


def standing(one: Person) -> float | None:
    """The torso is upright, the knees are straight and the feet far below the hips."""
    trunk, bend, drop = upright(one), one.angles("hip", "knee", "ankle"), legs(one)
    if trunk is None or not bend or drop is None:
        return None
    return trunk * ramp(min(bend), 120, 150) * ramp(drop[1], 0.8, 1.2)


def stride(one: Person) -> float | None:
    """How far the ankles are apart, in torsos."""
    torso, left, right = one.torso(), one.joints.get("left ankle"), one.joints.get("right ankle")
    if torso is None or left is None or right is None:
        return None
    return float(np.linalg.norm(left - right)) / max(float(np.linalg.norm(torso)), 1e-6)


def walking(one: Person) -> float | None:
    """Upright on legs that are apart, by half a torso at least, and none bent sharply."""
    trunk, apart, bend = upright(one), stride(one), one.angles("hip", "knee", "ankle")
    if trunk is None or apart is None or not bend:
        return None
    return trunk * ramp(apart, 0.25, 0.5) * ramp(min(bend), 90, 120)


def running(one: Person) -> float | None:
    """One knee is bent, the feet are far apart, and the knees are below the hips."""
    apart, bend, drop = stride(one), one.angles("hip", "knee", "ankle"), legs(one)
    if apart is None or not bend or drop is None:
        return None
    return ramp(apart, 0.5, 0.9) * ramp(min(bend), 150, 120) * ramp(drop[0], 0.2, 0.5)


def jumping(one: Person) -> float | None:
    """The feet are drawn up under a body that is not sitting.

    Whether there is air under the feet, joints can't tell, so it is never sure.
    """
    drop = legs(one)
    if drop is None:
        return None
    return 0.6 * ramp(drop[1], 1.3, 0.9) * ramp(drop[0], 0.2, 0.5)


def arms_raised(one: Person) -> float | None:
    """A wrist is higher than its shoulder, by a quarter of a torso."""
    torso = one.torso()
    lifts = [
        float(one.joints[f"{side} shoulder"][1] - one.joints[f"{side} wrist"][1])
        for side in SIDES
        if f"{side} shoulder" in one.joints and f"{side} wrist" in one.joints
    ]
    if torso is None or not lifts:
        return None
    return ramp(max(lifts) / max(float(np.linalg.norm(torso)), 1e-6), 0.0, 0.25)


def crouching(one: Person) -> float | None:
    """The knees are bent sharply and the hips come down to the feet."""
    drop, bend = legs(one), one.angles("hip", "knee", "ankle")
    if drop is None or not bend:
        return None
    return ramp(min(bend), 110, 80) * ramp(drop[1], 1.0, 0.6)


POSTURES: dict[str, Callable[[Person], float | None]] = {
    "sitting": sitting,
    "standing": standing,
    "walking": walking,
    "running": running,
    "jumping": jumping,
    "lying": lying,
    "arms raised": arms_raised,
    "crouching": crouching,
}
WORDS = {
    "sitting": "sit sits sitting sat seated perch perched perching",
    "standing": "stand stands standing stood pose posing",
    "walking": "walk walks walking stroll strolling stride striding hike hiking march marching",
    "running": "run runs running jog jogging sprint sprinting race racing",
    "jumping": "jump jumps jumping leap leaps leaping hop hopping",
    "lying": "lie lies lying lay laying recline reclining reclined",
    "crouching": "crouch crouches crouching crouched squat squats squatting kneel kneels kneeling",
    "arms raised": "wave waving cheer cheering",
}
MEANT = {word: posture for posture, words in WORDS.items() for word in words.split()}


def meant(action: str) -> str | None:
    """The posture that an action names: `sitting down` → `sitting`, `with arms raised` → `arms raised`."""
    words = action.lower().split()
    if {"raised", "raising", "raise", "up"} & set(words[:1] + words[-1:]) and {"arm", "arms", "hand", "hands"} & set(
        words
    ):
        return "arms raised"
    return next((MEANT[word] for word in words if word in MEANT), None)


# How often a posture that joints show is what people say of the photo: bench/vision.py, on captions of photos. Joints
# can't tell walking from standing with the feet apart, nor whether there is air under the feet.
EXCLUSIVE = ("sitting", "standing", "lying")  # who does one of these does none of the others
TRUST = {"sitting": 0.8, "lying": 0.8, "standing": 0.6, "arms raised": 0.45}
LEAST_TRUST = 0.4


def traits(one: Person) -> list[Trait]:
    """The postures that the joints show, the surest first."""
    likely = {name: chance for name, posture in POSTURES.items() if (chance := posture(one)) is not None}
    found = [Trait("action", name, trusted(name, chance)) for name, chance in likely.items() if chance >= 0.5]
    return sorted(found, key=lambda trait: -trait.confidence)


def trusted(posture: str, chance: float) -> float:
    """How sure a posture is, given how much its kind can be trusted."""
    return round(chance * TRUST.get(posture, LEAST_TRUST), 4)
