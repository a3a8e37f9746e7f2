"""A faithful copy is aligned; each departure is found, shown by an answer, and its effect counted."""

# ruff: noqa: E501 quoted code is as long as it is
from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt.cli.illusion import illusion
from onprompt.errors import UserError
from onprompt.illusion.audit import Audit, Verdict, audit, summary, text
from tests.illusion.copies import FAITHFUL, audited, point

pytestmark = pytest.mark.slow

LOWER = "prediction = prediction.lower()"
SHAPE = "if shape.lower() in prediction:"
DEPARTURES = [  # table, words of the point, what is replaced, by what, and what the effect says
    ("questions", "icon", "return QUESTIONS[split][question]", 'return QUESTIONS[split][question].replace("a icon", "an icon")', "reads another text"),
    ("scoring", "letter case", LOWER, "pass", "of 2,000 answers; shape recall "),
    ("scoring", "punctuation, Markdown", LOWER, f"{LOWER}\n    prediction = prediction.split('boxed{{')[-1]".replace("{{", "{"), "0 of 2,000 answers"),
    ("scoring", "scene of two words", 'scene.replace("_", " ")', 'scene.lower().replace("_", " ")', "35 of 2,000 answers; scene recall 50.2 → 53.7 %"),
    ("scoring", "sentence", LOWER, f"{LOWER}.split('–')[0]", "0 of 2,000 answers"),
    ("scoring", "both shape and scene", SHAPE, "if shape.lower() in prediction and scene.lower() not in prediction:", "scene recall 50.2 → "),
    ("scoring", "the option alone", LOWER, f"{LOWER} if __import__('random').random() < .9 else ''", "of 2,000 answers"),
    ("labels", "icon", '2 if split == "icon" else 1', "1", "scene recall 50.2 → "),
    ("labels", "old_sin", "[:-1]", "", ""),
    ("totals", "summed up", "/ len(hits)", "/ (len(hits) + 1)", " of 18 cases"),
    ("images", "resized", "(width, height), 1", "(width, height), 3", "9 of 9 cases"),
]  # fmt: skip


def changed(result: Audit) -> list[tuple[str, str]]:
    """What changes scores."""
    return [(each.table, each.name) for each in result.with_verdict(Verdict.CHANGES)]


def test_a_faithful_copy_is_aligned_in_every_table(tmp_path: Path) -> None:
    result = audited(tmp_path, FAITHFUL)
    assert {each.verdict for each in result.points} == {Verdict.SAME}
    assert summary(result) == "Aligned: nothing that was tried of copied.py changes scores."
    assert {each.table for each in result.points} == {"questions", "options", "scoring", "labels", "totals", "images"}
    assert result.effect == "0 of 2,000 answers"


@pytest.mark.parametrize(("table", "words", "old", "new", "effect"), DEPARTURES, ids=lambda each: str(each)[:30])
def test_a_departure_is_found_and_shown(
    tmp_path: Path, table: str, words: str, old: str, new: str, effect: str
) -> None:
    assert old in FAITHFUL
    result = audited(tmp_path, FAITHFUL.replace(old, new, 1))
    found = result.with_verdict(Verdict.CHANGES)
    assert {each.table for each in found} == {table}
    assert any(words in each.name and effect in each.effect for each in found), [each.effect for each in found]
    assert all(each.example and each.original != each.theirs and each.differing <= each.tried for each in found)
    assert not result.aligned


def test_what_can_not_change_a_score_is_harmless(tmp_path: Path) -> None:
    source = FAITHFUL.replace("return folders[-3], fields", "return folders[-3].lower(), fields")
    source = source.replace("QUESTIONS[split][question]", 'QUESTIONS[split][question] + "\\n"')
    result = audited(tmp_path, source.replace("'Tesla', 'Telegram'", "'Telegram', 'Tesla'"))
    expected = {
        ("labels", "sin"): "only in letter case, which scoring ignores",
        ("questions", "icon"): "chat templates strip it",
        ("options", "logo"): "not in the questions",
    }
    assert {names: point(result, *names).effect for names in expected} == expected
    assert {point(result, *names).verdict for names in expected} == {Verdict.HARMLESS}
    assert result.aligned


def test_a_missing_package_is_a_stub_until_it_is_used(tmp_path: Path) -> None:
    source = f"import no_such_package\nfrom no_such_package.nn import Module\n@Module.cached\ndef helper(x):\n    return x\n{FAITHFUL}"
    assert audited(tmp_path, source).aligned
    caught = f"{LOWER}\n    try: no_such_package.lower()\n    except Exception: return 'rest'"
    for use in ("prediction = no_such_package.lower(prediction)", caught):
        used = audited(tmp_path, source.replace(LOWER, use))
        assert {each.verdict for each in used.points if each.table == "scoring"} == {Verdict.NOT_DESCRIBED}
        assert not changed(used), "what could not be tried does not differ"
        assert all("pip install no_such_package" in each.effect for each in used.points if each.table == "scoring")


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
SHOWN = """\
questions: sin, logo, old_sin                        not described            nothing found
questions: icon                                      same                     scene not tried
options: logo                                        differs, changes scores  the model reads another text
options: scenes, sin, icon, old_sin                  not described            nothing found
scoring: both shape and scene                        differs, changes scores  31 of 2,000 answers; scene recall 50.2 → 53.3 %
scoring: scene of two words, with another separator  differs, changes scores  35 of 2,000 answers; scene recall 50.2 → 53.7 %
scoring: shape of two words, with another separator  differs, changes scores  5 of 2,000 answers; shape recall 22.7 → 23.2 %
scoring: 9 other kinds of answers                    same                     34,316 cases
labels: sin, logo, icon, old_sin                     not described            nothing found
totals: how answers are summed up                    not described            nothing found
images: resized pixels                               not described            nothing found
"""


def test_a_document_is_audited_by_the_code_that_it_quotes(tmp_path: Path) -> None:
    result = audited(tmp_path, DOCUMENT, "check.md")
    shown = "\n".join(text(result))
    assert shown.startswith(
        "Not aligned: check.md differs from the original in 1 point of options and 3 points of scoring.\n"
    )
    assert SHOWN in shown, "the question of icon says nothing of the options of logo"
    assert "'Dog City' for Dog in City, scene question: original not scene, theirs scene" in shown
    assert result.effect == "71 of 2,000 answers; shape recall 22.7 → 23.2 %; scene recall 50.2 → 56.8 %"


TOML = """
file = "odd.py"
[calls]
scoring = "rate_it(lower_prediction, scene, doc)[0]"
questions = "ask('icon')"
"labels.shape" = "folder(path)"
"options.icon" = "ANY['other']"
totals = "part(hits)['all']"
images = "small(image, width, height)"
"""
ODD = """
def rate_it(x, y, z):
    return ["shape" if z["shape"].lower() in x else "scene" if y.lower() in x or y.replace("_", " ") in x else "rest"]
ANY = {"other": ["Animal"]}
def ask(which): return "What is in this image?"
def folder(where): return where.split("/")[-3]
def part(of): return {"all": sum(of) / len(of), "any": sum(of)}
def small(it, *sides): return it.convert("RGB").resize(sides, 1)
"""


def test_a_toml_file_says_what_can_not_be_found(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    result = audited(tmp_path, TOML, "odd.toml")
    assert changed(result) == [*(("questions", split) for split in ("sin", "logo", "icon")), ("options", "icon")]
    assert point(result, "questions", "old_sin").verdict is Verdict.NOT_DESCRIBED, "not mentioned"
    for names in (("labels", "sin"), ("totals", "how answers are summed up"), ("images", "resized pixels")):
        assert point(result, *names).verdict is Verdict.SAME
    assert point(result, "labels", "sin").effect == "scene not tried"
    assert "rate_it(lower_prediction, scene, doc)[0]" in result.calls


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("= ", "Invalid statement"),
        ("flie = 'x.py'", "flie is not known\nneeded: file = "),
        ("file = 'none.py'", "none.py is not there"),
        ("file = 'odd.py'\n[calls]\nscor = 'f(shape)'", "no table 'scor'; there are questions.sin.shape"),
        ("file = 'odd.py'\n[calls]\nscoring = 'f('", "was never closed"),
        ("file = 'odd.py'\n[calls]\nscoring = 1", "needed: file = "),
    ],
)
def test_what_a_toml_file_says_wrongly_is_an_error(tmp_path: Path, toml: str, message: str) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    with pytest.raises(UserError, match=message):
        audited(tmp_path, toml, "bad.toml")


def test_the_report_as_markdown_and_json(tmp_path: Path) -> None:
    copied, out = tmp_path / "copied.py", tmp_path / "page"
    copied.write_text(FAITHFUL.replace(LOWER, "prediction = prediction.strip()"))
    shown = CliRunner().invoke(illusion, ["audit", str(copied), "--out", str(out)])
    assert (shown.exit_code, shown.stdout.count("\n")) == (1, 1), "the sentence alone"
    written = json.loads(out.with_suffix(".json").read_text())
    assert (written["format"], written["aligned"]) == ("onprompt.illusion.audit/5", False)
    assert written["verdicts"]["not described"] == 0
    assert written["conclusion"] == shown.stdout.strip()
    row = "| scoring: the option alone, in any letter case | differs, changes scores | "
    assert row in out.with_suffix(".md").read_text()
    copied.write_text("x = 1")
    printed = CliRunner().invoke(illusion, ["audit", str(copied), "--json"])
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["conclusion"].startswith("Undecided: no question and no score of copied.py")
    unwritable = CliRunner().invoke(illusion, ["audit", str(copied), "--out", "no/such/page"])
    assert "can't write" in str(unwritable.exception)


def test_what_holds_no_code_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("Nothing here.")
    for path, message in ((Path("none.md"), "can't read"), (tmp_path / "empty.md", "quotes no code to audit")):
        with pytest.raises(UserError, match=message):
            audit(path)
