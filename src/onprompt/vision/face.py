"""What a face shows: whether it smiles, by MediaPipe's face networks. Other expressions no measure here can tell."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Picture, Trait
from onprompt.vision.geometry import ramp
from onprompt.vision.pose import Person
from onprompt.vision.runtime import Network, core, once
from onprompt.weights.cache import paths

FILES = ("face_landmarker.task",)
MEMBERS = ("face_landmarks_detector.tflite", "face_blendshapes.tflite")
SIDE = 256  # pixels of the square that the first network looks at
PRESENT = 0.5  # chance of a face below which there is none to read
SMALLEST = 25  # pixels of a face's square below which a mouth can't be read
ROOM = 1.5  # side of the square around a face, in sizes of the face
OUTER_EYES = 33, 263  # landmarks, the right eye's first
SMILES = 44, 45  # numbers of the two corners' smile among the 52 movements of a face
NO_SMILE, SMILE = 0.2, 0.7  # surely none, surely one
TRUST = 0.8  # how often people say so of the photo: bench/vision.py
# The landmarks out of 478 that the second network reads.
READ = np.array(
    [
        *(0, 1, 4, 5, 6, 7, 8, 10, 13, 14, 17, 21, 33, 37, 39, 40, 46, 52, 53, 54, 55, 58, 61, 63, 65, 66, 67, 70),
        *(78, 80, 81, 82, 84, 87, 88, 91, 93, 95, 103, 105, 107, 109, 127, 132, 133, 136, 144, 145, 146, 148, 149),
        *(150, 152, 153, 154, 155, 157, 158, 159, 160, 161, 162, 163, 168, 172, 173, 176, 178, 181, 185, 191, 195),
        *(197, 234, 246, 249, 251, 263, 267, 269, 270, 276, 282, 283, 284, 285, 288, 291, 293, 295, 296, 297, 300),
        *(308, 310, 311, 312, 314, 317, 318, 321, 323, 324, 332, 334, 336, 338, 356, 361, 362, 365, 373, 374, 375),
        *(377, 378, 379, 380, 381, 382, 384, 385, 386, 387, 388, 389, 390, 397, 398, 400, 402, 405, 409, 415, 454),
        *(466, 468, 469, 470, 471, 472, 473, 474, 475, 476, 477),
    ]
)
SMILING = frozenset(
    {
        *("smiling", "happy", "laughing", "cheerful", "grinning", "joyful", "delighted", "amused"),
        *("smile", "smiles", "laugh", "laughs"),
    }
)
NOT_SMILING = frozenset(
    {
        *("sad", "angry", "crying", "frowning", "serious", "furious", "gloomy", "grumpy", "sorrowful", "stern"),
        *("worried", "scared", "frightened", "annoyed", "disgusted", "bored", "cry", "cries", "frown", "frowns"),
    }
)
Places = NDArray[np.floating[Any]]


@once
def networks(path: Path) -> tuple[Network, Network]:
    """Both, compiled once in a process; OpenVINO reads them from files only."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as task:
        landmarks, movements = (core().read_model(task.extract(name, folder)) for name in MEMBERS)
        return Network(landmarks), Network(movements)


def traits(picture: Picture, person: Person, settings: Settings) -> list[Trait]:
    """Smiling or not, if the face is seen large enough."""
    smile = smile_of(picture, person, settings)
    if smile is None:
        return []
    chance = ramp(smile, NO_SMILE, SMILE)
    value = "smiling" if chance >= 0.5 else "not smiling"
    return [Trait("expression", value, round(TRUST * max(chance, 1 - chance), 4))]


def smile_of(picture: Picture, person: Person, settings: Settings) -> float | None:
    """How far the corners of the mouth are drawn up, in [0, 1]; None where no face can be read."""
    square = from_joints(person)
    if square is None:
        return None
    landmarks, movements = networks(paths(FILES, settings)[FILES[0]])
    points: Places = np.empty((0, 2))
    for _ in range(2):  # joints place a face roughly; its own landmarks place it well
        crop = cv2.warpAffine(picture.pixels, square, (SIDE, SIDE), flags=cv2.INTER_CUBIC)
        places, presence = landmarks.run([crop[None].astype(np.float32) / 255])[:2]
        if 1 / (1 + np.exp(-float(presence.item()))) < PRESENT:
            return None
        points = places.reshape(-1, 3)[:, :2]
        square = from_landmarks(points, square)
    if SIDE / np.hypot(*square[0, :2]) < SMALLEST:
        return None
    (shape,) = movements.run([points[None, READ].astype(np.float32)])
    return float(shape[list(SMILES)].mean())


def from_joints(person: Person) -> Places | None:
    """The square around a face, as far as nose, eyes and ears tell."""
    joints = person.joints
    middle = person.middle("eye")
    if middle is None or not {"nose", "left eye", "right eye"} <= joints.keys():
        return None
    ears = [float(np.hypot(*(joints[name] - middle))) for name in ("left ear", "right ear") if name in joints]
    across, down = joints["left eye"] - joints["right eye"], joints["nose"] - middle
    face = max(2.2 * max(float(np.hypot(*across)), *ears, 0.0), 3.2 * float(np.hypot(*down)))
    return upright(middle + 0.6 * down, across, 0.9 * ROOM * face)


def from_landmarks(points: Places, square: Places) -> Places:
    """The square around a face whose landmarks were found in another square."""
    back = cv2.invertAffineTransform(square)
    places = points @ back[:, :2].T + back[:, 2]
    low, high = places.min(axis=0), places.max(axis=0)
    right, left = (places[index] for index in OUTER_EYES)
    return upright((low + high) / 2, left - right, ROOM * float((high - low).max()))


def upright(centre: Places, across: Places, size: float) -> Places:
    """What turns and scales a square of the picture so that the line from eye to eye is level and the square fits."""
    angle = float(np.degrees(np.arctan2(across[1], across[0])))
    turn = cv2.getRotationMatrix2D((float(centre[0]), float(centre[1])), angle, SIDE / max(size, 1.0))
    shift = np.zeros((2, 3))
    shift[:, 2] = SIDE / 2 - np.asarray(centre)
    return np.asarray(turn, dtype=np.float64) + shift
