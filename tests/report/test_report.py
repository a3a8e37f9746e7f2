"""What people see of a verdict: the document, the terminal, the picture."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import onprompt
from onprompt import Verdict, edit, serial, verify
from onprompt.report import document, picture, terminal
from onprompt.types import (
    Answer,
    Attribute,
    Check,
    Claim,
    Count,
    Edit,
    EditEvidence,
    FactorScore,
    Finding,
    ObjectChange,
    Picture,
    PromptEvidence,
    Relation,
    Sample,
    Scene,
    Sighting,
    Swatch,
    Thing,
    Trait,
    Usage,
    Voice,
)
from onprompt.wording import pairs
from tests.conftest import photo

# The types of which a stored verdict consists; a field with its default is not in the document.
STORED = (
    *(Verdict, Sample, Picture, FactorScore, Check, Claim, Finding, PromptEvidence, Sighting, Swatch, Trait),
    *(Scene, Thing, Attribute, Relation, Count, Answer, Usage, EditEvidence, ObjectChange, Edit, Voice),
)
DOCS = Path(__file__).parent.parent.parent / "docs"


@cache
def verdict() -> Verdict:
    return verify(photo("coffee.png"), "two green cups on a table without a spoon, and a laptop")


def keys(value: object) -> set[str]:
    """All keys at any depth, less those that are names of settings, packages and files."""
    if isinstance(value, dict):
        return set(value) | {key for name, each in value.items() if name != "provenance" for key in keys(each)}
    return {key for each in value for key in keys(each)} if isinstance(value, list) else set()


def test_every_key_of_the_document_is_documented_and_every_documented_key_is_there() -> None:
    page = (DOCS / "json.md").read_text()
    documented = set(re.findall(r"`(\w+)`", page + (DOCS / "parse.md").read_text()))
    listed = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^- (`[^:]*):", page, flags=re.M))))
    stored = {name for kind in STORED for name, _ in serial.stored_fields(kind)}
    measures = {**verdict().measures, "elements": 0.5, "relations": None}
    sample = replace(verdict().sample, options={"major": ["cup"]})
    edited = keys(document.document(edit(photo("coffee.png"), photo("chelsea.png"), "add a cat")))
    shown = keys(document.document(replace(verdict(), measures=measures, sample=sample)))
    generated = set(re.findall(r"^::: onprompt\.types\.(\w+)$", (DOCS / "reference.md").read_text(), flags=re.M))
    assert {kind.__name__ for kind in STORED} <= generated
    assert listed <= shown | edited | stored
    assert shown | edited <= documented | stored


def test_the_document_is_json_and_says_what_the_verdict_says() -> None:
    entry = json.loads(json.dumps(document.document(verdict())))
    assert serial.load(entry) == verdict()
    assert entry["score"] == verdict().score
    assert [tuple(pair) for pair in entry["pairs"]] == pairs(verdict())
    assert entry["prompt_objects"][0]["count"] == 2
    assert entry["prompt_objects"][0]["count_range"] == [2, 2]
    assert [check["outcome"] for check in entry["checks"]] == [check.outcome for check in verdict().checks]
    width, height = entry["image_size"]
    for each in entry["image_objects"]:
        x, y, across, down = each["bbox"]
        assert 0 <= x < x + across <= width + 0.1
        assert 0 <= y < y + down <= height + 0.1


def test_the_terminal_ends_with_the_score_alone() -> None:
    lines = [text for text, _ in terminal.lines(verdict())]
    assert lines[-1] == f"({verdict().score})"
    assert "  2 × cup (color green) on table" in lines
    assert any(line.startswith("  no spoon") for line in lines)
    assert any(line.startswith("  ('a laptop', 'MISSING')") for line in lines)
    pairs_shown = [(text[4:].split("'")[0], style) for text, style in terminal.lines(verdict()) if text[2:4] == "('"]
    assert pairs_shown[:2] == [("two green cups", "red"), ("a table", "green")], "the color of the worst check"
    assert len(pairs_shown) == len(pairs(verdict()))


def test_the_picture_draws_boxes_and_lists_the_findings(tmp_path: Path) -> None:
    plain = np.asarray(picture.draw(verify(photo("coffee.png"), "a dog")))
    drawn = np.asarray(picture.draw(verdict()))
    assert drawn.shape[1] == plain.shape[1] == picture.WIDTH
    red = (np.abs(drawn.astype(int) - [0xB3, 0x36, 0x1B]).sum(axis=2) < 12).sum()
    green = (np.abs(drawn.astype(int) - [0x0B, 0x6B, 0x53]).sum(axis=2) < 12).sum()
    assert red > 2000, "the wrong cup has a red box"
    assert green > 2000, "the table has a green one"
    picture.save(verdict(), tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 10_000


def test_a_picture_for_a_paper_has_the_resolution_of_its_file(tmp_path: Path) -> None:
    large = tmp_path / "large.png"
    Image.fromarray(photo("coffee.png")).resize((2400, 1600)).save(large)
    judged = verify(large, "two green cups <b>&amp;</b> \x00 on a table")
    for name in ("a.png", "a.svg", "a.pdf"):
        picture.save(judged, tmp_path / name, caption=name == "a.svg")
    with Image.open(tmp_path / "a.png") as drawn:
        assert drawn.size == (2400, 1600)
    assert b"/MediaBox [ 0 0 2400.0 1600.0 ]" in (tmp_path / "a.pdf").read_bytes()
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert (root.get("viewBox") or "").startswith("0 0 2400 ")
    words = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.strip().startswith("cup 0.") for text in words)
    assert "two green cups <b>&amp;</b> ? on a table" in "".join(words)


@pytest.mark.parametrize("prompt", ["x" * 5000, "a cat <b>&amp;</b> \x00", "日本語の猫", "a\tdog"])
def test_odd_prompts_can_be_drawn_and_printed(prompt: str) -> None:
    odd = verify(photo("coffee.png"), prompt)
    assert picture.draw(odd).width == picture.WIDTH
    assert list(terminal.lines(odd))[-1][0] == f"({odd.score})"


def test_the_keys_of_a_prompt_and_of_an_edit_are_documented() -> None:
    page = (DOCS / "parse.md").read_text()
    assert set(re.findall(r"^\| `(\w+)`", page, flags=re.M)) == set(document.scene_document(onprompt.parse("a dog")))
    edits = document.edits_document("remove the car", onprompt.parse_edit("remove the car"))
    assert set(edits) <= set(re.findall(r"`(\w+)`", page))
    assert set(edits["edits"][0]) == {name for name, _ in serial.stored_fields(Edit)}
