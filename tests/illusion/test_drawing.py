import time
from pathlib import Path

import numpy as np
import pytest

from onprompt.errors import UserError
from onprompt.illusion.drawing import STRENGTHS, Plan, generator, make, picture, placed, plans
from onprompt.illusion.gold import gold, named, troubles
from onprompt.illusion.protocol import SCENES, SPLITS, Split
from onprompt.illusion.silhouettes import drawable, kinds, load_outlines, silhouette

SIN = SPLITS["sin"]
SMALL = 96  # pixels


def contrast(plan: Plan, split: Split) -> float:
    """How many grey levels the shape is lighter than what surrounds it."""
    grey = np.asarray(picture(plan, split, SMALL).convert("L"), np.float32)
    where = placed(plan.kind, SMALL, generator(plan, 0))
    return float(grey[where > 0.9].mean() - grey[where < 0.1].mean())


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_the_originals_rule_reads_every_file(split: Split, tmp_path: Path) -> None:
    planned = plans(split, 25)
    paths = [plan.path for plan in planned]
    assert len(set(paths)) == 25 * len(drawable(split))
    assert [gold(path, split)[:2] for path in paths] == [(plan.shape, plan.scene) for plan in planned]
    assert [named(path, split) for path in paths] == [gold(path, split) for path in paths]
    assert troubles(paths, split) == []
    made = make(tmp_path, split, per_class=2, side=64)
    assert made == [tmp_path / plan.path for plan in plans(split, 2)]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(made)


def test_difficulty_and_strength_are_in_the_name() -> None:
    found = [gold(plan.path, SIN)[2:] for plan in plans(SIN, 4)]
    assert set(found) == {(difficulty, strength) for strength, (difficulty, _) in STRENGTHS.items()}


def test_what_can_be_drawn() -> None:
    assert [len(drawable(split)) for split in SPLITS.values()] == [16, 8, 6, 16]
    used = {kind for split in SPLITS.values() for shape in drawable(split) for kind in kinds(shape)}
    assert used == set(load_outlines()["outlines"])


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    for plan in plans(SIN, len(SCENES))[: len(SCENES)]:
        first, again, other = (np.asarray(picture(plan, SIN, 96, seed)) for seed in (3, 3, 4))
        assert np.array_equal(first, again), plan
        assert not np.array_equal(first, other), plan


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_the_shape_is_lighter_than_its_scene_and_more_so_where_it_is_easy(split: Split) -> None:
    found: dict[str, list[float]] = {"Easy": [], "Hard": []}
    for plan in plans(split, len(SCENES)):
        found[STRENGTHS[plan.strength][0]].append(contrast(plan, split))
    assert min(found["Easy"]) > 50
    assert min(found["Hard"]) > 15
    assert np.median(found["Easy"]) > 1.5 * np.median(found["Hard"])


def test_silhouettes_differ_and_fill_their_square() -> None:
    drawn = {kind: silhouette(kind) for kind in load_outlines()["outlines"]}
    for kind, mask in drawn.items():
        assert 0.08 < mask.mean() < 0.8, kind
        others = [other for name, other in drawn.items() if name != kind]
        assert min(float(np.abs(mask - other).mean()) for other in others) > 0.02, kind


def test_nothing_too_small_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least 64 pixels, not 11 with 32"):
        make(tmp_path, SIN, side=32)
    with pytest.raises(UserError, match="not 0 with 512"):
        make(tmp_path, SIN, per_class=0)


def test_100_images_are_drawn_in_under_10_seconds(tmp_path: Path) -> None:
    start = time.perf_counter()
    paths = make(tmp_path, SIN, per_class=7, side=256)
    took = time.perf_counter() - start
    assert len(paths) == 112
    assert took < 10, f"{took:.1f} s"
