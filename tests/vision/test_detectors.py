"""The detectors on real photos, and their parts on numbers."""

import numpy as np
import pytest

from onprompt import see
from onprompt.language import name_of
from onprompt.settings import Settings, load
from onprompt.types import Box, Picture
from onprompt.vision.boxes import box_iou, non_max_suppression
from onprompt.vision.detectors import coco, load_detector
from onprompt.vision.image import load_picture
from onprompt.vision.runtime import source
from onprompt.vision.vocabulary import COCO
from tests.conftest import photo


def seen(name: str, names: list[str], **settings: object) -> list[tuple[str, bool]]:
    found = see(photo(name), names, settings=load(**settings))
    return sorted((sighting.label, sighting.confidence >= 0.5) for sighting in found if sighting.confidence >= 0.5)


def test_the_detector_finds_the_cat_and_no_dog() -> None:
    assert seen("chelsea.png", ["cat", "dog"]) == [("cat", True)]


def test_boxes_are_where_things_are() -> None:
    bus = see(photo("bus.jpg"), ["bus"])[0]
    assert bus.box.iou(Box(0.0, 0.21, 1.0, 0.69)) > 0.85


@pytest.mark.parametrize("name", ["bus.jpg", "chelsea.png", "astronaut.png"])
def test_both_networks_put_their_boxes_in_the_same_places(name: str, settings: Settings) -> None:
    both = [coco.load_network(source(files, settings))(photo(name))[0] for files in (coco.PICODET, (coco.LITE0,))]
    sure = [boxes.only(boxes.scores > 0.6) for boxes in both]
    kinds = set(sure[0].classes) & set(sure[1].classes)
    assert kinds
    for kind in kinds:
        first, second = (boxes.corners[boxes.classes == kind] for boxes in sure)
        assert box_iou(first, second).max() > 0.85


def test_a_name_is_answered_under_the_name_it_was_asked_by() -> None:
    assert seen("bus.jpg", ["vehicle"], detector="coco") == [("vehicle", True)]
    assert seen("football.jpg", ["ball"]) == [("ball", True)]


def test_one_object_of_two_names_is_seen_once_a_name() -> None:
    assert seen("chelsea.png", ["animal", "cat"]) == [("animal", True), ("cat", True)]


def test_noise_and_blank_pictures_hold_nothing() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    for pixels in (noise, np.full((300, 400, 3), 127, dtype=np.uint8)):
        assert [sighting for sighting in see(pixels, ["dog", "cup", "tree"]) if sighting.confidence >= 0.5] == []


def test_two_names_of_one_class_are_both_answered() -> None:
    assert seen("chelsea.png", ["cat", "kitty"]) == [("cat", True), ("kitty", True)]


def test_one_string_is_no_vocabulary() -> None:
    with pytest.raises(Exception, match="a list of names"):
        see(photo("chelsea.png"), "cat")


def test_extreme_shapes_do_not_break_anything(settings: Settings) -> None:
    for shape in ((2, 1200), (1200, 2), (2, 2), (31, 33)):
        see(np.zeros((*shape, 3), dtype=np.uint8), ["dog"], settings=settings)


def test_there_are_80_coco_names_without_a_blank_at_their_ends() -> None:
    assert len(set(COCO)) == 80
    assert all(name == name.strip() for name in COCO)
    assert COCO[12] == "parking meter"


def test_networks_are_compiled_once_whatever_the_settings(settings: Settings) -> None:
    first, second = coco.load(settings), coco.load(load(presence_4=0.95, low_confidence=0.4))
    assert first.networks[0] is second.networks[0]


def test_the_same_picture_gives_the_same_sightings_from_many_threads(settings: Settings) -> None:
    from concurrent.futures import ThreadPoolExecutor

    picture: Picture = load_picture(photo("bus.jpg"), settings)
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(lambda _: load_detector(settings).see(picture, [name_of("bus"), name_of("person")]), range(8))
        )
    assert all(result == results[0] for result in results)


def test_overlap_and_duplicates() -> None:
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1.9], [1, 1, 3, 3], [0, 0, 2, 2]], dtype=np.float32)
    assert box_iou(boxes[0], boxes) == pytest.approx([1, 0.95, 1 / 7, 1])
    scores = np.array([0.8, 0.9, 0.7, 0.6], dtype=np.float32)
    assert non_max_suppression(boxes, scores, np.array([0, 0, 0, 0]), 0.6) == [1, 2]
    assert non_max_suppression(boxes, scores, np.array([0, 0, 0, 1]), 0.6) == [1, 2, 3]
    assert non_max_suppression(boxes[:0], scores[:0], np.array([], dtype=int), 0.6) == []
