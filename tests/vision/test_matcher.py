"""The matcher: pictures and texts as vectors, and what the trained file makes of them."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from onprompt.settings import Settings
from onprompt.types import Picture
from onprompt.vision.global_properties import medium
from onprompt.vision.image import load_picture
from onprompt.vision.matchers.small import TEXT_FILES, SmallMatcher, build_tower, load_embeddings, logistic, weight
from onprompt.vision.runtime import Network
from onprompt.weights.cache import paths
from tests.conftest import photo

CAPTIONS = {
    "chelsea.png": "A cat looks at the camera",
    "bus.jpg": "People walk past a bus in the street",
    "motorcycle.png": "A motorcycle parked in a garage",
}


def picture(name: str, settings: Settings) -> Picture:
    return load_picture(photo(name), settings)


@pytest.mark.parametrize("name", CAPTIONS)
def test_a_photo_is_a_photo_and_fits_its_own_caption_best(name: str, settings: Settings) -> None:
    likely = SmallMatcher(settings).probabilities(picture(name, settings), list(CAPTIONS.values()))
    assert max(likely) == likely[list(CAPTIONS).index(name)] > 0.5
    assert medium(picture(name, settings), settings).value == "photo"


def test_chances_are_the_same_one_by_one_and_together(settings: Settings) -> None:
    model, texts = SmallMatcher(settings), [*CAPTIONS.values(), "", "🐈", "a" * 30_000]
    cat = picture("chelsea.png", settings)
    together = model.probabilities(cat, texts)
    assert together == [model.probabilities(cat, [text])[0] for text in texts]
    assert together == [SmallMatcher(settings).probabilities(cat, [text])[0] for text in texts]
    assert all(0 <= chance <= 1 for chance in together)
    assert model.probabilities(cat, []) == model.phrase_probabilities(cat, []) == []


def test_pictures_that_differ_are_not_taken_for_each_other(settings: Settings) -> None:
    """Two palettes on the same bytes."""
    model, found = SmallMatcher(settings), []
    for color in ((255, 0, 0), (0, 0, 255)):
        image = Image.new("P", (64, 64))
        image.putpalette(color)
        found.append(model.embed_image(load_picture(image, settings)).vectors[0])
    assert not np.allclose(found[0], found[1], atol=0.01)


def test_a_phrase_may_be_true_of_a_part(settings: Settings) -> None:
    """A photo in a corner of an empty wall: the part shows it better than the whole, and the opposite part does not."""
    wall = np.full((800, 800, 3), 128, dtype=np.uint8)
    wall[:480, :480] = np.asarray(Image.fromarray(photo("bus.jpg")).resize((480, 480)))
    model = SmallMatcher(settings)
    seen, told = model.embed_image(load_picture(wall, settings)).vectors, model.embed_texts(["a bus"])[0]
    whole, upper_left, *_, lower_right = seen @ told
    assert upper_left > whole > lower_right
    (chance,) = model.phrase_probabilities(load_picture(wall, settings), ["a bus"])
    assert chance == pytest.approx(logistic(upper_left, weight("phrase")), abs=1e-3)


def test_towers_worked_out_by_hand() -> None:
    weights = {
        "limit": np.array(5.0),
        **{"text.mean": np.array([1.0, 0.0]), "text.spread": np.array([2.0, 1.0])},
        **{"text.in": np.zeros((1, 2, 3)), "text.in_bias": np.zeros((1, 3)), "text.out": np.ones((1, 3, 2))},
        **{"text.skip": np.eye(2)[None], "text.bias": np.zeros((1, 2))},
        **{"known": np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), "nearest": np.array(2.0), "share": np.array(0.5)},
    }
    floats = {name: value.astype(np.float32) for name, value in weights.items()}
    (found,) = Network(build_tower("text", floats.__getitem__)).run(
        [np.array([[7.0, 4.0], [1.0, 99.0]], dtype=np.float32)]
    )
    # The two known photos that suit (.6, .8) best have the cosines .6 and .8, and half of their mean is taken off.
    assert found == pytest.approx(np.array([[0.6, 0.8, -0.35], [0, 1, -0.25]]))


def test_words_are_read_whatever_the_text(settings: Settings) -> None:
    table = load_embeddings(paths(TEXT_FILES, settings)[TEXT_FILES[0]].parent)
    rarity = weight("rarity")
    assert table.tokens("A Dog ") == table.tokens("a dog")
    assert table.tokens("  ") == [0]
    assert table.tokens("a dog \udcff")[: len(table.tokens("a dog"))] == table.tokens("a dog")
    assert len(table.tokens("ж" * 50_000)) <= 40_000
    assert rarity[table.tokens("dog")].mean() > rarity[table.tokens("a")].mean()


def test_a_drawn_face_looks_more_like_artwork_than_any_photo(settings: Settings) -> None:
    image = Image.new("RGB", (400, 400), (120, 190, 240))
    draw = ImageDraw.Draw(image)
    draw.ellipse((80, 60, 320, 340), fill=(255, 220, 120), outline=(0, 0, 0), width=6)
    for x in (150, 230):
        draw.ellipse((x, 150, x + 30, 190), fill=(0, 0, 0))
    draw.arc((140, 200, 260, 290), 20, 160, fill=(180, 0, 0), width=8)
    model = SmallMatcher(settings)
    photos = [model.embed_image(picture(name, settings)).artwork for name in CAPTIONS]
    assert model.embed_image(load_picture(np.asarray(image), settings)).artwork > 5 * max(photos)
