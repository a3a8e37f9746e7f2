"""Postures of stick figures, and people in photos."""

import numpy as np
import pytest

from onprompt.settings import Settings
from onprompt.types import Box
from onprompt.vision import people
from onprompt.vision.image import load_picture
from onprompt.vision.people import (
    JOINTS,
    Person,
    detect_people,
    match_person,
    parse_person,
    posture_of,
    posture_traits,
)
from tests.conftest import photo, photo_path

Place = tuple[float, float]
ANYWHERE = Box(0, 0, 1, 1)


def stick(**pairs: Place | tuple[Place, Place]) -> Person:
    """A stick figure: for each kind of joint one place, as seen from the side, or a left and a right one."""
    joints = {}
    for joint, places in pairs.items():
        for side, place in zip(people.SIDES, np.broadcast_to(np.array(places, dtype=float), (2, 2)), strict=True):
            joints[f"{side} {joint}"] = place
    return Person(ANYWHERE, joints)


def without(one: Person, *joints: str) -> Person:
    """The same person, some joints unseen."""
    return Person(one.box, {name: place for name, place in one.joints.items() if name.split()[-1] not in joints})


UP: dict[str, Place] = {"shoulder": (0, 0), "hip": (0, 100)}
FIGURES = {
    "standing": stick(**UP, knee=(0, 180), ankle=(0, 260)),
    "standing from the front": stick(
        shoulder=((20, 0), (-20, 0)),
        hip=((15, 100), (-15, 100)),
        knee=((15, 180), (-15, 180)),
        ankle=((15, 260), (-15, 260)),
    ),
    "sitting": stick(**UP, knee=(80, 110), ankle=(80, 190)),
    "sitting on the floor": stick(**UP, knee=(80, 100), ankle=(160, 105)),
    "lying": stick(shoulder=(0, 0), hip=(100, 5), knee=(180, 5), ankle=(260, 5)),
    "lying on the other side": stick(shoulder=(260, 0), hip=(160, -5), knee=(80, -5), ankle=(0, 0)),
    "on the head": stick(shoulder=(0, 100), hip=(0, 0), knee=(0, -80), ankle=(0, -160)),
}


def shown(one: Person) -> set[str]:
    return {trait.value for trait in posture_traits(one)}


@pytest.mark.parametrize(
    ("figure", "postures"),
    [
        *(("standing", {"standing"}), ("standing from the front", {"standing"})),
        *(("sitting", {"sitting"}), ("sitting on the floor", {"sitting"})),
        *(("lying", {"lying"}), ("lying on the other side", {"lying"}), ("on the head", set())),
    ],
)
def test_stick_figures_show_their_posture(figure: str, postures: set[str]) -> None:
    assert shown(FIGURES[figure]) == postures


@pytest.mark.parametrize(
    ("unseen", "told"), [("hip", set()), ("shoulder", set()), ("knee", {"lying"}), ("ankle", {"lying", "sitting"})]
)
@pytest.mark.parametrize("figure", ["standing", "sitting", "lying"])
def test_postures_whose_joints_are_unseen_are_left_open(figure: str, unseen: str, told: set[str]) -> None:
    one = without(FIGURES[figure], unseen)
    assert set(one.posture_probabilities()) == told
    assert shown(one) <= told


# ---- parts ---------------------------------------------------------------------------------------------------------


def test_a_person_is_read_out_of_the_networks_numbers() -> None:
    row = np.zeros(56, dtype=np.float32)
    row[:51].reshape(17, 3)[JOINTS.index("left wrist")] = 0.25, 0.5, 0.9  # y, x, score
    row[:51].reshape(17, 3)[JOINTS.index("nose")] = 0.1, 0.1, 0.19
    row[51:] = 0.1, 0.2, 0.5, 0.9, 0.8
    one = parse_person(row, np.array([1.0, 2.0]), (640, 480))  # the lower half was padding
    assert list(one.joints) == ["left wrist"]
    assert one.joints["left wrist"].tolist() == [320, 240]
    assert one.box == pytest.approx((0.2, 0.2, 0.9, 1.0))


def test_who_is_in_a_box() -> None:
    left, right = Person(Box(0, 0, 0.4, 1), {}), Person(Box(0.5, 0, 1, 1), {})
    assert match_person([left, right], Box(0.45, 0, 1, 0.9)) is right
    assert match_person([left, right], Box(0.05, 0.1, 0.4, 1)) is left
    assert match_person([left, right], Box(0.3, 0, 0.7, 1)) is None
    assert match_person([], Box(0, 0, 1, 1)) is None


@pytest.mark.parametrize(
    ("action", "posture"),
    [
        *(("sitting", "sitting"), ("sitting down", "sitting"), ("Seated at a table", "sitting")),
        *(("standing up", "standing"), ("eating while sitting", "sitting"), ("asleep", None), ("walking", None)),
        *(("reading", None), ("", None), ("  ", None), ("with arms folded", None)),
    ],
)
def test_the_posture_that_is_meant(action: str, posture: str | None) -> None:
    assert posture_of(action) == posture


def test_traits_are_actions_and_never_surer_than_their_kind() -> None:
    (trait,) = posture_traits(FIGURES["standing"])
    assert (trait.kind, trait.value, trait.confidence) == ("action", "standing", 0.6)
    assert [trait.confidence for trait in posture_traits(FIGURES["sitting"])] == [0.8]


# ---- photos --------------------------------------------------------------------------------------------------------


def test_people_at_the_bus_stop_stand(settings: Settings) -> None:
    picture = load_picture(photo_path("bus.jpg"), settings)
    found = detect_people(picture, settings)
    left = match_person(found, Box(0.06, 0.37, 0.3, 0.84))
    assert left is not None
    assert shown(left) == {"standing"}
    places = np.array(list(left.joints.values())) / (picture.pixels.shape[1], picture.pixels.shape[0])
    assert len(places) == len(JOINTS)
    assert (places >= (0.04, 0.35)).all()
    assert (places <= (0.31, 0.86)).all()
    assert left.joints["nose"][1] < left.middle("ankle")[1] - 300


def test_players_seen_to_the_hips_neither_stand_nor_sit(settings: Settings) -> None:
    found = detect_people(load_picture(photo("football.jpg"), settings), settings)
    assert len(found) == 2
    assert all("nose" in one.joints for one in found)
    assert all(not shown(one) & {"standing", "sitting", "lying"} for one in found)


@pytest.mark.parametrize("shape", [(2, 2), (2, 1000), (1000, 2), (33, 257)])
def test_extreme_shapes_hold_nobody(shape: tuple[int, int], settings: Settings) -> None:
    assert detect_people(load_picture(np.zeros((*shape, 3), dtype=np.uint8), settings), settings) == ()
