"""Two versions of an image: alignment, and real changes told from re-encoding."""

import io

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from onprompt.types import Box
from onprompt.vision.change import compare

Pixels = NDArray[np.uint8]


def textured(seed: int = 3, rows: int = 300, columns: int = 400) -> Pixels:
    """Something like a photo: blobs of many sizes."""
    rng = np.random.default_rng(seed)
    noise = [
        cv2.resize(rng.uniform(0, 255, (n, n, 3)), (columns, rows), interpolation=cv2.INTER_CUBIC) for n in (4, 16, 60)
    ]
    mixed = 0.5 * noise[0] + 0.3 * noise[1] + 0.2 * noise[2]
    return np.asarray(np.clip(mixed, 0, 255), dtype=np.uint8)


def with_patch(pixels: Pixels) -> Pixels:
    copy = pixels.copy()
    copy[60:140, 220:320] = (230, 30, 40)
    return copy


PATCH = Box(220 / 400, 60 / 300, 320 / 400, 140 / 300)


def recompressed(pixels: Pixels, quality: int = 40) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file).convert("RGB"))


@pytest.mark.parametrize(
    "after",
    [
        textured(),
        recompressed(textured()),
        np.clip(textured() * 1.0 + 6, 0, 255).astype(np.uint8),
        cv2.resize(cv2.resize(textured(), (800, 600)), (400, 300)).astype(np.uint8),
    ],
    ids=["the same file", "re-encoded", "a slight cast", "resampled"],
)
def test_what_is_no_change_is_none(after: Pixels) -> None:
    change = compare(textured(), after)
    assert change.regions == ()
    assert change.structure > 0.9


@pytest.mark.parametrize("size", [(400, 300), (800, 600), (512, 384)])
def test_a_patch_is_found_where_it_is_whatever_the_size(size: tuple[int, int]) -> None:
    after = recompressed(with_patch(textured()))
    change = compare(textured(), np.asarray(Image.fromarray(after).resize(size)))
    assert change.regions[0].box.iou(PATCH) > 0.6
    assert change.concentration > 0.7
    assert change.within(PATCH) > 0.9


@pytest.mark.parametrize(
    ("turned", "after"),
    [
        ("mirrored", textured()[:, ::-1]),
        ("upside down", textured()[::-1]),
        ("turned by 180°", textured()[::-1, ::-1]),
        ("turned left", np.rot90(textured())),
        ("turned right", np.rot90(textured(), -1)),
    ],
)
def test_an_image_that_was_turned_is_turned_back(turned: str, after: Pixels) -> None:
    change = compare(textured(), after)
    assert (change.turned, change.regions) == (turned, ())


def test_a_crop_is_put_back_in_its_place() -> None:
    photo = textured(rows=600, columns=800)
    change = compare(photo, photo[100:500, 150:650])
    assert change.crop is not None
    assert change.crop.iou(Box(150 / 800, 100 / 600, 650 / 800, 500 / 600)) > 0.9
    assert change.area < 0.05


def test_a_large_recolored_part_is_what_changed() -> None:
    after = textured().copy()
    after[:, :280] = np.clip(after[:, :280] + np.array((60, -30, -40)), 0, 255)
    change = compare(textured(), after)
    assert change.within(Box(0, 0, 0.65, 1)) > 0.9
    assert change.within(Box(0.75, 0, 1, 1)) < 0.1


def test_another_image_has_another_layout() -> None:
    assert compare(textured(3), textured(4)).structure < 0.5


@pytest.mark.parametrize("shape", [(2, 2), (2, 500), (500, 2), (1000, 30)])
def test_images_of_any_shape_can_be_compared(shape: tuple[int, int]) -> None:
    blank = np.full((*shape, 3), 128, np.uint8)
    assert compare(blank, textured()).before.ndim == 3
    assert compare(textured(), blank).before.ndim == 3
