"""Typing errors are corrected; words that may be right are left alone; other languages are noticed."""

import pytest

from onprompt.language.spelling import correct_spelling, correct_word, is_english
from onprompt.language.words import is_common_word


@pytest.mark.parametrize(
    ("error", "intended"),
    [
        *(("rde", "red"), ("bal", "ball"), ("hte", "the"), ("teh", "the"), ("wmoan", "woman"), ("grass", None)),
        *(("labtop", "laptop"), ("ovenn", "oven"), ("piza", "pizza"), ("keybord", "keyboard"), ("Balck", "Black")),
        *(("retreiver", "retriever"), ("tatoo", "tattoo"), ("restaraunt", "restaurant"), ("elefant", "elephant")),
        *(("surounded", "surrounded"), ("turquiose", "turquoise"), ("mountian", "mountain"), ("litlle", "little")),
    ],
)
def test_typing_errors(error: str, intended: str | None) -> None:
    assert correct_word(error) == intended


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
    assert correct_word(word) is None


def test_a_capital_within_a_sentence_may_be_a_name() -> None:
    assert correct_word("Balck") == "Black"
    assert correct_word("Balck", maybe_name=True) is None
    assert correct_word("balck", maybe_name=True) == "black"


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("A blak elefant on a bycicle.", "A black elephant on a bicycle."),
        ("Tcennis rpacket.", "Tennis racket."),
        ("a dog, a cat & 2 owls!", "a dog, a cat & 2 owls!"),
        ("a portrait of Zorkin", "a portrait of Zorkin"),  # a name may be spelt as it likes
        ("", ""),
    ],
)
def test_texts_are_corrected_word_by_word(text: str, corrected: str) -> None:
    assert correct_spelling(text) == corrected


def test_words_that_a_model_of_captions_knows() -> None:
    assert all(map(is_common_word, ("dog", "dogs", "Walking")))
    assert not is_common_word("artophagous")


FOREIGN = """
Obstmarkt bei Sonnenaufgang | castello medievale nebbia | çiçekli vazo masada | montagne neige coucher soleil
un perro rojo corriendo en la playa | una mujer sentada en una silla azul | dos gatos negros sobre la mesa
un chat noir sur une table en bois | deux chiens jouent dans le parc | portrait d'un vieil homme avec une barbe
ein roter Hund auf der Straße | zwei Katzen auf einem Sofa | ein kleines Kind spielt mit einem Ball
un cane rosso che corre sulla spiaggia | due gatti neri sul divano | ritratto di un uomo con la barba
um cachorro vermelho na praia | uma mulher sentada na cadeira azul | dois gatos pretos em cima da mesa
een rode hond op het strand | een oud kasteel in het bos | een man leest een boek bij het raam
czerwony pies biegnie po plaży | dwa czarne koty na stole | chłopiec z czerwoną piłką
en röd hund på stranden | två svarta katter på bordet | en kvinne sitter på en blå stol
kırmızı bir köpek sahilde koşuyor | masanın üzerinde iki siyah kedi | červený pes na pláži
seekor anjing merah di pantai | dua kucing hitam di atas meja | punainen koira juoksee rannalla
một con chó đỏ trên bãi biển | hai con mèo đen trên bàn | egy piros kutya a tengerparton
красная собака на пляже | 一只红色的狗在沙滩上 | 浜辺を走る赤い犬 | 해변을 달리는 빨간 개 | كلب أحمر على الشاطئ
समुद्र तट पर लाल कुत्ता | ένας κόκκινος σκύλος στην παραλία | כלב אדום על החוף | สุนัขสีแดงบนชายหาด
"""

ENGLISH = """
frog, wayne barlowe | salvador dali | die hard poster | a sign saying 'la vie en rose' | taj mahal | la la land poster
los angeles at night | van gogh | leonardo da vinci | rio de janeiro | art nouveau poster, alphonse mucha | el greco
crème brûlée | piñata | beyoncé | zdzisław beksiński | tour de france | coq au vin | robert de niro | an auto in a lot
no man is an island | pie a la mode | U.S. 101 | 8k, octane render, artstation, greg rutkowski, wlop | 4 | tokyo
a red bal and a dgo | day of the dead, dia de los muertos | rembrandt van rijn | a photo of a café in são paulo
"""


def prompts(text: str) -> list[str]:
    return [prompt.strip() for line in text.strip().splitlines() for prompt in line.split("|")]


def words(prompt: str) -> list[str]:
    return [word.strip(",.'") for word in prompt.split()]


@pytest.mark.parametrize("prompt", prompts(FOREIGN))
def test_other_languages_are_told(prompt: str) -> None:
    assert not is_english(words(prompt))


@pytest.mark.parametrize("prompt", prompts(ENGLISH))
def test_english_with_foreign_names_passes(prompt: str) -> None:
    assert is_english(words(prompt))
