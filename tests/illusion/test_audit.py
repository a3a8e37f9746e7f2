"""A faithful copy is aligned; each departure is found, shown by an answer, and its effect counted."""

# ruff: noqa: E501 quoted code is as long as it is
from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt.cli.illusion import illusion
from onprompt.errors import UserError
from onprompt.illusion.audit import Verdict, audit
from onprompt.illusion.audit_page import summary
from tests.illusion.copies import FAITHFUL, audited, changed, point

pytestmark = pytest.mark.slow

LOWER = "prediction = prediction.lower()"
SHAPE = "if shape.lower() in prediction:"
DEPARTURES = [  # table, words of the point, what is replaced, by what
    ("questions", "icon", "return QUESTIONS[split][question]", 'return QUESTIONS[split][question].replace("a icon", "an icon")'),
    ("scoring", "letter case", LOWER, "pass"),
    ("scoring", "punctuation, Markdown", LOWER, f'{LOWER}\n    prediction = __import__("re").sub(r"<.*?>", "", prediction)'),
    ("scoring", "punctuation, Markdown", LOWER, f"{LOWER}\n    prediction = prediction.split('boxed{{')[-1]".replace("{{", "{")),
    ("scoring", "scene of two words", LOWER, f"{LOWER}.replace('\\\\_', '_')"),
    ("scoring", "sentence", LOWER, f"{LOWER}.split('–')[0]"),
    ("scoring", "both shape and scene", SHAPE, "if shape.lower() in prediction and scene.lower() not in prediction:"),
    ("scoring", "the option alone", LOWER, f"{LOWER} if __import__('random').random() < .9 else ''"),
    ("labels", "icon", "2 if split == 'icon' else 1", "1"),
    ("labels", "old_sin", "[:-1]", ""),
    ("totals", "summed up", "/ len(hits)", "/ (len(hits) + 1)"),
    ("images", "resized", "(width, height), 1", "(width, height), 3"),
]  # fmt: skip


def test_a_faithful_copy_is_aligned_in_every_table(tmp_path: Path) -> None:
    result = audited(tmp_path, FAITHFUL)
    assert {each.verdict for each in result.points} == {Verdict.SAME}, [
        each for each in result.points if each.verdict != "same"
    ]
    assert result.aligned
    assert summary(result) == "Aligned: nothing that was tried of copied.py changes scores."
    assert {each.table for each in result.points} == {"questions", "options", "scoring", "labels", "totals", "images"}


@pytest.mark.parametrize(("table", "words", "old", "new"), DEPARTURES, ids=lambda each: str(each)[:30])
def test_a_departure_is_found_and_shown(tmp_path: Path, table: str, words: str, old: str, new: str) -> None:
    source = FAITHFUL.replace('"icon"', "'icon'")
    assert old in source
    result = audited(tmp_path, source.replace(old, new, 1))
    found = [each for each in changed(result) if each.table == table and words in each.name]
    assert found, [(each.table, each.name) for each in changed(result)]
    assert all(each.example and each.original != each.theirs for each in found)
    assert not result.aligned


def test_letter_case_of_labels_and_lists_that_no_question_offers_are_harmless(tmp_path: Path) -> None:
    source = FAITHFUL.replace("return folders[-3], fields", "return folders[-3].lower(), fields")
    result = audited(tmp_path, source.replace("'Tesla', 'Telegram'", "'Telegram', 'Tesla'", 1))
    assert point(result, "labels", "sin").verdict is Verdict.HARMLESS
    assert point(result, "labels", "sin").effect == "only in letter case, which the scoring ignores"
    assert point(result, "options", "logo").effect == "not in the questions"
    assert result.aligned


def test_the_effect_is_counted_on_plausible_answers(tmp_path: Path) -> None:
    source = FAITHFUL.replace('scene.replace("_", " ")', 'scene.lower().replace("_", " ")')
    result = audited(tmp_path, source)
    effect = point(result, "scoring", "scene of two words, with another separator").effect
    assert effect.startswith("35 of 2,000 answers; scene recall 50.2 → ")
    assert result.effect == effect, "nothing else differs"
    labels = FAITHFUL.replace("2 if split == 'icon' else 1", "1").replace('2 if split == "icon" else 1', "1")
    assert "scene recall" in point(audited(tmp_path, labels), "labels", "icon").effect


def test_a_missing_package_is_a_stub_until_it_is_used(tmp_path: Path) -> None:
    source = f"import no_such_package\nfrom no_such_package.nn import Module\n@Module.cached\ndef helper(x):\n    return x\n{FAITHFUL}"
    result = audited(tmp_path, source)
    needed = "no_such_package can't be imported here: a stub stands in; pip install no_such_package"
    assert (result.aligned, list(result.missing)) == (True, [needed])
    used = audited(tmp_path, source.replace(LOWER, "prediction = no_such_package.lower(prediction)"))
    assert {each.verdict for each in used.points if each.table == "scoring"} == {Verdict.NOT_DESCRIBED}
    assert not changed(used), "what could not be tried does not differ"
    assert "pip install no_such_package" in point(used, "scoring", "the option in a sentence").effect
    caught = f"{LOWER}\n    try: no_such_package.lower()\n    except Exception: return 'rest'"
    assert not changed(audited(tmp_path, source.replace(LOWER, caught))), "nor if they catch the error"


def test_a_package_that_needs_more_than_the_bounds_allow_is_a_stub(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    result = audited(tmp_path, f"import heavy\n{FAITHFUL}")
    stub = "heavy can't be imported here: a stub stands in; pip install heavy"
    assert (result.aligned, list(result.missing)) == (True, [stub])


DOCUMENT = """# Check

### Original (Evaluator.py)
```python
def score(prediction, class_name): return class_name == prediction
```
### Options - ICON
**Original:** `['Animal', 'Other']`
**Modified:** `["Animal", "Face_Emoji", "Music", "Sport", "Stationery", "Vehicle"]`

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
    assert [each.name for each in changed(result)] == [
        "both shape and scene",
        "scene of two words, with another separator",
        "shape of two words, with another separator",
    ]
    assert point(result, "questions", "icon").verdict is Verdict.SAME
    assert point(result, "questions", "icon").effect == "scene not tried"
    assert point(result, "options", "icon").verdict is Verdict.SAME
    assert point(result, "questions", "logo").verdict is Verdict.NOT_DESCRIBED


TOML = """
file = "odd.py"
[calls]
scoring = "rate_it(lower_prediction, scene, shape)[0]"
questions = "ask('icon')"
"labels.shape" = "folder(path)"
"options.icon" = "ANY['other']"
"""
ODD = """
def rate_it(x, y, z):
    return ["shape" if z.lower() in x else "scene" if y.lower() in x or y.replace("_", " ") in x else "rest"]
ANY = {"other": ["Animal"]}
def ask(which): return "What is in this image?"
def folder(where): return where.split("/")[-3]
"""


def test_a_description_says_what_can_not_be_found(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    result = audited(tmp_path, TOML, "odd.toml")
    expected = [*(("questions", split) for split in ("sin", "logo", "icon")), ("options", "icon")]
    assert [(each.table, each.name) for each in changed(result)] == expected
    assert point(result, "questions", "old_sin").verdict is Verdict.NOT_DESCRIBED, "not mentioned"
    assert point(result, "labels", "sin").verdict is Verdict.SAME
    assert result.calls["scoring.scene"] == "rate_it(lower_prediction, scene, shape)[0]"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("= ", "Invalid statement"),
        ("flie = 'x.py'", "flie is not known\nneeded: file = "),
        ("file = 'none.py'", "none.py is not there"),
        ("file = 'odd.py'\n[calls]\nscor = 'f(shape)'", "no table 'scor'; there are questions.sin.shape"),
        ("file = 'odd.py'\n[calls]\nscoring = 'f('", "was never closed"),
    ],
)
def test_what_is_described_wrongly_is_an_error(tmp_path: Path, toml: str, message: str) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    with pytest.raises(UserError, match=message):
        audited(tmp_path, toml, "bad.toml")


def test_the_page_as_text_markdown_and_json(tmp_path: Path) -> None:
    (tmp_path / "copied.py").write_text(FAITHFUL.replace(LOWER, "prediction = prediction.strip()"))
    out = tmp_path / "page"
    assert invoke("audit", str(tmp_path / "copied.py"), "--out", str(out), code=1).startswith("Not aligned: copied.py")
    written = json.loads(out.with_suffix(".json").read_text())
    assert (written["format"], written["aligned"]) == ("onprompt.illusion.audit/4", False)
    assert out.with_suffix(".md").read_text().count("\n") < 60
    assert (
        "| scoring: the option alone, in any letter case | differs, changes scores |"
        in out.with_suffix(".md").read_text()
    )


def test_a_page_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "copied.py").write_text("x = 1")
    result = CliRunner().invoke(illusion, ["audit", str(tmp_path / "copied.py"), "--out", "no/such/page"])
    assert "can't write" in str(result.exception)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UserError, match="can't read"):
        audit(Path("none.md"))


def invoke(*arguments: str, code: int | None = None) -> str:
    result = CliRunner().invoke(illusion, list(arguments))
    assert result.exit_code == (code if code is not None else result.exit_code), result.output
    return result.output
