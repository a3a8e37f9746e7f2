"""Detect, then measure: what is traits of a sighting, and of many."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

import onprompt
from onprompt.errors import ImageError
from onprompt.language import name_of
from onprompt.settings import Settings
from onprompt.types import Box, Sighting
from onprompt.vision.detection import crowd_sightings, detect, measure_geometry, occlusion
from onprompt.vision.image import load_picture
from tests.conftest import Pixels, framed, photo, photo_path


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


def test_people_have_joints_and_postures(settings: Settings) -> None:
    people = detect(load_picture(photo("bus.jpg"), settings), [name_of("person")], settings).sightings
    traits = [trait.value for person in people for trait in person.traits if trait.kind == "action"]
    assert "standing" in traits
    assert any(dict(person.joints).get("nose") for person in people)


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


def test_many_pictures_are_seen_in_their_order() -> None:
    names = ["chelsea.png", "bus.jpg", "coffee.png", "chelsea.png"]
    batch = list(onprompt.see_many([photo_path(name) for name in names], ["cat", "bus", "cup"], attributes=False))
    single = [onprompt.see(photo_path(name), ["cat", "bus", "cup"], attributes=False) for name in names]
    assert batch == single
    assert [found[0].label for found in batch if isinstance(found, list)] == ["cat", "bus", "cup", "cat"]


def test_a_bad_picture_costs_no_other(tmp_path: Path) -> None:
    files = [photo_path("chelsea.png"), tmp_path / "none.png", photo_path("bus.jpg")]
    cat, error, bus = onprompt.see_many(files, ["cat", "bus"], attributes=False)
    assert isinstance(error, ImageError)
    assert isinstance(cat, list)
    assert isinstance(bus, list)
    assert (cat[0].label, bus[0].label) == ("cat", "bus")


def rows_of(number: int, side: float = 0.05) -> list[Sighting]:
    return [seen_at(Box(k * side, 0.5, (k + 1) * side, 0.5 + side), "sheep") for k in range(number)]


def test_a_crowd_is_counted_with_a_range_and_low_confidence(settings: Settings) -> None:
    assert crowd_sightings(rows_of(9), settings) == []
    faint = [seen_at(Box(0.9, 0.1, 0.95, 0.2), "sheep", 0.3)] * 8
    (crowd,) = crowd_sightings([*rows_of(12), *faint, seen_at(Box(0, 0, 1, 1))], settings)
    assert (crowd.label, crowd.count) == ("sheep", (12, 18))
    assert crowd.confidence < settings.low_confidence
    assert crowd.box == Box(0.0, 0.1, 0.95, 0.55)


def test_what_stands_in_front_hides_and_what_it_stands_on_does_not(settings: Settings) -> None:
    man, ball = seen_at(Box(0.3, 0.2, 0.6, 0.8), "person"), seen_at(Box(0.3, 0.5, 0.6, 0.85), "ball")
    table = seen_at(Box(0, 0.5, 1, 1), "table")
    assert occlusion(man, ball) == pytest.approx(0.5)
    assert occlusion(ball, man) == 0  # his feet are higher
    assert occlusion(man, table) == 0
    assert "occluded" in {trait.value for trait in measure_geometry(man, [man, ball], settings).traits}
    assert "occluded" not in {trait.value for trait in measure_geometry(man, [man, table], settings).traits}
    assert "truncated" in {trait.value for trait in measure_geometry(table, [], settings).traits}


def flock(columns: int, rows: int) -> Pixels:
    cat = framed(photo("chelsea.png"))
    return np.tile(cat, (rows, columns, 1))


def test_many_small_things_are_found_by_a_closer_look(settings: Settings) -> None:
    from dataclasses import replace

    picture = load_picture(flock(8, 8), settings)
    cat = name_of("cat")
    found = {
        fine: sum(
            sighting.confidence >= 0.5 and sighting.count == (1, 1)
            for sighting in detect(picture, [replace(cat, fine=fine)], settings, ()).sightings
            if sighting.label == "cat"
        )
        for fine in (False, True)
    }
    assert found[True] > found[False]
