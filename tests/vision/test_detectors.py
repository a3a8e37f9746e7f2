"""The detectors on real photos, and their parts on numbers."""

import numpy as np
import pytest

from onprompt import see
from onprompt.language import name_of
from onprompt.settings import Settings, load
from onprompt.types import Picture
from onprompt.vision.boxes import box_iou
from onprompt.vision.detectors import coco, load_detector
from onprompt.vision.image import load_picture
from onprompt.vision.runtime import source
from tests.conftest import photo


def seen(name: str, names: list[str], **settings: object) -> list[tuple[str, bool]]:
    found = see(photo(name), names, settings=load(**settings))
    return sorted((sighting.label, sighting.confidence >= 0.5) for sighting in found if sighting.confidence >= 0.5)


def test_the_detector_finds_the_cat_and_no_dog() -> None:
    assert seen("chelsea.png", ["cat", "dog"]) == [("cat", True)]


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


def test_one_string_is_no_vocabulary() -> None:
    with pytest.raises(Exception, match="a list of names"):
        see(photo("chelsea.png"), "cat")


def test_extreme_shapes_do_not_break_anything(settings: Settings) -> None:
    for shape in ((2, 1200), (1200, 2), (2, 2), (31, 33)):
        see(np.zeros((*shape, 3), dtype=np.uint8), ["dog"], settings=settings)


def test_the_same_picture_gives_the_same_sightings_from_many_threads(settings: Settings) -> None:
    from concurrent.futures import ThreadPoolExecutor

    picture: Picture = load_picture(photo("bus.jpg"), settings)
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(lambda _: load_detector(settings).see(picture, [name_of("bus"), name_of("person")]), range(8))
        )
    assert all(result == results[0] for result in results)
