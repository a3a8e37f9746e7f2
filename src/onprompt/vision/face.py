"""Whether a face smiles, by MediaPipe's face networks; other expressions are not measured."""

import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.types import Picture, Trait
from onprompt.vision.geometry import ramp
from onprompt.vision.pose import Person
from onprompt.vision.runtime import Network, Source, network, openvino_core, ov, source, thread_safe_cache
from onprompt.vision.vocabulary import TERMS

FILES = ("face_landmarker.task",)
SIDE = 256  # pixels of the square that the landmark network takes
MIN_PRESENCE = 0.5  # probability of a face
MIN_SIZE = 25  # pixels of a face's square; in a smaller one a mouth can't be read
MARGIN = 1.5  # side of the square around a face, in sizes of the face
OUTER_EYES = 33, 263  # landmarks, the right eye's first
SMILES = 44, 45  # indices of mouthSmileLeft and mouthSmileRight among the 52 blendshapes
NO_SMILE, SMILE = 0.2, 0.7  # blendshape values: surely no smile, surely a smile
PRECISION = 0.8  # how often people agree: bench/vision.py
BLENDSHAPE_LANDMARKS = np.array(TERMS["expression"]["landmarks"])
MEMBERS = {  # of the file; the shape of each one's input
    "face_landmarks_detector.tflite": (1, SIDE, SIDE, 3),
    "face_blendshapes.tflite": (1, len(BLENDSHAPE_LANDMARKS), 2),
}
SMILING = frozenset(TERMS["expression"]["smiling"].split())
NOT_SMILING = frozenset(TERMS["expression"]["not smiling"].split())
Points = NDArray[np.floating[Any]]


@thread_safe_cache
def load_networks(made_of: Source) -> tuple[Network, ...]:
    """Landmarks and blendshapes, compiled once per process."""

    def read(member: str) -> ov.Model:
        """OpenVINO reads models from files only."""
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(made_of.file) as task:
            return openvino_core().read_model(task.extract(member, folder))

    return tuple(
        network(Path(member).stem, made_of, partial(read, member), shapes=[shape]) for member, shape in MEMBERS.items()
    )


def traits(picture: Picture, person: Person, settings: Settings) -> list[Trait]:
    """Smiling or not, if the face is large enough."""
    smile = smile_score(picture, person, settings)
    if smile is None:
        return []
    probability = ramp(smile, NO_SMILE, SMILE)
    value = "smiling" if probability >= 0.5 else "not smiling"
    return [Trait("expression", value, round(PRECISION * max(probability, 1 - probability), 4))]


def smile_score(picture: Picture, person: Person, settings: Settings) -> float | None:
    """How far the corners of the mouth are drawn up, in [0, 1]; None where no face can be read."""
    transform = crop_from_joints(person)
    if transform is None:
        return None
    landmarks, blendshapes = load_networks(source(FILES, settings))
    points: Points = np.empty((0, 2))
    for _ in range(2):  # joints place a face roughly; its own landmarks place it well
        crop = cv2.warpAffine(picture.pixels, transform, (SIDE, SIDE), flags=cv2.INTER_CUBIC)
        coordinates, presence = landmarks.run([crop[None].astype(np.float32) / 255])[:2]
        if 1 / (1 + np.exp(-float(presence.item()))) < MIN_PRESENCE:
            return None
        points = coordinates.reshape(-1, 3)[:, :2]
        transform = crop_from_landmarks(points, transform)
    if SIDE / np.hypot(*transform[0, :2]) < MIN_SIZE:
        return None
    (values,) = blendshapes.run([points[None, BLENDSHAPE_LANDMARKS].astype(np.float32)])
    return float(values[list(SMILES)].mean())


def crop_from_joints(person: Person) -> Points | None:
    """The transform to the square around a face, estimated from nose, eyes and ears."""
    joints = person.joints
    if not {"nose", "left eye", "right eye"} <= joints.keys():
        return None
    middle = person.middle("eye")
    ears = [float(np.hypot(*(joints[name] - middle))) for name in ("left ear", "right ear") if name in joints]
    across, down = joints["left eye"] - joints["right eye"], joints["nose"] - middle
    face = max(2.2 * max(float(np.hypot(*across)), *ears, 0.0), 3.2 * float(np.hypot(*down)))
    return crop_transform(middle + 0.6 * down, across, 0.9 * MARGIN * face)


def crop_from_landmarks(points: Points, transform: Points) -> Points:
    """The transform to the square around a face, from its landmarks in another square."""
    inverse = cv2.invertAffineTransform(transform)
    points = points @ inverse[:, :2].T + inverse[:, 2]
    low, high = points.min(axis=0), points.max(axis=0)
    right, left = (points[index] for index in OUTER_EYES)
    return crop_transform((low + high) / 2, left - right, MARGIN * float((high - low).max()))


def crop_transform(centre: Points, across: Points, size: float) -> Points:
    """The affine transform that rotates and scales a square of the image so that the line between the eyes is level."""
    angle = float(np.degrees(np.arctan2(across[1], across[0])))
    rotation = cv2.getRotationMatrix2D((float(centre[0]), float(centre[1])), angle, SIDE / max(size, 1.0))
    shift = np.zeros((2, 3))
    shift[:, 2] = SIDE / 2 - np.asarray(centre)
    return np.asarray(rotation, dtype=np.float64) + shift
