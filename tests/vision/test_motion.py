"""An object that was mirrored, resized or moved is found again by its corners; one that was recolored stayed."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from onprompt.types import Box
from onprompt.vision.change import compare
from onprompt.vision.motion import find_motion

Pixels = NDArray[np.uint8]
BOX = Box(0.1, 0.4, 0.35, 0.8)


def noise(rows: int, columns: int, grain: int, seed: int) -> Pixels:
    small = np.random.default_rng(seed).integers(0, 255, (rows // grain, columns // grain, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(small, (columns, rows), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


BACKGROUND = noise(400, 600, 40, 1)
OBJECT = noise(160, 150, 10, 2)  # fills BOX


def placed(piece: Pixels, left: int, top: int) -> Pixels:
    page = BACKGROUND.copy()
    page[top : top + piece.shape[0], left : left + piece.shape[1]] = piece
    return page


BEFORE = placed(OBJECT, 60, 160)


def test_a_mirrored_object_is_mirrored() -> None:
    motion = find_motion(BOX, compare(BEFORE, placed(OBJECT[:, ::-1], 60, 160)))
    assert motion is not None
    assert motion.mirrored
    assert motion.scale == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("scale", [0.6, 1.4])
def test_a_resized_object_has_its_scale(scale: float) -> None:
    piece = np.asarray(cv2.resize(OBJECT, None, fx=scale, fy=scale), dtype=np.uint8)
    motion = find_motion(BOX, compare(BEFORE, placed(piece, 60, 100)))
    assert motion is not None
    assert not motion.mirrored
    assert motion.scale == pytest.approx(scale, rel=0.05)


def test_a_moved_object_has_its_new_place() -> None:
    motion = find_motion(BOX, compare(BEFORE, placed(OBJECT, 400, 160)))
    assert motion is not None
    assert motion.box.iou(Box(400 / 600, 0.4, 550 / 600, 0.8)) > 0.9


def test_what_was_recolored_removed_or_left_alone_did_not_move() -> None:
    for after in (placed(OBJECT[..., ::-1], 60, 160), BACKGROUND, BEFORE, noise(400, 600, 10, 9)):
        assert find_motion(BOX, compare(BEFORE, np.ascontiguousarray(after))) is None
