"""The detectors on real photos, and their parts on numbers."""

from pathlib import Path

import numpy as np
import pytest

from onprompt import see
from onprompt.errors import NotFetched
from onprompt.language import name_of
from onprompt.settings import Settings, load
from onprompt.types import Box, Look, Picture
from onprompt.vision.boxes import box_iou, non_max_suppression
from onprompt.vision.calibration import load_curves
from onprompt.vision.compiled import source
from onprompt.vision.detection import load_detector
from onprompt.vision.detectors import coco, world, yolo26
from onprompt.vision.image import load_picture
from onprompt.vision.letterbox import letterbox
from onprompt.vision.vocabulary import COCO
from onprompt.weights.cache import folder, paths
from tests.conftest import photo


def seen(name: str, names: list[str], **settings: object) -> list[tuple[str, bool]]:
    found = see(photo(name), names, settings=load(**settings))
    return sorted((sighting.label, sighting.confidence >= 0.5) for sighting in found if sighting.confidence >= 0.5)


@pytest.mark.parametrize("which", ["coco", "yolo26", "world", "strong"])
def test_each_detector_finds_the_cat_and_no_dog(which: str) -> None:
    assert seen("chelsea.png", ["cat", "dog"], detector=which) == [("cat", True)]


@pytest.mark.parametrize("which", ["coco", "yolo26", "world", "strong"])
def test_boxes_are_where_things_are(which: str) -> None:
    bus = see(photo("bus.jpg"), ["bus"], settings=load(detector=which))[0]
    assert bus.box.iou(Box(0.0, 0.21, 1.0, 0.69)) > 0.85


def test_lite2_joins_the_default_detector_once_it_is_cached(settings: Settings, tmp_path: Path) -> None:
    other = settings.model_copy(update={"home": tmp_path})
    for path in paths(coco.FILES, settings).values():
        folder(other).mkdir(parents=True, exist_ok=True)
        (folder(other) / path.name).symlink_to(path)
    detector = coco.load(other)
    assert (detector.files, detector.curve) == (coco.FILES, coco.CURVE)  # which the verdict records
    assert 2 * len(detector.networks) == len(load_curves()[coco.CURVE].own)  # the image, and its mirror image
    try:
        lite2 = source([coco.LITE2], other)
    except NotFetched:
        pytest.skip("EfficientDet-Lite2 is only on npm")
    detector = coco.load(other)
    assert (detector.files, detector.curve) == ((*coco.FILES, coco.LITE2), coco.LITE2_CURVE)
    assert 2 * len(detector.networks) == len(load_curves()[coco.LITE2_CURVE].own)
    boxes, scores = coco.EfficientDet(lite2)(photo("chelsea.png"))[0]
    best = scores.max(axis=1).argmax()
    assert COCO[scores[best].argmax()] == "cat"
    assert Box(*map(float, boxes[best])).area > 0.5


def test_names_outside_coco_are_seen_by_the_open_vocabulary() -> None:
    assert seen("astronaut.png", ["flag", "dolphin"], detector="strong") == [("flag", True)]


def test_a_name_is_answered_under_the_name_it_was_asked_by() -> None:
    assert seen("bus.jpg", ["vehicle"], detector="coco") == [("vehicle", True)]
    assert seen("football.jpg", ["ball"]) == [("ball", True)]


def test_one_object_of_two_names_is_seen_once_a_name() -> None:
    assert seen("chelsea.png", ["animal", "cat"]) == [("animal", True), ("cat", True)]


def test_men_and_women_are_told_apart_where_they_can_be() -> None:
    assert seen("football.jpg", ["woman", "man"], detector="strong") == [("woman", True), ("woman", True)]


def test_noise_and_blank_pictures_hold_nothing() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    for pixels in (noise, np.full((300, 400, 3), 127, dtype=np.uint8)):
        assert [sighting for sighting in see(pixels, ["dog", "cup", "tree"]) if sighting.confidence >= 0.5] == []


def test_two_names_of_one_vector_are_both_answered(settings: Settings) -> None:
    rows = world.WorldDetector(settings).vocabulary.rows
    assert rows["aerosol can"] == rows["spray can"]
    see(photo("chelsea.png"), ["aerosol can", "spray can", "cat"], settings=settings)
    assert seen("chelsea.png", ["cat", "kitty"]) == [("cat", True), ("kitty", True)]


def test_one_string_is_no_vocabulary() -> None:
    with pytest.raises(Exception, match="a list of names"):
        see(photo("chelsea.png"), "cat")


def test_extreme_shapes_do_not_break_anything(settings: Settings) -> None:
    for shape in ((2, 3000), (3000, 2), (2, 2), (31, 33)):
        see(np.zeros((*shape, 3), dtype=np.uint8), ["dog"], settings=settings)
        padded, inner = letterbox(np.zeros((*shape, 3), dtype=np.uint8))
        assert padded.shape[0] % 32 == padded.shape[1] % 32 == 0
        assert min(inner) >= 1


def test_there_are_80_coco_names_without_a_blank_at_their_ends() -> None:
    assert len(set(COCO)) == 80
    assert all(name == name.strip() for name in COCO)
    assert COCO[12] == "parking meter"


def test_rivals_are_looked_for_and_a_cell_goes_to_the_likelier_name(settings: Settings) -> None:
    detector = world.WorldDetector(settings)
    wolf = name_of("wolf")
    words = detector.words([wolf], detector.known([wolf]))
    assert {"wolf", "dog", "fox"} <= set(words)
    odds = np.full((len(words), 2), -4.0, dtype=np.float32)
    odds[words.index("wolf")] = 0.5
    odds[words.index("dog"), 1] = 1.0
    boxes = np.array([[0, 0, 0.5, 1], [0.5, 0, 1, 1]], dtype=np.float32)
    finds = world.best_cells(world.Scored(boxes, words, odds), wolf, ["wolf"], settings.duplicate_overlap)
    assert finds.boxes.tolist() == boxes.tolist()
    assert finds.scores == pytest.approx([0.622, 0.5], abs=0.001)  # half a unit of rivalry is taken off the second


def test_networks_are_compiled_once_whatever_the_settings(settings: Settings) -> None:
    first, second = yolo26.load(settings), yolo26.load(load(presence_4=0.95, missing_below=0.1))
    assert first.networks[0] is second.networks[0]
    assert world.WorldDetector(settings).network is world.WorldDetector(load(missing_below=0.1)).network


def test_the_same_picture_gives_the_same_sightings_from_many_threads(settings: Settings) -> None:
    from concurrent.futures import ThreadPoolExecutor

    picture: Picture = load_picture(photo("bus.jpg"), settings)
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(
                lambda _: load_detector(settings).see([Look(picture, [name_of("bus"), name_of("person")])])[0], range(8)
            )
        )
    assert all(result == results[0] for result in results)


def test_overlap_and_duplicates() -> None:
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1.9], [1, 1, 3, 3], [0, 0, 2, 2]], dtype=np.float32)
    assert box_iou(boxes[0], boxes) == pytest.approx([1, 0.95, 1 / 7, 1])
    scores = np.array([0.8, 0.9, 0.7, 0.6], dtype=np.float32)
    assert non_max_suppression(boxes, scores, np.array([0, 0, 0, 0]), 0.6) == [1, 2]
    assert non_max_suppression(boxes, scores, np.array([0, 0, 0, 1]), 0.6) == [1, 2, 3]
    assert non_max_suppression(boxes[:0], scores[:0], np.array([], dtype=int), 0.6) == []
