"""Fit what evidence is worth, from annotated photos and images that people rated: the numbers of reliability.toml.

    python training/beliefs/fit.py DATA [--write]

DATA holds coco/ and t2i/, as for bench/. Prints each number as it is now and as fitted, with what it rests on, and how
well verdicts agree with people by numbers chosen on all images, on those of other prompts, and of other generating
models. With --write, the file is written. Twelve minutes on two cores.
"""

import argparse
import itertools
import textwrap
import tomllib
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from observed import SETTINGS, annotated, claims, generated, measured_as, named, properties_of_photos
from scipy.optimize import minimize

from onprompt.evidence import attributes, grading
from onprompt.evidence.beliefs import OCCLUDED, ObjectBeliefs, believe, is_occluded, log_odds
from onprompt.evidence.grading import reliability, rubric_score
from onprompt.evidence.sharing import share_out
from onprompt.language import name_of
from onprompt.report.statistics import bootstrap_weights, pair_accuracy, spearman, to_levels
from onprompt.types import Attribute, Box, Found
from onprompt.vision import geometry
from onprompt.vision.people import traits_said

FILE = Path(grading.__file__).with_name("reliability.toml")
SCALE = range(5)
MATCHER = 0.14  # the weight of the matcher's log-odds where something was detected: it hardly matters there
NEAR = 0.05  # how far the mean of weak detections may be from the share that is there
SURE = 1.7  # log-odds from which a sole object has the highest score
AGREED = 0.8  # people's rating from which an image is what was asked for
ENOUGH = 20  # with fewer cases a number is assumed
FOLDS, RESAMPLES = 5, 200
EQUAL = 1e-9
APART = 0.33  # how much the ratings of two images of a prompt differ for them to be a pair
MOST_MINOR, MOST_KIND = 0.2, 0.25  # what was measured as a minor error, or is of a broader kind, is never full marks
# Plain prompts for the cuts: one claim each, or two objects.
KINDS = ("object", "weak", "count", "color", "side", "noun", "pair")
CUTS = tuple(  # where each starts, and what is tried, all between values that certain claims give
    (start, np.arange(low, high + 0.001, 0.005))
    for start, low, high in ((0.25, 0.01, 0.25), (0.375, 0.255, 0.5), (0.625, 0.505, 0.75), (0.82, 0.815, 1.0))
)

# What each table and number means, in the order of the file.
LAYOUT = {
    "detected": (
        "log-odds that an object is there that a detector knows",
        {
            "base": "",
            "slope": "by the log-odds of the best confidence",
            "matcher": "by those of the matcher's estimate",
            "silence": "of an object of which nothing was detected in a photo …",
            "artwork": "… and in a drawing or painting",
            "silence_matcher": "by the log-odds of the matcher's estimate",
        },
    ),
    "count": (
        "",
        {
            "asked": "how much likelier the number asked for is than any other",
            "least": "probability below which no number falls",
            "prior": "of an explicit number of what was not located",
        },
    ),
    "unknown": (
        "log-odds of an object that no detector knows",
        {
            "base": "",
            "phrase": "",
            "class": "by the decimal logarithm of the classifier's probability over .01",
            "whole": "",
        },
    ),
    "kind": (
        "that an object is what was asked for, of which a detector knows the broader kind; at most .25, so that it is "
        "never full marks",
        {"prior": ""},
    ),
    "excluded": ("that an object is not there that no detector knows", {"prior": ""}),
    "property": ("log-odds of a measured property of the image", {"base": "", "slope": "by those of the measurement"}),
    "prior": ("of a claim that nothing measures", {"attribute": "", "relation": "", "property": ""}),
    "matcher": ("", {"weight": "of the matcher's estimate of a claim that nothing measures"}),
    "measured": (
        "probability that a claim holds if it was measured as right, as a minor error, as wrong; a minor error is at "
        "most .2, so that it is never full marks, or .5 where it means that nothing clear was seen",
        {},
    ),
}
# What stays where data are too few.
ASSUMED = {
    "detected": {"silence": -3.2, "silence_matcher": 0.6},
    "count": {"prior": 0.5},
    "measured": {
        "color": [0.97, 0.12, 0.05],
        "size": [0.9, 0.2, 0.1],
        "position": [0.95, 0.2, 0.05],
        "action": [0.85, 0.5, 0.2],
        "expression": [0.85, 0.5, 0.2],
        "text": [0.97, 0.2, 0.04],
        "relation": [0.95, 0.5, 0.05],
        "sex": [0.95, 0.5, 0.06],
        "age": [0.9, 0.5, 0.1],
    },
}
# Numbers that ratings tell: where each starts, and what is tried. It stays unless another agrees better beyond noise.
PRIOR = ("prior.attribute", "prior.relation", "prior.property")
TRIED = {
    ("detected.artwork",): (-0.5, np.arange(-3.5, 0.6, 1.0)),
    ("unknown.base",): (0.5, np.arange(-0.5, 1.6, 0.5)),
    ("unknown.phrase",): (0.7, np.arange(0.1, 1.4, 0.3)),
    ("unknown.class",): (1.0, np.arange(0.0, 2.1, 0.25)),
    ("unknown.whole",): (0.6, np.arange(0.0, 1.3, 0.2)),
    PRIOR: (0.8, np.arange(0.5, 0.91, 0.1)),
    ("matcher.weight",): (0.1, np.arange(0.0, 0.41, 0.1)),
    ("kind.prior",): (0.25, np.arange(0.05, MOST_KIND + 0.01, 0.05)),
    ("excluded.prior",): (0.8, np.arange(0.7, 0.91, 0.1)),
}


class Fit:
    """The numbers so far, each with what it rests on; what is set here is what beliefs are formed with."""

    def __init__(self, photos, properties, rated):
        self.photos, self.properties, self.rated = photos, properties, rated
        self.basis = {}
        reliability()["cuts"] = [start for start, _ in CUTS]

    def set(self, name, value, basis):
        table, _, key = name.partition(".")
        reliability()[table][key] = value
        self.basis[name] = basis

    def assume(self, name, why):
        table, _, key = name.partition(".")
        self.set(name, ASSUMED[table][key], f"assumed: {why}")

    def of(self, *kinds):
        return [(case, found) for _, case, found in self.photos if case.kind in kinds]

    # -- objects -----------------------------------------------------------------------------------------------------

    def detected(self):
        """What a confidence is worth, and what silence.

        What a prompt asks for is likelier there than what a detector happens to suspect. So of the lines whose mean
        over all weak detections is near the share that is there, that which tells best what is there from what is not.
        """
        rows = [(case, *detection(found)) for case, found in self.of("object", "weak") if found.scene.things]
        weak, there = (np.array([case.kind == "weak" for case, *_ in rows]), np.array([case.true for case, *_ in rows]))
        confidence, estimate = np.array([row[1:] for row in rows]).T
        seen, odds = confidence > 0, np.array([log_odds(each) for each in confidence])
        weight = np.where(there, 1 / (there & ~weak).sum(), 1 / (~there & ~weak).sum()) * ~weak

        def loss(base, slope):
            likely = base + slope * odds + MATCHER * estimate
            if abs((1 / (1 + np.exp(-likely)))[weak].mean() - there[weak].mean()) > NEAR:
                return np.inf
            return (weight * (there != (likely > SURE)))[seen].sum()

        lines = itertools.product(np.arange(0.8, 3.3, 0.2), np.arange(1.4, 3.3, 0.2))
        base, slope = min(lines, key=lambda line: loss(*line))
        counts = f"{there[~weak].sum()} there, {(~there[~weak]).sum()} absent, {weak.sum()} weakly detected"
        self.set("detected.base", round(float(base), 1), counts)
        self.set("detected.slope", round(float(slope), 1), counts)
        self.set("detected.matcher", MATCHER, f"{seen.sum()} detected")
        silent = ~seen & ~weak
        counts = f"{there[silent].sum()} there, {(~there[silent]).sum()} absent"
        for name in ASSUMED["detected"]:  # nearly all that is there is detected: too few cases
            self.assume(f"detected.{name}", counts)

    def count(self):
        """Maximum likelihood of right numbers against those that are off by one."""
        cases = self.of("count")

        def loss(asked, least):
            reliability()["count"] |= {"asked": asked, "least": least}
            told = [(case.true, first(found, "count")) for case, found in cases]
            likely = [check.probability if true else 1 - check.probability for true, check in told if check]
            return -np.log(np.maximum(likely, 1e-4)).sum()

        tried = itertools.product(np.arange(1, 6.1, 0.5).tolist(), (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1))
        asked, least = min(tried, key=lambda each: loss(*each))
        counts = f"{sum(case.true for case, _ in cases)} right, {sum(not case.true for case, _ in cases)} off by one"
        self.set("count.asked", asked, counts)
        self.set("count.least", least, counts)
        self.assume("count.prior", "nobody knows")

    # -- measurements ------------------------------------------------------------------------------------------------

    def measured(self):
        """What it says that a claim was measured as right, as a minor error, as wrong."""
        rows = defaultdict(list)  # of each kind: shares of right, minor and wrong; how sure that is; the truth
        for case, found in self.of("color", "sex", "age", "action"):
            if result := measurement(found, case.kind):
                rows[case.kind].append((*result, case.true))
        for case, found in self.of("side"):
            check = first(found, "relation")
            if check and check.finding.kind in (Found.RELATED, Found.SAME_OBJECT):
                holds = check.finding.probability or 0.0
                rows["relation"].append(((holds, 0, 1 - holds), 1.0, case.true))
        for photo, case, found in self.photos:
            if (case.kind, case.part) == ("object", "there"):
                for kind, *row in placed(photo, case, found):
                    rows[kind].append(row)
        for kind in ASSUMED["measured"]:
            true = sum(each[-1] for each in rows[kind])
            counts = f"{true} true, {len(rows[kind]) - true} false"
            if min(true, len(rows[kind]) - true) < ENOUGH:
                self.assume(f"measured.{kind}", counts if rows[kind] else "no truth in the data")
            else:
                self.set(f"measured.{kind}", likeliest(rows[kind]), counts)

    def property(self):
        """A logistic regression over photos, and generated images that people find as asked for."""
        rows = list(self.properties)
        for row, found in self.rated:
            if row["rated"][0] >= AGREED:
                rows += [(measured_as(asked.value, found.image.properties), True) for asked in found.scene.properties]
        measured, true = (np.array(each) for each in zip(*(row for row in rows if row[0] is not None), strict=True))
        weight = np.where(true, 0.5 / true.sum(), 0.5 / (~true).sum())
        slope, base = logistic([np.array([log_odds(each) for each in measured])], true, weight)
        for name, value in (("base", base), ("slope", slope)):
            self.set(f"property.{name}", round(value, 1), f"{true.sum()} true, {(~true).sum()} false")

    # -- what ratings tell -------------------------------------------------------------------------------------------

    def agreement(self):  # noqa: C901 its inner functions share what was judged
        """The numbers that agree best with people, chosen one at a time; prints what that is worth on others."""
        people = np.array([row["rated"][0] for row, _ in self.rated])
        prompts = to_levels(np.array(self.prompts()))
        models = to_levels(np.array([row["model"] for row, _ in self.rated]))
        drawn = drawings(prompts)
        folds = np.random.default_rng(0).permutation(np.arange(prompts.max() + 1) % FOLDS)[prompts]

        def measures(values, scores):
            return spearman(values, people), pair_accuracy(values, people, prompts, APART)[0], spearman(scores, people)

        def goals(values, scores, weights):
            value, pairs, score = (measure(weights) for measure in measures(values, scores))
            return value + pairs + score / 2

        known = {}  # values and scores by the numbers that gave them

        def judged():
            numbers = tuple(self.number(name) for names in TRIED for name in names)
            if numbers not in known:
                known[numbers] = np.array([verdict(found) for _, found in self.rated]).T
            return known[numbers]

        def choose(weights):
            """One number after the other; what each may be, and how many images it concerns."""
            told = {}
            for names, (start, _) in TRIED.items():
                self.put(names, start)
            for names, (start, grid) in TRIED.items():
                trials = [(self.put(names, value), judged())[1] for value in grid]
                reached = np.array([goals(*trial, weights[None])[0] for trial in trials])
                resampled = np.array([goals(*trial, drawn * weights) for trial in trials])
                value, good = nearest(grid, start, reached, resampled)
                self.put(names, value)
                concerned = int((np.abs(trials[0][0] - trials[-1][0]) > EQUAL).sum())
                told[names] = (
                    f"{good.min():.3g} to {good.max():.3g} agree as well on {concerned} rated images",
                    concerned,
                )
            return told

        def left_out(parts):
            verdicts = np.zeros((2, len(people)))
            for part in range(parts.max() + 1):
                choose((parts != part).astype(float))
                verdicts[:, parts == part] = judged()[:, parts == part]
            return verdicts

        told = {"other prompts": left_out(folds), "other models": left_out(models)}
        for names, (basis, concerned) in choose(np.ones(len(people))).items():
            for name in names:
                self.basis[name] = basis if concerned >= ENOUGH else f"assumed: {concerned} rated images"
        for where, verdicts in {"all images": judged(), **told}.items():
            value, pairs, score = (measure(np.ones((1, len(people))))[0] for measure in measures(*verdicts))
            print(f"{where:14} value {value:.3f}, pairs {pairs:.3f}, score {score:.3f}")

    def prompts(self):
        return [row["text"] for row, _ in self.rated]

    def put(self, names, value):
        for name in names:
            table, key = name.split(".")
            reliability()[table][key] = round(float(value), 2)

    def number(self, name):
        table, key = name.split(".")
        return reliability()[table][key]

    # -- cuts --------------------------------------------------------------------------------------------------------

    def cuts(self):
        """Thresholds by the share of accepted scores, each kind of claim weighing the same, and by people's ratings."""
        kinds = [(case.kind, case.part) for _, case, _ in self.photos if case.kind in KINDS]
        number = Counter(kinds)
        weight = np.array([1 / number[kind] / len(number) for kind in kinds])
        values = np.array([verdict(found)[0] for case, found in self.of(*KINDS)])
        accepted = np.array([[score in case.accepted for score in SCALE] for case, _ in self.of(*KINDS)])

        drawn = drawings([case.photo for case, _ in self.of(*KINDS)])
        people = np.array([row["rated"][0] for row, _ in self.rated])
        rated, redrawn = np.array([verdict(found)[0] for _, found in self.rated]), drawings(self.prompts())

        def right(cuts):
            return accepted[np.arange(len(values)), np.searchsorted(cuts, np.round(values, 9), side="right")]

        def ordered(cuts, weights):
            return spearman(np.searchsorted(cuts, np.round(rated, 9), side="right"), people)(weights)

        cuts = [start for start, _ in CUTS]
        for place, (start, grid) in (*enumerate(CUTS), *enumerate(CUTS)):
            tried = [[*cuts[:place], each, *cuts[place + 1 :]] for each in grid]
            shown = np.array([right(each) for each in tried])
            reached = shown @ weight + [ordered(each, np.ones((1, len(people))))[0] for each in tried]
            resampled = shown @ (drawn * weight).T + [ordered(each, redrawn) for each in tried]
            cuts[place] = nearest(grid, start, reached, resampled)[0]
        reliability()["cuts"] = cuts
        reached = right(cuts) @ weight
        self.basis["cuts"] = (
            f"{reached:.3f} of {len(values)} plain prompts in {len(number)} kinds get an accepted score"
        )


def drawings(groups):
    """How often each row is drawn in resamples of the groups that rows come in."""
    levels = to_levels(np.array(groups))
    return np.concatenate(list(bootstrap_weights(levels.max() + 1, len(groups), RESAMPLES, 0)))[:, levels]


def nearest(grid, start, reached, resampled):
    """Of the values that are at most two standard errors worse than the best, the nearest to a round start; and all.

    With one error, what was chosen on some generating models was worse on others than the starts are.
    """
    error = (resampled - resampled[reached.argmax()]).std(axis=1)
    good = grid[reached >= reached.max() - 2 * error - EQUAL]
    return round(float(good[np.abs(good - start).argmin()]), 3), good


def believed(found):
    """The checks of what was observed, by the numbers as they are."""
    return replace(found, checks=believe(found.scene, found.image, SETTINGS))


def verdict(found):
    """Value and score."""
    expected = believed(found).expectation(rubric_score, SCALE, SETTINGS)
    return expected.value, expected.score


def first(found, kind):
    """The first check of a kind of claim; None if the prompt was read otherwise."""
    return next((check for check in believed(found).checks if check.claim.kind == kind), None)


def beliefs(found):
    """The beliefs about the first object of a prompt."""
    shares = share_out(found.scene, found.image.seen, SETTINGS)
    return ObjectBeliefs(0, found.scene, shares, found.image, SETTINGS)


def detection(found):
    """The best confidence, and the log-odds of the matcher's estimate."""
    about = beliefs(found)
    occluded = any(map(is_occluded, about.share.chosen))
    estimate = about.estimate(about.thing.phrase)
    return about.confidence() * (OCCLUDED if occluded else 1), 0.0 if estimate is None else log_odds(estimate)


def logistic(columns, y, weight):
    """A weight for each column, then the intercept."""
    x = np.column_stack([*columns, np.ones(len(y))])
    return minimize(lambda b: (weight * np.logaddexp(0, -(2 * y - 1) * (x @ b))).sum(), np.zeros(x.shape[1])).x


def measurement(found, kind):
    """How far the first object was measured as right, as a minor error, as wrong; and how sure that is."""
    if not found.scene.things:
        return None
    about = beliefs(found)
    asked = [attribute for attribute in about.thing.attributes if attribute.kind == kind]
    results = [attributes.measure(each, sighting, SETTINGS) for each in asked for sighting in about.share.chosen]
    said = traits_said(name_of(about.thing.canonical))
    results += [each for name, value in said if name == kind for each in about.appearance(name, value)]
    known = [result for result in results if result]
    if not known:
        return None
    return split(sum(each.score for each in known) / len(known)), min(each.confidence for each in known)


def split(score):
    """A score as shares of right, minor and wrong, as beliefs read it."""
    return max(0, 2 * score - 1), 1 - abs(2 * score - 1), max(0, 1 - 2 * score)


def placed(photo, case, found):
    """Sizes and places of an object that is there once, by its annotated box."""
    lone = {named(kind): Box(*photo.box(things[0])) for kind, things in claims.visible(photo, most=1).items()}
    chosen = beliefs(found).share.chosen if found.scene.things else ()
    if case.prompt not in lone or len(chosen) != 1:
        return
    box = lone[case.prompt]
    for size in geometry.SIZES:
        result = attributes.measure(Attribute("size", size), chosen[0], SETTINGS)
        yield "size", split(result.score), result.confidence, size == geometry.size_of(box, SETTINGS)
    for place in (*geometry.COLUMNS, *geometry.ROWS):
        result = attributes.measure(Attribute("position", place), chosen[0], SETTINGS)
        yield "position", split(result.score), result.confidence, geometry.position_score(box, place) == 1


def likeliest(rows):
    """Maximum likelihood, with one true and one false claim added to each; true and false claims weigh the same."""
    added = [(shares, 1.0, true) for shares in np.eye(3) for true in (True, False)]
    shares, sure, true = (np.array(column) for column in zip(*rows, *added, strict=True))
    weight = np.where(true, 0.5 / true.mean(), 0.5 / (~true).mean())

    def loss(numbers):
        probability = sure * (shares @ numbers) + (1 - sure) / 2
        return -(weight * np.log(np.where(true, probability, 1 - probability))).sum()

    return np.round(
        minimize(loss, np.full(3, 0.15), bounds=((0.01, 0.99), (0.01, MOST_MINOR), (0.01, 0.99))).x, 2
    ).tolist()


def written(fit):
    """The file: each number, what it means, and what it rests on."""
    lines = ["# What evidence is worth: written by training/beliefs/fit.py, read by evidence/beliefs.py."]
    lines += [f"# {fit.basis['cuts']}", f"cuts = {reliability()['cuts']}"]
    for table, (meaning, notes) in LAYOUT.items():
        lines += ["", *textwrap.wrap(meaning, 118, initial_indent="# ", subsequent_indent="# "), f"[{table}]"]
        for key in notes or ASSUMED[table]:
            comment = "; ".join(filter(None, (notes.get(key), fit.basis[f"{table}.{key}"])))
            lines.append(f"{key} = {reliability()[table][key]} # {comment}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    now = tomllib.loads(FILE.read_text(encoding="utf-8"))
    fit = Fit(*(list(found(options.data)) for found in (annotated, properties_of_photos, generated)))
    for part in (fit.detected, fit.count, fit.measured, fit.property, fit.agreement, fit.cuts):
        part()
    for name, basis in fit.basis.items():
        table, _, key = name.partition(".")
        was, fitted = (numbers[table][key] if key else numbers[table] for numbers in (now, reliability()))
        print(f"{name:24} {was!s:26} {fitted!s:26} {basis}")
    if options.write:
        FILE.write_text(written(fit), encoding="utf-8")


if __name__ == "__main__":
    main()
