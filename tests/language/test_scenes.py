"""Hand-written scenes, a file for each phenomenon: whole scenes, not fragments."""

from pathlib import Path

import pytest

from onprompt.language import parse
from onprompt.settings import Settings
from tests.language.notation import Case, read, written

FILES = sorted(Path(__file__).with_name("scenes").glob("*.txt"))
CASES = [pytest.param(case, id=f"{path.stem}-{case.prompt[:60]}") for path in FILES for case in read(path)]


def test_every_phenomenon_has_its_cases() -> None:
    assert len(FILES) >= 22
    for path in FILES:
        assert len(read(path)) >= 8, path.name


@pytest.mark.parametrize("case", CASES)
def test_the_whole_scene(case: Case, settings: Settings) -> None:
    lines = written(parse(case.prompt, settings))
    things = [line for line in lines if " = " in line]
    rest = [line for line in lines if line not in things]
    if case.lines == ["flag: not English"]:  # best effort: only the flag is promised
        assert "flag: not English" in rest
        return
    asked = [line for line in case.lines if " = " in line]
    assert things == asked
    assert sorted(rest) == sorted(line for line in case.lines if line not in asked)
