"""Size and place of boxes; relations of sightings: what holds, what does not, and what one picture can't tell."""

from itertools import product

import pytest

from onprompt.settings import Settings
from onprompt.types import Box, Sighting
from onprompt.vision import geometry
from onprompt.vision.geometry import RELATIONS, between

Place = tuple[float, float]


@pytest.mark.parametrize(("area", "size"), [(0.05, "small"), (0.051, "medium"), (0.2, "medium"), (0.21, "large")])
def test_sizes_by_share_of_the_picture(area: float, size: str, settings: Settings) -> None:
    assert geometry.size_of(Box(0, 0, area, 1), settings) == size


@pytest.mark.parametrize(
    ("x", "y", "position"),
    [(0.1, 0.1, "top-left"), (0.5, 0.5, "center"), (0.9, 0.5, "right"), (0.5, 0.9, "bottom"), (1, 1, "bottom-right")],
)
def test_positions_on_the_grid(x: float, y: float, position: str) -> None:
    assert geometry.position_of(Box(x, y, x, y)) == position


@pytest.mark.parametrize(
    ("x", "asked", "score"),
    [
        *((0.1, "left", 1), (0.37, "left", 1), (0.45, "left", 0.5), (0.8, "left", 0)),
        *((0.5, "center-middle", 1), (0.1, "top-left", 0)),
    ],
)
def test_a_small_offset_is_tolerated(x: float, asked: str, score: float) -> None:
    assert geometry.position_score(Box(x, 0.6, x, 0.6), asked) == score


def test_what_the_edge_cuts_is_noted() -> None:
    assert geometry.is_truncated(Box(0.0, 0.2, 0.4, 0.6))
    assert not geometry.is_truncated(Box(0.1, 0.4, 0.3, 0.6))


def test_near_a_limit_size_and_place_are_less_sure(settings: Settings) -> None:
    assert geometry.size_confidence(Box(0, 0, 0.05, 1), settings) == pytest.approx(0.5)
    assert geometry.size_confidence(Box(0, 0, 0.1, 1), settings) == 1.0
    assert geometry.position_confidence(Box(1 / 3, 0.5, 1 / 3, 0.5)) == pytest.approx(0.5)
    assert geometry.position_confidence(Box(0.5, 0.5, 0.5, 0.5)) == 1.0


# ---- relations -----------------------------------------------------------------------------------------------------


def seen(box: Box, **joints: Place) -> Sighting:
    """A sighting in a box, with joints: `left_wrist=(0.5, 0.5)`."""
    named = tuple((name.replace("_", " "), place) for name, place in joints.items())
    return Sighting("thing", "thing", box, 0.9, "test", joints=named)


def at(x: float, y: float, side: float = 0.1) -> Sighting:
    """A square thing with its centre at a place."""
    return seen(Box(x - side / 2, y - side / 2, x + side / 2, y + side / 2))


LEFT, RIGHT = seen(Box(0.1, 0.4, 0.3, 0.6)), seen(Box(0.6, 0.4, 0.8, 0.6))
TOP, BOTTOM = seen(Box(0.4, 0.1, 0.6, 0.3)), seen(Box(0.4, 0.6, 0.6, 0.9))
TABLE, CUP, DOG = seen(Box(0.1, 0.5, 0.9, 0.9)), seen(Box(0.4, 0.3, 0.5, 0.52)), seen(Box(0.4, 0.6, 0.6, 0.8))
FLYING, BESIDE, FAR = seen(Box(0.4, 0.0, 0.5, 0.1)), seen(Box(0.32, 0.4, 0.5, 0.6)), seen(Box(0.85, 0.4, 1.0, 0.6))
HALF_IN, NEARER = seen(Box(0.0, 0.55, 0.2, 0.65)), seen(Box(0.3, 0.5, 0.5, 0.95))
MAN = seen(Box(0.4, 0.2, 0.6, 0.8), left_wrist=(0.6, 0.5), right_wrist=(0.42, 0.5))
SKATES = seen(Box(0.4, 0.72, 0.6, 0.8))
BALL, HAT, KITE = at(0.64, 0.5), seen(Box(0.45, 0.18, 0.55, 0.28)), at(0.9, 0.1)
HORSE, RIDER, GROOM = seen(Box(0.2, 0.5, 0.8, 0.9)), seen(Box(0.4, 0.2, 0.6, 0.7)), seen(Box(0.0, 0.4, 0.15, 0.9))
CYCLIST, BICYCLE = seen(Box(0.4, 0.2, 0.6, 0.95)), seen(Box(0.3, 0.5, 0.7, 0.85))

CASES = [
    *(("left of", LEFT, RIGHT, True), ("left of", RIGHT, LEFT, False)),
    *(("right of", RIGHT, LEFT, True), ("right of", LEFT, RIGHT, False)),
    *(("above", TOP, BOTTOM, True), ("above", BOTTOM, TOP, False)),
    *(("below", BOTTOM, TOP, True), ("below", TOP, BOTTOM, False)),
    *(("on", CUP, TABLE, True), ("on", DOG, TABLE, True), ("on", TABLE, CUP, False), ("on", TOP, RIGHT, False)),
    *(("on", FLYING, TABLE, False), ("on", NEARER, CUP, False)),
    *(("under", BOTTOM, TOP, True), ("under", RIGHT, TOP, False), ("under", TOP, BOTTOM, False)),
    *(("under", TABLE, CUP, True), ("on", TABLE, DOG, False), ("on", MAN, SKATES, True)),
    *(("in front of", DOG, TABLE, True), ("in front of", TABLE, DOG, False), ("in front of", NEARER, BESIDE, True)),
    *(("behind", TABLE, DOG, True), ("behind", DOG, TABLE, False), ("behind", BESIDE, NEARER, True)),
    *(("in", DOG, TABLE, True), ("in", TABLE, DOG, False), ("in", CUP, TABLE, False)),
    *(("inside", DOG, TABLE, True), ("inside", HALF_IN, TABLE, False), ("inside", LEFT, RIGHT, False)),
    *(("next to", LEFT, BESIDE, True), ("next to", LEFT, FAR, False)),
    *((name, LEFT, other, other is BESIDE) for name in ("near", "at", "with", "against") for other in (BESIDE, FAR)),
    *(("holding", MAN, BALL, True), ("holding", MAN, KITE, False), ("holding", TOP, KITE, False)),
    *(("carrying", MAN, BALL, True), ("carrying", MAN, KITE, False)),
    *(("wearing", MAN, HAT, True), ("wearing", MAN, KITE, False), ("wearing", HAT, MAN, False)),
    *(("riding", RIDER, HORSE, True), ("riding", GROOM, HORSE, False), ("riding", HORSE, RIDER, False)),
    *(("riding", FLYING, HORSE, False), ("riding", CYCLIST, BICYCLE, True)),
]


@pytest.mark.parametrize(("name", "a", "b", "holds"), CASES)
def test_relations(name: str, a: Sighting, b: Sighting, holds: bool) -> None:
    likely = RELATIONS[name](a, b)
    assert likely is not None
    assert 0 <= likely <= 1
    assert likely >= 0.6 if holds else likely < 0.4


@pytest.mark.parametrize("holds", [True, False])
def test_every_relation_has_a_case_above(holds: bool) -> None:
    assert {name for name, _, _, yes in CASES if yes == holds} == set(RELATIONS)


@pytest.mark.parametrize(
    ("name", "a", "b", "likely"),
    [
        ("left of", at(0.4, 0.5), at(0.425, 0.5), 0.75),  # a quarter of their width
        ("above", at(0.5, 0.4), at(0.5, 0.425), 0.75),
        ("on", seen(Box(0.4, 0.2, 0.5, 0.46)), TABLE, 1.5 - 5 * 0.04 / 0.26),  # a little gap above the table
        ("on", seen(Box(0.05, 0.4, 0.15, 0.6)), TABLE, 0.5),  # half beyond its side
        ("under", at(0.55, 0.7), at(0.5, 0.3), 0.5),
        ("inside", seen(Box(0.0, 0.55, 0.5, 0.65)), TABLE, 0.75),  # four fifths of it
        *(("inside", TABLE, TABLE, 0), ("wearing", MAN, MAN, 0)),  # nothing is in what is no larger
        ("near", at(0.2, 0.5), at(0.4, 0.5), 0.5),  # as far away as they are wide
        ("next to", at(0.5, 0.2), at(0.5, 0.35), 0.5),  # near, but one above the other
        ("in front of", at(0.53, 0.515), at(0.5, 0.5), 0.65),  # an edge lower by .15 of their height
        ("in front of", seen(Box(0.4, 0.5, 0.5, 0.7)), MAN, 0.75),  # all before the man
        ("wearing", MAN, seen(Box(0.56, 0.3, 0.61, 0.4)), 0.63),  # four fifths of it
        ("holding", MAN, seen(Box(0.67, 0.45, 0.7, 0.55)), 0.5),  # as far from the wrist as is a hand's reach
        ("holding", seen(Box(0.5, 0.2, 0.6, 0.8), left_wrist=(0.6, 0.5)), seen(Box(0.67, 0.4, 0.7, 0.6)), 0.5),  # slim
        ("riding", seen(Box(0.4, 0.5, 0.6, 0.9)), HORSE, 0.5),  # no higher than the mount
    ],
)
def test_likelihoods_worked_out_by_hand(name: str, a: Sighting, b: Sighting, likely: float) -> None:
    assert RELATIONS[name](a, b) == pytest.approx(likely)


@pytest.mark.parametrize("name", RELATIONS)
def test_every_relation_takes_boxes_without_size(name: str) -> None:
    points = [seen(Box(x, y, x, y)) for x, y in product((0.0, 0.5, 1.0), repeat=2)]
    faces = [seen(point.box, nose=(0.6, 0.5), left_ear=(0.4, 0.5), left_wrist=(0.5, 0.5)) for point in points]
    for a, b in product((*points, *faces, TABLE), repeat=2):
        likely = RELATIONS[name](a, b)
        assert likely is None or 0 <= likely <= 1
        assert 0 <= between(a, b, TABLE) <= 1


@pytest.mark.parametrize("name", ["in front of", "behind"])
@pytest.mark.parametrize(
    ("a", "b"),
    [(LEFT, FAR), (FLYING, TABLE), (seen(Box(0.5, 0.2, 0.6, 0.5)), at(0.52, 0.45)), (DOG, DOG)],
    ids=["apart", "far above", "on the same ground", "one"],
)
def test_depth_is_open_for_things_apart_or_on_the_same_ground(name: str, a: Sighting, b: Sighting) -> None:
    assert RELATIONS[name](a, b) is None


def test_without_joints_what_touches_may_be_held_or_not() -> None:
    someone = seen(MAN.box)
    assert RELATIONS["holding"](someone, BALL) is None
    assert RELATIONS["holding"](someone, KITE) == 0.1
    assert RELATIONS["holding"](seen(MAN.box, nose=(0.5, 0.25), left_elbow=(0.55, 0.5)), BALL) is None


@pytest.mark.parametrize(
    ("one", "first", "second", "likely"),
    [
        *((at(0.5, 0.5), LEFT, RIGHT, 1), (at(0.5, 0.45), TOP, BOTTOM, 1), (at(0.9, 0.5), LEFT, RIGHT, 0)),
        *((at(0.4, 0.4), at(0.2, 0.2), at(0.8, 0.8), 1), (at(0.5, 0.9), at(0.4, 0.3), at(0.6, 0.3), 0)),
        (at(0.23, 0.5), at(0.2, 0.5), at(0.8, 0.5), 0.5),  # hardly past the first
        (at(0.5, 0.8), at(0.2, 0.5), at(0.8, 0.5), 0.5),  # half their distance aside
        (at(0.5, 0.5), LEFT, LEFT, 0),
    ],
)
def test_between(one: Sighting, first: Sighting, second: Sighting, likely: float) -> None:
    assert between(one, first, second) == pytest.approx(likely, abs=1e-6)
    assert between(one, second, first) == pytest.approx(likely, abs=1e-6)
