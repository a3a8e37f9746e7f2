"""Means of a run by group; which system is better: a ranking, and a paired test of every two.

A mean is over prompts, a prompt's value the mean over its samples; what has no verdict, or nothing that could be
checked, is in no mean, and counted. Two systems are compared on common prompts only, and there on common ids if there
are any; without a common prompt they are not compared, since the prompts might make the difference. Intervals are not
corrected for multiple comparisons; p-values are. Judges of the same images are no systems: they are set side by side,
and which of them is right is for people to say.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from onprompt.errors import UserError
from onprompt.report.statistics import (
    CELLS,
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    correlation,
    mean_of,
    mean_over_prompts,
    rounded,
)
from onprompt.report.tables import Table, table_lines
from onprompt.runs.reading import RunRow
from onprompt.wording import plural

FLIPS = 20_000  # combinations of signs that a test takes: all that there are, if they are fewer
SIGNIFICANCE = 0.05
TOLERANCE = 1e-9  # smaller differences are ties: the order of summation makes no winner

NONE = "(none)"  # the name of a group of samples that name no model or no category

Values = dict[str, dict[str, float]]  # by prompt, by id


@dataclass(frozen=True, slots=True)
class Group:
    """Some samples of a run, such as those of a model; the estimates' n counts prompts."""

    name: str
    mean: Estimate  # of the values
    score: Estimate
    items: int
    no_verdict: int


def by_group(items: Sequence[RunRow], names: Iterable[str]) -> list[Group]:
    """The items by name, the best group first."""
    groups: dict[str, list[RunRow]] = {}
    for item, name in zip(items, names, strict=True):
        groups.setdefault(name or NONE, []).append(item)
    return ranking([make_group(name, members) for name, members in groups.items()])


def ranking(groups: Iterable[Group]) -> list[Group]:
    """The groups, the best first."""
    return sorted(groups, key=lambda group: -math.inf if group.mean.value is None else group.mean.value, reverse=True)


def make_group(name: str, items: Sequence[RunRow]) -> Group:
    """The means of some items."""
    judged = [item for item in items if item.counts]
    values = mean_over_prompts((item.group, item.value) for item in judged if item.value is not None)
    scores = mean_over_prompts((item.group, item.score) for item in judged if item.score is not None)
    return Group(name, values, scores, len(judged), len(items) - len(judged))


def group_table(
    title: str,
    groups: Iterable[Group],
    digits: int = 3,
    ranks: Mapping[str, int] | None = None,
    judges: Mapping[str, str] | None = None,
) -> Table:
    """Groups with their means, and of how many prompts and samples; by their names also the rank, or who judged."""
    head = [*(["rank"] if ranks else []), title, *(["judge"] if judges else [])]
    rows = []
    for group in groups:
        name = [*([str(ranks[group.name])] if ranks else []), group.name, *([judges[group.name]] if judges else [])]
        counts = (f"{count:,}" for count in (group.mean.n, group.items, group.no_verdict))
        rows.append([*name, group.mean.words(digits), group.score.words(digits), *counts])
    return Table([*head, "mean value [95 % CI]", "mean score [95 % CI]", "prompts", "samples", "no verdict"], rows)


def group_lines(groups: Sequence[Group], title: str) -> Iterator[str]:
    """A table of groups."""
    table = group_table(title, groups)
    yield from table_lines(table.head, table.rows)
    yield "\nMeans and intervals are over prompts. Samples without a verdict, or with nothing to check, are left out."


def group_document(groups: Sequence[Group], by: str) -> dict[str, Any]:
    """JSON."""
    renamed = {"mean": "value", "items": "samples"}
    entries = [{renamed.get(key, key): each for key, each in asdict(g, dict_factory=rounded).items()} for g in groups]
    return {"format": "onprompt.breakdown/1", "by": by, "groups": entries}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, the better one first, with the mean difference; `p` is None without a common prompt."""

    better: str
    worse: str
    effect: Estimate
    p_alone: float | None = None
    p: float | None = None  # corrected
    wins: int = 0
    ties: int = 0
    losses: int = 0

    @property
    def significant(self) -> bool:
        """Whether the difference is significant after correction."""
        return self.p is not None and self.p < SIGNIFICANCE

    @property
    def verdict(self) -> str:
        """`A is better than B (+0.080 [0.050, 0.110], p = .003)`."""
        if self.p is None:
            return f"{self.better} and {self.worse} are not compared: {self.effect.why}"
        numbers = f"(+{self.effect}, {format_p(self.p)})"
        if self.significant:
            return f"{self.better} is better than {self.worse} {numbers}"
        return f"no significant difference between {self.better} and {self.worse} {numbers}"

    def document(self) -> dict[str, Any]:
        """JSON."""
        p_values = {name: p and round(p, 6) for name, p in (("p_alone", self.p_alone), ("p", self.p))}
        return asdict(self, dict_factory=rounded) | p_values | {"shown": self.significant, "verdict": self.verdict}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The systems, best first, and every two of them."""

    ranking: tuple[Group, ...]
    pairs: tuple[Pair, ...]
    warnings: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from onprompt.report import notebook

        return notebook.comparison_html(self)


ByCategory = Mapping[str, Comparison]  # the only name is "" where all categories are compared together


def judge_warnings(judges: Iterable[str]) -> tuple[str, ...]:
    """What to know of runs by different judges."""
    names = sorted(set(judges))
    if len(names) < 2:
        return ()
    return (f"these runs are by different judges, whose values differ in meaning: {', '.join(names)}",)


def systems(runs: Mapping[str, Sequence[RunRow]], by_model: bool = False) -> dict[str, list[RunRow]]:
    """The runs, or the models in them; a model in several runs is one system per run."""
    if not by_model:
        return {name: list(items) for name, items in runs.items()}
    # An unreadable row has neither a model nor a value.
    runs = {run: [item for item in items if item.model or item.known_value is not None] for run, items in runs.items()}
    counts = Counter(model for items in runs.values() for model in {item.model for item in items})
    if "" in counts:
        raise UserError("can't compare models: some samples don't name the model that made the image")
    by_name: dict[str, list[RunRow]] = {}
    for run, items in runs.items():
        for item in items:
            by_name.setdefault(item.model if counts[item.model] == 1 else f"{item.model} ({run})", []).append(item)
    return by_name


def compare(items: Mapping[str, Sequence[RunRow]], warnings: Sequence[str] = ()) -> Comparison:
    """Rank systems by their items, and test every two."""
    if len(items) < 2:
        found = f"only {next(iter(items))!r}" if items else "nothing"
        raise UserError(f"{found} to compare: name another run, or use --by model or --by configuration")
    values = {name: by_prompt(name, judged) for name, judged in items.items()}
    ranked = ranking(make_group(name, judged) for name, judged in items.items())
    names = list(itertools.combinations([system.name for system in ranked], 2))
    differences = [paired_differences(values[first], values[second]) for first, second in names]
    p_alone = sign_flip_tests(differences, SEED)
    pairs = tuple(pair(*test) for test in zip(names, differences, p_alone, holm(p_alone), strict=True))
    differ = "the systems have different prompts: each is ranked by all of its own, and tested on the common ones"
    same_prompts = len({frozenset(prompts) for prompts in values.values()}) == 1
    return Comparison(tuple(ranked), pairs, (*warnings, *([] if same_prompts else [differ])))


def compare_categories(items: Mapping[str, Sequence[RunRow]], warnings: Sequence[str] = ()) -> ByCategory:
    """A comparison within each category that two systems have; p-values are corrected for all of them together."""
    names = sorted({item.category for judged in items.values() for item in judged})
    if names in ([], [""]):
        raise UserError("can't compare by category: no sample names one (column 'category', 'tag' or 'type')")
    found = {}
    for category in names:
        own = {name: [item for item in judged if item.category == category] for name, judged in items.items()}
        if sum(map(bool, own.values())) > 1:
            found[category or NONE] = compare({name: judged for name, judged in own.items() if judged}, warnings)
    if not found:
        raise UserError("can't compare by category: no category has samples of two systems")
    tested = [pair for result in found.values() for pair in result.pairs if pair.p_alone is not None]
    corrected = iter(holm(np.array([pair.p_alone for pair in tested])).tolist())
    for name, result in found.items():
        pairs = (pair if pair.p_alone is None else replace(pair, p=next(corrected)) for pair in result.pairs)
        found[name] = replace(result, pairs=tuple(pairs))
    return found


def by_prompt(name: str, items: Sequence[RunRow]) -> Values:
    """A system's values; an item without a prompt is a prompt of its own."""
    values: Values = {}
    for item in items:
        if item.known_value is not None:
            prompt = values.setdefault(item.group, {})
            if item.id in prompt:
                raise UserError(f"{name}: two items have the id {item.id!r}")
            prompt[item.id] = item.known_value
    return values


def paired_differences(first: Values, second: Values) -> dict[str, float]:
    """By common prompt how much higher the first system is: on common ids, or on all if there are none."""
    differences = {}
    for prompt in sorted(first.keys() & second.keys()):
        left, right = first[prompt], second[prompt]
        common = sorted(left.keys() & right.keys())
        lefts, rights = ([side[key] for key in common or sorted(side)] for side in (left, right))
        difference = math.fsum(lefts) / len(lefts) - math.fsum(rights) / len(rights)
        differences[prompt] = 0.0 if abs(difference) < TOLERANCE else difference
    return differences


def pair(names: tuple[str, str], by_prompt: Mapping[str, float], p_alone: float, p: float) -> Pair:
    """Two systems, in the order that makes the effect positive."""
    if not by_prompt:
        return Pair(*names, Estimate(why="they have no prompt in common"))
    differences = np.array(list(by_prompt.values()))
    if differences.mean() < 0:
        names, differences = (names[1], names[0]), -differences
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    ties = len(differences) - wins - losses
    return Pair(*names, mean_of(differences), float(p_alone), float(p), wins, ties, losses)


def sign_flip_tests(differences: Sequence[Mapping[str, float]], seed: int) -> Array:
    """The p-value of each pair's paired permutation test: how many sums are as far from 0; NaN without a common prompt.

    The signs are the same for all pairs, to which a prompt that a pair does not have adds nothing.
    """
    prompts = sorted({prompt for by_prompt in differences for prompt in by_prompt})
    table = np.array([[by_prompt.get(prompt, 0.0) for by_prompt in differences] for prompt in prompts])
    extreme, number, observed = np.zeros(len(differences)), 0, np.abs(table.sum(axis=0))
    for signs in signs_of(len(prompts), seed) if prompts else ():
        extreme += (np.abs(signs @ table) >= observed - TOLERANCE).sum(axis=0)
        number += len(signs)
    return np.where([bool(each) for each in differences], extreme / max(number, 1), math.nan)


def signs_of(prompts: int, seed: int) -> Iterator[Array]:
    """All combinations of signs, a row each; of many prompts the observed one, and random ones in batches."""
    if 2**prompts <= FLIPS:
        bits = np.arange(2**prompts)[:, None] >> np.arange(prompts) & 1
        yield (1 - 2 * bits).astype(np.float64)
        return
    yield np.ones((1, prompts))
    generator, rows = np.random.default_rng(seed), max(1, CELLS // prompts)
    for start in range(0, FLIPS, rows):
        bits = generator.integers(2, size=(min(rows, FLIPS - start), prompts), dtype=np.int8)
        yield (1 - 2 * bits).astype(np.float64)


def holm(p_values: Array) -> Array:
    """Holm's step-down correction (1979); NaN stays NaN and is no test."""
    order = np.argsort(p_values)  # NaN last
    factors = np.isfinite(p_values).sum() - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return corrected


def format_p(p: float) -> str:
    """`p = .003`, `p < .001`."""
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.{3 if p < 0.1 else 2}f}".replace("0.", ".")


def ranking_table(compared: Comparison, title: str = "", most: int = 20) -> Table:
    """Systems, the best first, and what the tests say; of many pairs only the first."""
    table = group_table("name", compared.ranking, 2, ranks(compared))
    more = [f"and {len(compared.pairs) - most} more"] if len(compared.pairs) > most else []
    return table._replace(title=title, notes=[*(pair.verdict for pair in compared.pairs[:most]), *more])


def lines(comparisons: ByCategory) -> Iterator[str]:
    """The ranking and every two systems of each category, warnings, and how the figures were made."""
    for name, comparison in comparisons.items():
        yield from [f"{name}:"] if name else []
        table = group_table("", comparison.ranking, ranks=ranks(comparison))
        yield from table_lines(table.head, table.rows)
        yield ""
        for pair in comparison.pairs:
            counted = f": wins {pair.wins}, ties {pair.ties}, losses {pair.losses}" if pair.effect.n else ""
            yield f"{pair.verdict}{counted}"
        yield from [""] if name else []
    warnings = dict.fromkeys(warning for comparison in comparisons.values() for warning in comparison.warnings)
    yield from (f"warning: {warning}" for warning in warnings)
    tested = sum(pair.p is not None for comparison in comparisons.values() for pair in comparison.pairs)
    yield f"\np: sign-flip test on common prompts, Holm-corrected (pairs: {tested}); significant below {SIGNIFICANCE}"
    yield "CI: bootstrap over prompts, not corrected for the number of pairs"


def document(comparison: Comparison) -> dict[str, Any]:
    """JSON."""
    entry = {"format": "onprompt.comparison/1"} | asdict(comparison, dict_factory=rounded)
    pairs = [pair.document() for pair in comparison.pairs]
    return entry | {"pairs": pairs, "resamples": RESAMPLES, "seed": SEED}


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges on the samples for which both have a value: the correlation, and how much higher the second is."""

    first: str
    second: str
    samples: int
    spearman: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Judges of the same images, in the order in which they were given, and every two of them."""

    judges: Mapping[str, str]  # who judged, by the name of the run
    means: tuple[Group, ...]
    pairs: tuple[JudgePair, ...]

    @classmethod
    def of(cls, judges: Mapping[str, str], items: Mapping[str, Sequence[RunRow]]) -> Self:
        """Judges side by side, by the rows of their runs: nobody is ranked."""
        pairs = (judge_pair(*names, *(items[name] for name in names)) for names in itertools.combinations(items, 2))
        return cls(judges, tuple(make_group(name, rows) for name, rows in items.items()), tuple(pairs))

    @property
    def document(self) -> dict[str, Any]:
        """JSON."""
        return {"format": "onprompt.judges/1"} | asdict(self, dict_factory=rounded)


def judge_pair(first: str, second: str, lefts: Iterable[RunRow], rights: Iterable[RunRow]) -> JudgePair:
    """Two judges by the rows of their runs."""
    known = {row.id: row.known_value for row in rights}
    both = [
        (row.group, row.known_value, other)
        for row in lefts
        if row.known_value is not None and (other := known.get(row.id)) is not None
    ]
    names, xs, ys = zip(*both, strict=True) if both else ((), (), ())
    difference = mean_over_prompts((name, y - x) for name, x, y in both)
    return JudgePair(first, second, len(both), correlation(xs, ys, names), difference)


def judge_lines(compared: JudgeComparison) -> Iterator[str]:
    """The judges as a table, then a line for every two."""
    table = group_table("", compared.means, judges=compared.judges)
    yield from table_lines(table.head, table.rows)
    yield ""
    for pair in compared.pairs:
        about = f"{pair.first} and {pair.second}: Spearman ρ {pair.spearman} on {pair.samples:,} common samples"
        why = f" ({pair.spearman.why})" if pair.spearman.why else ""
        yield f"{about}{why}; {pair.second} − {pair.first}: {pair.difference}"
    yield "\nThese judges saw the same images, so they are not ranked: which one is right is for people to say."
    yield "See `onprompt agree RUN --human ratings.csv`. CI: over prompts."


def ranks(compared: Comparison) -> dict[str, int]:
    """One more than the number of systems that are significantly better; without tests the place in the order."""
    if not compared.pairs:
        return {system.name: place for place, system in enumerate(compared.ranking, 1)}
    beaten = Counter(pair.worse for pair in compared.pairs if pair.significant)
    return {system.name: 1 + beaten[system.name] for system in compared.ranking}


def conclusion(compared: Comparison, noun: str, is_best: str) -> str:
    """A comparison in one sentence: `A fits its prompts best (0.78 [0.71, 0.84]); 4 of 21 differences are …`."""
    place, first = ranks(compared), compared.ranking[0]
    top = list(place.values()).count(1)
    sure = sum(pair.significant for pair in compared.pairs)
    if top == len(place):
        return f"No significant difference among {plural(top, noun)}; {first.name} is first ({first.mean.short})."
    said = f"{first.name} {is_best} ({first.mean.short})"
    if top > 1:
        best = plural(top, noun)
        said = f"No significant difference among the best {best}; {first.name} is first ({first.mean.short})"
    verb = "is" if sure == 1 else "are"
    tests = f"; {sure} of {plural(len(compared.pairs), 'difference')} {verb} significant" if compared.pairs else ""
    return f"{said}{tests}."
