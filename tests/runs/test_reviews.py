"""Reviews in a run file: what is kept, undone, found damaged, and read by `agree`."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path

import pytest

from onprompt.errors import StoreError, UserError
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import reviews
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run, RunRow
from onprompt.runs.reviews import Review, ReviewFile
from onprompt.wording.claims import full_claim
from tests.pages.stored import Stored, stored_run
from tests.runs.commands import onprompt as command
from tests.runs.test_run import judged, table

NUMBER = 24


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    judged(tmp_path, table(tmp_path, NUMBER))
    return tmp_path / "run.sqlite"


def progress(file: RunFile) -> dict[str, int]:
    """How many samples each rater has scored."""
    return dict(Counter(rater for given in reviews.ratings(file, RUBRIC).values() for rater in given))


def test_the_last_review_counts_and_each_can_be_undone(run_file: Path) -> None:
    with ReviewFile(run_file) as file:
        file.save(3, 1, "Ada", Review({"score": 2}), RUBRIC)
        file.save(3, 1, "Ada", Review({"score": 4}, {"a cat": "mismatch"}, "no cat"), RUBRIC)
        file.save(5, 1, "Ada", Review(comment="later"), RUBRIC)
        assert reviews.review_of(file, "verify", "Ada", 3) == Review({"score": 4}, {"a cat": "mismatch"}, "no cat")
        assert reviews.completed(file, "verify", "Ada") == {3}, "a comment alone is no rating"
        file.save(3, 1, "Bo", Review({"score": 1}), RUBRIC)
        assert (file.undo("verify", "Bo"), file.undo("verify", "Bo")) == (3, None), "and nothing of Ada's"
        assert [file.undo("verify", "Ada") for _ in range(4)] == [5, 3, 3, None]
        assert reviews.review_of(file, "verify", "Ada", 3) == Review()
        assert file.first("SELECT count(*) FROM reviews") == (4,), "undone reviews are kept"


def test_many_raters_save_while_a_run_is_written(run_file: Path, tmp_path: Path) -> None:
    def rate(rater: str) -> None:
        with ReviewFile(run_file) as file:
            for sample in range(1, NUMBER + 1):
                file.save(sample, 1, rater, Review({"score": sample % 5}), RUBRIC)

    threads = [threading.Thread(target=rate, args=(name,)) for name in ("Ada", "Bo", "Cy")]
    for thread in threads:
        thread.start()
    judged(tmp_path, table(tmp_path, 60))
    for thread in threads:
        thread.join()
    with RunFile(run_file) as file:
        assert progress(file) == {"Ada": NUMBER, "Bo": NUMBER, "Cy": NUMBER}
        assert not file.damage()
    assert Run(run_file).overview.verdicts == 60


def test_a_review_holds_for_every_configuration_until_the_sample_changes(run_file: Path, tmp_path: Path) -> None:
    with ReviewFile(run_file) as file:
        for sample in (1, 2):
            file.save(sample, 1, "Ada", Review({"score": 1}), RUBRIC)
    judged(tmp_path, tmp_path / "data.csv", send_side=500)
    with RunFile(run_file) as file:
        assert Run(run_file).configuration == 2
        assert set(reviews.ratings(file, RUBRIC)) == {"0", "1"}
    data = (tmp_path / "data.csv").read_text().replace("0 cats of 0", "3 cats of 0")
    (tmp_path / "data.csv").write_text(data)
    judged(tmp_path, tmp_path / "data.csv", send_side=500)
    with RunFile(run_file) as file:
        assert set(reviews.ratings(file, RUBRIC)) == {"1"}, "the prompt of the other has changed"


@pytest.mark.parametrize(
    ("review", "message"),
    [
        (Review({"score": 5}), "score must be 0 to 4, not 5"),
        (Review({"beauty": 1}), "no factor 'beauty'"),
        (Review(checks={"a cat": "wonderful"}), "not 'wonderful'"),
        (Review(comment="x" * 10_001), "10,001 characters"),
        (Review(), "no sample number 99"),
    ],
)
def test_what_is_not_on_the_scale_is_refused(run_file: Path, review: Review, message: str) -> None:
    with ReviewFile(run_file) as file:
        with pytest.raises(UserError, match=message):
            file.save(99 if review == Review() else 1, 1, "Ada", review, RUBRIC)
        assert file.first("SELECT count(*) FROM reviews") == (0,)


def test_hostile_text_is_stored_as_it_is_and_a_name_is_readable(run_file: Path) -> None:
    hostile = "<script>alert(1)</script> {{ 7 * 7 }} \u202e \x1b[2J '); DROP TABLE reviews; --" + "x" * 9000
    for name in ("", "  ", "x" * 81, "a\x1b[2Jb", "a\u202eb"):
        with pytest.raises(UserError, match="name"):
            reviews.check_rater(name)
    with ReviewFile(run_file) as file:
        file.save(1, 1, "'); DROP TABLE reviews; --", Review({"score": 1}, comment=hostile + "\ud800"), RUBRIC)
        found = reviews.review_of(file, "verify", "'); DROP TABLE reviews; --", 1)
        assert found.comment == hostile + "?"
        assert not file.damage()


def test_a_changed_review_is_damage(run_file: Path) -> None:
    with ReviewFile(run_file) as file:
        for sample in range(1, 6):
            file.save(sample, 1, "Ada", Review({"score": 1}), RUBRIC)
        file.undo("verify", "Ada")
        assert not file.damage(), "an undone review is no damage"
        file.database.execute("UPDATE reviews SET scores = '{\"score\": 4}' WHERE id = 2")
        assert file.damage() == ["reviews 2"]


@pytest.mark.parametrize("scores", ["{}", "[1]", '{"score": 9}', '{"score": "1"}', '{"other": 1}', "[" * 10_000])
def test_a_review_that_is_none_is_an_error_of_ours(run_file: Path, scores: str) -> None:
    with ReviewFile(run_file) as file:
        file.save(1, 1, "Ada", Review({"score": 1}), RUBRIC)
        file.database.execute("UPDATE reviews SET scores = ?", (scores,))
        with pytest.raises(StoreError, match="is damaged"):
            reviews.ratings(file, RUBRIC)


def test_the_order_is_random_and_stays_when_a_run_grows() -> None:
    rows = [RunRow(f"{place}.png", value=place % 5 / 4, number=place) for place in range(1000)]
    order = reviews.in_random_order(rows)
    assert sorted(order) == list(range(1000))
    assert [number for number in order if number < 500] == reviews.in_random_order(rows[:500])
    assert max(Counter(number % 5 for number in order[:200]).values()) < 60, "each part is like the whole"
    unclear = RunRow("x", value=0.5, flags=("not_verifiable",), number=1000)
    assert reviews.in_random_order([unclear, RunRow("y", number=1001), *reversed(rows)]) == order


def test_several_factors_make_one_rating_on_their_scale() -> None:
    same = reviews.rating_of({"alignment": 4, "completeness": 4, "plausibility": 4}, EDIT)
    assert same == pytest.approx(4)
    worst = reviews.rating_of({"alignment": 1, "completeness": 7, "plausibility": 7}, EDIT)
    assert worst == 1.0, "no other factor makes up for one that fails"
    assert reviews.rating_scale(EDIT) == (1.0, 7.0)


def test_agree_uses_the_reviews_and_says_so(run_file: Path) -> None:
    assert "onprompt review" in command("agree", run_file).stderr
    with ReviewFile(run_file) as file:
        for sample in range(1, NUMBER + 1):
            right = (sample - 1) % 10 % 5
            file.save(sample, 1, "Ada", Review({"score": right}), RUBRIC)
            file.save(sample, 1, "Bo", Review({"score": max(0, right - sample % 2)}, blind=True), RUBRIC)
    shown = command("agree", run_file)
    assert shown.returncode == 0, shown.stderr
    assert f"the reviews in {run_file}, {NUMBER} samples by Ada, Bo" in shown.stderr
    result = json.loads(command("agree", run_file, "--json").stdout)
    assert result["raters"] == 2
    assert result["terms"]["human_scale"] == [0.0, 4.0]
    assert result["overall"]["judge"]["spearman"]["value"] > 0.9
    assert result["overall"]["judge"]["kappa"]["value"] > 0.8
    assert 0.8 < result["overall"]["ceiling"]["spearman"]["value"] < 1


def test_corrected_checks_are_counted_by_kind(tmp_path: Path) -> None:
    path = stored_run(tmp_path / "run.sqlite", [Stored("one"), Stored("two"), Stored("three")])
    checks = Run(path).verdict("one").checks
    first = checks[0]
    opposite = "mismatch" if reviews.answer_to(first.outcome) == "matched" else "matched"
    with ReviewFile(path) as opened:
        opened.save(1, 1, "Ada", Review({"score": 2}, {full_claim(first.claim): opposite}), RUBRIC)
        opened.save(
            2, 1, "Ada", Review({"score": 2}, {full_claim(first.claim): reviews.answer_to(first.outcome)}), RUBRIC
        )
        opened.save(3, 1, "Ada", Review({"score": 2}), RUBRIC)  # looked at, and nothing said of any check
        opened.save(3, 1, "Bo", Review(checks={full_claim(first.claim): opposite}), RUBRIC)
    counts = reviews.corrected_checks(Run(path))
    assert counts == {first.claim.kind: (2, 1)}, "only what somebody has answered"
    shown = command("agree", path)
    line = next(line for line in shown.stdout.splitlines() if line.startswith(f"{first.claim.kind} "))
    assert line.split()[1:3] == ["2", "1"]
