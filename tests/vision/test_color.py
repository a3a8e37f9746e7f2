"""Colors: the distance against published values, the names against drawn objects."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from onprompt.settings import Settings
from onprompt.types import Box
from onprompt.vision import color
from onprompt.vision.image import load_picture
from onprompt.vision.masks import masked_pixels, segment
from tests.conftest import Pixels

# Pairs and distances published by Sharma, Wu and Dalal (2005) with their account of CIEDE2000.
PUBLISHED: list[tuple[tuple[float, ...], tuple[float, ...], float]] = [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
    ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
    ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((50, 2.5, 0), (61, -5, 29), 22.8977),
    ((50, 2.5, 0), (56, -27, -3), 31.9030),
    ((50, 2.5, 0), (58, 24, 15), 19.4535),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
]


@pytest.mark.parametrize(("first", "second", "distance"), PUBLISHED)
def test_delta_e_2000_gives_the_published_values(
    first: tuple[float, ...], second: tuple[float, ...], distance: float
) -> None:
    a, b = np.array(first, dtype=float), np.array(second, dtype=float)
    assert float(color.delta_e_2000(a, b)) == pytest.approx(distance, abs=1e-4)
    assert float(color.delta_e_2000(b, a)) == pytest.approx(distance, abs=1e-4)


PURE: dict[str, tuple[int, int, int]] = {
    **{"red": (220, 20, 20), "orange": (255, 140, 0), "yellow": (255, 230, 20), "green": (20, 140, 40)},
    **{"blue": (30, 60, 220), "purple": (128, 0, 140), "pink": (255, 150, 190), "brown": (110, 65, 25)},
    **{"black": (12, 12, 12), "white": (250, 250, 250), "gray": (128, 128, 128)},
}


LIGHTS = {
    **{"even": (1.0, 1.0, 1.0), "dim": (0.75, 0.75, 0.75), "bright": (1.1, 1.1, 1.1)},
    **{"warm": (1.0, 0.95, 0.85), "cool": (0.88, 0.95, 1.0)},
}


def drawn(rgb: tuple[int, int, int], light: tuple[float, float, float]) -> Pixels:
    """A disk with a shaded side on a field with something white, in one of several lights."""
    image = Image.new("RGB", (200, 200), (90, 140, 90))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 199, 30), fill=(250, 250, 250))
    pen.ellipse((50, 50, 150, 150), fill=tuple(int(v * 0.8) for v in rgb))
    pen.ellipse((54, 50, 150, 144), fill=rgb)
    return np.clip(np.asarray(image) * light, 0, 255).astype(np.uint8)


@pytest.mark.models
@pytest.mark.parametrize("light", LIGHTS)
@pytest.mark.parametrize("name", PURE)
def test_drawn_objects_have_their_color(name: str, light: str, settings: Settings) -> None:
    picture = load_picture(drawn(PURE[name], LIGHTS[light]), settings)
    box = Box(0.25, 0.25, 0.75, 0.75)
    inside = masked_pixels(picture, box, segment(picture, box, settings))
    swatches = color.dominant_colors(inside, color.exposure_gain(picture.pixels), settings.color_share)
    assert swatches[0].name == name
    assert color.likeness(swatches[0], name, settings.color_match, settings.color_near) == 1


@pytest.mark.parametrize(
    ("rgb", "term", "likeness"),
    [
        *(((30, 60, 220), "red", 0.0), ((30, 60, 220), "blue", 1.0), ((128, 128, 128), "grey", 1.0)),
        *(((0, 0, 139), "blue", 1.0), ((0, 0, 139), "dark blue", 1.0), ((10, 15, 120), "light blue", 0.5)),
        *(((0, 0, 128), "navy", 1.0), ((0, 0, 128), "purple", 0.5), ((150, 190, 235), "navy", 0.5)),
        *(((150, 190, 235), "dark blue", 0.5), ((150, 190, 235), "light blue", 1.0)),
        *(((255, 0, 0), "orange", 0.5), ((255, 0, 0), "bright red", 1.0), ((120, 10, 20), "light green", 0.0)),
    ],
)
def test_the_basic_color_counts_first_then_the_shade(
    rgb: tuple[int, int, int], term: str, likeness: float, settings: Settings
) -> None:
    pixels = np.tile(np.array(rgb, dtype=np.uint8), (100, 1))
    (found,) = color.dominant_colors(pixels, 1.0, 0.1)
    assert color.likeness(found, term, settings.color_match, settings.color_near) == likeness


def test_a_thing_in_light_and_shadow_has_one_color() -> None:
    shaded = (np.array(PURE["yellow"]) * np.linspace(0.55, 1, 500)[:, None]).astype(np.uint8)
    assert [s.name for s in color.dominant_colors(shaded, 1.0, 0.1)] == ["yellow"]
    wall = np.repeat(np.linspace(150, 250, 500)[:, None], 3, axis=1).astype(np.uint8)
    assert [s.name for s in color.dominant_colors(wall, 1.0, 0.1)] == ["white"]


def test_a_dim_picture_is_seen_as_in_full_light_within_bounds() -> None:
    assert color.exposure_gain(np.full((50, 50, 3), 255, dtype=np.uint8)) == 1.0
    assert color.exposure_gain(np.full((50, 50, 3), 204, dtype=np.uint8)) == pytest.approx(1.25)
    assert color.exposure_gain(np.zeros((50, 50, 3), dtype=np.uint8)) == color.MAX_GAIN
