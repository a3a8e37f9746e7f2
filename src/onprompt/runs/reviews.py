"""What people say of a run's verdicts, and which of them they are asked about: both are in the run file itself.

Every save adds a row with all that a rater says of a sample, and the last row counts: nothing is lost, and to undo is
to mark a row. The scores are of the picture and its prompt, whoever judged it, so they hold for every configuration of
the same rubric; they no longer do once the picture or the prompt has changed.

A sampling plan says which verdicts people review, so that agreement is known to a wanted precision. Each stratum, a
score by a model, has its share of the plan, so that figures on the sample hold for the whole run without weights. All
raters get the same samples, in the same random order, and whoever stops early has still reviewed a random part.
"""

import json
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.runs.file import RunFile, connect, damaged, storable, wrap_db_errors
from onprompt.runs.reading import Run
from onprompt.runs.schema import VERSION, row_digest
from onprompt.types import Claim, Outcome, Rubric
from onprompt.wording import plural
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
ANSWERED_CHECKS = """SELECT r.checks, d.document FROM present_reviews r
JOIN documents d ON d.sample = r.sample AND d.configuration = r.configuration
WHERE r.rubric = ? AND r.configuration = ? AND r.complete"""
SCORES, SAID = Mapping[str, int], Mapping[str, Outcome]  # what `scores` and `checks` hold, as JSON
NORMAL = 1.959964  # the 97.5th percentile
SMALLEST = 5  # samples of which an interval can be computed
EXPECTED = 0.7  # Spearman's ρ that is assumed where nothing is known yet
MOST = 0.999  # a correlation that is taken for perfect
SHOWN = (0.6, 0.7, 0.8)  # correlations for which the precision of a plan is stated
WANTED = 0.1  # the precision that reviewers are told about
BANDS = 5  # of `value`, where a rubric has no overall score
STORED = "SELECT seed, samples FROM plans WHERE configuration = ? ORDER BY id DESC LIMIT 1"
SAME = "SELECT samples FROM plans WHERE configuration = ? AND size = ? AND seed = ?"


@dataclass(frozen=True, slots=True)
class Review:
    """What a rater says of a sample: a score for each factor, corrected checks by their claim, and a comment."""

    scores: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    blind: bool = False  # whether the scores were given before the judge's verdict was shown


class ReviewFile(RunFile):
    """A run file opened to review it, also while a run writes to it: only reviews and plans are written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)  # refuses what is no run file
        with wrap_db_errors(path):
            self.database.close()
            self.database = connect(path, "mode=rw")
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
    row = file.first(MINE, (rubric, rater, sample))
    if not row:
        return Review()
    scores, checks, comment, blind = row
    return Review(file.read(scores, SCORES), file.read(checks, SAID), comment, bool(blind))


def completed(file: RunFile, rubric: str, rater: str) -> set[int]:
    """The numbers of the samples that a rater has scored."""
    return {number for (number,) in file.query(COMPLETE, (rubric, rater))}


def by_others(file: RunFile, rubric: str, rater: str, sample: int) -> list[tuple[str, dict[str, int], str]]:
    """What the other raters say of a sample: name, scores and comment."""
    rows = file.query(OTHERS, (rubric, sample, rater))
    return [(name, file.read(scores, SCORES), comment) for name, scores, comment in rows]


def complete_scores(file: RunFile, text: str, rubric: Rubric) -> dict[str, int]:
    """The scores of a complete review."""
    given: dict[str, int] = file.read(text, SCORES)
    if given.keys() != rubric.factors.keys() or any(given[name] not in rubric.factors[name] for name in given):
        raise damaged(file.path, f"a complete review without a score on the scale of {', '.join(rubric.factors)}")
    return given


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
    for sample, rater, text in file.query(RATED, (rubric.name,)):
        scores = complete_scores(file, text, rubric)
        given.setdefault(sample, {})[rater] = float(scores[factor]) if factor else rating_of(scores, rubric)
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


def corrected_checks(run: Run) -> dict[str, tuple[int, int]]:
    """For each kind of check how many people have answered, and how many of these they corrected."""
    counts: dict[str, tuple[int, int]] = {}
    with run.opened() as file:
        for answers, document in file.query(ANSWERED_CHECKS, (run.rubric, run.configuration)):
            said = file.read(answers, SAID)
            for check in file.read(document, JudgedChecks).checks if said else ():
                if answer := said.get(full_claim(check.claim)):
                    answered, corrected = counts.get(check.claim.group, (0, 0))
                    wrong = answer_to(answer) != answer_to(check.outcome)
                    counts[check.claim.group] = answered + 1, corrected + wrong
    return counts


def answer_to(outcome: Outcome) -> Outcome:
    """An outcome as one of the answers that people give: that a thing is missing is that the claim is wrong."""
    return {Outcome.MISSING: Outcome.MISMATCH, Outcome.LOW_CONFIDENCE: Outcome.UNVERIFIABLE}.get(outcome, outcome)


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """The numbers of the samples to review, in the order in which they are shown."""

    samples: tuple[int, ...]
    seed: int = 0


def half_width(n: int, correlation: float) -> float:
    """Half of the 95 % interval of Spearman's ρ by n items: Fisher's, with the variance of Bonett and Wright (2000)."""
    if n < SMALLEST:
        return 1.0
    spread = NORMAL * math.sqrt((1 + correlation**2 / 2) / (n - 3))
    middle = math.atanh(min(max(correlation, -MOST), MOST))
    return (math.tanh(middle + spread) - math.tanh(middle - spread)) / 2


def size_for(precision: float, correlation: float = EXPECTED) -> int:
    """The smallest number of items that gives the precision."""
    if not 0.01 <= precision < 1:
        raise UserError(f"the precision must be .01 to 1, not {precision:g}")
    if not 0 <= correlation < 1:
        raise UserError(f"the expected correlation must be 0 to below 1, not {correlation:g}")
    low, high = SMALLEST, 100_000  # enough for .01
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle, correlation) <= precision else (middle + 1, high)
    return low


def draw(strata: Sequence[Hashable], size: int, seed: int) -> list[int]:
    """The places of a random sample of which each stratum has its share, rounded by the largest remainder; shuffled."""
    generator = np.random.default_rng(seed)
    counts, size = Counter(strata), min(size, len(strata))
    exact = {name: size * count / len(strata) for name, count in counts.items()}
    shares = {name: int(share) for name, share in exact.items()}
    ties = dict(zip(exact, generator.permutation(len(exact)).tolist(), strict=True))  # equal remainders: by chance
    by_remainder = sorted(exact, key=lambda name: (shares[name] - exact[name], ties[name]))
    for name in by_remainder[: size - sum(shares.values())]:
        shares[name] += 1
    chosen: list[int] = []
    for place in generator.permutation(len(strata)).tolist():
        if shares[strata[place]]:
            shares[strata[place]] -= 1
            chosen.append(place)
    return chosen


def stratum(score: int | None, value: float, model: str) -> Hashable:
    """A score by a model; a band of values where the rubric has no overall score."""
    return (int(value * BANDS) if score is None else score), model


def make_plan(run: Run, file: ReviewFile, size: int, seed: int = 0) -> SamplingPlan:
    """The plan of a size and a seed: the stored one or, if there is none, a new one."""
    if stored := file.first(SAME, (run.configuration, size, seed)):
        return SamplingPlan(file.read(stored[0], tuple[int, ...]), seed)
    judged = [row for row in run.rows() if row.counts]
    if not judged:
        raise UserError(f"{file.path} has no verdict of which anything could be checked: nothing to sample")
    strata = [stratum(row.score, row.value or 0.0, row.model) for row in judged]
    samples = [judged[place].number for place in draw(strata, size, seed)]
    row = {"configuration": run.configuration, "size": size, "seed": seed, "samples": json.dumps(samples)}
    with file.transaction():
        file.insert("plans", row | {"digest": row_digest("plans", row)}, "INSERT OR IGNORE")
    return make_plan(run, file, size, seed)  # as it is stored, also if another process was faster


def stored_plan(file: RunFile, configuration: int) -> SamplingPlan | None:
    """The last plan that was made for a configuration."""
    row = file.first(STORED, (configuration,))
    return SamplingPlan(file.read(row[1], tuple[int, ...]), row[0]) if row else None


def plan_words(plan: SamplingPlan) -> str:
    """What a plan is, and how precise agreement on it will be."""
    n = len(plan.samples)
    widths = [f"±{half_width(n, rho):.2f} if it is {rho:.1f}" for rho in SHOWN]
    about = f"{plural(n, 'verdict')}, stratified by score and model"
    return f"{about}: enough to measure Spearman's ρ to about {', '.join(widths)} (95 %)"


def agreement_words(correlation: float, n: int) -> str:
    """How well the judge agrees with people so far, how precisely that is known, and how many more would do."""
    now = half_width(n, correlation)
    if now <= WANTED:
        more = ""
    else:
        needed = size_for(WANTED, min(max(correlation, 0.0), 0.99))
        more = f"; about {max(1, needed - n)} more for ±{WANTED:.2f}"
    return f"Spearman's ρ with the judge is {correlation:.2f} ± {now:.2f} on {plural(n, 'verdict')}{more}"
