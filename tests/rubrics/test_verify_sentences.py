"""Every sentence of the rubric, and of the decisions on it, as a scene and sightings beyond doubt."""

from dataclasses import replace

import pytest

from onprompt.evidence.beliefs import Image, believe
from onprompt.evidence.grading import expect, rubric_score
from onprompt.settings import Settings
from onprompt.types import Attribute, Box, Count, Detections, NameMatch, Relation, Scene, Sighting, Swatch, Thing, Trait

ONE, TWO = Count(1, 1, "a"), Count(2, 2, "two", explicit=True)
RED, BLUE = Swatch("red", (200, 0, 0), (42.0, 66.0, 56.0), 0.9), Swatch("blue", (0, 0, 255), (32.3, 79.2, -107.9), 0.9)
PALE_BLUE = Swatch("blue", (150, 195, 240), (77.0, -4.0, -27.0), 0.9)
GREEN = Swatch("green", (0, 128, 0), (46.2, -51.7, 49.9), 0.9)


def thing(name: str, *attributes: Attribute, count: Count = ONE, relations: tuple[Relation, ...] = ()) -> Thing:
    return Thing(f"a {name}", name, count, attributes, relations)


def at(name: str, left: float = 0.1, color: Swatch = RED, size: str = "small", side: float = 0.1) -> Sighting:
    traits = (Trait("size", size, 1.0), Trait("position", "left", 1.0))
    return Sighting(
        name, name, Box(left, 0.4, left + side, 0.4 + 2 * side), 0.995, "test", (color,), size, "left", traits=traits
    )


RED_CAR, DARK_BLUE_CAR = thing("car", Attribute("color", "red")), thing("car", Attribute("color", "dark blue"))
LARGE_BOOK = thing("book", Attribute("size", "large"))
LEFT_CAT = thing("cat", relations=(Relation("left of", 1),))
LONE_CAT = thing("cat", Attribute("position", "left"))
CATS = tuple(at("cat", 0.08 * place) for place in range(12))
MANY = Count(2, None, "many")

SENTENCES = [
    ("4: all objects are present, and their counts are correct", (thing("cat", count=TWO),), CATS[:2], 4),
    ("4: all specified attributes are accurately depicted", (RED_CAR, thing("dog")), (at("car"), at("dog", 0.5)), 4),
    ("4: extra objects are ignored", (thing("cat"),), (at("cat"), at("dog", 0.4), at("car", 0.7)), 4),
    ("3: a color is a different shade", (DARK_BLUE_CAR,), (at("car", color=PALE_BLUE),), 3),
    ("3: a size is slightly off", (LARGE_BOOK,), (at("book", size="medium"),), 3),
    ("3: a position is swapped", (LEFT_CAT, thing("dog")), (at("cat", 0.7), at("dog", 0.1)), 3),
    ("3: a position of a sole object is swapped", (LONE_CAT,), (at("cat", 0.8),), 3),
    ("3: the count is slightly off", (thing("cat", count=TWO),), CATS[:3], 3),
    ("3: a key attribute of one object among several", (thing("dog"), RED_CAR), (at("dog"), at("car", 0.5, BLUE)), 3),
    (
        "3: a minor, secondary object is missing",
        tuple(map(thing, ("cat", "dog", "car", "bus", "kite"))),
        (at("cat"), at("dog", 0.2), at("car", 0.4), at("bus", 0.6)),
        3,
    ),
    ("2: the main subject is there, its counterpart is not", (LEFT_CAT, thing("dog")), (at("cat"),), 2),
    ("2: a core attribute is fundamentally wrong", (RED_CAR,), (at("car", color=BLUE),), 2),
    ("2: a red car is shown as a green bicycle", (RED_CAR,), (at("bicycle", color=GREEN, side=0.4),), 2),
    ("2: the count is far off", (thing("cat", count=TWO),), CATS[:6], 2),
    ("2: one of a crowd", (thing("cat"),), CATS, 2),
    ("1: the majority of key objects is missing", tuple(map(thing, ("cat", "dog", "car"))), (at("cat"),), 1),
    ("1: another animal in its place", (thing("giraffe"),), (at("zebra"),), 1),
    ("1: another ship in its place", (thing("sailboat"),), (at("ship", side=0.5),), 1),
    ("1: … and the others are missing, too", tuple(map(thing, ("giraffe", "kite", "bus"))), (at("zebra"),), 1),
    ("0: none of the objects is present", (thing("cat"), thing("dog")), (), 0),
    ("0: none, and something of no kin is", (thing("cat"),), (at("kite"),), 0),
    ("“a” met by two or three", (thing("cat"),), CATS[:3], 4),
    ("“a” met by more", (thing("cat"),), CATS[:5], 3),
    ("“many” is not two", (thing("cat", count=MANY),), CATS[:2], 3),
    ("“many” is a crowd", (thing("cat", count=MANY),), CATS, 4),
]


@pytest.mark.parametrize(("sentence", "things", "sightings", "score"), SENTENCES, ids=[row[0] for row in SENTENCES])
def test_the_sentence_holds(
    sentence: str, things: tuple[Thing, ...], sightings: tuple[Sighting, ...], score: int, settings: Settings
) -> None:
    names = {*(wanted.canonical for wanted in things), *(sighting.label for sighting in sightings)}
    seen = Detections(sightings, {name: NameMatch((name,)) for name in names})
    assert score_of(Scene("", things), seen, settings) == score, sentence


def score_of(scene: Scene, seen: Detections, settings: Settings) -> int:
    checks = believe(scene, Image(seen), settings)
    return expect(scene, checks, rubric_score, range(5), settings).score


def test_a_counterpart_of_someone_known_only_as_a_person_is_missing(settings: Settings) -> None:
    seen = Detections(
        (at("doctor"),), {"doctor": NameMatch(("person",), settings.subtype_score), "horse": NameMatch(("horse",))}
    )
    assert score_of(Scene("", (thing("doctor"), thing("horse"))), seen, settings) == 2


def test_an_object_of_which_only_a_broader_kind_is_known_is_never_full_marks(settings: Settings) -> None:
    seen = Detections((replace(at("woman"), word="person"),), {"woman": NameMatch(("person",), settings.subtype_score)})
    assert score_of(Scene("", (thing("woman"),)), seen, settings) == 3
