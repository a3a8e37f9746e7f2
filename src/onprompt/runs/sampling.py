"""A sampling plan: which verdicts people review, so that agreement is known to a wanted precision.

Each stratum, a score by a model, has its share of the plan, so that figures on the sample hold for the whole run
without weights. The plan is stored in the run file: all raters get the same samples, in the same random order, and
whoever stops early has still reviewed a random part.
"""

import json
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from onprompt.errors import UserError
from onprompt.runs.checksums import row_checksum
from onprompt.runs.findings import NOTHING_CHECKED
from onprompt.runs.ledger import Ledger
from onprompt.runs.reviews import ReviewLedger, has_reviews
from onprompt.wording import plural

NORMAL = 1.959964  # the 97.5th percentile
SMALLEST = 5  # samples of which an interval can be computed
EXPECTED = 0.7  # Spearman's ρ that is assumed where nothing is known yet
MOST = 0.999  # a correlation that is taken for perfect
SHOWN = (0.6, 0.7, 0.8)  # correlations for which the precision of a plan is stated
WANTED = 0.1  # the precision that reviewers are told about
BANDS = 5  # of `value`, where a rubric has no overall score
POPULATION = f"""SELECT v.sample, v.score, v.value, s.model FROM verdicts v
JOIN samples s ON s.number = v.sample AND NOT s.gone AND s.version = v.of
WHERE v.generation = ? AND instr(v.flags, '{NOTHING_CHECKED}') = 0 ORDER BY v.sample"""  # noqa: S608
STORED = "SELECT size, seed, samples FROM plans WHERE generation = ? ORDER BY id DESC LIMIT 1"
SAME = "SELECT id, samples FROM plans WHERE generation = ? AND size = ? AND seed = ?"


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


def make_plan(ledger: ReviewLedger, generation: int, size: int, seed: int = 0) -> SamplingPlan:
    """The plan of a size and a seed: the stored one or, if there is none, a new one."""
    if stored := ledger.first(SAME, (generation, size, seed)):
        return SamplingPlan(ledger.read(stored[1], tuple[int, ...]), seed)
    judged = list(ledger.query(POPULATION, (generation,)))
    if not judged:
        raise UserError(f"{ledger.path} has no verdict of which anything could be checked: nothing to sample")
    strata = [(int(value * BANDS) if score is None else score, model) for _, score, value, model in judged]
    samples = tuple(judged[place][0] for place in draw(strata, size, seed))
    row = {"generation": generation, "size": size, "seed": seed, "samples": json.dumps(samples)}
    row["sum"] = row_checksum("plans", row)
    with ledger.transaction():
        ledger.database.execute(
            "INSERT OR IGNORE INTO plans (generation, size, seed, samples, sum) "
            "VALUES (:generation, :size, :seed, :samples, :sum)",
            row,
        )
    return make_plan(ledger, generation, size, seed)  # as it is stored, also if another process was faster


def stored_plan(ledger: Ledger, generation: int) -> SamplingPlan | None:
    """The last plan that was made for a generation."""
    row = ledger.first(STORED, (generation,)) if has_reviews(ledger) else ()
    return SamplingPlan(ledger.read(row[2], tuple[int, ...]), row[1]) if row else None


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
