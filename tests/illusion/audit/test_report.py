"""The report in its five sections, the effect on answers, what the docs show, and what is said of wrong files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from onprompt.errors import UserError
from onprompt.illusion.audit import description, report
from onprompt.illusion.audit.points import Verdict, option_list, quoted
from onprompt.illusion.audit.runner import Audit, audit
from onprompt.illusion.audit.scorer import original_score
from onprompt.illusion.audit.test_answers import CLASSES, FILLER
from onprompt.illusion.protocol import SCENES, SPLITS
from tests.illusion.audit.faithful import PYTHON, TOML, written

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "illusion"
SEED = EXAMPLES / "arshia_utils.toml"


@pytest.fixture(scope="module")
def seeds() -> Audit:
    return audit(SEED, EXAMPLES / "answers.csv")


def titles(found: Audit, verdict: Verdict) -> set[str]:
    return {point.title for point in found.with_verdict(verdict)}


def test_what_the_seeds_check_missed_is_found(seeds: Audit) -> None:
    assert titles(seeds, Verdict.CHANGES) == {
        *("two-word shape with another separator", "two-word scene with another separator"),
        *("answer with both shape and scene", "given answers"),
    }
    points = {point.title: point for point in seeds.with_verdict(Verdict.CHANGES)}
    assert "Paper_clip" in points["two-word shape with another separator"].theirs
    assert "Face_Emoji" in points["two-word shape with another separator"].theirs
    assert all(scene in points["two-word scene with another separator"].theirs for scene in SCENES if "_" in scene)
    silent = [(point.title, point.where) for point in seeds.with_verdict(Verdict.NOT_DESCRIBED)]
    assert ("prompt wording", "icon, scene question") in silent
    assert ("shape options", "old_sin") in silent
    assert {"gold shape", "gold scene", "files that count", "resize filter"} <= {title for title, _ in silent}


def test_what_the_seeds_check_calls_a_difference_is_none(seeds: Audit) -> None:
    asked = next(question for question in seeds.questions if question.where == "icon, shape question")
    assert asked.theirs == asked.original == SPLITS["icon"].shape_question


def test_examples_are_as_short_as_can_be(seeds: Audit) -> None:
    examples = {point.title: point.example for point in seeds.points}
    assert examples["two-word scene with another separator"]["answer"] == '"Sand dune"'
    assert re.fullmatch(r'"\w{3,4}, \w{3,4}"', examples["answer with both shape and scene"]["answer"])


def test_a_long_example_is_cut_in_words(tmp_path: Path) -> None:
    python = PYTHON.replace("prediction = prediction.lower()", "prediction = prediction.lower()[:60]")
    points = audit(written(tmp_path / "it", TOML, python)).with_verdict(Verdict.CHANGES)
    (point,) = [point for point in points if point.title == "long answer"]
    words = point.example["answer"].strip('"').split()
    assert 60 < len(" ".join(words)) < 80
    assert set(words) <= {*FILLER.split(), point.example["shape"]}


def test_the_report_has_the_seeds_sections(seeds: Audit) -> None:
    lines = list(report.markdown(seeds))
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == ["## 1. Prompts", "## 2. Option lists", "## 3. Scoring", "## 4. Checklist", "## 5. Conclusion"]
    for table in re.findall(r"(?:^\|.*\n)+", "\n".join(lines) + "\n", flags=re.M):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    assert f"| **scene options** (all splits) | {', '.join(SCENES)[:30]}" in "\n".join(lines)


def test_the_report_as_json_holds_every_point(seeds: Audit) -> None:
    entry = json.loads(json.dumps(report.document(seeds)))
    assert entry["format"] == "onprompt.illusion.audit/1"
    assert len(entry["points"]) == len(seeds.points)
    assert {point["verdict"] for point in entry["points"]} <= {verdict.value for verdict in Verdict}
    assert entry["aligned"] is False
    assert entry["effect"]["answers"] == 12


def test_the_docs_show_what_happens(seeds: Audit) -> None:
    shown_lines = "\n".join(report.markdown(seeds))
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / "illusion.md").read_text(), flags=re.S)
    assert len(blocks) >= 2
    for block in blocks:
        assert block.strip() in shown_lines


def test_a_difference_in_a_prompt_is_shown_with_both_texts(tmp_path: Path) -> None:
    toml = TOML.replace("with a single word", "with one | word", 1)
    text = "\n".join(report.markdown(audit(written(tmp_path / "it", toml))))
    assert '- output format: ❌ changes the score. "a" → "one"; "single" → "|"' in text
    assert text.count("Theirs:\n```") == 1


def test_silence_is_said_and_nothing_is_assumed(tmp_path: Path) -> None:
    found = audit(written(tmp_path / "it", 'name = "nothing"'))
    assert {point.verdict for point in found.points} == {Verdict.NOT_DESCRIBED}
    assert not found.aligned
    assert report.summary(found) == "Undecided: nothing is described."


def test_a_list_that_is_not_described_leaves_the_prompts_options_open(tmp_path: Path) -> None:
    toml = TOML.replace("icon = [", "#", 1)
    points = audit(written(tmp_path / "it", toml)).points
    by_title = {(point.title, point.where): point for point in points}
    assert by_title["options in the prompt", "icon, shape question"].verdict is Verdict.NOT_DESCRIBED
    assert by_title["prompt wording", "icon, shape question"].verdict is Verdict.ALIGNED
    assert by_title["shape options", "icon"].verdict is Verdict.NOT_DESCRIBED


def test_how_matches_are_combined_is_not_assumed(tmp_path: Path) -> None:
    toml = SEED.read_text().replace('combine = "independent"', "")
    (tmp_path / "it.toml").write_text(toml)
    (tmp_path / "arshia_utils.py").write_text((EXAMPLES / "arshia_utils.py").read_text())
    found = audit(tmp_path / "it.toml", EXAMPLES / "answers.csv")
    verdicts = {point.title: point.verdict for point in found.points}
    assert verdicts["answer with both shape and scene"] is Verdict.NOT_DESCRIBED
    assert verdicts["two-word scene with another separator"] is Verdict.CHANGES
    assert found.effect
    assert [recall.theirs is None for recall in found.effect.recalls] == [False, True, False, True]


# ---- descriptions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        ("", "name: Field required"),
        ("name = ", "is not valid TOML"),
        ('name = "x"\nprompt = 1', "prompt: Extra inputs are not permitted"),
        ('name = "x"\n[prompts.sun]\nshape = "x"', "prompts.sun"),
        ('name = "x"\npath = "nowhere"', "is not a folder"),
        ('name = "x"\n[scoring]\nfunction = "x"\ntakes = ["prediction"]\nreturns = "outcome"', "scoring.function"),
        ('name = "x"\n[scoring]\nfunction = "x:y"\ntakes = ["label"]\nreturns = "match"', 'takes needs "prediction"'),
        ('name = "x"\n[scoring]\nfunction = "x:y"\ntakes = ["prediction"]\nreturns = "match"', 'takes "label"'),
        ('name = "x"\n[prompts.sin]\nshape = "{shape_string}"', "has {shape_string}; valid are {shapes}"),
        (f'name = "{"x" * 2**20}"', "is larger than"),
    ],
)
def test_invalid_descriptions_are_errors(tmp_path: Path, toml: str, complaint: str) -> None:
    path = tmp_path / "it.toml"
    path.write_text(toml)
    with pytest.raises(UserError, match=re.escape(complaint)):
        audit(path)


def test_a_description_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        description.load(tmp_path / "none.toml")
    (tmp_path / "it.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(UserError, match="is not UTF-8: byte 8 is 0xff"):
        description.load(tmp_path / "it.toml")


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("raise KeyError('x')", "raises KeyError: 'x'"),
        ("raise KeyError(prediction)", "raises KeyError: 'Airplane'"),
        ("os._exit(3)", "ends its process (exit code 3)"),
        ("return 0.5", "returns 0.5, not the declared shape, scene, texture or rest"),
        ("return 'icon'", "returns 'icon', not the declared shape, scene, texture or rest"),
        ("return {1, 2}", "returns a set of length 2, which is not a score or label"),
    ],
)
def test_a_function_that_gives_no_outcome_is_one_finding(tmp_path: Path, body: str, trouble: str) -> None:
    python = PYTHON.replace("    prediction = prediction.lower()", f"    {body}")
    (point,) = audit(written(tmp_path / "it", TOML, python)).with_verdict(Verdict.CHANGES)
    assert (point.section, point.theirs) == ("scoring", f"copy_of_it:score {trouble}")


# ---- test answers ----------------------------------------------------------------------------------------------------


def test_the_test_answers_have_every_class_and_both_outcomes() -> None:
    every = [case for answer_class in CLASSES.values() for case in answer_class.cases()]
    for split in SPLITS.values():
        here = [case for case in every if case.split == split.name]
        assert set(split.shapes) <= {case.shape for case in here}
        if split.name != "old_sin":
            assert set(SCENES) <= {case.scene for case in here}
        scores = {str(original_score(case)) for case in here}
        assert scores == {"shape", "scene", "rest"}
    assert any(case.answer == "scarf" and str(original_score(case)) == "shape" for case in every)
    assert any(case.scene == "elephant1" for case in every)
    assert ("Stationary", "Stationery") in {(case.shape, case.answer) for case in every}


def test_invisible_characters_are_escaped() -> None:
    assert quoted("a\n\tb c") == r'"a\n\tb c"'
    assert quoted("\ufeffa\u00a0b\u200bé") == r'"\ufeffa\xa0b\u200bé"'
    assert quoted("x" * 100).count("x") < 80
    assert [option_list([option]) for option in ("Ocean", "Ocean ", "", "a, b", "Mercedes\u00a0Benz")] == [
        *("Ocean", '"Ocean "', '""', '"a, b"', r"Mercedes\xa0Benz")
    ]
