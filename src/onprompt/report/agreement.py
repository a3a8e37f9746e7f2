"""How well a judge agrees with people, beside how well one person agrees with the others."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from onprompt.errors import UserError
from onprompt.report import statistics
from onprompt.report.ratings import Ratings, leave_one_out, mean
from onprompt.report.statistics import (
    CONSTANT,
    DIGITS,
    MIN_ITEMS,
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    Levels,
    Measure,
    Statistic,
    rounded,
    to_groups,
)
from onprompt.report.tables import table_lines
from onprompt.runs.reading import CheckRow, Run, RunRow
from onprompt.types import Outcome
from onprompt.wording import plural

TITLES = {
    "spearman": "Spearman ρ",
    "kendall_b": "Kendall τ-b",
    "kendall_c": "Kendall τ-c",
    "pair_accuracy": "pair accuracy",
    "auc": "AUC",
    "kappa": "quadratic κ",
}
PARTS = {  # parts of the samples or of their verdicts, with the title of the column that names them
    "categories": "category",
    "factors": "factor (its score)",
    "kinds": "kind of claim (its mean probability)",
    "certain": "most certain (narrowest intervals)",
    "voices": "voice of the jury (where all have a score)",
}
CERTAIN = (0.2, 0.4, 0.6, 0.8, 1.0)  # shares of the samples, those with the narrowest intervals first
NARROW = ("spearman", "pair_accuracy")  # the figures of a part
NARROW_HEADER = ("Spearman ρ [95 % CI]", "pair accuracy [95 % CI]")
Corrected = Mapping[str, tuple[int, int]]  # checks that people answered, and corrected, by kind


@dataclass(frozen=True, slots=True)
class Terms:
    """Both scales, and how far apart the ratings of a pair must be."""

    scale: range
    human_scale: tuple[float, float] | None = None  # worst and best
    apart: float = 0.33

    @property
    def threshold(self) -> float | None:
        """The rating above which a sample is good: the middle of the human scale."""
        return sum(self.human_scale) / 2 if self.human_scale else None


@dataclass(frozen=True, slots=True)
class Subset:
    """The judge's estimates on some items, and where it was asked for those of one rater against the others."""

    items: int
    prompts: int
    judge: Mapping[str, Estimate]
    ceiling: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Estimates overall and of parts of the items, and how many items and ratings were excluded."""

    overall: Subset
    raters: int
    no_verdict: int
    no_rating: int
    no_item: int
    terms: Terms
    parts: Mapping[str, Mapping[str, Subset]]  # by name of `PARTS`, those that there are


def agreement(
    items: Sequence[RunRow],
    ratings: Ratings,
    terms: Terms,
    checks: Iterable[CheckRow] = (),
    of_factors: Mapping[str, Ratings] | None = None,
    voices: Mapping[str, Mapping[str, float]] | None = None,
) -> Agreement:
    """A judge against people; kinds of claims by the checks, factors by their own ratings where people gave any.

    `voices` are the values of each voice of a jury by sample.
    """
    low, high = terms.human_scale or (0.0, 1.0)
    if not low < high:
        raise UserError(f"the human scale must go from a lower to a higher rating, not {low:g} to {high:g}")
    ids = {item.id for item in items}
    rated_ids = ratings.rated_ids(ids)
    if wrong := [item for item in items if item.known_score is not None and item.known_score not in terms.scale]:
        scale = f"{terms.scale[0]} to {terms.scale[-1]}"
        raise UserError(f"item {wrong[0].id!r} has the score {wrong[0].score}, not {scale}")
    rated = [item for item in items if item.id in rated_ids]
    used = [item for item in rated if item.counts]
    figures = RatedItems(used, ratings, terms)
    parts = {
        "categories": by_category(figures),
        "factors": by_factor(figures, of_factors or {}),
        "kinds": by_kind(figures, checks),
        "certain": by_certainty(figures),
        "voices": by_voice(figures, voices or {}),
    }
    return Agreement(
        overall=figures.overall(),
        raters=len(ratings.raters),
        no_verdict=len(rated) - len(used),
        no_rating=len(items) - len(rated),
        no_item=len(rated_ids - ids),
        terms=terms,
        parts={name: part for name, part in parts.items() if part},
    )


class RatedItems:
    """Items with the means of their ratings, what each rater and the others say of them, and their prompts."""

    def __init__(self, items: Sequence[RunRow], ratings: Ratings, terms: Terms) -> None:
        self.items, self.terms = items, terms
        self.value = np.array([item.known_value for item in items], np.float64)
        self.score = np.array([math.nan if item.known_score is None else item.known_score for item in items])
        self.human = np.array([mean(ratings.by_item[item.id].values()) for item in items])
        self.group = to_groups([item.group for item in items])
        self.raters = leave_one_out(ratings, [item.id for item in items])

    def overall(self) -> Subset:
        """All estimates on all items; judge and raters use the same resamples."""
        names = tuple(TITLES)

        def statistics_on(part: Levels) -> list[Statistic]:
            group = self.group[part]
            judge = prepare(self.value[part], self.score[part], self.human[part], group, self.terms)
            found = []
            for own, others in self.raters:
                known = np.flatnonzero(np.isfinite(own[part]))
                given, rest = own[part][known], others[part][known]
                found.append((known, prepare(given, to_scale(given, self.terms), rest, group[known], self.terms)))
            ceiling = [average([(places, each[name]) for places, each in found]) for name in names]
            return [*(judge[name] for name in names), *ceiling]

        found = statistics.estimates(statistics_on, self.group)
        judge, ceiling = (dict(zip(names, side, strict=False)) for side in (found, found[len(names) :]))
        return Subset(len(self.items), len(set(self.group)), judge, ceiling)

    def part(self, values: Mapping[str, float]) -> Subset:
        """The narrow estimates on the items that have one of these values, by id, in place of the judge's."""
        chosen = np.array([place for place, item in enumerate(self.items) if item.id in values], np.intp)
        value = np.array([values[self.items[place].id] for place in chosen])
        human, prompts = self.human[chosen], np.unique(self.group[chosen], return_inverse=True)[1].astype(np.intp)

        def statistics_on(part: Levels) -> list[Statistic]:
            found = prepare_narrow(value[part], human[part], prompts[part], self.terms)
            return [found[name] for name in NARROW]

        judge = dict(zip(NARROW, statistics.estimates(statistics_on, prompts), strict=True))
        return Subset(len(chosen), int(prompts.max(initial=-1)) + 1, judge, {})


def by_category(figures: RatedItems) -> dict[str, Subset]:
    """The judge on the samples of each category, if there are several."""
    values: dict[str, dict[str, float]] = {}
    for item in figures.items:
        values.setdefault(item.category, {})[item.id] = item.known_value or 0.0
    return {name: figures.part(values[name]) for name in (sorted(values) if len(values) > 1 else ())}


def by_factor(figures: RatedItems, own: Mapping[str, Ratings]) -> dict[str, Subset]:
    """The scores of each factor against people's, if there are several; by overall ratings without those of factors."""
    names = sorted({name for item in figures.items for name in item.factors})
    found = {}
    for name in names if len(names) > 1 else ():
        scored = [item for item in figures.items if name in item.factors]
        of_factor = figures
        if name in own:
            scored = [item for item in scored if own[name].by_item.get(item.id)]
            of_factor = RatedItems(scored, own[name], figures.terms)
        found[name] = of_factor.part({item.id: item.factors[name] for item in scored})
    return found


def by_kind(figures: RatedItems, checks: Iterable[CheckRow]) -> dict[str, Subset]:
    """The mean probability of a sample's claims of a kind, less those that could not be verified, against people."""
    ids = {item.number: item.id for item in figures.items}
    found: dict[str, dict[str, list[float]]] = {}
    for check in checks:
        if check.sample in ids and check.outcome != Outcome.UNVERIFIABLE:
            found.setdefault(check.kind, {}).setdefault(ids[check.sample], []).append(check.probability)
    kinds = sorted(found, key=lambda kind: (-len(found[kind]), kind))
    return {k: figures.part({name: math.fsum(each) / len(each) for name, each in found[k].items()}) for k in kinds}


def by_certainty(figures: RatedItems) -> dict[str, Subset]:
    """The estimates on the samples of which the judge is most certain: a risk–coverage curve."""
    widths = {i.id: i.high - i.low for i in figures.items if i.low is not None and i.high is not None}
    narrowest, values = sorted(widths, key=widths.__getitem__), {i.id: i.known_value or 0.0 for i in figures.items}
    return {
        f"{share:.0%}": figures.part({name: values[name] for name in narrowest[: math.ceil(share * len(narrowest))]})
        for share in (CERTAIN if len(narrowest) >= MIN_ITEMS / CERTAIN[0] else ())
    }


def voice_values(run: Run) -> dict[str, dict[str, float]]:
    """The values of each voice of a jury by sample; nothing is asked."""
    found: dict[str, dict[str, float]] = {}
    for _, sample, heard in run.documents() if "members" in run.identity else ():
        for voice in heard.voices:
            if voice.value is not None and voice.weight:
                found.setdefault(voice.name, {})[sample] = voice.value
    return found


def by_voice(figures: RatedItems, voices: Mapping[str, Mapping[str, float]]) -> dict[str, Subset]:
    """Each voice of a jury, and the jury, on the samples that all voices scored."""
    shared = set.intersection(*(set(known) for known in voices.values())) if voices else set()
    jury = {item.id: item.known_value or 0.0 for item in figures.items if item.id in shared}
    sides = {**voices, "the jury": jury} if jury else {}
    return {name: figures.part({item: known[item] for item in jury}) for name, known in sides.items()}


def prepare_narrow(value: Array, human: Array, group: Levels, terms: Terms) -> dict[str, Statistic]:
    """How a judge, or a rater, orders items, against people."""
    n = len(value)
    if n < MIN_ITEMS:
        return dict.fromkeys(TITLES, Statistic(n, f"only {n} items"))
    accuracy, pairs = statistics.pair_accuracy(value, human, group, terms.apart)
    return {
        "spearman": Statistic(n, CONSTANT, [statistics.spearman(value, human)]),
        "pair_accuracy": Statistic(pairs, f"no prompt has two items rated {terms.apart:g} apart", [accuracy]),
    }


def prepare(value: Array, score: Array, human: Array, group: Levels, terms: Terms) -> dict[str, Statistic]:
    """All statistics of a judge, or of a rater, against people."""
    n, prepared = len(value), prepare_narrow(value, human, group, terms)
    if n < MIN_ITEMS:
        return prepared
    prepared |= {
        "kendall_b": Statistic(n, CONSTANT, [statistics.kendall(value, human, "b")]),
        "kendall_c": Statistic(n, CONSTANT, [statistics.kendall(value, human, "c")]),
        **dict.fromkeys(("auc", "kappa"), Statistic(n, "needs --human-scale")),
    }
    if terms.threshold is not None:
        why = f"all ratings are on one side of {terms.threshold:g}"
        prepared["auc"] = Statistic(n, why, [statistics.auc(value, human > terms.threshold)])
        scored = np.flatnonzero(np.isfinite(score))
        first, second = (side[scored] for side in (score, to_scale(human, terms)))
        why = CONSTANT if len(scored) else "the judge gives no scores"
        prepared["kappa"] = Statistic(len(scored), why, [weighted(scored, statistics.kappa(first, second))])
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


def weighted(places: Levels, measure: Measure) -> Measure:
    """The measure of some of the items, which are in order; all of them need no copy."""
    return lambda weights: measure(weights if len(places) == weights.shape[1] else weights[:, places])


def average(raters: Sequence[tuple[Levels, Statistic]]) -> Statistic:
    """The mean over the raters for whom a statistic is defined; n counts these."""
    measures = [weighted(places, rater) for places, rater in raters if math.isfinite(rater.value(len(places)))]
    if measures:
        return Statistic(len(measures), "", measures)
    return Statistic(0, raters[0][1].why if raters else "no item has two raters")


def lines(agreement: Agreement, corrected: Corrected | None = None) -> Iterator[str]:
    """The estimates as tables, how they were computed, and what people corrected."""
    overall, terms = agreement.overall, agreement.terms
    number, raters = plural(overall.items, "sample"), plural(agreement.raters, "rater")
    yield f"{number} of {plural(overall.prompts, 'prompt')}, {raters}"
    samples = (("without a verdict", agreement.no_verdict), ("without a rating", agreement.no_rating))
    left_out = [f"{plural(number, 'sample')} {why}" for why, number in samples if number]
    left_out += [f"ratings of {plural(agreement.no_item, 'id')} not in the run"] if agreement.no_item else []
    if left_out:
        yield f"left out: {', '.join(left_out)}"
    yield ""
    sides = [(title, overall.judge[name], overall.ceiling[name]) for name, title in TITLES.items()]
    rows = [(title, str(judge), str(ceiling), judge.why or ceiling.why) for title, judge, ceiling in sides]
    yield from table_lines(("", "judge [95 % CI]", "one rater vs. the others [95 % CI]", ""), rows)
    for title, part in agreement.parts.items():
        known = {name: subset for name, subset in part.items() if subset.judge["spearman"].value is not None}
        if known:
            yield ""
            cells = [(name, f"{s.items:,}", *(str(s.judge[each]) for each in NARROW)) for name, s in known.items()]
            yield from table_lines((PARTS[title], "samples", *NARROW_HEADER), cells)
    judge, ceiling = overall.judge["pair_accuracy"], overall.ceiling["pair_accuracy"]
    if judge.value is not None:
        rater = "" if ceiling.value is None else f"; one rater agrees with the others on {100 * ceiling.value:.0f} %"
        yield f"\nThe judge agrees with people on {100 * judge.value:.0f} % of {judge.n:,} pairs{rater}."
    yield f"\npair accuracy: over pairs of samples of one prompt, rated at least {terms.apart:g} apart; ties count half"
    parts, resamples = (f"{statistics.BLOCKS} equal parts", f"{RESAMPLES:,} bootstrap resamples")
    yield f"CI: by {parts if statistics.in_blocks(overall.items, overall.prompts) else resamples} of the prompts"
    if terms.human_scale:
        low, high = terms.human_scale
        yield f"AUC: does the judge tell samples rated above {terms.threshold:g} from the others?"
        scale = f"{terms.scale[0]} to {terms.scale[-1]}"
        yield f"κ: ratings of {low:g} to {high:g} mapped linearly to {scale} and rounded"
    if corrected:
        yield from check_lines(corrected)


def check_lines(corrected: Corrected) -> Iterator[str]:
    """How many of the answered checks people corrected, by kind, with Wilson's interval of the share confirmed."""
    yield ""
    rows = []
    for kind, (seen, wrong) in sorted(corrected.items()):
        low, high = statistics.wilson(seen - wrong, seen)
        rows.append((kind, f"{seen:,}", f"{wrong:,}", f"{(seen - wrong) / seen:.3f} [{low:.3f}, {high:.3f}]"))
    yield from table_lines(("kind of claim", "answered", "corrected", "confirmed [95 % CI]"), rows)


def document(agreement: Agreement, corrected: Corrected | None = None) -> dict[str, Any]:
    """JSON."""
    scale, entry = agreement.terms.scale, asdict(agreement, dict_factory=rounded)
    return {
        "format": "onprompt.agreement/1",
        **{name: entry[name] for name in ("raters", "no_verdict", "no_rating", "no_item", "overall")},
        "terms": {
            "scale": [scale[0], scale[-1]],
            **{name: getattr(agreement.terms, name) for name in ("human_scale", "threshold", "apart")},
            **{"resamples": RESAMPLES, "seed": SEED},
        },
        **entry["parts"],
        **({"checks": {kind: {"seen": n, "corrected": k} for kind, (n, k) in corrected.items()}} if corrected else {}),
    }
