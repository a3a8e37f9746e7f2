"""From raw scores to confidences, by hand and with the fitted curves."""

from collections.abc import Sequence
from functools import partial
from math import exp, log

import numpy as np
import pytest

from onprompt.language import name_of
from onprompt.settings import Settings
from onprompt.types import Box, Picture
from onprompt.vision.boxes import (
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
)
from onprompt.vision.closed_set import ClosedSetDetector
from onprompt.vision.detectors import coco
from onprompt.vision.image import open_picture

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


# ---- by hand -------------------------------------------------------------------------------------------------------


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
    curve = TWO._replace(best=1, own=(0, 0))
    assert count_probabilities(floats([0.9, 0.5], [0.5, 0.5]), curve) == pytest.approx([0.5, 0.5], abs=1e-6)
    curve = TWO._replace(after=1, own=(0, 0), offset=1)
    first = count_probabilities(floats([0.9, 0.9], [0.5, 0.5]), curve)[0]
    assert first == pytest.approx(chance(1 + log(9) / 2), abs=1e-6)


@pytest.mark.parametrize("curve", SHIPPED)
def test_chances_never_rise(curve: Curve) -> None:
    chances = np.random.default_rng(0)
    for number in (1, 2, 5, 30):
        scores = -np.sort(-chances.uniform(0, 1, (len(curve.own), number)).astype(np.float32), axis=1)
        found = count_probabilities(scores, curve)
        assert found.shape == (number,)
        assert (np.diff(found) <= 0).all()
        assert ((found > 0) & (found < 1)).all()


# ---- boxes of several networks -------------------------------------------------------------------------------------


def test_boxes_of_two_networks_are_one_object_each() -> None:
    near_left = (0.12, 0.1, 0.42, 0.9)
    one, other = finds((LEFT, 0.8), (RIGHT, 0.6), word="cat"), finds((near_left, 0.9), word="kitty")
    objects = fuse([one, other], TWO)
    assert objects.corners == pytest.approx(floats(near_left, RIGHT))  # of two, the surer network's
    assert objects.classes.tolist() == ["kitty", "cat"]
    assert objects.scores == pytest.approx(floats([0.8, 0.9], [0.6, 0]))


# ---- sightings -----------------------------------------------------------------------------------------------------


def test_sightings_of_all_names_come_surest_first() -> None:
    found = {"dog": [finds((LEFT, 0.5), word="hound")], "cat": [finds((LEFT, 0.3), (RIGHT, 0.9))]}
    seen = calibrate(found, PLAIN, 0.0)
    assert [(sighting.label, sighting.word) for sighting in seen] == [("cat", "cat"), ("dog", "hound"), ("cat", "cat")]
    assert [sighting.box for sighting in seen] == [pytest.approx(box) for box in (RIGHT, LEFT, LEFT)]
    assert isinstance(seen[0].box, Box)
    assert {sighting.source for sighting in seen} == {"plain"}
    chances = count_probabilities(floats([0.9, 0.3]), PLAIN)
    assert [sighting.confidence for sighting in seen if sighting.label == "cat"] == pytest.approx(chances)


# ---- the curves that are shipped -----------------------------------------------------------------------------------


@pytest.mark.models
def test_a_detectors_curve_has_a_weight_for_each_view_of_its_networks(settings: Settings) -> None:
    detector = coco.load(settings)
    views = detector.look(drawn_picture(settings).pixels, tiled=False)
    assert len(detector.curve.own) == len(views)


@pytest.mark.parametrize("curve", SHIPPED)
def test_a_clear_score_is_likely_one_and_a_faint_one_is_not(curve: Curve) -> None:
    networks = len(curve.own)
    found = {name: [finds((LEFT, score))] * networks for name, score in (("cat", 0.9), ("dog", 0.05))}
    cat, dog = calibrate(found, curve, 0.0)
    assert cat.label == "cat"
    assert dog.confidence < 0.25 < 0.75 < cat.confidence


# ---- the same, less the work ----------------------------------------------------------------------------------------


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

    networks = [partial(answer_with, [detections(), detections()]) for _ in range(2)]
    detector = ClosedSetDetector((), networks, PAIR, settings)
    picture, names = drawn_picture(settings), [name_of("vehicle"), name_of("cat")]
    seen, known = detector.see(picture, names), detector.known(names)
    everything = detector.candidates(picture, known)
    reachable = detector.candidates(picture, known, min_confidence=settings.min_confidence)
    assert len(everything) > len(reachable) > 0
    assert seen.sightings == calibrate(everything, PAIR, settings.min_confidence)


def answer_with(answers: Sequence[Boxes], _: Pixels) -> Sequence[Boxes]:
    return answers


def drawn_picture(settings: Settings) -> Picture:
    return open_picture(np.zeros((8, 8, 3), dtype=np.uint8), settings)
