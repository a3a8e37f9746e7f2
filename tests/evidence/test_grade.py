"""From matches to the averages and the score: the protocol's examples, and every rule that leads there."""

import itertools
from dataclasses import replace

import pytest

from onprompt.evidence.estimates import Whole
from onprompt.evidence.grade import Grade, grade
from onprompt.evidence.match import match
from onprompt.evidence.matches import Match
from onprompt.language import parse
from onprompt.rubrics.verify import score_of
from onprompt.settings import Settings
from onprompt.types import (
    Attribute,
    Box,
    Count,
    Known,
    Outcome,
    Relation,
    Scene,
    Seen,
    Sighting,
    Swatch,
    Thing,
    Trait,
)
from onprompt.wording import actual, finding_words, thing_words

RED = Swatch("red", (200, 0, 0), (42.0, 66.0, 56.0), 0.9)
BLUE = Swatch("blue", (0, 0, 255), (32.3, 79.2, -107.9), 0.9)


def seen(*sightings: Sighting, known: tuple[str, ...] = ()) -> Seen:
    names = {*(sighting.label for sighting in sightings), *known}
    return Seen(sightings, {name: Known((name,)) for name in names})


def sighting(label: str, at: float = 0.0, confidence: float = 0.9, colour: Swatch = RED) -> Sighting:
    box = Box(at, 0.4, at + 0.1, 0.6)
    return Sighting(label, label, box, confidence, "test", (colour,), "small", "left")


def graded(scene: Scene, found: Seen, settings: Settings) -> tuple[int, float, float, float]:
    result = grade(match(scene, found, (), settings), settings)
    measures = result.presence, result.attribute_accuracy, result.coverage
    score = score_of(result.presence, result.attribute_accuracy, settings, result.faultless)
    return score, round(measures[0], 4), round(measures[1], 4), round(measures[2], 4)


RED_BALL = Thing("a red ball", "ball", Count(1, 1, "a"), (Attribute("color", "red"),))
TWO_DOGS = Thing("two dogs", "dog", Count(2, 2, "two", explicit=True))
SCENE = Scene("two dogs and a red ball", (TWO_DOGS, RED_BALL))


def test_all_there(settings: Settings) -> None:
    assert graded(SCENE, seen(sighting("dog"), sighting("dog", 0.3), sighting("ball", 0.6)), settings) == (4, 1, 1, 1)


def test_a_missing_object_scores_nothing(settings: Settings) -> None:
    found = seen(sighting("dog"), sighting("dog", 0.3), known=("ball",))
    assert graded(SCENE, found, settings) == (2, 0.5, 1, 1)


def test_a_wrong_colour_costs_the_attribute_part(settings: Settings) -> None:
    found = seen(sighting("dog"), sighting("dog", 0.3), sighting("ball", 0.6, colour=BLUE))
    assert graded(SCENE, found, settings) == (3, 0.9, 0.5, 1)
    sole = Scene("a red ball", (RED_BALL,))
    assert graded(sole, seen(sighting("ball", colour=BLUE)), settings) == (2, 0.8, 0, 1)


def test_a_wrong_number_costs_part_of_the_count_in_both_directions(settings: Settings) -> None:
    one = seen(sighting("dog"), sighting("ball", 0.6))
    three = seen(sighting("dog"), sighting("dog", 0.2), sighting("dog", 0.4), sighting("ball", 0.6))
    assert graded(SCENE, one, settings) == (3, 0.925, 0.75, 1)
    assert graded(SCENE, three, settings) == (3, 0.925, 0.75, 1)
    sole = Scene("two dogs", (TWO_DOGS,))
    assert graded(sole, one, settings)[:2] == (3, 0.85), "off by one is a minor error"
    five = seen(*(sighting("dog", 0.15 * place) for place in range(5)))
    assert graded(sole, five, settings)[0] == 2


def test_a_wrong_number_costs_the_4_however_much_is_right_beside_it(settings: Settings) -> None:
    names = [f"thing {number}" for number in range(9)]
    scene = Scene("", (TWO_DOGS, *(Thing(name, name) for name in names)))
    found = seen(sighting("dog"), *(sighting(name, 0.1 * place) for place, name in enumerate(names)))
    score, presence, accuracy, _ = graded(scene, found, settings)
    assert (score, presence > 0.9, accuracy > 0.9) == (3, True, True)


def test_more_than_one_for_a_is_a_minor_point(settings: Settings) -> None:
    scene = Scene("a dog", (Thing("a dog", "dog", Count(1, 1, "a")),))
    assert graded(scene, seen(sighting("dog"), sighting("dog", 0.4)), settings) == (4, 0.97, 0.9, 1)


def test_what_is_unverifiable_leaves_the_average_and_lowers_the_coverage(settings: Settings) -> None:
    found = seen(sighting("dog"), sighting("dog", 0.3))
    assert graded(SCENE, found, settings) == (4, 1, 1, 0.5)


def test_where_nothing_is_verifiable_the_prior_stands_in(settings: Settings) -> None:
    result = grade(match(SCENE, seen(), (), settings), settings)
    assert (result.value, result.presence, result.coverage, result.verifiable) == (0.5, 0.5, 0, False)
    assert graded(SCENE, seen(), settings)[0] == 2


@pytest.mark.parametrize(("confidence", "score"), [(0.3, 4), (0.16, 4), (0.13, 0), (0.06, 0)])
def test_a_faint_sighting_of_what_was_asked_for_is_enough(confidence: float, score: int, settings: Settings) -> None:
    scene = Scene("a zebra", (Thing("a zebra", "zebra", Count(1, 1, "a")),))
    assert graded(scene, seen(sighting("zebra", confidence=confidence)), settings)[0] == score


def test_a_major_object_weighs_more(settings: Settings) -> None:
    scene = Scene("", (replace(TWO_DOGS, importance=3.0), RED_BALL))
    found = seen(sighting("dog"), sighting("dog", 0.3), known=("ball",))
    assert graded(scene, found, settings)[1] == 0.75


def test_extras_change_nothing(settings: Settings) -> None:
    found = seen(sighting("dog"), sighting("dog", 0.3), sighting("ball", 0.6), sighting("cat", 0.8))
    assert graded(SCENE, found, settings) == (4, 1, 1, 1)


def test_an_absence_is_checked(settings: Settings) -> None:
    scene = Scene("no dog", (Thing("a dog", "dog", Count(1, 1, "a"), absent=True),))
    assert graded(scene, seen(known=("dog",)), settings)[0] == 4
    assert graded(scene, seen(sighting("dog")), settings)[0] == 0


def test_things_of_one_name_do_not_share_a_sighting(settings: Settings) -> None:
    red, blue = (Attribute("color", "red"),), (Attribute("color", "blue"),)
    scene = Scene(
        "",
        (
            Thing("two red cups", "cup", Count(2, 2, "two", True), red),
            Thing("a blue cup", "cup", Count(1, 1, "a"), blue),
        ),
    )
    cups = sighting("cup"), sighting("cup", 0.3), sighting("cup", 0.6, colour=BLUE)
    assert graded(scene, seen(*cups), settings) == (4, 1, 1, 1)
    assert graded(scene, seen(*cups[:2]), settings)[0] == 2  # the blue one is missing


def test_the_red_one_answers_for_a_red_cup_among_others(settings: Settings) -> None:
    scene = Scene("a red cup", (Thing("a red cup", "cup", Count(1, 1, "a"), (Attribute("color", "red"),)),))
    matches: tuple[Match, ...] = match(scene, seen(sighting("cup", colour=BLUE), sighting("cup", 0.5)), (), settings)
    assert [each.colours[0].name for each in matches[0].chosen] == ["red"]
    assert len(matches[0].checks[0].candidates) == 2, "all candidates are kept"


def relation(name: str, *found: Sighting, settings: Settings, known: tuple[str, ...] = ("dog", "ball")) -> Outcome:
    dog = Thing("a dog", "dog", Count(1, 1, "a"), relations=(Relation(name, 1),))
    scene = Scene("", (dog, Thing("a ball", "ball", Count(1, 1, "a"))))
    matches = match(scene, seen(*found, known=known), (), settings)
    return matches[0].checks[-1].outcome


def test_relations_are_attributes_of_their_subject(settings: Settings) -> None:
    dog, ball = sighting("dog"), sighting("ball", 0.6)
    assert relation("left of", dog, ball, settings=settings) is Outcome.MATCHED
    assert relation("right of", dog, ball, settings=settings) is Outcome.PARTIAL, "a swapped side is a minor error"
    assert relation("on", dog, ball, settings=settings) is Outcome.MISMATCH
    assert relation("above", dog, ball, settings=settings) is Outcome.LOW_CONFIDENCE
    assert relation("left of", dog, settings=settings) is Outcome.UNVERIFIABLE, "a missing target is charged once"
    assert relation("left of", dog, settings=settings, known=("dog",)) is Outcome.UNVERIFIABLE
    assert relation("behind", dog, ball, settings=settings) is Outcome.UNVERIFIABLE
    assert relation("left of", ball, settings=settings) is Outcome.MISSING


@pytest.mark.parametrize(
    ("count", "number", "score"),
    [
        *(
            (Count(2, 2, "two", True), 2, 1),
            (Count(2, 2, "two", True), 1, 0.5),
            (Count(4, 4, "four", True), 5, 0.5),
            (Count(4, 4, "four", True), 8, 0.5**4),
        ),
        *((Count(2, 4, "few"), 3, 1), (Count(2, 4, "few"), 1, 0.5), (Count(2, 4, "few"), 6, (2 / 3) ** 4)),
        *(
            (Count(1, None, "some"), 1, 1),
            (Count(1, None, "some"), 99, 1),
            (Count(1, 1, "a"), 3, 0.9),
            (Count(1, 1, "a"), 4, 0.5),
            (Count(1, 1, "a"), 17, 0),
            (Count(1, 1, "one", True), 2, 0.5),
        ),
    ],
)
def test_count_scores(count: Count, number: int, score: float, settings: Settings) -> None:
    from onprompt.evidence.counting import count_score

    assert count_score(count, number, settings) == pytest.approx(score)


def test_weak_sightings_that_would_make_up_the_number_leave_the_count_open(settings: Settings) -> None:
    scene = Scene("two dogs", (TWO_DOGS,))
    matches = match(scene, seen(sighting("dog"), sighting("dog", 0.3, confidence=0.4)), (), settings)
    count = matches[0].checks[1]
    assert count.outcome is Outcome.LOW_CONFIDENCE
    assert count.score == pytest.approx(0.5 + 0.4 * (1 - 0.5))
    assert finding_words(count) == "found 1, and 1 of low confidence (0.40)"


def test_weak_sightings_count_by_their_chances(settings: Settings) -> None:
    four = Thing("four dogs", "dog", Count(4, 4, "four", explicit=True))
    sure, weak = [sighting("dog", 0.1 * n) for n in range(2)], [sighting("dog", 0.3 + 0.1 * n, 0.3) for n in range(2)]
    count = match(Scene("", (four,)), seen(*sure, *weak), (), settings)[0].checks[1]
    expected = 0.7 * (2 / 4) ** 4 + 0.0 * (3 / 4) ** 4 + 0.3  # at least three as likely as at least four
    assert count.outcome is Outcome.LOW_CONFIDENCE
    assert count.score == pytest.approx(expected)
    ten = Thing("ten dogs", "dog", Count(10, 10, "ten", explicit=True))
    count = match(Scene("", (ten,)), seen(sure[0], weak[0]), (), settings)[0].checks[1]
    assert count.outcome is Outcome.MISMATCH, "one weak sighting can't make up for nine"


def absence(phrase: str, attributes: tuple[Attribute, ...], found: Seen, settings: Settings) -> Outcome:
    scene = Scene("", (Thing(phrase, "cat", Count(1, 1, "a"), attributes, absent=True),))
    return match(scene, found, (), settings)[0].outcome


def test_an_absence_is_broken_only_by_what_fits_it(settings: Settings) -> None:
    blue = (Attribute("color", "blue"),)
    assert absence("a blue cat", blue, seen(sighting("cat")), settings) is Outcome.MATCHED
    assert absence("a blue cat", blue, seen(sighting("cat", colour=BLUE)), settings) is Outcome.MISMATCH
    broader = Seen((sighting("cat"),), {"cat": Known(("cat",), 0.7)})
    assert absence("a siamese cat", (), broader, settings) is Outcome.UNVERIFIABLE


def test_at_most_two_are_met_by_none(settings: Settings) -> None:
    scene = Scene("", (Thing("at most two dogs", "dog", Count(0, 2, "at most two", explicit=True)),))
    assert graded(scene, seen(known=("dog",)), settings)[:2] == (4, 1)
    (dogs,) = match(scene, seen(known=("dog",)), (), settings)
    assert (thing_words(dogs.thing), actual(dogs)) == ("at most two dogs", "none detected")


def test_an_absence_shares_its_sightings_with_nobody(settings: Settings) -> None:
    cup = Thing("a cup", "cup", Count(1, 1, "a"))
    red = Thing("a red cup", "cup", Count(1, 1, "a"), (Attribute("color", "red"),), absent=True)
    assert [each.outcome for each in match(Scene("", (cup, red)), seen(sighting("cup")), (), settings)] == [
        Outcome.MATCHED,
        Outcome.MISMATCH,
    ]


def test_one_object_is_not_next_to_itself(settings: Settings) -> None:
    one = sighting("cat")
    animal = Sighting("animal", "cat", one.box, 0.9, "test")
    scene = Scene(
        "",
        (Thing("an animal", "animal", Count(1, 1, "an"), relations=(Relation("next to", 1),)), Thing("a cat", "cat")),
    )
    outcomes = [each.outcome for each in match(scene, seen(animal, one), (), settings)]
    assert sorted(outcomes) == [Outcome.MATCHED, Outcome.MISSING], "one object can't be both"


def test_a_subtype_that_cannot_be_told_costs_the_4(settings: Settings) -> None:
    scene = Scene("", (Thing("an office chair", "office chair", Count(1, 1, "an")),))
    found = Seen((sighting("office chair"),), {"office chair": Known(("chair",), settings.subtype_score)})
    assert graded(scene, found, settings)[:2] == (3, 0.85)


@pytest.mark.parametrize("name", ["zebra", "horse"])
def test_a_close_kind_stands_in_and_has_no_attributes(name: str, settings: Settings) -> None:
    scene = Scene("", (Thing("a red giraffe", "giraffe", Count(1, 1, "a"), (Attribute("color", "red"),)),))
    matches = match(scene, seen(sighting(name), known=("giraffe",)), (), settings)
    assert (matches[0].outcome, finding_words(matches[0].first)) == (Outcome.MISMATCH, f"{name} instead (0.90)")
    assert graded(scene, seen(sighting(name), known=("giraffe",)), settings)[:3] == (1, 0.4, 1)
    assert graded(scene, seen(sighting("cup"), known=("giraffe",)), settings)[:2] == (0, 0)


def test_a_wider_kind_is_all_that_can_be_told(settings: Settings) -> None:
    scene = Scene("", (Thing("a child", "child", Count(1, 1, "a")),))
    (child,) = match(scene, seen(sighting("person"), known=("child",)), (), settings)
    assert (child.outcome, child.checks[0].score) == (Outcome.PARTIAL, settings.subtype_score)


@pytest.mark.parametrize(("asked", "there"), [("motorcycle", "car"), ("chair", "dining table"), ("fork", "knife")])
def test_a_thing_made_for_another_purpose_is_no_substitute(asked: str, there: str, settings: Settings) -> None:
    scene = Scene("", (Thing(f"a {asked}", asked, Count(1, 1, "a")),))
    assert graded(scene, seen(sighting(there), known=(asked,)), settings)[:2] == (0, 0)


def test_what_stands_in_for_one_does_not_stand_in_for_another(settings: Settings) -> None:
    scene = Scene("", (Thing("a giraffe", "giraffe"), Thing("a horse", "horse")))
    found = match(scene, seen(sighting("zebra"), known=("giraffe", "horse")), (), settings)
    assert [each.outcome for each in found] == [Outcome.MISMATCH, Outcome.MISSING]


def test_things_with_the_same_box_are_two_unless_their_names_can_mean_one(settings: Settings) -> None:
    scene = Scene("", (Thing("a pizza", "pizza"), Thing("a plate", "plate")))
    assert graded(scene, seen(sighting("pizza"), sighting("plate")), settings) == (4, 1, 1, 1)


def test_one_zebra_is_not_five_giraffes(settings: Settings) -> None:
    scene = Scene("", (Thing("five giraffes", "giraffe", Count(5, 5, "five", True)),))
    assert graded(scene, seen(sighting("zebra"), known=("giraffe",)), settings)[:2] == (1, 0.1)


@pytest.mark.parametrize(("read", "outcome"), [("SALE", Outcome.MISMATCH), ("OPEN", Outcome.MATCHED)])
def test_words_that_must_not_be_there(read: str, outcome: Outcome, settings: Settings) -> None:
    scene = Scene("", (Thing("the words", "text", attributes=(Attribute("text", "SALE"),), absent=True),))
    line = Sighting("text", "text", Box(0, 0, 1, 1), 0.9, "test", text=read)
    (words,) = match(scene, seen(), (line,), settings)
    assert words.outcome is outcome
    assert grade((words,), settings).presence == float(outcome is Outcome.MATCHED)


SIGN = Thing("a sign", "sign", attributes=(Attribute("text", "OPEN"),))
WORDS = Thing("the text", "text", attributes=SIGN.attributes)
BOARD = (Thing("a board", "board", relations=(Relation("with", 1),)), WORDS)


@pytest.mark.parametrize(
    ("things", "read", "height", "score"),
    [
        ((SIGN,), "OPEN", 0.2, 4),
        ((SIGN,), "HOTEL", 0.2, 2),  # a sign, with other words
        ((SIGN,), "HOTEL", 0.02, 0),  # a watermark says nothing of a sign
        (BOARD, "OPEN", 0.2, 4),
        (BOARD, "HOTEL", 0.2, 1),
        ((WORDS,), "OPEN", 0.2, 4),
        ((WORDS,), "HOTEL", 0.2, 0),
    ],
)
def test_text_tells_what_bears_it(
    things: tuple[Thing, ...], read: str, height: float, score: int, settings: Settings
) -> None:
    line = Sighting("text", "text", Box(0.2, 0.2, 0.8, 0.2 + height), 0.9, "test", text=read)
    result = grade(match(Scene("", things), seen(), (line,), settings, lambda _: 0.03, Whole(0.0, 0.1)), settings)
    assert score_of(result.presence, result.attribute_accuracy, settings, result.faultless) == score


@pytest.mark.parametrize(
    ("other", "at", "outcome"),
    [
        ("sofa", 0.0, Outcome.MISSING),  # it is the sofa
        ("sofa", 0.5, Outcome.MATCHED),
        ("teddy bear", 0.0, Outcome.MATCHED),  # which may lie on a bed
        ("furniture", 0.0, Outcome.MATCHED),
    ],
)
def test_a_confident_sighting_outvotes_a_weak_one_of_a_similar_kind(
    other: str, at: float, outcome: Outcome, settings: Settings
) -> None:
    bed = Thing("a bed", "bed", Count(1, 1, "a"))
    for confidence in (0.4, 0.9):
        found = seen(sighting("bed", confidence=confidence), sighting(other, at, 0.85))
        (first,) = match(Scene("", (bed,)), found, (), settings)
        assert first.outcome is (outcome if confidence < settings.low_confidence else Outcome.MATCHED)


def test_an_object_goes_to_one_thing_only_and_all_get_the_most(settings: Settings) -> None:
    """A man is a person too: of a man and two people there are three."""
    man = replace(sighting("man"), box=Box(0.1, 0.1, 0.3, 0.9))
    people = [replace(sighting("person"), box=Box(x, 0.1, x + 0.2, 0.9)) for x in (0.1, 0.4, 0.7)]
    scene = Scene(
        "", (Thing("two people", "person", Count(2, 2, "two", True)), Thing("a man", "man", Count(1, 1, "a")))
    )
    assert graded(scene, seen(*people, man), settings) == (4, 1, 1, 1)
    assert graded(scene, seen(*people[:2], man), settings)[0] < 4


def test_fixing_a_mismatch_never_lowers_the_value(settings: Settings) -> None:
    """Every wrong or weak claim of a scene, made right one at a time and in any order."""
    scene = Scene("", (TWO_DOGS, replace(RED_BALL, relations=(Relation("left of", 0),)), Thing("a cat", "cat")))
    worst = seen(sighting("dog"), sighting("ball", 0.6, 0.3, BLUE), known=("cat",))
    fixes = {
        "another dog": lambda found: [*found, sighting("dog", 0.8)],
        "a sure ball": lambda found: [replace(x, confidence=0.9) if x.label == "ball" else x for x in found],
        "a red ball": lambda found: [replace(x, colours=(RED,)) if x.label == "ball" else x for x in found],
        "a ball on the left": lambda found: [
            replace(x, box=Box(-0.3, 0.4, -0.2, 0.6)) if x.label == "ball" else x for x in found
        ],
        "a cat": lambda found: [*found, sighting("cat", 0.4)],
    }
    for order in itertools.permutations(fixes):
        found = list(worst.sightings)
        values = [grade(match(scene, worst, (), settings), settings, 0.5).value]
        for name in order:
            found = fixes[name](found)
            now = seen(*found, known=("cat", "dog", "ball"))
            values.append(grade(match(scene, now, (), settings), settings, 0.5).value)
        assert values == sorted(values), order


@pytest.mark.parametrize(
    ("value", "complete", "score", "reconciled"),
    [
        (0.02, True, 4, (4, 0.65)),  # all was checked: the value follows
        (0.98, True, 0, (0, 0.35)),
        (0.9, True, 4, (4, 0.9)),
        (0.67, False, 4, (3, 0.67)),  # full marks for what was not checked need a high value
        (0.75, False, 4, (4, 0.75)),
        (0.02, False, 4, (1, 0.02)),  # the score follows
        (0.02, False, 0, (0, 0.02)),
        (0.98, False, 1, (1, 0.6)),
    ],
)
def test_score_and_value_never_contradict_each_other(
    value: float, complete: bool, score: int, reconciled: tuple[int, float], settings: Settings
) -> None:
    result = Grade(value, 1.0, 1.0, 1.0, 0.0, verifiable=True, complete=complete)
    assert result.reconcile(score, 4, settings) == pytest.approx(reconciled)


def test_a_placeholder_is_not_lowered(settings: Settings) -> None:
    unknown = Grade(0.01, 0.5, 1.0, 0.0, 0.0, verifiable=False, complete=False)
    assert unknown.reconcile(2, 4, settings) == pytest.approx((2, 0.15))


def test_what_is_left_open_is_not_complete(settings: Settings) -> None:
    def is_complete(scene: Scene, found: Seen, guess: float | None = None) -> bool:
        return grade(match(scene, found, (), settings, lambda _: guess), settings).complete

    ball = Scene("", (replace(RED_BALL, relations=(Relation("left of", 1),)), Thing("a cat", "cat")))
    assert is_complete(ball, seen(sighting("ball"), sighting("cat", 0.4)))
    assert is_complete(ball, seen(sighting("ball"), known=("cat",))), "a relation to a missing object is charged there"
    assert not is_complete(ball, seen(sighting("ball")))
    assert not is_complete(ball, seen(sighting("ball")), 0.99), "estimated"
    shiny = Scene("", (Thing("a ball", "ball", attributes=(Attribute("texture", "shiny"),)),))
    assert not is_complete(shiny, seen(sighting("ball")))


def test_the_seeds_worked_examples(settings: Settings) -> None:
    """The protocol's examples as Scene and Sightings: 4, 3, 2, 1, 0."""
    happy = (Trait("expression", "happy", 0.9),)
    dogs = [replace(sighting("dog", x), box=Box(x, 0.5, x + 0.1, 0.6), traits=happy) for x in (0.2, 0.4)]
    ball = replace(sighting("ball", colour=BLUE), box=Box(0.6, 0.5, 0.65, 0.55))
    park = replace(sighting("park"), box=Box(0, 0, 1, 1), traits=(Trait("state", "grassy", 0.9),))
    assert (
        graded(
            parse("Two happy dogs are playing with a red ball in a grassy park.", settings),
            seen(*dogs, ball, park),
            settings,
        )[0]
        == 3
    )
    zebra = replace(sighting("zebra"), traits=(Trait("action", "standing", 0.9),))
    giraffe = parse("A tall giraffe eating leaves from a high tree.", settings)
    field = seen(zebra, sighting("field", 0.5), known=("giraffe", "leaf", "tree"))
    assert graded(giraffe, field, settings)[0] == 1
    coder = parse("A programmer coding on a laptop in a dark room.", settings)
    beach = seen(sighting("beach"), sighting("palm tree", 0.5), known=("programmer", "laptop", "room"))
    assert graded(coder, beach, settings)[0] == 0
    book = replace(sighting("book"), box=Box(0.2, 0.2, 0.7, 0.8), size="large")
    cup = replace(sighting("cup", colour=BLUE), box=Box(0.71, 0.5, 0.8, 0.7), size="small")
    table = replace(sighting("table"), box=Box(0, 0.5, 1, 1), traits=(Trait("material", "wood", 0.9),))
    desk = parse("A large red book sitting next to a small blue cup on a wooden table.", settings)
    assert graded(desk, seen(book, cup, table), settings)[0] == 4
    sleeper = parse("A cat is sleeping on a sofa, and a lamp is on a table next to it.", settings)
    cat = replace(sighting("cat"), box=Box(0.3, 0.4, 0.5, 0.6), traits=(Trait("action", "sleep", 0.9),))
    sofa = replace(sighting("sofa"), box=Box(0.1, 0.5, 0.8, 0.9))
    assert graded(sleeper, seen(cat, sofa, known=("lamp", "table")), settings)[0] == 2


def test_the_seeds_first_and_last_examples(settings: Settings) -> None:
    """The protocol's examples: the book and the cup get a 4, the sofa without lamp and table a 2, the beach a 0."""
    colours = {"book": RED, "cup": BLUE}
    book = Thing("a large red book", "book", Count(1, 1, "a"), (Attribute("color", "red"),), (Relation("next to", 1),))
    cup = Thing("a small blue cup", "cup", Count(1, 1, "a"), (Attribute("color", "blue"),))
    table = Thing("a wooden table", "table", Count(1, 1, "a"), (Attribute("material", "wooden"),))
    things = (
        sighting("book", 0.3, colour=colours["book"]),
        sighting("cup", 0.45, colour=colours["cup"]),
        sighting("table", 0.4),
    )
    assert graded(Scene("", (book, cup, table)), seen(*things), settings)[0] == 4
    cat = Thing("a cat", "cat", Count(1, 1, "a"), relations=(Relation("on", 1),))
    sofa = Thing("a sofa", "sofa", Count(1, 1, "a"))
    lamp, desk = Thing("a lamp", "lamp", Count(1, 1, "a")), Thing("a table", "table", Count(1, 1, "a"))
    found = seen(sighting("cat", 0.4), sighting("sofa", 0.38), known=("lamp", "table"))
    assert graded(Scene("", (cat, sofa, lamp, desk)), found, settings)[0] == 2
    programmer, laptop = Thing("a programmer", "programmer"), Thing("a laptop", "laptop")
    beach = seen(sighting("palm tree"), known=("programmer", "laptop"))
    assert graded(Scene("", (programmer, laptop)), beach, settings)[0] == 0


def test_a_number_nearer_to_the_one_asked_for_never_scores_less(settings: Settings) -> None:
    from onprompt.evidence.counting import count_score

    for asked in (1, 2, 5, 13, 20):
        scores = [count_score(Count(asked, asked, "", True), number, settings) for number in range(1, 2 * asked + 5)]
        assert scores[:asked] == sorted(scores[:asked])
        assert scores[asked - 1 :] == sorted(scores[asked - 1 :], reverse=True)


def test_what_is_there_and_wrong_is_worth_no_less_than_what_is_missing(settings: Settings) -> None:
    red = (Attribute("color", "red"),)
    scene = Scene("", (Thing("five red dogs", "dog", Count(5, 5, "five", True), red),))
    wrong, none = (
        grade(match(scene, found, (), settings), settings).value
        for found in (seen(sighting("dog", colour=BLUE)), seen(known=("dog",)))
    )
    assert wrong >= none


def test_what_must_be_absent_does_not_dilute_a_wrong_attribute(settings: Settings) -> None:
    no_cat = Thing("a cat", "cat", absent=True)
    assert graded(Scene("", (RED_BALL, no_cat)), seen(sighting("ball", colour=BLUE), known=("cat",)), settings)[0] == 2


@pytest.mark.parametrize(("confidence", "outcome"), [(0.9, "mismatch"), (0.4, "low_confidence"), (0.1, "matched")])
def test_a_faint_sighting_of_what_must_be_absent_is_none(confidence: float, outcome: str, settings: Settings) -> None:
    scene = Scene("", (Thing("a dog", "dog", absent=True),))
    (dog,) = match(scene, seen(sighting("dog", confidence=confidence)), (), settings)
    assert dog.outcome == outcome
    assert bool(dog.first.chosen) is (confidence >= 0.25)


def test_a_faint_sighting_is_no_fault_where_at_most_some_were_asked_for(settings: Settings) -> None:
    scene = Scene("", (Thing("at most three dogs", "dog", Count(0, 3, "at most three", True)),))
    assert graded(scene, seen(sighting("dog", confidence=0.06)), settings)[0] == 4
