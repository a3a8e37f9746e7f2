"""Slips are repaired; what may be right is left alone."""

import random
import time

import pytest

from onprompt.language import spelling
from onprompt.language.spelling import known_word, mended, repaired


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        *(("rde", "red"), ("bal", "ball"), ("hte", "the"), ("teh", "the"), ("wmoan", "woman"), ("grass", None)),
        *(("keybord", "keyboard"), ("retreiver", "retriever"), ("tatoo", "tattoo"), ("Balck", "Black")),
        *(("surounded", "surrounded"), ("turquiose", "turquoise"), ("mountian", "mountain"), ("litlle", "little")),
    ],
)
def test_slips(slip: str, meant: str | None) -> None:
    assert repaired(slip) == meant


@pytest.mark.parametrize(
    "word",
    [
        *("adidas", "pikachu", "minecraft", "anime", "selfie", "artstation", "rutkowski", "beksinski", "hockney"),
        *("4k", "3d", "rgb8", "UHD", "NASA", "xq", "cafe", "café", "naïve", "brightly-colored", "iPhone", "R2D2"),
        *("hyperrealistic", "wishlist", "superwoman", "firetruck", "unpainted", "snowboarders", "don't", "dog's"),
        *("ramen", "kimono", "torii", "capybara", "kusama", "lovecraftian", "bokeh"),
    ],
)
def test_what_may_be_right_is_left_alone(word: str) -> None:
    assert repaired(word) is None


def test_a_capital_within_a_sentence_may_be_a_name() -> None:
    assert repaired("Balck") == "Black"
    assert repaired("Balck", maybe_name=True) is None
    assert repaired("balck", maybe_name=True) == "black"


def test_forms_of_known_words_are_known() -> None:
    for word in ("stopped", "making", "carries", "happiest", "brightly", "firemen", "boxes", "ponies", "Dog's", "café"):
        assert known_word(word), word
    for word in ("stoped", "runing", "brightlly", "boxs", "ponys", "qwrt"):
        assert not known_word(word), word


def slipped(word: str, chance: random.Random) -> str:
    """The word with a letter left out, doubled, or swapped with the next."""
    at = chance.randrange(1, len(word) - 1)
    return chance.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )


def test_most_slips_in_longer_words_are_repaired_and_few_wrongly() -> None:
    chance = random.Random(0)
    often = [word for word, times in spelling.words().common.items() if times >= 50 and len(word) >= 6]
    pairs = [(slip, word) for word in often for slip in [slipped(word, chance)] if not known_word(slip)]
    found = [(repaired(slip), word) for slip, word in pairs]
    right = sum(repair == word for repair, word in found)
    wrong = sum(repair not in (word, None) for repair, word in found)
    assert right >= 0.85 * len(pairs)
    assert wrong <= 0.02 * len(pairs)


def test_an_unknown_word_takes_under_a_millisecond_and_a_known_one_nothing_to_speak_of() -> None:
    chance = random.Random(1)
    unknown = ["".join(chance.choices("aeioubcdlmnrst", k=9)) for _ in range(100)]
    repaired("warmm"), repaired("warmingg")
    start = time.process_time()
    for word in unknown:
        repaired(word)
    assert time.process_time() - start < 0.1 * 2  # twice the bound, for a busy machine
    known_word("dog")
    start = time.process_time()
    for _ in range(1000):
        repaired("dog")
    assert time.process_time() - start < 0.02


@pytest.mark.parametrize(
    ("text", "mended_text"),
    [
        ("A blak elefant on a bycicle.", "A black elephant on a bicycle."),
        ("Tcennis rpacket.", "Tennis racket."),
        ("a dog, a cat & 2 owls!", "a dog, a cat & 2 owls!"),
        ("a portrait of Zorkin", "a portrait of Zorkin"),  # a name may be spelt as it likes
        ("", ""),
    ],
)
def test_texts_are_mended_word_by_word(text: str, mended_text: str) -> None:
    assert mended(text) == mended_text
