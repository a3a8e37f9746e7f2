"""Pictures as a whole: photos made gray, brown, dark and soft."""

from collections.abc import Callable
from functools import partial

import cv2
import numpy as np
import pytest
from PIL import Image, ImageFilter

from onprompt.settings import Settings
from onprompt.vision import global_properties
from onprompt.vision.global_properties import is_blank
from onprompt.vision.image import load_picture
from tests.conftest import Pixels, photo

PHOTOS = ("chelsea.png", "coffee.png")
both = pytest.mark.parametrize("name", PHOTOS)


def gray(pixels: Pixels) -> Pixels:
    return np.asarray(Image.fromarray(pixels).convert("L").convert("RGB"))


def tinted(pixels: Pixels, *tint: float) -> Pixels:
    """One color for every pixel, lighter or darker: a sepia print, or a blue one."""
    return np.asarray(gray(pixels) * np.array(tint), dtype=np.uint8)


def soft(pixels: Pixels, radius: float) -> Pixels:
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius)))


def dim(pixels: Pixels, share: float) -> Pixels:
    return (pixels * share).astype(np.uint8)


def told(pixels: Pixels, settings: Settings) -> dict[str, tuple[str, float]]:
    """What is told of each kind, and how sure."""
    traits = global_properties.properties(load_picture(pixels, settings))
    assert len({trait.kind for trait in traits}) == len(traits) == 3
    assert all(0.5 <= trait.confidence <= 1 for trait in traits)
    return {trait.kind: (trait.value, trait.confidence) for trait in traits}


@both
def test_a_photo_by_day_is_colored_light_and_sharp(name: str, settings: Settings) -> None:
    assert told(photo(name), settings) == {
        "style": ("color", 1.0),
        "lighting": ("light", 1.0),
        "quality": ("sharp", 1.0),
    }


@pytest.mark.parametrize("tint", [(1, 0.95, 0.82), (1, 0.9, 0.75), (0.8, 0.9, 1)], ids=["cream", "sepia", "blue"])
@both
def test_a_print_of_one_tint_is_black_and_white(name: str, tint: tuple[float, ...], settings: Settings) -> None:
    assert told(tinted(photo(name), *tint), settings)["style"][0] == "black and white"


def test_a_photo_with_colors_in_a_corner_only_is_left_open(settings: Settings) -> None:
    pixels = gray(photo("coffee.png")).copy()
    pixels[:60, :60], pixels[:60, 60:120] = (220, 20, 20), (20, 20, 220)
    assert told(pixels, settings)["style"][1] == 0.5
    pixels[:200, :200] = 220, 20, 20
    assert told(pixels, settings)["style"][0] == "color"


def test_a_picture_without_an_edge_or_of_noise_shows_nothing(settings: Settings) -> None:
    chance = np.random.default_rng(0)
    flat, run = np.full((300, 400, 3), 90), np.broadcast_to(np.linspace(0, 255, 400)[None, :, None], (300, 400, 3))
    noise = chance.integers(0, 256, (300, 400, 3))
    blocks = chance.integers(0, 256, (75, 100, 3)).repeat(4, 0).repeat(4, 1)
    for pixels in (flat, run, noise, blocks):
        assert is_blank(load_picture(pixels.astype(np.uint8), settings))


@pytest.mark.parametrize(
    ("kind", "yes", "no", "changed"),
    [
        ("lighting", "light", "dark", [partial(dim, share=share) for share in (1, 0.7, 0.5, 0.3, 0.1)]),
        ("quality", "sharp", "blurry", [partial(soft, radius=radius) for radius in (0, 1, 2, 4, 6, 10)]),
    ],
)
@both
def test_the_darker_the_less_light_and_the_softer_the_less_sharp(
    name: str, kind: str, yes: str, no: str, changed: list[Callable[[Pixels], Pixels]], settings: Settings
) -> None:
    found = [told(change(photo(name)), settings)[kind] for change in changed]
    likely = [sure if value == yes else 1 - sure for value, sure in found]
    assert likely == sorted(likely, reverse=True)
    assert (found[0], found[-1]) == ((yes, 1.0), (no, 1.0))


@pytest.mark.parametrize("shape", [(2, 2), (2, 1200), (1200, 2), (300, 300)])
@pytest.mark.parametrize(("level", "light"), [(0, "dark"), (255, "light")])
def test_blank_pictures_have_no_color(shape: tuple[int, int], level: int, light: str, settings: Settings) -> None:
    found = told(np.full((*shape, 3), level, dtype=np.uint8), settings)
    assert (found["style"], found["lighting"]) == (("black and white", 1.0), (light, 1.0))


def test_a_small_thing_on_a_plain_ground_and_a_photo_out_of_focus_are_something(settings: Settings) -> None:
    sky = np.full((1000, 1000, 3), (120, 180, 230), np.uint8)
    y, x = np.mgrid[:1000, :1000]
    sky[(x - 500) ** 2 + (y - 500) ** 2 < 20**2] = 0
    blurred = cv2.GaussianBlur(photo("coffee.png"), (0, 0), 12).astype(np.uint8)
    assert not any(is_blank(load_picture(pixels, settings)) for pixels in (sky, blurred))
