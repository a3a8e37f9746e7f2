"""Made prompts: what they say, that they are the same each time, and that they mean what they were made from."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from onprompt.errors import UserError
from onprompt.language import parse_many
from onprompt.prompt_sets import FEATURES, Made, geneval_metadata, make, write
from onprompt.settings import Settings
from onprompt.types import Scene, Thing


def onprompt(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "onprompt", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def is_parsed(made: Made, parsed: Scene) -> bool:
    """Whether a parser finds in a prompt just what it was made from: objects, counts, colours and relations."""
    return [content(thing) for thing in made.scene.things] == [content(thing) for thing in parsed.things]


def content(thing: Thing) -> tuple[Any, ...]:
    """What is asked of an object."""
    return thing.canonical, thing.count.low, thing.count.high, thing.attributes, thing.relations, thing.absent


def test_they_parse_back(settings: Settings) -> None:
    made = [each for objects in (2, 3) for each in make(100, objects, FEATURES, 11)]
    parsed = parse_many((each.prompt for each in made), settings)
    right = [isinstance(scene, Scene) and is_parsed(each, scene) for each, scene in zip(made, parsed, strict=True)]
    assert sum(right) >= 0.98 * len(made), [each.prompt for each, fine in zip(made, right, strict=True) if not fine]


def test_one_that_says_something_else_is_not_taken_for_parsed(settings: Settings) -> None:
    (made,) = make(1, 2, ["counts"], 1)
    others = [made.prompt.replace("two", "three").replace("four", "two").replace("a ", "four "), "a cat"]
    for scene in parse_many(others, settings):
        assert isinstance(scene, Scene)
        assert not is_parsed(made, scene)


def test_a_seed_makes_the_same_prompts_and_all_features_alike() -> None:
    made = list(make(160, 2, FEATURES, 7))
    assert made == list(make(160, 2, FEATURES, 7))
    assert [each.prompt for each in made] != [each.prompt for each in make(160, 2, FEATURES, 8)]
    assert len({each.prompt for each in made}) == 160
    assert set(Counter(each.category for each in made).values()) == {20}
    assert all(any(thing.count.low > 1 for thing in each.scene.things) for each in made if "counts" in each.category)
    with pytest.raises(UserError, match="two objects"):
        list(make(1, 1, ["relations"]))
    with pytest.raises(UserError, match="no new prompt was found after 15"):
        list(make(1000, 1))


def test_genevals_form() -> None:
    by_tag: dict[str, Made] = {}
    for objects in (1, 2):
        for each in make(400, objects, [name for name in FEATURES if objects > 1 or name != "relations"], 3):
            by_tag.setdefault(geneval_metadata(each)["tag"], each)
    assert {"single_object", "two_object", "colors", "color_attr", "counting", "position"} <= by_tag.keys()
    position = geneval_metadata(by_tag["position"])
    first, second = position["include"]
    assert position["prompt"].find(second["class"]) < position["prompt"].find(first["class"]), "the target comes first"
    assert second["position"][1] == 0
    assert second["position"][0] in position["prompt"]
    counting = geneval_metadata(by_tag["counting"])
    assert counting["exclude"][0]["count"] == counting["include"][0]["count"] + 1


def test_from_prompts_to_a_run(tmp_path: Path) -> None:
    """The whole afternoon: prompts, a generator, a run. The generator draws nothing worth seeing."""
    options = ("--objects", 2, "--with", "colors", "--with", "counts", "--with", "relations", "--n", 8, "--seed", 7)
    made = onprompt("prompts", "make", "--out", tmp_path / "set", *options)
    assert made.returncode == 0, made.stderr
    assert "8 prompts in 8 categories" in made.stdout
    rows = [json.loads(line) for line in (tmp_path / "set" / "prompts.jsonl").read_text().splitlines()]
    assert [row["prompt"] for row in rows] == (tmp_path / "set" / "prompts.txt").read_text().splitlines()
    assert rows[0]["objects"][0]["canonical"]
    (tmp_path / "set" / "images").mkdir()
    for row in rows:
        Image.new("RGB", (16, 16), "grey").save(tmp_path / "set" / row["image"])
    (tmp_path / "said.jsonl").write_text(json.dumps({"text": "Not quite.\n(1)"}))
    data, model = tmp_path / "set" / "prompts.jsonl", f"replay/{tmp_path / 'said.jsonl'}"
    run = onprompt("run", data, "--out", tmp_path / "run.sqlite", "--model", model)
    assert run.returncode == 0, run.stderr
    assert "colors+counts+relations" in onprompt("show", tmp_path / "run.sqlite", "--by", "category").stdout
    assert "exists already" in onprompt("prompts", "make", "--out", tmp_path / "set").stderr
    with pytest.raises(UserError, match="can't write"):
        write([], Path("/dev/null/none"))
