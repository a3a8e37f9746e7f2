"""Every planted departure is found, in its section; a faithful copy has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from onprompt.illusion.audit.points import Verdict
from onprompt.illusion.audit.report import summary
from onprompt.illusion.audit.runner import audit
from tests.illusion.audit.faithful import FUNCTIONS, PERCENTAGES, PYTHON, TOML, written
from tests.illusion.audit.mutants import ASKED, COUNTS, MUTANTS, OUTCOME, Mutant
from tests.illusion.audit.mutants_of_scoring import MUTANTS_OF_SCORING

EVERY = MUTANTS + MUTANTS_OF_SCORING


@pytest.mark.parametrize("mutant", EVERY, ids=lambda mutant: mutant.name)
def test_every_planted_departure_is_found(mutant: Mutant, tmp_path: Path) -> None:
    toml, python = TOML.replace(OUTCOME, mutant.calling), PYTHON
    if mutant.base is PYTHON:
        toml, python = FUNCTIONS.replace(OUTCOME, mutant.calling), replaced(PYTHON, mutant)
    else:
        toml = replaced(toml, mutant)
    if mutant.section != "scoring":  # which takes the most time
        toml = toml[: toml.index("[scoring]")] + toml[toml.index("[gold]") :]
    found = audit(written(tmp_path / "it", toml, python))
    differing = [point for point in found.points if point.verdict in (Verdict.CHANGES, Verdict.HARMLESS)]
    here = [point for point in differing if point.section == mutant.section and mutant.title in point.title]
    assert mutant.verdict in [point.verdict for point in here], [(point.section, point.title) for point in differing]
    assert all(point.example for point in here)
    assert found.aligned is (mutant.verdict is Verdict.HARMLESS)


def replaced(text: str, mutant: Mutant) -> str:
    assert mutant.old in text
    return text.replace(mutant.old, mutant.new, 1)


@pytest.mark.parametrize("toml", [TOML, FUNCTIONS], ids=["rules", "functions"])
@pytest.mark.parametrize("calling", [OUTCOME, COUNTS, ASKED], ids=["outcome", "counts", "asked"])
def test_a_faithful_copy_has_none(toml: str, calling: str, tmp_path: Path) -> None:
    found = audit(written(tmp_path / "it", toml.replace(OUTCOME, calling)))
    other = [point for point in found.points if point.verdict is not Verdict.ALIGNED]
    assert [(point.title, point.where, point.example) for point in other] == []
    assert found.aligned
    splits = {point.where.partition(",")[0] for point in found.points if point.section == "prompt"}
    assert splits == {"sin", "logo", "icon", "old_sin"}


def test_percentages_by_a_function_of_answers_and_labels_are_none(tmp_path: Path) -> None:
    found = audit(written(tmp_path / "it", f'name = "it"\n{PERCENTAGES}'))
    assert [point.verdict for point in found.points if point.title.startswith("recall")] == [Verdict.ALIGNED] * 8


def test_what_is_not_described_is_not_called_aligned(tmp_path: Path) -> None:
    found = audit(written(tmp_path / "it", 'name = "it"\n[totals]\nover = "all answers"\n'))
    assert summary(found).startswith(
        "Aligned in what was described and tried: none of 1 points changes the score, but "
    )
    assert summary(found).endswith(" more are not described.")


def test_a_departure_that_changes_nothing_is_none(tmp_path: Path) -> None:
    python = PYTHON.replace("prediction = prediction.lower()", "prediction = prediction.strip().lower()")
    found = audit(written(tmp_path / "it", TOML, python))
    assert found.aligned
    assert not found.with_verdict(Verdict.CHANGES)


def test_there_are_enough_mutants_of_every_section() -> None:
    sections = [mutant.section for mutant in EVERY]
    assert len(EVERY) >= 110
    assert all(sections.count(section) >= 6 for section in ("prompt", "options", "scoring", "gold", "resize"))


@pytest.mark.parametrize("name", ["Image.ANTIALIAS", "PIL.Image.Resampling.LANCZOS", "1"])
def test_other_names_of_the_filter_are_no_departure(name: str, tmp_path: Path) -> None:
    toml = 'name = "it"\n' + TOML[TOML.index("[resize]") :].replace("lanczos", name)
    assert audit(written(tmp_path / "it", toml)).aligned


def test_sides_alone_are_blamed_for_a_square(tmp_path: Path) -> None:
    toml = 'name = "it"\n' + FUNCTIONS[FUNCTIONS.index("[resize]") :]
    found = audit(written(tmp_path / "it", toml, PYTHON.replace("(first, second)", "(first, first)")))
    assert [point.title for point in found.with_verdict(Verdict.CHANGES)] == ["resize sides"]
