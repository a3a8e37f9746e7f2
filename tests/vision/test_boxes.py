"""Boxes as arrays, against the same in plain loops."""

import numpy as np
import pytest

from onprompt.types import Box
from onprompt.vision.boxes import box_iou, non_max_suppression


def plain_suppression(boxes: list[Box], scores: list[float], classes: list[int], threshold: float) -> list[int]:
    """One box after the other, best first, the earlier of equals first."""
    kept: list[int] = []
    for index in sorted(range(len(boxes)), key=lambda index: -scores[index]):
        rivals = [other for other in kept if classes[other] == classes[index]]
        if all(boxes[index].iou(boxes[other]) <= threshold for other in rivals):
            kept.append(index)
    return kept


@pytest.mark.parametrize("seed", range(20))
def test_overlap_and_suppression_are_those_of_plain_loops_even_among_equals(seed: int) -> None:
    random = np.random.default_rng(seed)
    number = int(random.integers(0, 80))
    low = random.integers(0, 24, (number, 2)) / 32  # on a grid, so that some boxes and scores are equal
    boxes = np.concatenate([low, low + random.integers(1, 9, (number, 2)) / 32], axis=1).astype(np.float32)
    scores = (random.integers(1, 30, number) / 32).astype(np.float32)
    classes = random.integers(0, 3, number)
    plain = [Box(*row) for row in boxes.tolist()]
    expected = np.array([[first.iou(second) for second in plain] for first in plain]).reshape(number, number)
    assert box_iou(boxes, boxes) == pytest.approx(expected, abs=1e-6)
    for threshold in (0.29, 0.61):  # no ratio of areas on the grid
        kept = non_max_suppression(boxes, scores, classes, threshold)
        assert kept == plain_suppression(plain, scores.tolist(), classes.tolist(), threshold)


def test_empty_boxes_suppress_none() -> None:
    boxes = np.array([[0.9, 0.9, 0.9, 0.9], [0.2, 0.2, 0.2, 0.2], [0, 0, 1, 1], [0, 0, 1, 0.9]], dtype=np.float32)
    scores = np.array([0.3, 0.9, 0.5, 0.4], dtype=np.float32)
    assert non_max_suppression(boxes, scores, np.zeros(4, dtype=int), 0.6) == [1, 2, 0]
    assert non_max_suppression(boxes[:2], scores[:2], np.zeros(2, dtype=int), 0.6) == [1, 0]
