"""A faithful copy is aligned; each departure is found, counted, and shown by an answer."""

# ruff: noqa: E501 quoted code is as long as it is
from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt.cli.illusion import illusion
from onprompt.errors import UserError
from onprompt.illusion.audit import audit, summary
from tests.illusion.copies import FAITHFUL, audited

pytestmark = pytest.mark.slow

LOWER = "prediction = prediction.lower()"
SHAPE = "if shape.lower() in prediction:"
DEPARTURES = [  # table, words of the point, what is replaced, by what
    ("questions", "icon", "return QUESTIONS[split][question]", 'return QUESTIONS[split][question].replace("a icon", "an icon")'),
    ("scoring", "letter case", LOWER, "pass"),
    ("scoring", "punctuation, Markdown", LOWER, f"{LOWER}\n    prediction = prediction.split('boxed{{')[-1]".replace("{{", "{")),
    ("scoring", "scene of two words", 'scene.replace("_", " ")', 'scene.lower().replace("_", " ")'),
    ("scoring", "sentence", LOWER, f"{LOWER}.split('–')[0]"),
    ("scoring", "both shape and scene", SHAPE, "if shape.lower() in prediction and scene.lower() not in prediction:"),
    ("scoring", "the option alone", LOWER, f"{LOWER} if __import__('random').random() < .9 else ''"),
    ("labels", "icon", '2 if split == "icon" else 1', "1"),
]  # fmt: skip


def test_a_faithful_copy_is_aligned_in_every_table(tmp_path: Path) -> None:
    source = FAITHFUL.replace("return folders[-3], ", "return folders[-3].lower(), ")
    result = audited(tmp_path, source.replace("QUESTIONS[split][question]", 'QUESTIONS[split][question] + "\\n"'))
    assert {each.verdict for each in result.points} == {"same"}, "what can't change a score is no difference"
    assert summary(result) == "Aligned: nothing that was tried of copied.py changes scores."
    assert {each.table for each in result.points} == {"questions", "scoring", "labels"}


@pytest.mark.parametrize(("table", "words", "old", "new"), DEPARTURES, ids=lambda each: str(each)[:30])
def test_a_departure_is_found_and_shown(tmp_path: Path, table: str, words: str, old: str, new: str) -> None:
    assert old in FAITHFUL
    result = audited(tmp_path, FAITHFUL.replace(old, new, 1))
    assert {each.table for each in result.differing} == {table}
    assert any(words in each.name for each in result.differing)
    assert all(
        each.example and each.original != each.theirs and each.differing <= each.tried for each in result.differing
    )
    assert not result.aligned


def test_a_missing_package_is_a_stub_until_it_is_used(tmp_path: Path) -> None:
    source = f"import no_such_package\nfrom no_such_package.nn import Module\n@Module.cached\ndef helper(x):\n    return x\n{FAITHFUL}"
    assert audited(tmp_path, source).aligned
    caught = f"{LOWER}\n    try: no_such_package.lower()\n    except Exception: return 'rest'"
    for use in ("prediction = no_such_package.lower(prediction)", caught):
        used = audited(tmp_path, source.replace(LOWER, use))
        assert {each.verdict for each in used.points if each.table == "scoring"} == {"not described"}
        assert not used.differing, "what could not be tried does not differ"
        assert all("pip install no_such_package" in each.reason for each in used.points if each.table == "scoring")


def test_a_package_that_needs_more_than_the_bounds_allow_is_a_stub(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    assert audited(tmp_path, f"import heavy\n{FAITHFUL}").aligned


DOCUMENT = """# Check

### Original (Evaluator.py)
```python
def score(prediction, class_name): return class_name == prediction
```
### Options - LOGO
**Original:** `['Adidas', 'Other']`
**Modified:** `['Adidas', 'Amazon', 'Apple', 'Audi', 'BMW', 'Mercedes Benz', 'Facebook', 'Google', 'Instagram', 'Mcdonalds', 'Nasa', 'Nike', 'Olympics', 'Playstation', 'Puma', 'Reebok', 'Spotify', 'Starbucks', 'Tesla', 'Ubuntu']`

### Modified prompt
```
f"This image contains a icon integrated into a background, where elements of the background contribute to forming the icon. "
f"Identify the icon that is represented in the image by choosing exclusively among the following options:{shape_string},{scene_string} "
f"Provide your response by stating only the single, most accurate class name that represents the icon. You have to respond with a single word."
```
### Modified code
```python
def recall_match(pred: str, gt: str) -> int:
    low, label = pred.strip().lower(), gt.strip().lower()
    return int(any(form in low for form in (label, label.replace("_", " "), label.replace("-", " "))))
```
"""


def test_a_document_is_audited_by_the_code_that_it_quotes(tmp_path: Path) -> None:
    result = audited(tmp_path, DOCUMENT, "check.md")
    assert [each.name for each in result.differing] == [
        "logo",
        "both shape and scene",
        "scene of two words, with another separator",
        "shape of two words, with another separator",
    ]
    verdicts = {(each.table, each.name): (each.verdict, each.reason) for each in result.points}
    assert verdicts["questions", "icon"] == ("same", "scene not tried")
    assert verdicts["questions", "logo"] == ("not described", "nothing found")


def test_the_page_as_text_and_json(tmp_path: Path) -> None:
    (tmp_path / "copied.py").write_text(FAITHFUL.replace(LOWER, "prediction = prediction.strip()"))
    shown = CliRunner().invoke(illusion, ["audit", str(tmp_path / "copied.py")])
    assert shown.exit_code == 1
    assert shown.stdout.startswith("Not aligned: copied.py differs from the original in ")
    assert "scoring: the option alone, in any letter case " in shown.stdout
    assert "\nTried: build_prompt(split, question), score(prediction, shape, scene), gold_labels(" in shown.stdout
    found = json.loads(CliRunner().invoke(illusion, ["audit", str(tmp_path / "copied.py"), "--json"]).stdout)
    assert (found["format"], found["aligned"]) == ("onprompt.illusion.audit/5", False)
    (tmp_path / "empty.md").write_text("Nothing here.")
    for path, message in ((Path("none.md"), "can't read"), (tmp_path / "empty.md", "quotes no code to audit")):
        with pytest.raises(UserError, match=message):
            audit(path)
