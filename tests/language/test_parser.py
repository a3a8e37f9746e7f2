"""From prompts to scenes: each case asserts the whole scene."""

import random
import time
from typing import Any

import pytest

from onprompt.errors import PromptError
from onprompt.language.parser import parse
from onprompt.settings import Settings

Row = tuple[Any, ...]  # canonical, count, attributes, relations


def scene(prompt: str, settings: Settings) -> list[Row]:
    """A scene in short: name, (low, high), {kind: values}, [(relation, target)]; absences begin with "no"."""
    rows: list[Row] = []
    for thing in parse(prompt, settings).things:
        attributes: dict[str, list[str]] = {}
        for each in thing.attributes:
            attributes.setdefault(each.kind, []).append(each.value)
        name = f"no {thing.canonical}" if thing.absent else thing.canonical
        rows.append(
            (name, (thing.count.low, thing.count.high), attributes, [(r.name, r.target) for r in thing.relations])
        )
    return rows


ONE, SOME, PLURAL = (1, 1), (1, None), (2, None)

CASES: dict[str, list[Row]] = {
    "two dogs and a red ball": [("dog", (2, 2), {}, []), ("ball", ONE, {"color": ["red"]}, [])],
    "A large red book sitting next to a small blue cup on a wooden table.": [
        ("book", ONE, {"size": ["large"], "color": ["red"], "action": ["sitting"]}, [("next to", 1)]),
        ("cup", ONE, {"size": ["small"], "color": ["blue"]}, [("on", 2)]),
        ("table", ONE, {"material": ["wooden"]}, []),
    ],
    "a photo of a bench left of a bear": [("bench", ONE, {}, [("left of", 1)]), ("bear", ONE, {}, [])],
    "a photo of an orange": [("orange", ONE, {}, [])],
    "three orange cats": [("cat", (3, 3), {"color": ["orange"]}, [])],
    "the car is red": [("car", ONE, {"color": ["red"]}, [])],
    "a dark blue bicycle": [("bicycle", ONE, {"color": ["dark blue"]}, [])],
    "A sign that says 'OPEN' on the left": [("sign", ONE, {"text": ["OPEN"], "position": ["left"]}, [])],
    'the words "Hello World"': [("text", SOME, {"text": ["Hello World"]}, [])],
    '"Hello"': [("text", SOME, {"text": ["Hello"]}, [])],
    "a man without a hat riding a bike": [
        ("man", ONE, {}, [("riding", 2)]),
        ("no hat", ONE, {}, []),
        ("bicycle", ONE, {}, []),
    ],
    "a room with no chairs": [("room", ONE, {}, []), ("no chair", PLURAL, {}, [])],
    "two men and four horses standing next to a barn": [
        ("man", (2, 2), {"action": ["standing"]}, [("next to", 2)]),
        ("horse", (4, 4), {"action": ["standing"]}, [("next to", 2)]),
        ("barn", ONE, {}, []),
    ],
    "a pair of sneakers": [("sneakers", (2, 2), {}, [])],
    "a couple of glass bottles": [("bottle", (2, 2), {"material": ["glass"]}, [])],
    "a dozen eggs": [("egg", (12, 12), {}, [])],
    "two dozen eggs": [("egg", (24, 24), {}, [])],
    "3 cats": [("cat", (3, 3), {}, [])],
    "few birds": [("bird", (2, 4), {}, [])],
    "a few birds": [("bird", (2, 4), {}, [])],
    "several cows": [("cow", (3, 7), {}, [])],
    "some people": [("person", SOME, {}, [])],
    "couches": [("sofa", PLURAL, {}, [])],
    "A cat is sleeping on a sofa, and a lamp is on a table.": [
        ("cat", ONE, {"action": ["sleeping"]}, [("on", 1)]),
        ("sofa", ONE, {}, []),
        ("lamp", ONE, {}, [("on", 3)]),
        ("table", ONE, {}, []),
    ],
    "a parking meter and a dining table": [("parking meter", ONE, {}, []), ("dining table", ONE, {}, [])],
    "beautiful": [],
    # negation
    "There is not a single person in the picture": [("no person", ONE, {}, [])],
    "a cup, not a mug": [("cup", ONE, {}, []), ("no mug", ONE, {}, [])],
    "neither cats nor dogs": [("no cat", PLURAL, {}, []), ("no dog", PLURAL, {}, [])],
    "A man who isn't wearing a hat": [("man", ONE, {}, []), ("no hat", ONE, {}, [])],
    "the cup is not blue": [("cup", ONE, {"not color": ["blue"]}, [])],
    "0 cats": [("no cat", (0, 0), {}, [])],
    # numbers
    "1,000 balloons": [("balloon", (1000, 1000), {}, [])],
    "half a dozen eggs": [("egg", (6, 6), {}, [])],
    "at least three dogs": [("dog", (3, None), {}, [])],
    "more than 3 cups": [("cup", (4, None), {}, [])],
    "fewer than five birds": [("bird", (0, 4), {}, [])],
    "exactly two cats": [("cat", (2, 2), {}, [])],
    "many cups": [("cup", PLURAL, {}, [])],
    # the same thing again
    "A cat. The cat is orange.": [("cat", ONE, {"color": ["orange"]}, [])],
    "a cup on a table, and the table is brown": [
        ("cup", ONE, {}, [("on", 1)]),
        ("table", ONE, {"color": ["brown"]}, []),
    ],
    "a man without a hat or glasses": [("man", ONE, {}, []), ("no hat", ONE, {}, []), ("no eyeglasses", SOME, {}, [])],
    "no dogs and cats": [("no dog", PLURAL, {}, []), ("no cat", PLURAL, {}, [])],
    "there are no people and the sky is blue": [("no person", PLURAL, {}, []), ("sky", ONE, {"color": ["blue"]}, [])],
    "a cat that is not on a table": [("cat", ONE, {}, [("not on", 1)]), ("table", ONE, {}, [])],
    # what looks like a number or a place and is none
    "a cat under one umbrella": [("cat", ONE, {}, [("under", 1)]), ("umbrella", ONE, {}, [])],
    "a lamp over two tables": [("lamp", ONE, {}, [("above", 1)]), ("table", (2, 2), {}, [])],
    "a 1957 car": [("car", ONE, {}, [])],
    "1234567 dogs": [("dog", (1234567, 1234567), {}, [])],
    "a cup on the right of the image and a spoon": [("cup", ONE, {"position": ["right"]}, []), ("spoon", ONE, {}, [])],
    "a dog in the background and a cat": [("dog", ONE, {}, []), ("cat", ONE, {}, [])],
    "a cat next to a painting": [("cat", ONE, {}, [("next to", 1)]), ("painting", ONE, {}, [])],
    "a painting of a cat": [("cat", ONE, {}, [])],
    # commas between adjectives and between things
    "a cat in front of a blue, shiny wall": [
        ("cat", ONE, {}, [("in front of", 1)]),
        ("wall", ONE, {"color": ["blue"], "state": ["shiny"]}, []),
    ],
    "a red, green and blue ball": [("ball", ONE, {"color": ["red", "green", "blue"]}, [])],
    "a red ball, a blue cube": [("ball", ONE, {"color": ["red"]}, []), ("cube", ONE, {"color": ["blue"]}, [])],
    "The red cup is to the left of the blue cup.": [
        ("cup", ONE, {"color": ["red"]}, [("left of", 1)]),
        ("cup", ONE, {"color": ["blue"]}, []),
    ],
    "A red cup and a blue cup. The red cup is on a table.": [
        ("cup", ONE, {"color": ["red"]}, [("on", 2)]),
        ("cup", ONE, {"color": ["blue"]}, []),
        ("table", ONE, {}, []),
    ],
    # more numbers
    "fewer than 0 dogs": [("no dog", (0, 0), {}, [])],
    "no fewer than one cup": [("cup", SOME, {}, [])],
    "not more than two cups": [("cup", (0, 2), {}, [])],
    "not two cats": [("cat", (0, None), {"not count": ["2"]}, [])],
    "not only a cup but also a spoon": [("cup", ONE, {}, []), ("spoon", ONE, {}, [])],
    "one or two cats": [("cat", (1, 2), {}, [])],
    "one or more cups": [("cup", SOME, {}, [])],
    "twenty-one cups": [("cup", (21, 21), {}, [])],
    "twenty five cups": [("cup", (25, 25), {}, [])],
    "2-3 cups": [("cup", (2, 3), {}, [])],
    "dozens of birds": [("bird", PLURAL, {}, [])],
    "a pair of scissors": [("scissors", ONE, {}, [])],
    # places, and who stands to whom
    "On the left a cup, on the right a spoon.": [
        ("cup", ONE, {"position": ["left"]}, []),
        ("spoon", ONE, {"position": ["right"]}, []),
    ],
    "a cat, on the left": [("cat", ONE, {"position": ["left"]}, [])],
    "a cup in the upper left corner": [("cup", ONE, {"position": ["top-left"]}, [])],
    "a dog left of a cat and above a bird": [
        ("dog", ONE, {}, [("left of", 1), ("above", 2)]),
        ("cat", ONE, {}, []),
        ("bird", ONE, {}, []),
    ],
    "A cat, no dog on the table": [("cat", ONE, {}, []), ("no dog", SOME, {}, []), ("table", ONE, {}, [])],
    # words that must not be there
    'no text "HELLO"': [("text", SOME, {"not text": ["HELLO"]}, [])],
    """a sign that doesn't say "STOP\"""": [("sign", ONE, {"not text": ["STOP"]}, [])],
    'no text "HELLO" "BYE"': [("text", SOME, {"not text": ["HELLO"], "text": ["BYE"]}, [])],
    # two colours, compounds, words on things
    "a black and white cat": [("cat", ONE, {"color": ["black", "white"]}, [])],
    "a hot dog": [("hot dog", ONE, {}, [])],
    'A "STOP" sign': [("sign", ONE, {"text": ["STOP"]}, [])],
    'A woman with a "NASA" badge': [("woman", ONE, {}, [("with", 1)]), ("badge", ONE, {"text": ["NASA"]}, [])],
}


@pytest.mark.parametrize("prompt", CASES)
def test_the_whole_scene(prompt: str, settings: Settings) -> None:
    assert scene(prompt, settings) == CASES[prompt]


def test_quantifiers_follow_the_settings(settings: Settings) -> None:
    other = settings.model_copy(update={"few_low": 5, "few_high": 6, "pair": 3})
    assert scene("few birds and a couple of cats", other) == [("bird", (5, 6), {}, []), ("cat", (3, 3), {}, [])]


def test_confidence_of_counts(settings: Settings) -> None:
    counts = {thing.canonical: thing.count for thing in parse("two dogs, several cats and birds", settings).things}
    assert counts["dog"].confidence == 1
    assert counts["dog"].exact == 2
    assert counts["cat"].confidence < 1
    assert counts["bird"].exact is None


def test_quoted_text_keeps_its_case_and_curly_quotes_are_quotes(settings: Settings) -> None:
    assert scene("a poster reading “Café 24h”", settings) == [("poster", ONE, {"text": ["Café 24h"]}, [])]


def test_flags(settings: Settings) -> None:
    assert parse("many dogs", settings).flags == ("ambiguous_quantifier",)
    assert parse("🐶", settings).flags == ("no_objects",)
    assert parse("a dog", settings).flags == ()


def test_time_grows_with_the_length_and_no_faster(settings: Settings) -> None:
    def seconds(repeats: int) -> float:
        start = time.perf_counter()
        parse("a red ball next to two dogs and a cat on the left. " * repeats, settings)
        return time.perf_counter() - start

    seconds(10)
    short, long = min(seconds(100) for _ in range(3)), min(seconds(1000) for _ in range(3))
    assert long < 25 * short


def test_whatever_is_written_the_scene_is_well_formed(settings: Settings) -> None:
    words = [
        *" ".join(CASES).split(),
        *("not", "no", "or", "and", '"A"', "at most", "2-3", "of", "the", ",", ".", "without"),
    ]
    dice = random.Random(0)
    for _ in range(3000):
        prompt = " ".join(dice.choice(words) for _ in range(dice.randint(1, 14)))
        try:
            things = parse(prompt, settings).things
        except PromptError:
            continue
        for index, thing in enumerate(things):
            assert thing.phrase, prompt
            assert thing.canonical, prompt
            assert thing.count.high is None or thing.count.low <= thing.count.high, prompt
            assert all(each.target != index and each.target < len(things) for each in thing.relations), prompt
