"""Names, kinds, and how a vocabulary answers for a name."""

import pytest

from onprompt.language import ontology, words
from onprompt.vision.vocabulary import COCO


@pytest.mark.parametrize(
    ("name", "word", "may_be"),
    [
        *(("woman", "person", True), ("sofa", "couch", True), ("animal", "puppy", True), ("man", "woman", False)),
        *(("office chair", "chair", True), ("zebra", "horse", False)),
    ],
)
def test_what_may_be_said_of_one_thing(name: str, word: str, may_be: bool) -> None:
    assert ontology.name_of(name).may_be(word) is may_be


@pytest.mark.parametrize("name", COCO)
def test_the_plural_of_every_coco_name_leads_back_to_it(name: str) -> None:
    same = {"skis": "skis", "scissors": "scissors", "sheep": "sheep", "broccoli": "broccoli"}
    odd = same | {"person": "people", "mouse": "mice", "knife": "knives"}
    plural = odd.get(name) or name + ("es" if name.endswith(("s", "ch", "sh")) else "s")
    assert name in ontology.name_of(plural).same


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        *(("lens", "lens"), ("lenses", "lens"), ("scissors", "scissors"), ("leaves", "leaf"), ("caves", "cave")),
        *(("ladies", "lady"), ("ties", "tie"), ("brownies", "brownie"), ("tomatoes", "tomato"), ("shoes", "shoe")),
        *(("menus", "menu"), ("cactus", "cactus"), ("firemen", "fireman"), ("ramen", "ramen"), ("crosses", "cross")),
        *(("vases", "vase"), ("series", "series"), ("scarves", "scarf"), ("wine glasses", "wine glass")),
        *(("qwerties", "qwerty"), ("blorps", "blorp"), ("zargus", "zargus")),
    ],
)
def test_nouns_tell_plurals(plural: str, one: str) -> None:
    assert words.singular(plural) == one


def test_synonyms_are_wordnets_too_and_ours_go_first() -> None:
    assert ontology.canonical("couches") == ontology.canonical("sofa") == "sofa"
    assert ontology.canonical("automobiles") == ontology.canonical("car") == "car"
    assert ontology.canonical("doughnut") == "donut"
    assert ontology.canonical("bike") == "bicycle"  # WordNet has the motorcycle too


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("cup", "mug"), ("boat", "ship"), ("jacket", "coat"), ("hat", "cap"), ("street", "road"), ("frog", "toad")),
        *(("castle", "palace"), ("turtle", "turtleneck"), ("bus", "double-decker"), ("man", "person"), ("rug", "mat")),
    ],
)
def test_what_people_tell_apart_is_not_folded(one: str, other: str) -> None:
    assert ontology.canonical(one) == one
    assert ontology.canonical(other) == other


def test_kinds_and_members_are_wordnets_too() -> None:
    assert {"reptile", "animal"} <= set(ontology.broader("iguana"))
    assert {"iguana", "capybara", "dog", "owl"} <= ontology.members("animal")
    assert "violin" in ontology.members("musical instrument")
    assert {"entity", "object", "artifact", "thing"}.isdisjoint(ontology.broader("iguana"))
    assert "animal" not in ontology.broader("woman")
    assert ontology.name_of("puppy").broader[:2] == ("dog", "doggy"), "the narrowest first"
    assert ontology.broader("red sports car")[:2] == ("sports car", "sport car")
    assert "car" in ontology.broader("red sports car")


@pytest.mark.parametrize(
    ("noun", "kind"),
    [
        *(("mouse", "rodent"), ("mouse", "electronic device"), ("crane", "bird"), ("bat", "mammal"), ("bat", "club")),
        *(("orange", "fruit"), ("bow", "weapon"), ("bow", "knot"), ("pitcher", "athlete"), ("monitor", "screen")),
        *(("chicken", "bird"), ("chicken", "meat"), ("date", "fruit"), ("kid", "person"), ("whale", "mammal")),
    ],
)
def test_words_of_several_senses_mean_what_is_in_pictures(noun: str, kind: str) -> None:
    assert kind in ontology.broader(noun)


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ("appliance", {"microwave", "oven"}),
        ("food", {"cake", "donut", "pizza"}),
        ("pet", {"cat", "dog"}),
    ],
)
def test_a_general_word_is_satisfied_by_its_kinds(asked: str, kinds: set[str]) -> None:
    assert kinds <= ontology.name_of(asked).members


def test_distance_is_nothing_for_the_same_and_for_kinds_of_what_is_asked() -> None:
    assert ontology.distance("sofa", "couch") == 0
    assert ontology.distance("chair", "armchair") == 0
    assert ontology.distance("animal", "puppies") == 0
    assert ontology.distance("blorp", "blorp") == 0


def test_distance_grows_from_wider_kinds_over_neighbours_to_strangers() -> None:
    wider = [ontology.distance("puppy", found) for found in ("dog", "mammal", "animal")]
    others = [ontology.distance("puppy", found) for found in ("wolf", "cat", "sparrow", "car")]
    assert [*wider, *others] == sorted({*wider, *others})
    assert 0.3 <= ontology.distance("office chair", "chair") < 0.35
    assert max(wider) < 0.5 < min(others)
    assert ontology.distance("dog", "car") == ontology.distance("blorp", "dog") == 1


CONCRETE = """
dog, table, fire, rainbow, shadow, sky, smoke, light, cloud, wave, reflection, crowd, forest, dragon, unicorn, samurai,
stop sign, red dragon, Labradors, tower of bricks, date, nail, plate, letters, sunset, hat, knives, t-shirt"""
ABSTRACT = "love, time, style, idea, background, left, happiness, front, color, beauty, jump"


@pytest.mark.parametrize(("nouns", "is_concrete"), [(CONCRETE, True), (ABSTRACT, False)])
def test_what_one_can_point_at_is_concrete(nouns: str, is_concrete: bool) -> None:
    listed = [noun.strip() for noun in nouns.split(",")]
    assert [noun for noun in listed if ontology.is_concrete(noun) is not is_concrete] == []
