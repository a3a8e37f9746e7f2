"""What people say of a run's verdicts: it is in the run file itself.

Every save adds a row with all that a rater says of a sample, and the last row counts: nothing is lost, and to undo is
to mark a row. The scores are of the picture and its prompt, whoever judged it, so they hold for every configuration of
the same rubric; they no longer do once the picture or the prompt has changed.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.runs.file import RunFile, address_of, connect, damaged, storable, wrap_db_errors
from onprompt.runs.reading import Run, RunRow
from onprompt.runs.schema import VERSION, row_digest
from onprompt.types import Outcome, Rubric
from onprompt.wording.claims import full_claim
from onprompt.wording.terminal import UNSAFE

MAX_NAME, MAX_COMMENT = 80, 10_000  # characters
ANSWERS = (Outcome.MATCHED, Outcome.PARTIAL, Outcome.MISMATCH, Outcome.UNVERIFIABLE)  # what people say of a check
MINE = "SELECT scores, checks, comment, blind FROM present_reviews WHERE rubric = ? AND rater = ? AND sample = ?"
LAST = "SELECT id, sample FROM reviews WHERE rubric = ? AND rater = ? AND NOT undone ORDER BY id DESC LIMIT 1"
COMPLETE = "SELECT sample FROM present_reviews WHERE rubric = ? AND rater = ? AND complete"
RATED = """SELECT s.id, r.rater, r.scores FROM present_reviews r JOIN samples s ON s.number = r.sample
WHERE r.rubric = ? AND r.complete ORDER BY r.sample, r.id"""
ANSWERED_CHECKS = """SELECT r.checks, d.document FROM present_reviews r
JOIN documents d ON d.sample = r.sample AND d.configuration = r.configuration
WHERE r.rubric = ? AND r.configuration = ? AND r.complete"""
SCORES, SAID = Mapping[str, int], Mapping[str, Outcome]  # what `scores` and `checks` hold, as JSON
SMALLEST = 5  # samples of which a correlation says something


@dataclass(frozen=True, slots=True)
class Review:
    """What a rater says of a sample: a score for each factor, corrected checks by their claim, and a comment."""

    scores: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    blind: bool = False  # whether the scores were given before the judge's verdict was shown


class ReviewFile(RunFile):
    """A run file opened to review it, also while a run writes to it: only reviews are written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)  # refuses what is no run file
        with wrap_db_errors(path):
            self.database.close()
            self.database = connect(address_of(path, "mode=rw"))
            if self.first("PRAGMA user_version") != (VERSION,):
                RunFile(path, writing=True).close()  # which migrates it
            self.database.execute("PRAGMA synchronous = FULL")  # a power cut loses no work of a person

    def save(self, sample: int, configuration: int, rater: str, review: Review, rubric: Rubric) -> None:
        """Add a review of a sample, given by its number, by someone who saw the verdict of a configuration.

        It counts from now on; an error if something in it is not valid.
        """
        check_review(review, rubric)
        row = {
            "sample": sample,
            "configuration": configuration,
            "rubric": rubric.name,
            "rater": rater,
            "sample_version": self.sample_version(sample),
            "scores": dump(review.scores),
            "checks": dump(review.checks),
            "comment": storable(review.comment),
            "complete": int(review.scores.keys() == rubric.factors.keys()),
            "blind": int(review.blind),
        }
        with self.transaction():
            self.insert("reviews", row | {"digest": row_digest("reviews", row)})

    def undo(self, rubric: str, rater: str) -> int | None:
        """Undo the last save of a rater; the number of its sample, or None if there is nothing to undo."""
        with self.transaction():
            row = self.first(LAST, (rubric, rater))
            if row:
                self.database.execute("UPDATE reviews SET undone = 1 WHERE id = ?", row[:1])
        return int(row[1]) if row else None


def dump(mapping: Mapping[str, Any]) -> str:
    """A mapping as JSON that any reader understands the same way."""
    return str(storable(json.dumps(dict(mapping), ensure_ascii=False)))


def check_review(review: Review, rubric: Rubric) -> None:
    """Refuse what is not on the rubric's scale, or can't be stored."""
    for factor, score in review.scores.items():
        scale = rubric.factors.get(factor)
        if scale is None:
            raise UserError(f"{rubric.name} has no factor {factor!r}; it has {', '.join(rubric.factors)}")
        if score not in scale:
            raise UserError(f"{factor} must be {scale[0]} to {scale[-1]}, not {score}")
    if wrong := set(review.checks.values()) - set(ANSWERS):
        raise UserError(f"a check can be {', '.join(ANSWERS)}, not {min(wrong)!r}")
    if len(review.comment) > MAX_COMMENT:
        raise UserError(f"the comment has {len(review.comment):,} characters; the limit is {MAX_COMMENT:,}")


def check_rater(name: str) -> str:
    """A rater's name, without spaces around it."""
    name = " ".join(name.split())
    if not name:
        raise UserError("a rater needs a name")
    if len(name) > MAX_NAME:
        raise UserError(f"the rater's name has {len(name)} characters; the limit is {MAX_NAME}")
    if UNSAFE.search(name):
        raise UserError("the rater's name has characters that can't be seen")
    return name


def review_of(file: RunFile, rubric: str, rater: str, sample: int) -> Review:
    """What a rater says of a sample; an empty review if nothing yet."""
    row = file.first(MINE, (rubric, rater, sample), tuple[str, str, str, int])
    if not row:
        return Review()
    scores, checks, comment, blind = row
    return Review(file.read(scores, SCORES), file.read(checks, SAID), comment, bool(blind))


def completed(file: RunFile, rubric: str, rater: str) -> set[int]:
    """The numbers of the samples that a rater has scored."""
    return {number for (number,) in file.query(COMPLETE, (rubric, rater))}


def rating_of(scores: Mapping[str, int], rubric: Rubric) -> float:
    """One rating for all factors, on the scale of the first: the score itself where there is only one."""
    if len(rubric.factors) == 1:
        return float(next(iter(scores.values())))
    low, high = rating_scale(rubric)
    shares = {name: rubric.share(name, scores[name]) for name in rubric.factors}
    return low + (high - low) * rubric.value(shares)


def rating_scale(rubric: Rubric) -> tuple[float, float]:
    """The worst and the best rating."""
    scale = next(iter(rubric.factors.values()))
    return float(scale[0]), float(scale[-1])


def ratings(file: RunFile, rubric: Rubric, factor: str = "") -> dict[str, dict[str, float]]:
    """The ratings by rater of each sample that people reviewed, by its id: of all factors together or of one."""
    given: dict[str, dict[str, float]] = {}
    for sample, rater, text in file.query(RATED, (rubric.name,), tuple[str, str, str]):
        scores: dict[str, int] = file.read(text, SCORES)
        if scores.keys() != rubric.factors.keys() or any(scores[name] not in rubric.factors[name] for name in scores):
            raise damaged(file.path, f"a complete review without a score on the scale of {', '.join(rubric.factors)}")
        given.setdefault(sample, {})[rater] = float(scores[factor]) if factor else rating_of(scores, rubric)
    return given


def corrected_checks(run: Run) -> dict[str, tuple[int, int]]:
    """For each kind of check how many people have answered, and how many of these they corrected."""
    counts: dict[str, tuple[int, int]] = {}
    with run.opened() as file:
        for answers, document in file.query(ANSWERED_CHECKS, (run.rubric, run.configuration)):
            said = file.read(answers, SAID)
            for check in file.read_verdict(file.read(document, dict)).checks if said else ():
                if answer := said.get(full_claim(check.claim)):
                    answered, corrected = counts.get(check.claim.group, (0, 0))
                    wrong = answer_to(answer) != answer_to(check.outcome)
                    counts[check.claim.group] = answered + 1, corrected + wrong
    return counts


def answer_to(outcome: Outcome) -> Outcome:
    """An outcome as one of the answers that people give: that a thing is missing is that the claim is wrong."""
    return {Outcome.MISSING: Outcome.MISMATCH, Outcome.LOW_CONFIDENCE: Outcome.UNVERIFIABLE}.get(outcome, outcome)


def in_random_order(rows: Iterable[RunRow]) -> list[int]:
    """The numbers of the samples of which anything could be checked, in the same random order for all raters.

    A rater who stops early has still reviewed a random part.
    """
    order = {row.number: hashlib.sha256(row.id.encode(errors="replace")).digest() for row in rows if row.counts}
    return sorted(order, key=order.__getitem__)
