"""Reviews: what people say of a run's verdicts, in the run file itself.

Every save adds a row with all that a rater says of a sample, and the last row counts: nothing is lost, and to undo is
to mark a row. The scores are of the picture and its prompt, whoever judged it, so they hold for every generation of
the same rubric; they no longer do once the picture or the prompt has changed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.errors import NotFound, UserError
from onprompt.runs.checksums import row_checksum
from onprompt.runs.ledger import Ledger, connect, damaged, storable, wrap_db_errors
from onprompt.runs.schema import REVIEW_INDEX, REVIEW_TABLES
from onprompt.types import Claim, Outcome, Rubric
from onprompt.wording.claims import full_claim
from onprompt.wording.terminal import UNSAFE

MAX_NAME, MAX_COMMENT = 80, 10_000  # characters
ANSWERS = (Outcome.MATCHED, Outcome.PARTIAL, Outcome.MISMATCH, Outcome.UNVERIFIABLE)  # what people say of a check
MINE = "SELECT scores, checks, comment, blind FROM present_reviews WHERE rubric = ? AND rater = ? AND sample = ?"
LAST = "SELECT id, sample FROM reviews WHERE rubric = ? AND rater = ? AND NOT undone ORDER BY id DESC LIMIT 1"
COMPLETE = "SELECT sample FROM present_reviews WHERE rubric = ? AND rater = ? AND complete"
RATED = """SELECT s.id, r.rater, r.scores FROM present_reviews r JOIN samples s ON s.number = r.sample
WHERE r.rubric = ? AND r.complete ORDER BY r.sample, r.id"""
OTHERS = "SELECT rater, scores, comment FROM present_reviews WHERE rubric = ? AND sample = ? AND rater != ?"
SEEN_CHECKS = """SELECT r.checks, d.document FROM present_reviews r
JOIN documents d ON d.sample = r.sample AND d.generation = r.generation
WHERE r.rubric = ? AND r.generation = ? AND r.complete AND NOT r.blind"""
SCORES, SAID = Mapping[str, int], Mapping[str, Outcome]  # what `scores` and `checks` hold, as JSON


@dataclass(frozen=True, slots=True)
class Review:
    """What a rater says of a sample: a score for each factor, corrected checks by their claim, and a comment."""

    scores: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    blind: bool = False  # whether the rater was shown nothing of the judge's


class Reviewed(NamedTuple):
    """What is reviewed, and by whom."""

    sample: int  # its number
    generation: int  # whose verdict was looked at
    rubric: str
    rater: str


class ReviewLedger(Ledger):
    """A run file opened to review it, also while a run writes to it: only reviews and plans are written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)  # refuses what is no run file
        with wrap_db_errors(path):
            self.database.close()
            self.database = connect(path, "mode=rw")
            self.database.execute("PRAGMA synchronous = FULL")  # a power cut loses no work of a person
            self.database.executescript(REVIEW_TABLES + REVIEW_INDEX)

    def save(self, of: Reviewed, review: Review, rubric: Rubric) -> None:
        """Add a review, which counts from now on; an error if something in it is not valid."""
        check_review(review, rubric)
        row = {
            **of._asdict(),
            "of": self.version(of.sample),
            "scores": dump(review.scores),
            "checks": dump(review.checks),
            "comment": storable(review.comment),
            "complete": int(review.scores.keys() == rubric.factors.keys()),
            "blind": int(review.blind),
        }
        row["sum"] = row_checksum("reviews", row)
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        with self.transaction():
            self.database.execute(f"INSERT INTO reviews ({names}) VALUES ({marks})", row)  # noqa: S608

    def version(self, sample: int) -> str:
        """The version of a sample, by its number."""
        row = self.first("SELECT version FROM samples WHERE number = ?", (sample,))
        if not row:
            raise NotFound(f"{self.path} has no sample number {sample}")
        return str(row[0])

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


def has_reviews(ledger: Ledger) -> bool:
    """Whether a run file has the table of reviews: one of an earlier version has none."""
    return bool(ledger.first("SELECT 1 FROM sqlite_master WHERE name = 'present_reviews'"))


def review_of(ledger: Ledger, rubric: str, rater: str, sample: int) -> Review:
    """What a rater says of a sample; an empty review if nothing yet."""
    row = ledger.first(MINE, (rubric, rater, sample))
    if not row:
        return Review()
    scores, checks, comment, blind = row
    return Review(ledger.read(scores, SCORES), ledger.read(checks, SAID), comment, bool(blind))


def completed(ledger: Ledger, rubric: str, rater: str) -> set[int]:
    """The numbers of the samples that a rater has scored."""
    return {number for (number,) in ledger.query(COMPLETE, (rubric, rater))}


def by_others(ledger: Ledger, rubric: str, rater: str, sample: int) -> list[tuple[str, dict[str, int], str]]:
    """What the other raters say of a sample: name, scores and comment."""
    rows = ledger.query(OTHERS, (rubric, sample, rater))
    return [(name, ledger.read(scores, SCORES), comment) for name, scores, comment in rows]


def stored_rating(ledger: Ledger, scores: str, rubric: Rubric) -> float:
    """The rating of a complete review."""
    given = ledger.read(scores, SCORES)
    if given.keys() != rubric.factors.keys() or any(given[name] not in rubric.factors[name] for name in given):
        raise damaged(ledger.path, f"a complete review without a score on the scale of {', '.join(rubric.factors)}")
    return rating_of(given, rubric)


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


def ratings(ledger: Ledger, rubric: Rubric) -> dict[str, dict[str, float]]:
    """The ratings by rater of each sample that people reviewed, by its id; empty if nobody did."""
    given: dict[str, dict[str, float]] = {}
    for sample, rater, scores in ledger.query(RATED, (rubric.name,)) if has_reviews(ledger) else ():
        given.setdefault(sample, {})[rater] = stored_rating(ledger, scores, rubric)
    return given


@dataclass(frozen=True, slots=True)
class JudgedCheck:
    """What is read of a check in a stored verdict."""

    claim: Claim
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class JudgedChecks:
    """The checks of a stored verdict."""

    checks: tuple[JudgedCheck, ...] = ()


@dataclass(slots=True)
class CheckCount:
    """How many checks of a kind people have seen, and what they corrected."""

    seen: int = 0
    corrected: int = 0


def check_counts(ledger: Ledger, generation: int, rubric: str) -> dict[str, CheckCount]:
    """The checks of each kind that people confirmed or corrected, in reviews that were not blind."""
    counts: dict[str, CheckCount] = {}
    if not has_reviews(ledger):
        return counts
    for corrections, document in ledger.query(SEEN_CHECKS, (rubric, generation)):
        said = ledger.read(corrections, SAID)
        for check in ledger.read(document, JudgedChecks).checks:
            count = counts.setdefault(check.claim.kind, CheckCount())
            count.seen += 1
            answered = said.get(full_claim(check.claim), check.outcome)
            count.corrected += answer_to(answered) != answer_to(check.outcome)
    return counts


def answer_to(outcome: Outcome) -> Outcome:
    """An outcome as one of the answers that people give: that a thing is missing is that the claim is wrong."""
    return {Outcome.MISSING: Outcome.MISMATCH, Outcome.LOW_CONFIDENCE: Outcome.UNVERIFIABLE}.get(outcome, outcome)
