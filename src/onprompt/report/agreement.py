"""How well a judge agrees with people, beside how well one person agrees with the others."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.models.voices import EVIDENCE, shares
from onprompt.report import statistics
from onprompt.report.ratings import Ratings, leave_one_out, mean
from onprompt.report.statistics import DIGITS, Array, Estimate, Levels, Measure, rounded
from onprompt.report.tables import table_lines
from onprompt.runs.file import damaged
from onprompt.runs.reading import Run, RunRow, StoredVoices

TITLES = {
    "spearman": "Spearman ρ",
    "kendall_b": "Kendall τ-b",
    "kendall_c": "Kendall τ-c",
    "pair_accuracy": "pair accuracy",
    "auc": "AUC",
    "alpha": "Krippendorff α",
    "kappa": "quadratic κ",
}
PAIR_HEADER = ("Spearman ρ [95 % CI]", "pair accuracy [95 % CI]")
MIN_ITEMS = 3  # any correlation of two items is 1 or −1
CONSTANT = "one side is constant"
BESIDE = " + "  # between the names of voices that are taken together
MAX_VOICES = 100  # of a jury: every two of them are compared
VoiceScores = Mapping[str, tuple[float, float]]  # value and weight by voice


@dataclass(frozen=True, slots=True)
class Terms:
    """Both scales, the rating above which a sample is good, and how far apart the ratings of a pair must be."""

    scale: range
    human_scale: tuple[float, float] | None = None  # worst and best
    threshold: float | None = None  # by default the middle of the human scale
    apart: float = 0.33
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Subset:
    """The judge's estimates on some items, and those of one rater against the mean of the others."""

    items: int
    prompts: int
    judge: Mapping[str, Estimate]
    ceiling: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Estimates overall and by category, and how many items and ratings were excluded."""

    overall: Subset
    categories: Mapping[str, Subset]
    raters: int
    no_verdict: int
    no_rating: int
    no_item: int
    terms: Terms


@dataclass(frozen=True, slots=True)
class Statistic:
    """The mean of measures, of the judge or of each rater; its sample size, and why there is none."""

    n: int
    why: str
    measures: Sequence[Measure] = ()

    def __call__(self, weights: Array) -> Array:
        values = np.array([measure(weights) for measure in self.measures]).reshape(-1, len(weights))
        defined = np.isfinite(values)
        return statistics.ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0))

    def value(self, items: int) -> float:
        """The statistic of the items themselves, NaN where undefined."""
        return float(self(np.ones((1, items)))[0])


def agreement(items: Sequence[RunRow], ratings: Ratings, terms: Terms) -> Agreement:
    """A judge against people."""
    if terms.human_scale:
        low, high = terms.human_scale
        if not low < high:
            raise UserError(f"the human scale must go from a lower to a higher rating, not {low:g} to {high:g}")
        if terms.threshold is None:
            terms = replace(terms, threshold=(low + high) / 2)
    ids = {item.id for item in items}
    rated_ids = ratings.rated_ids(ids)
    validate(items, terms.scale)
    rated = [item for item in items if item.id in rated_ids]
    used = [item for item in rated if item.counts]
    names = sorted({item.category for item in used})
    categories = {
        name: estimate([item for item in used if item.category == name], ratings, terms)
        for name in (names if len(names) > 1 else ())
    }
    excluded = len(rated) - len(used), len(items) - len(rated), len(rated_ids - ids)
    return Agreement(estimate(used, ratings, terms), categories, len(ratings.raters), *excluded, terms)


def voice_values(run: Run) -> dict[str, dict[str, float]]:
    """Values by sample of each voice of a jury, each two, and all, where every voice gave a score: nothing is asked."""
    said: dict[str, VoiceScores] = {}
    with run.opened() as file:
        for name, document in run.documents():
            voices = file.read(document, StoredVoices).voices
            said[name] = {v.name: (v.value, v.weight) for v in voices if v.value is not None and v.weight > 0}
    names = list(dict.fromkeys(voice for voices in said.values() for voice in voices))
    if len(names) > MAX_VOICES:
        raise damaged(run.path, f"a jury of more than {MAX_VOICES} voices")
    complete = {sample: voices for sample, voices in said.items() if names and len(voices) == len(names)}
    sizes = sorted({1, 2, len(names)} & set(range(1, len(names) + 1)))
    return {
        BESIDE.join(chosen): {sample: joint_value(chosen, voices) for sample, voices in complete.items()}
        for size in sizes
        for chosen in combinations(names, size)
    }


def joint_value(chosen: Sequence[str], said: VoiceScores) -> float:
    """The value of some of the voices, by the weights that they have in the jury."""
    models = [name for name in chosen if name != EVIDENCE]
    if not models:
        return said[EVIDENCE][0]
    beside = [name for name in chosen if name == EVIDENCE]
    total = sum(weight for name, (_, weight) in said.items() if name != EVIDENCE)
    weights = shares([said[name][1] for name in models], said[EVIDENCE][1] / total if beside else 0.0)
    return sum(weight * said[name][0] for weight, name in zip(weights, (*models, *beside), strict=True))


def by_voice(
    items: Sequence[RunRow], values: Mapping[str, Mapping[str, float]], ratings: Ratings, terms: Terms
) -> dict[str, Subset]:
    """The estimates of each voice of a jury, and of several together, on the same items."""
    return {
        name: estimate(
            [
                replace(item, value=known[item.id], score=None, flags=())
                for item in items
                if item.id in known and ratings.by_item.get(item.id)
            ],
            ratings,
            replace(terms, human_scale=None, threshold=None),
        )
        for name, known in values.items()
    }


def validate(items: Sequence[RunRow], scale: range) -> None:
    """Reject duplicates and numbers off the scale."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise UserError(f"two items have the id {item.id!r}")
        if item.known_score is not None and item.known_score not in scale:
            raise UserError(f"item {item.id!r} has the score {item.score}, not {scale[0]} to {scale[-1]}")
        if item.known_value is not None and not math.isfinite(item.known_value):
            raise UserError(f"item {item.id!r} has the value {item.value}, not a finite number")
        seen.add(item.id)


def estimate(items: Sequence[RunRow], ratings: Ratings, terms: Terms) -> Subset:
    """All estimates on some items; judge and raters use the same resamples of prompts."""
    value = np.array([item.known_value for item in items], np.float64)
    score = np.array([math.nan if item.known_score is None else item.known_score for item in items])
    human = np.array([mean(ratings.by_item[item.id].values()) for item in items])
    names = [item.group for item in items]
    prompts = {name: index for index, name in enumerate(sorted(set(names)))}
    group = np.array([prompts[name] for name in names], np.intp)
    judge = prepare(value, score, human, group, terms)
    raters = [
        (places, prepare(own, to_scale(own, terms), others, group[places], terms))
        for places, own, others in leave_one_out(ratings, [item.id for item in items])
    ]
    ceiling = {name: average([(places, prepared[name]) for places, prepared in raters]) for name in TITLES}
    estimates = bootstrap([*judge.values(), *ceiling.values()], group, len(prompts), terms)
    sides = estimates[: len(TITLES)], estimates[len(TITLES) :]
    return Subset(len(items), len(prompts), *(dict(zip(TITLES, side, strict=True)) for side in sides))


def prepare(value: Array, score: Array, human: Array, group: Levels, terms: Terms) -> dict[str, Statistic]:
    """All statistics of a judge, or of a rater, against people."""
    n = len(value)
    if n < MIN_ITEMS:
        return dict.fromkeys(TITLES, Statistic(n, f"only {n} items"))
    accuracy, pairs = statistics.pair_accuracy(value, human, group, terms.apart)
    prepared = {
        "spearman": Statistic(n, CONSTANT, [statistics.spearman(value, human)]),
        "kendall_b": Statistic(n, CONSTANT, [statistics.kendall(value, human, "b")]),
        "kendall_c": Statistic(n, CONSTANT, [statistics.kendall(value, human, "c")]),
        "pair_accuracy": Statistic(pairs, f"no prompt has two items rated {terms.apart:g} apart", [accuracy]),
        "auc": Statistic(n, "needs --human-scale or --threshold"),
        **dict.fromkeys(("alpha", "kappa"), Statistic(n, "needs --human-scale")),
    }
    if terms.threshold is not None:
        why = f"all ratings are on one side of {terms.threshold:g}"
        prepared["auc"] = Statistic(n, why, [statistics.auc(value, human > terms.threshold)])
    if terms.human_scale:
        scored = np.flatnonzero(np.isfinite(score))
        levels, lowest = len(terms.scale), terms.scale[0]
        first, second = (side[scored] - lowest for side in (score, to_scale(human, terms)))
        why = CONSTANT if len(scored) else "the judge gives no scores"
        counts = np.eye(levels)[first.astype(np.intp)] + np.eye(levels)[second.astype(np.intp)]
        prepared["alpha"] = Statistic(len(scored), why, [among(scored, statistics.alpha(counts))])
        prepared["kappa"] = Statistic(len(scored), why, [among(scored, statistics.kappa(first, second))])
    return prepared


def to_scale(human: Array, terms: Terms) -> Array:
    """Ratings mapped linearly onto the rubric's scale and rounded, halves up."""
    if not terms.human_scale:
        return np.full(len(human), math.nan)
    low, high = terms.human_scale
    if len(outside := human[(human < low) | (human > high)]):
        raise UserError(f"a rating of {outside[0]:g} is outside the human scale, {low:g} to {high:g}")
    share = (human - low) / (high - low)
    mapped: Array = np.floor(np.round(share * (len(terms.scale) - 1), DIGITS) + 0.5) + terms.scale[0]
    return mapped


def among(places: Levels, measure: Measure) -> Measure:
    """The measure of some of the items, which are in order; all of them need no copy."""
    return lambda weights: measure(weights if len(places) == weights.shape[1] else weights[:, places])


def average(raters: Sequence[tuple[Levels, Statistic]]) -> Statistic:
    """The mean over the raters for whom a statistic is defined; n counts these."""
    measures = [among(places, rater) for places, rater in raters if math.isfinite(rater.value(len(places)))]
    if measures:
        return Statistic(len(measures), "", measures)
    return Statistic(0, raters[0][1].why if raters else "no item has two raters")


def bootstrap(prepared: Sequence[Statistic], group: Levels, prompts: int, terms: Terms) -> list[Estimate]:
    """Each statistic with its interval from resamples of whole prompts."""
    values = [statistic.value(len(group)) for statistic in prepared]
    defined = [index for index, value in enumerate(values) if math.isfinite(value)]
    draws: list[list[Array]] = [[] for _ in prepared]
    rounds = terms.resamples if defined and prompts > 1 else 0
    for drawn in statistics.bootstrap_weights(prompts, len(group), rounds, terms.seed):
        weights = drawn[:, group]
        for index in defined:
            draws[index].append(prepared[index](weights))
    estimates = [Estimate(n=statistic.n, why=statistic.why) for statistic in prepared]
    for index in defined:
        estimates[index] = statistics.bootstrap_estimate(values[index], draws[index], prompts, prepared[index].n)
    return estimates


def lines(agreement: Agreement) -> Iterator[str]:
    """The estimates as tables, the pair accuracy as a sentence, and how they were computed."""
    overall, terms = agreement.overall, agreement.terms
    yield f"{overall.items:,} samples of {overall.prompts:,} prompts, {agreement.raters:,} raters"
    unrated = f"{agreement.no_rating:,} without a rating; ratings of ids not in the run: {agreement.no_item:,}"
    yield f"excluded samples: {agreement.no_verdict:,} without a verdict, {unrated}"
    yield ""
    sides = ((title, overall.judge[name], overall.ceiling[name]) for name, title in TITLES.items())
    rows = ((title, str(judge), str(ceiling), judge.why or ceiling.why) for title, judge, ceiling in sides)
    yield from table_lines(("", "judge [95 % CI]", "one rater vs. the others [95 % CI]", ""), rows)
    if agreement.categories:
        yield ""
        subsets = (
            (name, f"{subset.items:,}", *pair_cells(subset.judge)) for name, subset in agreement.categories.items()
        )
        yield from table_lines(("", "samples", *PAIR_HEADER), subsets)
    judge, ceiling = overall.judge["pair_accuracy"], overall.ceiling["pair_accuracy"]
    if judge.value is not None:
        rater = "" if ceiling.value is None else f"; one rater agrees with the others on {100 * ceiling.value:.0f} %"
        yield f"\nThe judge agrees with people on {100 * judge.value:.0f} % of pairs{rater}."
    yield f"\npair accuracy: over pairs of samples of one prompt, rated at least {terms.apart:g} apart; ties count half"
    yield f"CI: {terms.resamples:,} bootstrap resamples of prompts"
    if terms.threshold is not None:
        yield f"AUC: samples rated above {terms.threshold:g} against the others"
    if terms.human_scale:
        low, high = terms.human_scale
        scale = f"{terms.scale[0]} to {terms.scale[-1]}"
        yield f"α (ordinal) and κ: ratings of {low:g} to {high:g} mapped linearly to {scale} and rounded"


def voice_lines(voices: Mapping[str, Subset]) -> Iterator[str]:
    """Voices side by side, the best first, beside one rater against the others."""
    ranked = sorted(voices.items(), key=lambda entry: -(entry[1].judge["spearman"].value or 0.0))
    first = next(iter(voices.values()))
    yield ""
    rows = [(name, *pair_cells(subset.judge)) for name, subset in ranked]
    rows.append(("one rater vs. the others", *pair_cells(first.ceiling)))
    yield from table_lines((f"{first.items:,} samples scored by all", *PAIR_HEADER), rows)
    if two := best_two(voices):
        everyone = max(voices, key=lambda name: name.count(BESIDE))
        few, many = (voices[name].judge["spearman"] for name in (two, everyone))
        yield f"\nThe best two are {two}: Spearman {few}, by all {everyone.count(BESIDE) + 1} voices {many}."


def best_two(voices: Mapping[str, Subset]) -> str:
    """The two voices that agree best with people, if there are more than two."""
    found = {name: subset.judge["spearman"].value for name, subset in voices.items() if name.count(BESIDE) == 1}
    defined = {name: value for name, value in found.items() if value is not None}
    return max(defined, key=defined.__getitem__) if len(found) > 1 and defined else ""


def check_lines(corrected: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """How many of the answered checks people corrected, by kind, with Wilson's interval of the share confirmed."""
    if not corrected:
        return
    yield ""
    rows = []
    for kind, (seen, wrong) in sorted(corrected.items()):
        low, high = statistics.wilson(seen - wrong, seen)
        rows.append((kind, f"{seen:,}", f"{wrong:,}", f"{(seen - wrong) / seen:.3f} [{low:.3f}, {high:.3f}]"))
    yield from table_lines(("checks", "answered", "corrected", "confirmed [95 % CI]"), rows)


def pair_cells(estimates: Mapping[str, Estimate]) -> tuple[str, str]:
    """The two figures of a narrow table."""
    return str(estimates["spearman"]), str(estimates["pair_accuracy"])


def document(
    agreement: Agreement,
    voices: Mapping[str, Subset] | None = None,
    corrected: Mapping[str, tuple[int, int]] | None = None,
) -> dict[str, Any]:
    """JSON."""
    by_name = {name: asdict(subset, dict_factory=rounded) for name, subset in (voices or {}).items()}
    scale, categories = agreement.terms.scale, agreement.categories.items()
    return {
        "format": "onprompt.agreement/1",
        **{name: getattr(agreement, name) for name in ("raters", "no_verdict", "no_rating", "no_item")},
        "terms": asdict(agreement.terms) | {"scale": [scale[0], scale[-1]]},
        "overall": asdict(agreement.overall, dict_factory=rounded),
        "categories": {name: asdict(subset, dict_factory=rounded) for name, subset in categories},
        **({"voices": by_name, "best_two": best_two(voices or {}) or None} if by_name else {}),
        **({"checks": {kind: {"seen": n, "corrected": k} for kind, (n, k) in corrected.items()}} if corrected else {}),
    }
