"""Fit the settings by which chances and checks become `value`, on images that people rated and on captioned photos:

    python training/value/fit.py DATA

First how detector and matcher are added: a logistic regression of whether a caption's noun is true of a photo, on own
captions and those of other photos. Its shift stands for a prior of one half. Then value_whole, value_count and
value_details: what agrees best with people, chosen on other prompts and photos, and on other generating models.
"""

import argparse
import itertools
import random
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.stats import kendalltau, rankdata, spearmanr

sys.path.append(str(Path(__file__).parents[2] / "bench"))
import cases
from graded import Graded
from onprompt.evidence.estimates import log_odds
from onprompt.evidence.match import can_be_seen

from onprompt.language import name_of

FOLDS = 5
GRID = list(itertools.product((1, 2, 3, 4), (2, 4, 6), (2, 3, 4)))


def nouns(judge, data):
    """(photo, detector's confidence or None, matcher's estimate, whether the noun is of an own caption)."""
    told = {}
    for image, own, other in cases.own_and_others(data):
        told.setdefault(image, ([], []))[0].append(own)
        told[image][1].append(other)
    for row in cases.captioned(data):
        mean = np.mean(row["rated"])
        if mean >= 3.3 or mean <= 1.34:
            told.setdefault(row["image"], ([], []))[int(mean <= 1.34)].append(row["text"])
    for image, (own, others) in told.items():
        said = {word for text in own for thing in judge.observe(image, text).scene.things for word in kin(thing)}
        known = set()
        for texts, true in ((own, True), (others, False)):
            for text in texts if said else ():
                found = judge.observe(image, text)
                for thing in found.scene.things:
                    if not can_be_seen(thing) or thing.canonical in known or (not true and kin(thing) & said):
                        continue
                    known.add(thing.canonical)
                    sure = [each.confidence for each in found.seen.sightings if each.label == thing.canonical]
                    seen_at = max(sure, default=0.0) if thing.canonical in found.seen.known else None
                    yield str(image), seen_at, found.estimate(thing.phrase), true


def kin(thing):
    """A noun, its synonyms and its wider and narrower kinds: none of these is surely wrong where it was said."""
    name = name_of(thing.canonical)
    return {thing.canonical, *name.same, *name.broader, *name.members}


def logistic(x, y):
    """Weights and shift; right and wrong ones weigh the same."""
    x = np.column_stack([x, np.ones(len(x))])
    weight = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum())
    return minimize(lambda b: (weight * np.logaddexp(0, -(2 * y - 1) * (x @ b))).sum(), np.zeros(x.shape[1])).x


def auc(found, y):
    ranks, n = rankdata(found), y.sum()
    return (ranks[y].sum() - n * (n + 1) / 2) / (n * (len(y) - n))


def folds_of(groups):
    """The fold of each row; rows of one group are in the same."""
    names = sorted(set(groups))
    random.Random(0).shuffle(names)
    return np.array([names.index(group) % FOLDS for group in groups])


def fit_presence(rows, name, columns):
    """One logistic regression, and how well it tells nouns of photos that it was not fitted on."""
    x, y = np.array([columns(row) for row in rows]), np.array([row[3] for row in rows])
    out, held = folds_of([row[0] for row in rows]), np.zeros(len(rows))
    for fold in range(FOLDS):
        *weights, shift = logistic(x[out != fold], y[out != fold])
        held[out == fold] = x[out == fold] @ weights + shift
    print(f"{name}: {np.round(logistic(x, y), 2)}, AUC on other photos {auc(held, y):.3f} of {len(y)} nouns")


def agreement(rows, found):
    """Spearman's for one rating, Kendall's tau-c with the ratings stacked for several."""
    if len(rows[0]["rated"]) == 1:
        return spearmanr([row["rated"][0] for row in rows], found)[0]
    return kendalltau([each for row in rows for each in row["rated"]], np.repeat(found, 3), variant="c")[0]


def fit_value(judge, data):
    """For each of the grid's settings the agreement with people on both sets; then chosen on other groups."""
    sets = [list(cases.generated(data)), list(cases.captioned(data))]
    plain, values = judge.settings, {}
    for point in GRID:
        named = dict(zip(("value_whole", "value_count", "value_details"), point, strict=True))
        judge.settings = plain.model_copy(update=named)
        values[point] = [np.array([judge.grade(row["image"], row["text"]).value for row in rows]) for rows in sets]
    judge.settings = plain
    total = {point: sum(map(agreement, sets, found)) for point, found in values.items()}
    for point in sorted(GRID, key=total.__getitem__)[::-1][:5]:
        print(f"whole, count, details {point}: {np.round(list(map(agreement, sets, values[point])), 3)}")
    by_prompt, by_photo = (folds_of([row["group"] for row in rows]) for rows in sets)
    choose(sets, values, [by_prompt, by_photo], "other prompts and photos")
    choose(sets, values, [folds_of([row["model"] for row in sets[0]]), by_photo], "other generating models and photos")


def choose(sets, values, outs, name):
    """The agreement where the settings are chosen on other folds."""
    held, chosen = [np.zeros(len(rows)) for rows in sets], []
    for fold in range(FOLDS):
        kept = [np.flatnonzero(out != fold) for out in outs]

        def apart(point, kept=kept):
            return sum(
                agreement([rows[k] for k in mine], found[mine])
                for rows, mine, found in zip(sets, kept, values[point], strict=True)
            )

        best = max(GRID, key=apart)
        chosen.append(best)
        for into, out, found in zip(held, outs, values[best], strict=True):
            into[out == fold] = found[out == fold]
    print(f"chosen on {name} {chosen}: {np.round(list(map(agreement, sets, held)), 3)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    judge = Graded(options.data)
    rows = list(nouns(judge, options.data))
    known, unknown = [row for row in rows if row[1] is not None], [row for row in rows if row[1] is None]
    fit_presence(known, "detector alone (weight, shift)", lambda row: [log_odds(row[1])])
    fit_presence(known, "detector and matcher (weights, shift)", lambda row: [log_odds(row[1]), log_odds(row[2])])
    fit_presence(unknown, "matcher alone (weight, shift)", lambda row: [log_odds(row[2])])
    fit_value(judge, options.data)


main()
