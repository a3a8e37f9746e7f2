"""The detectors on real photos and what is measured of sightings; how a vocabulary answers for a name."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

import onprompt
from onprompt.errors import ImageError
from onprompt.language import name_of
from onprompt.settings import Settings
from onprompt.types import Box, NameMatch, Sighting
from onprompt.vision.boxes import box_iou
from onprompt.vision.detection import detect, measure_geometry, occlusion
from onprompt.vision.detectors import coco, load_detector
from onprompt.vision.image import load_picture
from onprompt.vision.runtime import source
from onprompt.vision.vocabulary import resolve
from tests.conftest import framed, photo, photo_path


def seen_at(box: Box, label: str = "dog", confidence: float = 0.9) -> Sighting:
    return Sighting(label, label, box, confidence, "test")


def test_all_that_can_be_told_of_a_sighting_is_told_with_a_confidence() -> None:
    bus = onprompt.see(photo("bus.jpg"), ["bus"])[0]
    traits = {trait.kind: (trait.value, trait.confidence) for trait in bus.traits}
    assert {"color", "size", "position"} <= set(traits)
    assert traits["size"][0] == bus.size == "large"
    assert all(0 < sure <= 1 for _, sure in traits.values())
    assert bus.mask is not None
    assert bus.colors


def test_what_is_asked_for_in_a_color_is_also_looked_for_without_colors(settings: Settings) -> None:
    """The detectors hardly know a cup in a photo that is red all over."""
    lab = cv2.cvtColor(np.asarray(photo("coffee.png")), cv2.COLOR_RGB2LAB)
    lab[..., 1:] = (220, 190)
    red = load_picture(np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), dtype=np.uint8), settings)
    cup = name_of("cup")
    plain, colored = (
        max(sighting.confidence for sighting in detect(red, [name], settings, ()).sightings if sighting.label == "cup")
        for name in (cup, replace(cup, colored=True))
    )
    assert plain < 0.5 < 0.75 < colored


def test_without_names_eighty_kinds_are_looked_for() -> None:
    found = onprompt.see(photo_path("bus.jpg"), attributes=False)
    assert {"bus", "person"} <= {sighting.label for sighting in found if sighting.confidence >= 0.5}
    confidences = [sighting.confidence for sighting in found]
    assert confidences == sorted(confidences, reverse=True)
    assert min(confidences) >= 0.05


def test_what_stands_in_front_hides_and_what_it_stands_on_does_not(settings: Settings) -> None:
    man, ball = seen_at(Box(0.3, 0.2, 0.6, 0.8), "person"), seen_at(Box(0.3, 0.5, 0.6, 0.85), "ball")
    table = seen_at(Box(0, 0.5, 1, 1), "table")
    assert occlusion(man, ball) == pytest.approx(0.5)
    assert occlusion(ball, man) == 0  # his feet are higher
    assert occlusion(man, table) == 0
    assert "occluded" in {trait.value for trait in measure_geometry(man, [man, ball], settings).traits}
    assert "occluded" not in {trait.value for trait in measure_geometry(man, [man, table], settings).traits}
    assert "truncated" in {trait.value for trait in measure_geometry(table, [], settings).traits}


def test_many_small_things_are_found_by_a_closer_look(settings: Settings) -> None:
    picture, found = load_picture(np.tile(framed(photo("chelsea.png")), (8, 8, 1)), settings), []
    for fine in (False, True):
        seen = detect(picture, [replace(name_of("cat"), fine=fine)], settings, ()).sightings
        found.append(sum(s.confidence >= 0.5 for s in seen if s.label == "cat"))
    assert found[1] > found[0]


def test_many_pictures_are_seen_in_their_order_and_a_bad_one_costs_no_other(tmp_path: Path) -> None:
    files = [photo_path("chelsea.png"), tmp_path / "none.png", photo_path("bus.jpg"), photo_path("chelsea.png")]
    cat, error, *others = onprompt.see_many(files, ["cat", "bus"], attributes=False)
    assert isinstance(error, ImageError)
    assert [cat, *others] == [onprompt.see(files[at], ["cat", "bus"], attributes=False) for at in (0, 2, 3)]
    assert [found[0].label for found in (cat, *others) if isinstance(found, list)] == ["cat", "bus", "cat"]


@pytest.mark.parametrize(
    ("name", "asked", "sure"),
    [
        *(("chelsea.png", ["cat", "dog"], ["cat"]), ("chelsea.png", ["animal", "cat"], ["animal", "cat"])),
        *(("bus.jpg", ["vehicle"], ["vehicle"]), ("football.jpg", ["ball"], ["ball"])),
    ],
)
def test_a_thing_is_seen_once_for_each_name_it_was_asked_by(name: str, asked: list[str], sure: list[str]) -> None:
    found = onprompt.see(photo(name), asked, attributes=False)
    assert sorted(s.label for s in found if s.confidence >= 0.5 and s.label not in {"person", "backpack"}) == sure


@pytest.mark.parametrize("name", ["bus.jpg", "chelsea.png", "astronaut.png"])
def test_both_networks_put_their_boxes_in_the_same_places(name: str, settings: Settings) -> None:
    both = [coco.load_network(source(files, settings))(photo(name))[0] for files in (coco.PICODET, (coco.LITE0,))]
    sure = [boxes.only(boxes.scores > 0.6) for boxes in both]
    kinds = set(sure[0].classes) & set(sure[1].classes)
    assert kinds
    for kind in kinds:
        first, second = (boxes.corners[boxes.classes == kind] for boxes in sure)
        assert box_iou(first, second).max() > 0.85


def test_noise_and_blank_pictures_hold_nothing() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    for pixels in (noise, np.full((300, 400, 3), 127, dtype=np.uint8)):
        found = onprompt.see(pixels, ["dog", "cup", "tree"])
        assert [sighting for sighting in found if sighting.confidence >= 0.5] == []


def test_one_string_is_no_vocabulary() -> None:
    with pytest.raises(Exception, match="a list of names"):
        onprompt.see(photo("chelsea.png"), "cat")


@pytest.mark.parametrize("shape", [(2, 1200), (1200, 2), (2, 2), (31, 33)])
def test_extreme_shapes_do_not_break_anything(shape: tuple[int, int]) -> None:
    onprompt.see(np.zeros((*shape, 3), dtype=np.uint8), ["dog"])


def test_the_same_picture_gives_the_same_sightings_from_many_threads(settings: Settings) -> None:
    picture, names = load_picture(photo("bus.jpg"), settings), [name_of("bus"), name_of("person")]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: load_detector(settings).see(picture, names), range(8)))
    assert all(result == results[0] for result in results)


def test_what_threads_see_is_what_one_sees() -> None:
    prompt = "a smiling woman waving, a red cup, a round table"
    alone = onprompt.verify(photo_path("astronaut.png"), prompt)
    for other in onprompt.judge_many("verify", [{"image": photo_path("astronaut.png"), "prompt": prompt}] * 2):
        assert isinstance(other, onprompt.Verdict)
        assert [check.outcome for check in other.checks] == [check.outcome for check in alone.checks]
        assert [check.probability for check in other.checks] == pytest.approx(
            [check.probability for check in alone.checks], abs=1e-3
        )


VOCABULARY = ["couch", "chair", "dog", "cat", "person", "sports ball", "tennis ball", "bus", "wine glass"]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *(("dogs", NameMatch(("dog",))), ("sofa", NameMatch(("couch",))), ("wine glasses", NameMatch(("wine glass",)))),
        *(("animal", NameMatch(("cat", "dog"))), ("red dragon", None), ("zeitgeist", None)),
        *((name, NameMatch((word,), 0.7)) for name, word in (("office chair", "chair"), ("woman", "person"))),
        ("puppy", NameMatch(("dog",), 0.7)),
    ],
)
def test_how_a_vocabulary_answers(name: str, known: NameMatch | None) -> None:
    assert resolve(name_of(name), VOCABULARY, subtype_score=0.7) == known
