"""The report in the seed's shape, the effect on answers, what the docs show, and what is said of wrong files."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest

from onprompt.audit import description, report
from onprompt.audit.battery import FAMILIES, cases
from onprompt.audit.points import Verdict
from onprompt.audit.prompts import shown
from onprompt.audit.scorings import by_original
from onprompt.audit.whole import Audit, audit
from onprompt.errors import UserError
from onprompt.illusion.protocol import SCENES, SPLITS
from onprompt.illusion.scoring import original, recall
from tests.audit.faithful import PYTHON, TOML, written

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "illusion"
SEED = EXAMPLES / "arshia_utils.toml"


@pytest.fixture(scope="module")
def seeds() -> Audit:
    return audit(SEED, EXAMPLES / "answers.csv")


def titles(found: Audit, verdict: Verdict) -> set[str]:
    return {point.title for point in found.having(verdict)}


def test_what_the_seeds_check_missed_is_found(seeds: Audit) -> None:
    assert titles(seeds, Verdict.CHANGES) == {
        *("another form of a shape of two words", "another form of a scene of two words"),
        *("an answer that names shape and scene", "the answers that were given"),
    }
    told = {point.title: point for point in seeds.having(Verdict.CHANGES)}
    assert "Paper_clip" in told["another form of a shape of two words"].theirs
    assert "Face_Emoji" in told["another form of a shape of two words"].theirs
    assert all(each in told["another form of a scene of two words"].theirs for each in SCENES if "_" in each)
    silent = [(point.title, point.where) for point in seeds.having(Verdict.SILENT)]
    assert ("prompt wording", "icon, scene question") in silent
    assert ("shape options", "old_sin") in silent
    assert {"gold shape", "gold scene", "files that count", "resize filter"} <= {title for title, _ in silent}


def test_what_the_seeds_check_calls_a_difference_is_none(seeds: Audit) -> None:
    asked = next(each for each in seeds.asked if each.where == "icon, shape question")
    assert asked.theirs == asked.original == SPLITS["icon"].shape_question


def test_examples_are_as_short_as_can_be(seeds: Audit) -> None:
    told = {point.title: point.example for point in seeds.points}
    assert told["another form of a scene of two words"]["answer"] == '"Sand dune"'
    assert len(told["an answer that names shape and scene"]["answer"]) == len('"CarCity"')


def test_the_report_has_the_seeds_sections(seeds: Audit) -> None:
    lines = list(report.markdown(seeds))
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == ["## 1. Prompts", "## 2. Option lists", "## 3. Scoring", "## 4. Checklist", "## 5. Conclusion"]
    for table in re.findall(r"(?:^\|.*\n)+", "\n".join(lines) + "\n", flags=re.M):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    assert f"| **scene options** (all splits) | {', '.join(SCENES)[:30]}" in "\n".join(lines)


def test_the_report_as_json_holds_every_point(seeds: Audit) -> None:
    told = json.loads(json.dumps(report.document(seeds)))
    assert told["format"] == "onprompt.illusion.audit/1"
    assert len(told["points"]) == len(seeds.points)
    assert {point["verdict"] for point in told["points"]} <= {verdict.value for verdict in Verdict}
    assert told["aligned"] is False
    assert told["effect"]["answers"] == 12


def test_the_docs_show_what_happens(seeds: Audit) -> None:
    shown_lines = "\n".join(report.markdown(seeds))
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / "audit.md").read_text(), flags=re.S)
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
    assert {point.verdict for point in found.points} == {Verdict.SILENT}
    assert not found.aligned
    assert report.summary(found) == "Nothing is described, so nothing can be said."


def test_a_list_that_is_not_described_leaves_the_prompts_options_open(tmp_path: Path) -> None:
    toml = TOML.replace("icon = [", "#", 1)
    points = audit(written(tmp_path / "it", toml)).points
    told = {(point.title, point.where): point for point in points}
    assert told["options in the prompt", "icon, shape question"].verdict is Verdict.SILENT
    assert told["prompt wording", "icon, shape question"].verdict is Verdict.ALIGNED
    assert told["shape options", "icon"].verdict is Verdict.SILENT


def test_how_matches_are_combined_is_not_assumed(tmp_path: Path) -> None:
    toml = SEED.read_text().replace('combine = "independent"', "")
    (tmp_path / "it.toml").write_text(toml)
    (tmp_path / "arshia_utils.py").write_text((EXAMPLES / "arshia_utils.py").read_text())
    found = audit(tmp_path / "it.toml", EXAMPLES / "answers.csv")
    told = {point.title: point.verdict for point in found.points}
    assert told["an answer that names shape and scene"] is Verdict.SILENT
    assert told["another form of a scene of two words"] is Verdict.CHANGES
    assert found.effect
    assert [each.theirs is None for each in found.effect.recalls] == [False, True, False, True]


# ---- effect ----------------------------------------------------------------------------------------------------------


def test_the_effect_is_that_of_the_scoring_itself(tmp_path: Path) -> None:
    random.seed(9)
    rows = []
    for number in range(1200):
        split = random.choice(list(SPLITS.values()))
        shape, scene, other = random.choice(split.shapes), random.choice(SCENES), random.choice(split.options)
        words = [shape, scene, other, shape.replace("_", " "), scene.lower().replace("_", " "), "a scarf", ""]
        answer = " ".join(random.choices(words, k=random.choice((1, 1, 1, 2, 3))))
        rows.append([split.name, ("shape", "scene")[number % 2], shape, scene, answer])
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["split", "question", "shape", "scene", "answer"], *rows])
    found = audit(SEED, tmp_path / "answers.csv").effect
    assert found
    outcomes = [
        (question, original(answer, shape, scene, SPLITS[split])[:2], recall(answer, shape, scene, SPLITS[split])[:2])
        for split, question, shape, scene, answer in rows
    ]
    assert found.answers == 1200
    assert found.changed == sum(mine != theirs for _, mine, theirs in outcomes) > 50
    assert sum(found.by_title.values()) == found.changed
    for each in found.recalls:
        place = ("shape", "scene").index(each.of)
        here = [(mine[place], theirs[place]) for question, mine, theirs in outcomes if question == each.question]
        assert (each.answers, each.original, each.theirs) == (
            len(here),
            *(sum(side) for side in zip(*here, strict=True)),
        )


def test_given_answers_may_show_more_than_ours(tmp_path: Path) -> None:
    odd = '    if prediction == "i see a zebra":\n        return "shape"\n    return "rest"'
    python = PYTHON.replace('    return "rest"', odd)
    answers = tmp_path / "answers.jsonl"
    row = {"split": "sin", "question": "shape", "shape": "Car", "scene": "City", "answer": "I see a zebra"}
    answers.write_text(json.dumps(row) + "\n" + json.dumps(row | {"answer": None}) + "\n")
    path = written(tmp_path / "it", TOML, python)
    assert audit(path).aligned, "no battery has all answers"
    found = audit(path, answers)
    assert titles(found, Verdict.CHANGES) == {"the answers that were given"}
    assert found.effect
    assert (found.effect.answers, found.effect.left_out) == (1, 1)


def test_labels_of_given_paths_are_compared(tmp_path: Path) -> None:
    toml = TOML.replace("scene_field = 2", "scene_field = 1")
    found = audit(written(tmp_path / "it", toml), EXAMPLES / "answers.csv")
    told = {(point.title, point.where): point.effect for point in found.points}
    assert told["gold scene", "icon"] == "another label for 6 of 6 files"
    assert told["gold shape", "icon"] == "another label for 0 of 6 files"


def test_a_path_that_tells_nothing_does_no_harm_where_labels_are_given(tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("split,question,path,shape,scene,answer\nsin,shape,x.png,Car,City,car\n")
    found = audit(written(tmp_path / "it"), answers)
    assert found.aligned
    assert found.effect
    assert found.effect.answers == 1


def test_a_count_that_is_never_returned_is_not_described(tmp_path: Path) -> None:
    toml = TOML.replace("copy_of_it:score", "copy_of_it:counts").replace('"outcome"', '"counts"')
    python = PYTHON.replace('"texture": told == "texture", "rest": told == "rest"', "")
    found = audit(written(tmp_path / "it", toml, python))
    assert titles(found, Verdict.SILENT) == {"the count of the scene"}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "split,question,answer\n", "needs the columns"),
        ("a.csv", "question,shape,scene,answer\nshape,Car,City,x\n", "of which split is it"),
        ("a.csv", "split,question,shape,scene,answer\nsin,other,Car,City,x\n", "a.csv:2: question is shape or scene"),
        ("a.csv", "split,question,shape,scene,answer\nsun,shape,Car,City,x\n", "no split 'sun'; did you mean 'sin'?"),
        ("a.csv", "split,question,shape,scene,answer\nsin,shape,,,x\n", "neither shape and scene nor a path"),
        ("a.csv", "split,question,path,answer\nsin,shape,x.png,x\n", "no shape"),
        ("a.jsonl", '{"answer": null, "path": "x"}\n', "holds no answer"),
        ("a.jsonl", '{"answer": null, "path": "x"}\n{', "a.jsonl:2"),
        ("a.xlsx", "", "is no table that is known"),
    ],
)
def test_wrong_answer_files_are_told(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=re.escape(complaint)):
        audit(SEED, tmp_path / name)


# ---- descriptions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        ("", "name: Field required"),
        ("name = ", "is no TOML"),
        ('name = "x"\nprompt = 1', "prompt: Extra inputs are not permitted"),
        ('name = "x"\n[prompts.sun]\nshape = "x"', "prompts.sun"),
        ('name = "x"\npath = "nowhere"', "is no folder beside it"),
        ('name = "x"\n[scoring]\nfunction = "x"\ntakes = ["prediction"]\nreturns = "outcome"', "scoring.function"),
        ('name = "x"\n[scoring]\nfunction = "x:y"\ntakes = ["label"]\nreturns = "match"', "takes must name"),
        ('name = "x"\n[scoring]\nfunction = "x:y"\ntakes = ["prediction"]\nreturns = "match"', 'takes "label"'),
        ('name = "x"\n[prompts.sin]\nshape = "{shape_string}"', "has {shape_string}; there are {shapes}"),
        (f'name = "{"x" * 2**20}"', "more than"),
    ],
)
def test_wrong_descriptions_are_told(tmp_path: Path, toml: str, complaint: str) -> None:
    path = tmp_path / "it.toml"
    path.write_text(toml)
    with pytest.raises(UserError, match=re.escape(complaint)):
        audit(path)


def test_a_description_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        description.read(tmp_path / "none.toml")
    (tmp_path / "it.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(UserError, match="is not UTF-8: byte 8 is 0xff"):
        description.read(tmp_path / "it.toml")


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("raise KeyError('x')", "raises KeyError: 'x'"),
        ("return 0.5", "returns 0.5, where shape, scene, texture or rest is declared"),
        ("return 'icon'", "returns 'icon', where shape, scene, texture or rest is declared"),
        ("return {1, 2}", "returns a set of 2, which is no score or label"),
    ],
)
def test_a_function_that_gives_no_outcome_is_one_finding(tmp_path: Path, body: str, trouble: str) -> None:
    python = PYTHON.replace("    prediction = prediction.lower()", f"    {body}")
    (point,) = audit(written(tmp_path / "it", TOML, python)).having(Verdict.CHANGES)
    assert (point.section, point.theirs) == ("scoring", f"copy_of_it:score {trouble}")


# ---- the battery -----------------------------------------------------------------------------------------------------


def test_the_battery_has_every_class_and_both_outcomes() -> None:
    every = [case for family in FAMILIES for case in cases(family)]
    for split in SPLITS.values():
        here = [case for case in every if case.split == split.name]
        assert set(split.shapes) <= {case.shape for case in here}
        if split.name != "old_sin":
            assert set(SCENES) <= {case.scene for case in here}
        told = {str(by_original(case)) for case in here}
        assert told == {"shape", "scene", "rest"}
    assert any(case.answer == "scarf" and str(by_original(case)) == "shape" for case in every)
    assert any(case.scene == "elephant1" for case in every)
    assert ("Stationary", "Stationery") in {(case.shape, case.answer) for case in every}


def test_what_can_not_be_seen_is_written_out() -> None:
    assert shown("a\n\tb") == '"a\\n\\tb"'
