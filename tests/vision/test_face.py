"""Whether a face smiles."""

import numpy as np
import pytest
from PIL import Image

from onprompt.settings import Settings
from onprompt.types import Box, Picture
from onprompt.vision import people
from onprompt.vision.image import load_picture
from onprompt.vision.people import Person, detect_people
from tests.conftest import photo


def astronaut(settings: Settings) -> tuple[Picture, Person]:
    picture = load_picture(photo("astronaut.png"), settings)
    (one,) = detect_people(picture, settings)[:1]
    return picture, one


def test_the_astronaut_smiles(settings: Settings) -> None:
    (trait,) = people.smile_traits(*astronaut(settings), settings)
    assert (trait.kind, trait.value) == ("expression", "smiling")
    assert trait.confidence == pytest.approx(people.SMILE_PRECISION, abs=0.05)


def test_with_the_mouth_pulled_down_the_smile_is_gone(settings: Settings) -> None:
    """The lower half of the face is turned over, corners of the mouth down; it is still a face."""
    picture, one = astronaut(settings)
    pixels = np.array(picture.pixels)
    mouth = slice(130, 165), slice(195, 255)
    pixels[mouth] = pixels[mouth][::-1]
    smile = people.smile_score(load_picture(pixels, settings), one, settings)
    before = people.smile_score(picture, one, settings)
    assert smile is not None
    assert before is not None
    assert smile < before - 0.3


@pytest.mark.parametrize("degrees", [-30, 20])
def test_a_tilted_head_smiles_as_well(degrees: int, settings: Settings) -> None:
    tilted = Image.fromarray(photo("astronaut.png")).rotate(degrees, resample=Image.Resampling.BICUBIC)
    picture = load_picture(np.asarray(tilted), settings)
    smiles = [people.smile_score(picture, one, settings) for one in detect_people(picture, settings)]
    assert max(smile for smile in smiles if smile is not None) > people.SMILE


def test_a_face_of_a_few_pixels_is_not_read(settings: Settings) -> None:
    _, one = astronaut(settings)
    tenth = Image.fromarray(photo("astronaut.png")).resize((51, 51))
    joints = {name: place / 10 for name, place in one.joints.items()}
    assert people.smile_score(load_picture(np.asarray(tenth), settings), Person(one.box, joints), settings) is None
    half = Image.fromarray(photo("astronaut.png")).resize((256, 256))
    joints = {name: place / 2 for name, place in one.joints.items()}
    assert people.smile_score(load_picture(np.asarray(half), settings), Person(one.box, joints), settings) is not None


def test_joints_on_a_wall_are_no_face(settings: Settings) -> None:
    joints = {"nose": (100.0, 110.0), "left eye": (115.0, 95.0), "right eye": (85.0, 95.0)}
    nobody = Person(Box(0, 0, 1, 1), {name: np.array(place) for name, place in joints.items()})
    picture = load_picture(np.full((300, 300, 3), 180, dtype=np.uint8), settings)
    assert people.smile_traits(picture, nobody, settings) == []
