"""The detectors on real photos, and their parts on numbers."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from onprompt import see, verify
from onprompt.errors import UserError
from onprompt.language import name_of
from onprompt.settings import Settings, load
from onprompt.types import Box
from onprompt.vision.boxes import Boxes, Curve, calibrate, count_probabilities, load_curves
from onprompt.weights import cache
from onprompt.weights.manifest import find, read
from onprompt_yolo import CURVES, MANIFEST, strong, world, yolo26
from onprompt_yolo.letterbox import letterbox
from tests.conftest import photo, photo_path

DETECTORS = ("yolo26", "world", "strong")
WEIGHTS = ("yolo26m.pt", "yolov8s-world.pt")


def seen(name: str, names: list[str], detector: str) -> list[str]:
    found = see(photo(name), names, attributes=False, settings=load(detector=detector))
    return sorted(sighting.label for sighting in found if sighting.confidence >= 0.5)


@pytest.mark.parametrize("detector", DETECTORS)
def test_each_detector_finds_the_cat_and_no_dog(detector: str) -> None:
    assert seen("chelsea.png", ["cat", "dog"], detector) == ["cat"]


@pytest.mark.parametrize("detector", DETECTORS)
def test_boxes_are_where_things_are(detector: str) -> None:
    bus = see(photo("bus.jpg"), ["bus"], attributes=False, settings=load(detector=detector))[0]
    assert bus.box.iou(Box(0.0, 0.21, 1.0, 0.69)) > 0.85


def test_names_outside_coco_are_seen() -> None:
    assert seen("astronaut.png", ["flag", "dolphin"], "strong") == ["flag"]


def test_men_and_women_are_told_apart() -> None:
    assert seen("football.jpg", ["woman", "man"], "strong") == ["woman", "woman"]


def test_two_names_of_one_vector_are_both_answered(settings: Settings) -> None:
    detector = world.load(settings)
    rows = detector.vocabulary.rows
    assert rows["aerosol can"] == rows["spray can"]
    assert set(detector.known([name_of("aerosol can"), name_of("spray can")])) == {"aerosol can", "spray can"}


def test_rivals_are_looked_for_and_a_cell_goes_to_the_likelier_name(settings: Settings) -> None:
    detector = world.load(settings)
    wolf = name_of("wolf")
    words = detector.words([wolf], detector.known([wolf]))
    assert {"wolf", "dog", "fox"} <= set(words)
    odds = np.full((len(words), 2), -4.0, dtype=np.float32)
    odds[words.index("wolf")] = 0.5
    odds[words.index("dog"), 1] = 1.0
    boxes = np.array([[0, 0, 0.5, 1], [0.5, 0, 1, 1]], dtype=np.float32)
    finds = world.best_cells(world.Scored(boxes, words, odds), wolf, ["wolf"], settings.duplicate_overlap)
    assert finds.corners.tolist() == boxes.tolist()
    assert finds.scores == pytest.approx([0.622, 0.5], abs=0.001)  # half a unit of rivalry is taken off the second


def test_networks_are_compiled_once_whatever_the_settings(settings: Settings) -> None:
    other = load(low_confidence=0.4)
    assert yolo26.load(settings).networks[0] is yolo26.load(other).networks[0]
    assert world.load(settings).network is world.load(other).network


@pytest.mark.parametrize("shape", [(2, 1200), (1200, 2), (2, 2), (31, 33)])
def test_extreme_shapes_do_not_break_anything(shape: tuple[int, int]) -> None:
    pixels = np.zeros((*shape, 3), dtype=np.uint8)
    see(pixels, ["dog"], attributes=False, settings=load(detector="strong"))
    padded, inner = letterbox(pixels)
    assert padded.shape[0] % 32 == padded.shape[1] % 32 == 0
    assert min(inner) >= 1


# ---- curves ----------------------------------------------------------------------------------------------------------


def test_each_detector_has_its_curves() -> None:
    assert set(load_curves(CURVES)) == {
        *("yolo26m", "yolo26x", "yolo-world"),
        *("yolo26m + yolo-world", "yolo26x + yolo-world"),
    }


@pytest.mark.parametrize("curve", [pytest.param(curve, id=name) for name, curve in load_curves(CURVES).items()])
def test_a_clear_score_is_likely_one_and_a_faint_one_is_not(curve: Curve) -> None:
    box = np.array([[0.1, 0.1, 0.4, 0.9]], dtype=np.float32)
    found = {
        name: [Boxes(box, np.array([score], dtype=np.float32), np.array([name]))] * len(curve.own)
        for name, score in (("cat", 0.9), ("dog", 0.05))
    }
    cat, dog = calibrate(found, curve, 0.0)
    assert (cat.label, cat.source) == ("cat", curve.source)
    assert dog.confidence < 0.25 < 0.75 < cat.confidence
    three = np.repeat([[0.9, 0.9, 0.9, 0.02]], len(curve.own), axis=0).astype(np.float32)
    assert (count_probabilities(three, curve) >= 0.5).tolist() == [True, True, True, False]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_verdict_records_the_files_and_the_package() -> None:
    verdict = verify(photo("chelsea.png"), "a cat", settings=load(detector="strong"))
    assert set(WEIGHTS) < set(verdict.provenance["weights"])
    assert verdict.provenance["versions"]["onprompt-yolo"]
    assert strong.load(load()).packages == world.load(load()).packages == yolo26.load(load()).packages


def test_permissive_refuses_the_weights(tmp_path: Path) -> None:
    settings = load(home=tmp_path, permissive=True)
    for attempt in (lambda: cache.paths(["strong"], settings), lambda: strong.load(settings)):
        with pytest.raises(UserError, match=r"is under AGPL-3\.0, and permissive = true"):
            attempt()
    assert not cache.location(find(["yolo26m.pt"])[0], settings).exists()


def test_the_files_are_listed_with_licence_and_pulled_by_the_name_of_their_set(settings: Settings) -> None:
    listed = subprocess.run([sys.executable, "-m", "onprompt", "models"], capture_output=True, text=True, check=True)
    lines = [line for line in listed.stdout.splitlines() if line.split()[1:2] and line.split()[1] in WEIGHTS]
    assert len(lines) == 2
    assert all(line.startswith("strong ") and "AGPL-3.0" in line for line in lines)
    files = find(["strong"])
    assert [file.name for file in files if not file.permissive] == list(WEIGHTS)
    cache.pull(files, settings)
    assert {cache.state(file, settings) for file in files} == {"ready"}


def test_every_licence_that_is_not_permissive_is_named() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for file in read(MANIFEST):
        row = rf"`{re.escape(file.name)}`.*\*\*{re.escape(file.licence)}\*\*"
        assert file.permissive or re.search(row, readme), file.name


def test_the_command_takes_the_detector() -> None:
    command = ["see", str(photo_path("astronaut.png")), "--for", "a flag", "--detector", "strong"]
    done = subprocess.run([sys.executable, "-m", "onprompt", *command], capture_output=True, text=True, check=False)
    assert "flag" in done.stdout, done.stderr
