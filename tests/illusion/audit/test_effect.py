"""What an audit makes of answers that somebody has, and of functions that can't be tried on all of its own."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest

from onprompt.api import judges
from onprompt.errors import UserError
from onprompt.illusion import images
from onprompt.illusion.audit import report
from onprompt.illusion.audit.answer_classes import BELONGS, OTHER, classify
from onprompt.illusion.audit.points import Verdict
from onprompt.illusion.audit.runner import Audit, audit
from onprompt.illusion.audit.test_answers import CLASSES, Case
from onprompt.illusion.judge import IllusionJob
from onprompt.illusion.protocol import SCENES, SPLITS
from onprompt.illusion.scoring import original, recall
from onprompt.runs.run import run
from onprompt.settings import Settings
from tests.illusion.audit.faithful import FUNCTIONS, PYTHON, TOML, written
from tests.illusion.drawn import draw

EXAMPLES = Path(__file__).parents[3] / "examples" / "illusion"
SEED = EXAMPLES / "arshia_utils.toml"


def titles(found: Audit, verdict: Verdict) -> set[str]:
    return {point.title for point in found.with_verdict(verdict)}


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
    for recalled in found.recalls:
        place = ("shape", "scene").index(recalled.of)
        here = [(mine[place], theirs[place]) for question, mine, theirs in outcomes if question == recalled.question]
        assert (recalled.answers, recalled.original, recalled.theirs) == (
            len(here),
            *(sum(side) for side in zip(*here, strict=True)),
        )


GIVEN = {
    "option in a sentence": ("The image shows a Cat.", "I think that the answer is Cat"),
    "refusal or negation": ("This is not a Cat.", "Sorry, a Cat"),
    "two shapes or two scenes": ("Cat or Dog",),
    "plural": ("many Cats", "Cats"),
    "answer with both shape and scene": ("Cat, Ocean",),
    "option inside a longer word": ("education",),
    "whitespace and punctuation around the option": ("**Cat**", "cat."),
    "several lines or sentences": ("Cat\nYes", "Cat. That is all"),
    "text before or after a colon": ("Answer: Cat",),
    "long answer": ("It is so " * 40 + "Cat",),
    "empty answer": ("", " \n"),
}


def test_each_changed_answer_belongs_to_one_point(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    about = {"split": "sin", "question": "shape", "shape": "Cat", "scene": "Ocean"}
    rows = [about | {"answer": answer} for group in GIVEN.values() for answer in group]
    answers.write_text("\n".join(json.dumps(row) for row in [*rows, about | {"answer": "Cat"}]))
    python = PYTHON.replace("shape.lower() in prediction:", "shape.lower() == prediction or not prediction.strip():")
    found = audit(written(tmp_path / "it", TOML, python), answers)
    assert found.effect
    assert found.effect.by_title == {title: len(group) for title, group in GIVEN.items()}
    effects = {point.title: point.effect for point in found.points}
    assert all(effects[title] == f"{len(group)} of {len(rows) + 1} answers" for title, group in GIVEN.items())
    assert f"| **all** | {len(rows)} |" in "\n".join(report.markdown(found))


def test_an_answer_belongs_to_a_point_that_departs_or_to_none() -> None:
    assert set(BELONGS) == set(CLASSES)
    case = Case("sin", "Cat", "Ocean", "It is not a Cat.\nSorry")
    assert classify(case, {answer_class.title for answer_class in CLASSES.values()}) == "refusal or negation"
    assert classify(case, {"option in a sentence", "plural"}) == "option in a sentence"
    assert classify(case, {"plural"}) == OTHER


def test_given_answers_may_show_more_than_ours(tmp_path: Path) -> None:
    odd = '    if prediction == "i see a zebra":\n        return "shape"\n    return "rest"'
    python = PYTHON.replace('    return "rest"', odd)
    answers = tmp_path / "answers.jsonl"
    row = {"split": "sin", "question": "shape", "shape": "Car", "scene": "City", "answer": "I see a zebra"}
    answers.write_text(json.dumps(row) + "\n" + json.dumps(row | {"answer": None}) + "\n")
    path = written(tmp_path / "it", TOML, python)
    assert audit(path).aligned, "no set of test answers is complete"
    found = audit(path, answers)
    assert titles(found, Verdict.CHANGES) == {"given answers"}
    assert found.effect
    assert (found.effect.answers, found.effect.left_out) == (1, 1)
    assert found.effect.by_title == {OTHER: 1}


def test_the_answers_of_a_run_are_given(tmp_path: Path) -> None:
    said, pictures, run_file = tmp_path / "said.jsonl", tmp_path / "pictures", tmp_path / "run.sqlite"
    withheld, seen = {"contains": "Identify the shape", "text": "", "stop": "filter"}, {"text": "in the sand dune"}
    said.write_text(f"{json.dumps(withheld)}\n{json.dumps(seen)}\n")
    draw(pictures, SPLITS["sin"], per_class=2)
    settings = Settings(model=f"replay/{said}", answers=tmp_path / "answers.sqlite")
    run(images.opened(str(pictures), SPLITS["sin"], {}), run_file, IllusionJob("illusion", settings, "sin"))
    judges.close()
    found = audit(SEED, run_file).effect
    assert found
    assert (found.answers, found.left_out) == (32, 32)
    dunes = sum("-Sand_dune-" in path.name for path in pictures.rglob("*.png"))
    assert found.changed == dunes > 0
    with pytest.raises(UserError, match="no such run file"):
        audit(SEED, tmp_path / "none.sqlite")


def test_labels_of_given_paths_are_compared(tmp_path: Path) -> None:
    toml = TOML.replace("scene_field = 2", "scene_field = 1")
    found = audit(written(tmp_path / "it", toml), EXAMPLES / "answers.csv")
    effects = {(point.title, point.where): point.effect for point in found.points}
    assert effects["gold scene", "icon"] == "another label for 6 of 6 files"
    assert effects["gold shape", "icon"] == "same on 6 files"


def test_a_path_that_tells_nothing_does_no_harm_where_labels_are_given(tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("split,question,path,shape,scene,answer\nsin,shape,x.png,Car,City,car\n")
    found = audit(written(tmp_path / "it"), answers)
    assert found.aligned
    assert found.effect
    assert found.effect.answers == 1


def test_a_count_that_is_never_returned_is_not_described(tmp_path: Path) -> None:
    toml = TOML.replace("copy_of_it:score", "copy_of_it:counts").replace('"outcome"', '"counts"')
    python = PYTHON.replace('"texture": outcome == "texture", "rest": outcome == "rest"', "")
    found = audit(written(tmp_path / "it", toml, python))
    assert titles(found, Verdict.NOT_DESCRIBED) == {"count of the scene"}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "split,question,answer\n", "needs the columns"),
        ("a.csv", "question,shape,scene,answer\nshape,Car,City,x\n", "no split: add a column split"),
        (
            "a.csv",
            "split,question,shape,scene,answer\nsin,other,Car,City,x\n",
            "a.csv:2: question must be shape or scene",
        ),
        ("a.csv", "split,question,shape,scene,answer\nsun,shape,Car,City,x\n", "no split 'sun'; did you mean 'sin'?"),
        ("a.csv", "split,question,shape,scene,answer\nsin,shape,,,x\n", "needs shape and scene, or a path"),
        ("a.csv", "split,question,path,answer\nsin,shape,x.png,x\n", "no shape"),
        ("a.jsonl", '{"answer": null, "path": "x"}\n', "holds no answers"),
        ("a.jsonl", '{"answer": null, "path": "x"}\n{', "a.jsonl:2"),
        ("a.sqlite", "", "is not a run file of onprompt"),
        ("a.xlsx", "", "has an unknown format"),
    ],
)
def test_invalid_answer_files_are_errors(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=re.escape(complaint)):
        audit(SEED, tmp_path / name)


# ---- what can't be tried ---------------------------------------------------------------------------------------------

LOWER = "    prediction = prediction.lower()"


def test_a_slow_function_is_not_decided(tmp_path: Path) -> None:
    python = PYTHON.replace(LOWER, f"    import time; time.sleep(0.01)\n{LOWER}")
    found = audit(written(tmp_path / "it", TOML, python), EXAMPLES / "answers.csv", limit=2)
    assert not found.with_verdict(Verdict.CHANGES)
    assert not found.aligned
    assert [point.section for point in found.untried] == ["scoring", "scoring"]
    sentence = report.summary(found)
    assert re.search(r"^Undecided: .* [\d,]+ of [\d,]+ answers were not tried: .* the 2 s of --limit", sentence)
    assert found.effect
    assert found.effect.answers + found.effect.untried == 12
    assert f"; {found.effect.untried} were not tried." in "\n".join(report.markdown(found))


def test_one_sort_of_answer_that_ends_the_process_costs_no_other(tmp_path: Path) -> None:
    python = PYTHON.replace(LOWER, f"    if not prediction: os._exit(1)\n{LOWER}")
    found = audit(written(tmp_path / "it", TOML, python))
    assert titles(found, Verdict.CHANGES) == {"empty answer"}
    assert titles(found, Verdict.HARMLESS) == {"empty label"}
    (left,) = found.untried
    assert "ended its process" in left.note


@pytest.mark.parametrize("function", ["gold", "resize"])
def test_other_functions_may_be_too_slow(function: str, tmp_path: Path) -> None:
    slow = f"def {function}(*_):\n    __import__('time').sleep(60)\n\ndef unused("
    toml = 'name = "slow"\n' + FUNCTIONS[FUNCTIONS.index("[gold]") :]
    found = audit(written(tmp_path / "it", toml, PYTHON.replace(f"def {function}(", slow)), limit=3)
    assert not found.with_verdict(Verdict.CHANGES)
    assert [point.section for point in found.untried] == [function]
