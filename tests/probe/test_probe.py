"""Judges whose faults are known get the table that they deserve; ours is probed for real, on some of it."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onprompt import Settings, api
from onprompt.cli import app
from onprompt.errors import Rejected, UnreadableAnswer, UserError
from onprompt.models.client import asker
from onprompt.probe import PROBES, Row, probe, questions, runs, save
from onprompt.probe.cases import PROMPTS, Asked
from onprompt.probe.pictures import DRAWINGS, NOISE, drawn, names, picture
from onprompt.probe.table import lines
from onprompt.report.wilson import wilson
from onprompt.types import Sample, Scene, Verdict
from onprompt.vision.image import open_picture

Answer = Callable[[Sample, Settings], float]
SERVED = [each.name for each in PROBES]


class Fake:
    """A judge that says what a function says, 0 to 1."""

    slots = 2

    def __init__(self, rubric: str, settings: Settings, says: Answer) -> None:
        self.rubric, self.settings, self.says = rubric, settings, says

    def judge(self, sample: Sample) -> Verdict:
        value = self.says(sample, self.settings)
        score = None if self.rubric == "edit" else round(value * 4)
        return Verdict(self.rubric, score, value, (), (), (), (), "", Scene(sample.prompt), sample.picture)


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], dict[str, Row]]:
    """What becomes of a judge that says what a function says."""

    def run(says: Answer) -> dict[str, Row]:
        monkeypatch.setattr(api, "judge_of", lambda rubric, settings: Fake(rubric, settings, says))
        return {row.probe.name: row for row in probe(settings=Settings()).rows}

    return run


def key(asked: Asked) -> tuple[str, str]:
    return hashed(asked.picture), asked.prompt


@cache
def hashed(name: str) -> str:
    return open_picture(picture(name), Settings()).sha256


def wrong() -> set[tuple[str, str]]:
    """The questions whose right answer is no."""
    compared = [one for each in PROBES for one in each.comparisons]
    low = [one.asked[0] for one in compared if one.rule == "low"]
    return {key(asked) for asked in (*low, *(one.asked[1] for one in compared if one.rule == "higher"))}


def test_no_question_is_right_here_and_wrong_there() -> None:
    right = {key(one.asked[0]) for each in PROBES for one in each.comparisons if one.rule == "higher"}
    assert not right & wrong()


def test_every_wrong_prompt_differs_and_every_picture_is_there() -> None:
    for one in (one for each in PROBES for one in each.comparisons):
        assert len(set(one.asked)) == len(one.asked)
    used = {name for asked in questions(PROBES) for name in (asked.picture, asked.before) if name}
    assert used == set(names())


def test_a_judge_that_knows_the_answers_passes_all(probed: Callable[[Answer], dict[str, Row]]) -> None:
    no = wrong()
    rows = probed(lambda sample, _: 0.0 if (sample.picture.sha256, sample.prompt) in no else 1.0)
    assert {name: row.rate for name, row in rows.items()} == dict.fromkeys(SERVED, 1.0)
    assert all(row.no_verdict == 0 and row.judged == len(row.probe.comparisons) for row in rows.values())


def test_a_judge_that_always_says_yes_passes_only_what_must_not_change(
    probed: Callable[[Answer], dict[str, Row]],
) -> None:
    rates = {name: row.rate for name, row in probed(lambda *_: 1.0).items()}
    steady = {"repeated question", "order of objects", "long prompt"}
    assert rates == {name: float(name in steady) for name in SERVED}


def test_a_judge_that_always_says_no_sees_nothing_rightly_and_no_difference(
    probed: Callable[[Answer], dict[str, Row]],
) -> None:
    rates = {name: row.rate for name, row in probed(lambda *_: 0.0).items()}
    assert (rates["blank picture"], rates["noise"], rates["shuffled prompts"]) == (1, 1, 0)


def by_length(long: float, sample: Sample, _: Settings) -> float:
    return long if len(sample.prompt) > 99 else 0.5


def test_a_step_of_the_scale_is_still_near_and_a_quarter_of_it_still_low(
    probed: Callable[[Answer], dict[str, Row]],
) -> None:
    shorter = {0.25: 1.0, 0.24: 0.0}
    for value, near in shorter.items():
        says = partial(by_length, value)
        assert probed(says)["long prompt"].rate == near
    assert probed(lambda *_: 0.25)["noise"].rate == 1
    assert probed(lambda *_: 0.5)["noise"].rate == 0


def test_the_repeated_question_is_not_answered_by_the_store(probed: Callable[[Answer], dict[str, Row]]) -> None:
    rows = probed(lambda _, settings: 1.0 if settings.reuse_answers else 0.5)
    assert (rows["repeated question"].passed, rows["repeated question"].judged) == (0, len(PROMPTS))


def test_what_has_no_verdict_is_counted_apart(probed: Callable[[Answer], dict[str, Row]]) -> None:
    def says(sample: Sample, _: Settings) -> float:
        if "cups" in sample.prompt:
            raise UnreadableAnswer("no_score", "it rambles")
        return 0.0

    row = probed(says)["blank picture"]
    assert (row.passed, row.judged, row.no_verdict, row.rate) == (15, 15, 3, 1)
    assert {each.why for each in row.results if each.passed is None} == {
        str(UnreadableAnswer("no_score", "it rambles"))
    }


def test_a_placeholder_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unsure(Fake):
        def judge(self, sample: Sample) -> Verdict:
            return replace(super().judge(sample), flags=("not_verifiable",))

    monkeypatch.setattr(api, "judge_of", lambda rubric, settings: Unsure(rubric, settings, lambda *_: 0.5))
    assert {(row.judged, row.rate, row.interval) for row in probe(settings=Settings()).rows} == {(0, None, None)}


def test_a_judge_that_cannot_be_asked_is_an_error(probed: Callable[[Answer], dict[str, Row]]) -> None:
    def says(*_: object) -> float:
        raise Rejected("the key is wrong")

    with pytest.raises(Rejected, match="the key is wrong"):
        probed(says)
    with pytest.raises(UserError, match="verify or rate"):
        probe("edit")


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    [  # Newcombe (1998), table I; Brown, Cai and DasGupta (2001)
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_the_interval_is_that_of_the_textbook(passed: int, judged: int, low: float, high: float) -> None:
    assert wilson(passed, judged) == pytest.approx((low, high), abs=5e-5)


def test_pictures_are_the_same_every_time() -> None:
    assert all(drawn(DRAWINGS[name]).tobytes() == drawn(DRAWINGS[name]).tobytes() for name in list(DRAWINGS)[::4])
    assert all(make().tobytes() == make().tobytes() for make in NOISE.values())
    assert len({picture(name).tobytes() for name in names()}) == len(names())


def test_pictures_are_written_for_people(tmp_path: Path) -> None:
    assert save(tmp_path / "new" / "folder") == len(list((tmp_path / "new" / "folder").glob("*.png"))) == len(names())
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="can't write pictures"):
        save(tmp_path / "file")


def command(tmp_path: Path, answer: str, *options: str) -> tuple[int, str]:
    """The command with a model that always says the same."""
    (tmp_path / "said.jsonl").write_text(json.dumps({"contains": "", "text": answer}))
    settings = {"ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    result = CliRunner().invoke(app, ["probe", "--model", f"replay/{tmp_path / 'said.jsonl'}", *options], env=settings)
    assert result.exception is None, repr(result.exception)
    return result.exit_code, result.stdout


def test_a_model_that_always_says_4_gets_its_table(tmp_path: Path) -> None:
    code, table = command(tmp_path, "All is there. (4)")
    rows = {line[:23].strip(): line[23:].split()[:4] for line in table.splitlines() if line}
    assert code == 0
    assert rows["blank picture"] == ["0", "18", "0.00", "0.00–0.18"]
    assert rows["shuffled prompts"][:3] == ["0", "26", "0.00"]
    assert rows["wrong count"][:3] == ["0", "12", "0.00"]
    assert rows["repeated question"][:3] == ["13", "13", "1.00"]
    assert rows["swapped before/after"] == ["0", "0", "–", "–"], "that is no answer to an edit"


def test_a_model_that_talks_nonsense_gets_no_verdict_at_all(tmp_path: Path) -> None:
    code, text = command(tmp_path, "Lovely weather today.", "--rubric", "rate", "--json")
    report = json.loads(text)
    assert code == 0
    assert (report["format"], report["judge"], report["rubric"]) == ("onprompt.probe/1", "vlm", "rate")
    assert all((each["judged"], each["rate"], each["served"]) == (0, None, True) for each in report["probes"])
    assert all(each["no_verdict"] == len(each["comparisons"]) > 0 for each in report["probes"])
    assert "Score" in report["probes"][0]["comparisons"][0]["no_verdict"]


def test_a_dry_run_counts_the_questions(tmp_path: Path) -> None:
    code, text = command(tmp_path, "(4)", "--dry-run")
    assert (code, text.split(" of ")[0]) == (0, f"{len(questions(PROBES))} calls")
    command(tmp_path, "(4)")
    again = command(tmp_path, "(4)", "--dry-run")[1]
    assert again.startswith(f"{len(PROMPTS)} calls"), "all others are in the store"


def test_the_repeated_questions_are_paid_by_what_is_left(tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("")
    model, answers = f"replay/{tmp_path / 'said.jsonl'}", tmp_path / "answers.sqlite"
    settings = Settings(judge="vlm", model=model, answers=answers, price_in=1, price_out=1, budget=0.5)
    asker(settings).purse.spent = 0.375
    *_, (_, again, last) = runs(questions(PROBES), "verify", settings)
    assert (len(again), last.reuse_answers, last.budget) == (len(PROMPTS), False, 0.125)


def test_the_evidence_judge_is_probed_for_real(settings: Settings) -> None:
    wanted = {"blank picture": 1, "wrong count": 1, "wrong word": 1, "swapped before/after": 1}
    some = [replace(each, comparisons=each.comparisons[: wanted[each.name]]) for each in PROBES if each.name in wanted]
    report = probe(probes=some, judge="evidence", settings=settings)
    assert {row.probe.name: row.rate for row in report.rows} == {
        **dict.fromkeys(wanted, 1.0),
        "swapped before/after": None,
    }
    assert [row.served for row in report.rows] == [name != "swapped before/after" for name in wanted]
    assert any("swapped before/after" in line and "not served" in line for line in lines(report))
