"""People: postures of stick figures, joints, smiles, apparent sex and age in photos."""

import numpy as np
import pytest
from PIL import Image

from onprompt.language import name_of
from onprompt.settings import Settings
from onprompt.types import Box, Picture, Trait
from onprompt.vision import people
from onprompt.vision.detection import detect
from onprompt.vision.image import load_picture
from onprompt.vision.people import JOINTS, Person, detect_people, match_person, posture_of, posture_traits
from tests.conftest import Pixels, photo

Place = tuple[float, float]


def stick(**pairs: Place | tuple[Place, Place]) -> Person:
    """A stick figure: for each kind of joint one place, as seen from the side, or a left and a right one."""
    joints = {}
    for joint, places in pairs.items():
        for side, place in zip(people.SIDES, np.broadcast_to(np.array(places, dtype=float), (2, 2)), strict=True):
            joints[f"{side} {joint}"] = place
    return Person(Box(0, 0, 1, 1), joints)


def without(one: Person, *joints: str) -> Person:
    """The same person, some joints unseen."""
    return Person(one.box, {name: place for name, place in one.joints.items() if name.split()[-1] not in joints})


UP: dict[str, Place] = {"shoulder": (0, 0), "hip": (0, 100)}
STANDING = stick(**UP, knee=(0, 180), ankle=(0, 260))
SITTING = stick(**UP, knee=(80, 110), ankle=(80, 190))
LYING = stick(shoulder=(0, 0), hip=(100, 5), knee=(180, 5), ankle=(260, 5))
APART = {"shoulder": ((20, 0), (-20, 0)), "hip": ((15, 100), (-15, 100))}


def shown(one: Person) -> set[str]:
    return {trait.value for trait in posture_traits(one)}


@pytest.mark.parametrize(
    ("figure", "postures"),
    [
        *((STANDING, {"standing"}), (SITTING, {"sitting"}), (LYING, {"lying"})),
        (stick(**APART, knee=((15, 180), (-15, 180)), ankle=((15, 260), (-15, 260))), {"standing"}),  # from the front
        (stick(**UP, knee=(80, 100), ankle=(160, 105)), {"sitting"}),  # on the floor
        (stick(shoulder=(260, 0), hip=(160, -5), knee=(80, -5), ankle=(0, 0)), {"lying"}),  # on the other side
        (stick(shoulder=(0, 100), hip=(0, 0), knee=(0, -80), ankle=(0, -160)), set()),  # on the head
    ],
)
def test_stick_figures_show_their_posture(figure: Person, postures: set[str]) -> None:
    assert shown(figure) == postures


@pytest.mark.parametrize(
    ("unseen", "told"), [("hip", set()), ("shoulder", set()), ("knee", {"lying"}), ("ankle", {"lying", "sitting"})]
)
@pytest.mark.parametrize("figure", [STANDING, SITTING, LYING])
def test_postures_whose_joints_are_unseen_are_left_open(figure: Person, unseen: str, told: set[str]) -> None:
    one = without(figure, unseen)
    assert set(one.posture_probabilities()) == told
    assert shown(one) <= told


def test_postures_are_never_surer_than_their_kind() -> None:
    traits = [posture_traits(figure)[0] for figure in (STANDING, SITTING)]
    assert traits == [Trait("action", "standing", 0.6), Trait("action", "sitting", 0.8)]


@pytest.mark.parametrize(
    ("action", "posture"),
    [
        *(("sitting down", "sitting"), ("Seated at a table", "sitting"), ("eating while sitting", "sitting")),
        *(("standing up", "standing"), ("walking", None), ("  ", None), ("with arms folded", None)),
    ],
)
def test_the_posture_that_is_meant(action: str, posture: str | None) -> None:
    assert posture_of(action) == posture


def test_who_is_in_a_box() -> None:
    left, right = Person(Box(0, 0, 0.4, 1), {}), Person(Box(0.5, 0, 1, 1), {})
    assert match_person([left, right], Box(0.45, 0, 1, 0.9)) is right
    assert match_person([left, right], Box(0.3, 0, 0.7, 1)) is None
    assert match_person([], Box(0, 0, 1, 1)) is None


# ---- photos --------------------------------------------------------------------------------------------------------


def test_people_at_the_bus_stop_stand(settings: Settings) -> None:
    picture = load_picture(photo("bus.jpg"), settings)
    left = match_person(detect_people(picture, settings), Box(0.06, 0.37, 0.3, 0.84))
    assert left is not None
    assert shown(left) == {"standing"}
    places = np.array(list(left.joints.values())) / (picture.pixels.shape[1], picture.pixels.shape[0])
    assert len(places) == len(JOINTS)
    assert (places >= (0.04, 0.35)).all()
    assert (places <= (0.31, 0.86)).all()


def test_players_seen_to_the_hips_neither_stand_nor_sit(settings: Settings) -> None:
    found = detect_people(load_picture(photo("football.jpg"), settings), settings)
    assert len(found) == 2
    assert all("nose" in one.joints for one in found)
    assert all(not shown(one) & {"standing", "sitting", "lying"} for one in found)


@pytest.mark.parametrize("shape", [(2, 2), (2, 1000), (1000, 2), (33, 257)])
def test_extreme_shapes_hold_nobody(shape: tuple[int, int], settings: Settings) -> None:
    assert detect_people(load_picture(np.zeros((*shape, 3), dtype=np.uint8), settings), settings) == ()


def astronaut(settings: Settings) -> tuple[Picture, Person]:
    picture = load_picture(photo("astronaut.png"), settings)
    (one,) = detect_people(picture, settings)[:1]
    return picture, one


def test_a_smile_is_gone_with_the_mouth_pulled_down(settings: Settings) -> None:
    """The lower half of the face is turned over, corners of the mouth down; it is still a face."""
    picture, one = astronaut(settings)
    (trait,) = people.smile_traits(picture, one, settings)
    assert (trait.kind, trait.value) == ("expression", "smiling")
    assert trait.confidence == pytest.approx(people.SMILE_PRECISION, abs=0.05)
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


@pytest.mark.parametrize(("factor", "is_read"), [(10, False), (2, True)])
def test_a_face_of_a_few_pixels_is_not_read(factor: int, is_read: bool, settings: Settings) -> None:
    _, one = astronaut(settings)
    small = np.asarray(Image.fromarray(photo("astronaut.png")).resize((512 // factor, 512 // factor)))
    person = Person(one.box, {name: place / factor for name, place in one.joints.items()})
    assert (people.smile_score(load_picture(small, settings), person, settings) is not None) == is_read


def test_joints_on_a_wall_are_no_face(settings: Settings) -> None:
    joints = {"nose": (100.0, 110.0), "left eye": (115.0, 95.0), "right eye": (85.0, 95.0)}
    nobody = Person(Box(0, 0, 1, 1), {name: np.array(place) for name, place in joints.items()})
    picture = load_picture(np.full((300, 300, 3), 180, dtype=np.uint8), settings)
    assert people.smile_traits(picture, nobody, settings) == []


MEN = [Box(0.278, 0.374, 0.427, 0.787), Box(0.828, 0.359, 1.0, 0.809)]  # bus.jpg


def kinds(pixels: Pixels, box: Box, settings: Settings) -> dict[str, Trait]:
    return {trait.kind: trait for trait in people.kind_traits(load_picture(pixels, settings), box, settings)}


@pytest.mark.parametrize(
    ("name", "box", "told"),
    [
        *(("bus.jpg", man, {"sex": "male", "age": "adult"}) for man in MEN),
        ("football.jpg", Box(0.663, 0.055, 0.964, 0.999), {"sex": "female"}),  # out of focus
        ("astronaut.png", Box(0.019, 0.025, 0.718, 1.0), {"age": "adult"}),  # in a space suit, the sex is undecided
    ],
)
def test_sex_and_age_are_told_where_they_are_clear(
    name: str, box: Box, told: dict[str, str], settings: Settings
) -> None:
    found = kinds(photo(name), box, settings)
    assert told.items() <= {kind: trait.value for kind, trait in found.items()}.items()
    assert all(trait.confidence >= people.DECIDED for trait in found.values())
    assert name != "astronaut.png" or "sex" not in found


@pytest.mark.parametrize(("width", "is_told"), [(0.9, False), (1.2, True)])
def test_nothing_is_told_of_a_tiny_box(width: float, is_told: bool, settings: Settings) -> None:
    narrow = width * people.MIN_PERSON / photo("bus.jpg").shape[1]
    box = Box(MEN[0].left, MEN[0].top, MEN[0].left + narrow, MEN[0].bottom)
    assert bool(kinds(photo("bus.jpg"), box, settings)) is is_told


@pytest.mark.parametrize(("label", "told"), [("man", True), ("woman", True), ("person", False), ("bus", False)])
def test_only_of_men_and_women_is_it_told(label: str, told: bool, settings: Settings) -> None:
    seen = detect(load_picture(photo("bus.jpg"), settings), [name_of(label)], settings, [])
    traits = {trait.kind for sighting in seen.sightings if sighting.label == label for trait in sighting.traits}
    assert bool(traits & set(people.KINDS)) is told
