"""`assert_shows` and `assert_edit` in pytest itself: what they say and leave behind, and what they cost others."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from PIL import Image

from onprompt.errors import UserError
from onprompt.pytest_plugin import assert_edit, assert_shows
from tests.conftest import photo_path
from tests.test_cli import edited_photo


def pytest_run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "onprompt.pytest_plugin", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


def model(folder: Path, score: int) -> str:
    (folder / f"said{score}.jsonl").write_text(json.dumps({"text": f"Not quite.\n({score})"}))
    return f"replay/{folder / f'said{score}.jsonl'}"


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_a_test_that_fails_says_why_leaves_a_picture_and_warns_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    Image.new("RGB", (32, 32), "red").save(tmp_path / "cup.png")
    (tmp_path / "test_it.py").write_text(
        f"""
def test_good(assert_shows):
    assert assert_shows("cup.png", "two cups", at_least=3, model={model(tmp_path, 3)!r}).score == 3

def test_bad(assert_shows):
    for _ in range(2):
        try:
            assert_shows("cup.png", "two cups", at_least=3, model={model(tmp_path, 1)!r})
        except AssertionError as error:
            last = error
    raise last
"""
    )
    options = ("-W", "error", "--junitxml=junit.xml", "-o", f"junit_family={family}", "--onprompt-artifacts=shown")
    run = pytest_run(tmp_path, *options)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed, 1 passed" in run.stdout, "and no error"
    assert "cup.png does not show 'two cups': score 1, at least 3 expected" in run.stdout
    names = ["test_it.py_test_bad-2.png", "test_it.py_test_bad.png"]
    assert sorted(path.name for path in (tmp_path / "shown").iterdir()) == names
    properties = Xml.parse(tmp_path / "junit.xml").findall(".//property[@name='onprompt_picture']")
    assert [Path(each.get("value") or "").name for each in properties] == names[::-1]


def test_an_edit_is_checked_by_factor(tmp_path: Path) -> None:
    before, after, _ = edited_photo(tmp_path)
    edit = before, after, "remove the cup"
    with pytest.raises(AssertionError) as caught:
        assert_edit(*edit, at_least=6, artifacts=tmp_path)
    said = str(caught.value).splitlines()
    assert said[0].startswith(
        "after.png does not carry out 'remove the cup': alignment 2, at least 6 expected; completeness"
    )
    assert "  remove the cup: cup detected before and after" in said
    assert Path(said[-1].removeprefix("  picture: ")).is_file()
    with pytest.raises(AssertionError, match="cup': alignment 2, at least 5 expected\n"):
        assert_edit(*edit, artifacts=None)
    assert assert_edit(*edit, at_least=1).factors["alignment"].score == 2
    for wrong, message in ((8, "alignment is 1 to 7"), ({"aligment": 3}, "did you mean 'alignment'")):
        with pytest.raises(UserError, match=message):
            assert_edit(*edit, at_least=wrong)


def test_the_fixture_takes_a_mask_and_passes_what_was_done(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before, _, _ = edited_photo(tmp_path)
    with Image.open(before) as picture:
        gray, mask = picture.convert("L").convert("RGB"), Image.new("L", picture.size, 255)
    check = request.getfixturevalue("assert_edit")
    assert check(before, gray, "make the image black and white", mask=mask).value > 0.5


def test_the_evidence_is_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_shows(photo_path("coffee.png"), "Two cups on a table, and a laptop.", at_least=4, value=0.99)
    said = str(caught.value).splitlines()
    assert "'Two cups on a table, and a laptop.': score 2, at least 4 expected; value 0." in said[0]
    assert "  a laptop: MISSING" in said
    assert Path(said[-1].removeprefix("  picture: ")).is_file()
    assert assert_shows(photo_path("coffee.png"), "A cup on a table.").score == 4
    with pytest.raises(AssertionError, match="nothing in the prompt could be checked"):
        assert_shows(photo_path("coffee.png"), "A feeling of nostalgia", at_least=0, artifacts=None)


def test_who_does_not_use_it_imports_nothing() -> None:
    code = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport onprompt.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["onprompt", "onprompt.pytest_plugin"]
