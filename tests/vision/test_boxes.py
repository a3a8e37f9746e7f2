"""Boxes: each object once, in tiles, and from raw scores to confidences; against plain loops and by hand."""

from collections.abc import Sequence
from functools import partial
from math import exp, log

import cv2
import numpy as np
import pytest

from onprompt.language import name_of
from onprompt.settings import Settings
from onprompt.types import Box
from onprompt.vision.boxes import (
    MAX_AREA,
    SAME_OBJECT,
    Boxes,
    Curve,
    Floats,
    Pixels,
    box_iou,
    calibrate,
    count_probabilities,
    fuse,
    likely_boxes,
    load_curves,
    logit,
    merge_tiles,
    non_max_suppression,
    with_tiles,
)
from onprompt.vision.closed_set import ClosedSetDetector
from onprompt.vision.detectors import coco
from onprompt.vision.image import open_picture


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


# ---- confidences ---------------------------------------------------------------------------------------------------

PLAIN = Curve("plain", floor=0.1, offset=0, mix=(1,), own=(1,), first=0, second=0, rank=0, best=0, before=0, after=0)
FULL = PLAIN._replace(offset=-0.5, first=0.7, second=0.3, rank=0.2, best=0.25, before=0.1, after=0.4)
TWO = PLAIN._replace(own=(0.75, 0.25), mix=(0.5, 0.5))
SHIPPED = [pytest.param(curve, id=name) for name, curve in load_curves().items()]
PAIR = load_curves()[coco.CURVE]
LEFT, RIGHT = (0.1, 0.1, 0.4, 0.9), (0.6, 0.1, 0.9, 0.9)


def floats(*rows: Sequence[float]) -> Floats:
    return np.array(rows, dtype=np.float32)


def finds(*found: tuple[tuple[float, ...], float], word: str = "cat") -> Boxes:
    """What a network found: boxes with their scores."""
    boxes = np.array([box for box, _ in found], dtype=np.float32).reshape(-1, 4)
    return Boxes(boxes, np.array([score for _, score in found], dtype=np.float32), np.full(len(found), word))


def chance(odds: float) -> float:
    return 1 / (1 + exp(-odds))


def test_at_least_worked_out_by_hand() -> None:
    best, second, third, floor = log(9), 0.0, log(0.25), -log(9)  # the log odds of .9, .5, .2 and .1
    expected = [
        chance(-0.5 + best + 0.7 + 0.4 * second),
        chance(-0.5 + second + 0.3 + 0.2 * log(2) + 0.25 * best + 0.1 * best + 0.4 * third),
        chance(-0.5 + third + 0.2 * log(3) + 0.25 * best + 0.1 * second + 0.4 * floor),
    ]
    assert count_probabilities(floats([0.9, 0.5, 0.2]), FULL) == pytest.approx(expected, abs=1e-5)


def test_each_network_has_its_own_weight_and_the_rest_goes_by_their_mean() -> None:
    assert count_probabilities(floats([0.9], [0.5]), TWO) == pytest.approx([chance(0.75 * log(9))], abs=1e-6)
    assert count_probabilities(floats([0.5], [0.9]), TWO) == pytest.approx([chance(0.25 * log(9))], abs=1e-6)
    curve = TWO._replace(after=1, own=(0, 0), offset=1)
    first = count_probabilities(floats([0.9, 0.9], [0.5, 0.5]), curve)[0]
    assert first == pytest.approx(chance(1 + log(9) / 2), abs=1e-6)


@pytest.mark.parametrize("curve", SHIPPED)
def test_chances_never_rise_and_follow_the_scores(curve: Curve) -> None:
    random, networks = np.random.default_rng(0), len(curve.own)
    for number in (1, 2, 5, 30):
        scores = -np.sort(-random.uniform(0, 1, (networks, number)).astype(np.float32), axis=1)
        found = count_probabilities(scores, curve)
        assert found.shape == (number,)
        assert (np.diff(found) <= 0).all()
        assert ((found > 0) & (found < 1)).all()
    clear, faint = calibrate({str(s): [finds((LEFT, s))] * networks for s in (0.9, 0.05)}, curve, 0.0)
    assert faint.confidence < 0.25 < 0.75 < clear.confidence


def test_sightings_of_all_names_come_surest_first() -> None:
    found = {"dog": [finds((LEFT, 0.5), word="hound")], "cat": [finds((LEFT, 0.3), (RIGHT, 0.9))]}
    seen = calibrate(found, PLAIN, 0.0)
    assert [(sighting.label, sighting.word) for sighting in seen] == [("cat", "cat"), ("dog", "hound"), ("cat", "cat")]
    assert [sighting.box for sighting in seen] == [pytest.approx(box) for box in (RIGHT, LEFT, LEFT)]
    assert {sighting.source for sighting in seen} == {"plain"}
    chances = count_probabilities(floats([0.9, 0.3]), PLAIN)
    assert [sighting.confidence for sighting in seen if sighting.label == "cat"] == pytest.approx(chances)


@pytest.mark.models
def test_a_detectors_curve_has_a_weight_for_each_view_of_its_networks(settings: Settings) -> None:
    detector = coco.load(settings)
    assert len(detector.curve.own) == len(detector.look(np.zeros((8, 8, 3), dtype=np.uint8), tiled=False))


def networks_that_see(seed: int, number: int = 4) -> list[Boxes]:
    """What some networks found of one name, in few places, so that many boxes are near each other."""
    random = np.random.default_rng(seed)
    members = []
    for _ in range(number):
        found = int(random.integers(0, 30))
        low = random.integers(0, 6, (found, 2)) / 10
        boxes = np.concatenate([low, low + random.integers(3, 5, (found, 2)) / 10], axis=1).astype(np.float32)
        scores = np.sort(np.round(random.random(found) ** 3, 2).astype(np.float32))[::-1]
        members.append(Boxes(boxes, scores, np.arange(found)))
    return members


def fuse_plainly(members: Sequence[Boxes], curve: Curve) -> list[tuple[Floats, Floats, int]]:
    """Each box, best first, joins the nearest object that its network has no part in, or is a new one."""
    found = [(float(-m.scores[i]), at, i) for at, m in enumerate(members) for i in range(len(m.scores))]
    objects: list[tuple[Floats, Floats, int]] = []  # box, scores, word
    for _, network, i in sorted(found):
        box = members[network].corners[i]
        free = [item for item in objects if not item[1][network]]
        nearest = max(free, key=lambda item: float(box_iou(box, item[0][None])[0]), default=None)
        if nearest is None or box_iou(box, nearest[0][None])[0] < SAME_OBJECT:
            nearest = box, np.zeros(len(members), dtype=np.float32), int(members[network].classes[i])
            objects.append(nearest)
        nearest[1][network] = members[network].scores[i]
    return sorted(objects, key=lambda item: -float(np.dot(curve.own, logit(item[1], curve.floor))))


@pytest.mark.parametrize("seed", range(20))
def test_objects_are_fused_as_in_plain_loops(seed: int) -> None:
    members, curve = networks_that_see(seed), PAIR
    fast, plain = fuse(members, curve), fuse_plainly(members, curve)
    assert list(zip(*(each.tolist() for each in fast), strict=True)) == [
        (box.tolist(), scores.tolist(), word) for box, scores, word in plain
    ]


@pytest.mark.parametrize("seed", range(5))
def test_names_are_left_out_only_if_they_have_no_sighting(seed: int, settings: Settings) -> None:
    random = np.random.default_rng(seed)

    def detections() -> Boxes:
        low = random.random((60, 2)) * 0.7
        boxes = np.concatenate([low, low + 0.05 + random.random((60, 2)) * 0.25], axis=1).astype(np.float32)
        scores = random.random((60, 80)) ** 40 * np.repeat((0.03, 0.9), (70, 10))
        return likely_boxes(boxes, scores.astype(np.float32))

    networks = [partial(lambda found, _: found, [detections(), detections()]) for _ in range(2)]
    detector = ClosedSetDetector((), networks, PAIR, settings)
    picture = open_picture(np.zeros((8, 8, 3), dtype=np.uint8), settings)
    names = [name_of("vehicle"), name_of("cat")]
    seen, known = detector.see(picture, names), detector.known(names)
    everything = detector.candidates(picture, known)
    reachable = detector.candidates(picture, known, min_confidence=settings.min_confidence)
    assert len(everything) > len(reachable) > 0
    assert seen.sightings == calibrate(everything, PAIR, settings.min_confidence)


# ---- tiles, with a network that finds red squares -----------------------------------------------------------------


def red_things(pixels: Pixels) -> Boxes:
    """A network that tells of each red patch, surer the more of the picture it covers."""
    red = ((pixels[:, :, 0] > 200) & (pixels[:, :, 1] < 50)).astype(np.uint8)
    _, _, patches, _ = cv2.connectedComponentsWithStats(red, connectivity=4)
    height, width = pixels.shape[:2]
    rows = [((x / width, y / height, (x + w) / width, (y + h) / height), area) for x, y, w, h, area in patches[1:]]
    boxes = np.array([box for box, _ in rows], dtype=np.float32).reshape(-1, 4)
    scores = np.array([area / (width * height) for _, area in rows], dtype=np.float32)
    return Boxes(boxes, scores, np.zeros(len(rows), dtype=int))


def short_sighted(pixels: Pixels) -> Boxes:
    """The same, blind to what is narrower than a twelfth of the picture."""
    found = red_things(pixels)
    return found.only(found.corners[:, 2] - found.corners[:, 0] >= 1 / 12)


def squares(*places: tuple[int, int, int]) -> Pixels:
    """Red squares (left, top, side) on gray."""
    pixels = np.full((200, 200, 3), 120, dtype=np.uint8)
    for left, top, side in places:
        pixels[top : top + side, left : left + side] = 255, 0, 0
    return pixels


def share(left: int, top: int, side: int) -> tuple[float, ...]:
    return left / 200, top / 200, (left + side) / 200, (top + side) / 200


def test_all_of_many_small_things_are_found_once_each_wherever_they_are() -> None:
    places = [(x, y, 14) for x in range(4, 190, 43) for y in range(4, 190, 43)]
    pixels = squares(*places)
    assert len(short_sighted(pixels).corners) == 0
    found = merge_tiles([short_sighted(view) for view in with_tiles(pixels)]).once(0.6)
    assert sorted(found.corners.tolist()) == [pytest.approx(share(*place), abs=1e-5) for place in places]


@pytest.mark.parametrize(
    ("square", "parts"),
    [
        *(((10, 10, 20), 1), ((90, 10, 20), 2), ((90, 90, 20), 4)),  # in one corner, in both upper tiles, in all
        *(((110, 10, 20), 1), ((70, 10, 20), 1)),  # cut by the inner edge of the left tile, of the right one
        *(((10, 110, 20), 1), ((10, 70, 20), 1), ((110, 110, 20), 1)),
        ((100, 10, 20), 1),  # it ends just at that edge, so it may go on
        *(((0, 0, 20), 1), ((180, 180, 20), 1)),  # an outer edge cuts nothing that goes on
        *(((10, 10, 60), 0), ((60, 60, 80), 0), ((150, 150, 42), 0), ((0, 0, 200), 0)),  # large: the whole tells it
    ],
)
def test_what_an_inner_edge_cuts_or_is_large_is_left_to_the_other_views(
    square: tuple[int, int, int], parts: int
) -> None:
    assert ((square[2] / 200) ** 2 > MAX_AREA) == (parts == 0)
    found = merge_tiles([red_things(view) for view in with_tiles(squares(square))])
    assert len(found.corners) == len(found.scores) == 1 + parts
    assert all(box == pytest.approx(share(*square), abs=1e-5) for box in found.corners.tolist())
