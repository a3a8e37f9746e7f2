"""Fit the weight that the matcher's guess has in `value` (setting matcher_weight), on images that people rated:

    python training/value/fit.py DATA [--store work]

Prints the agreement with people for each weight, and what it is where the weight is chosen on other prompts.
"""

import argparse
import csv
import json
import random
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, spearmanr

from onprompt import match, verify
from onprompt.evidence.estimates import blended
from onprompt.evidence.grade import Grade
from onprompt.settings import load

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FOLDS = 5
NEAR = 0.01  # agreement, summed over both sets, that is not worth giving up evidence for


def judged(rows, store):
    """Evidence, coverage and guess for each image and text; the evidence is kept in a file for the next run."""
    kept = store / "judged.jsonl" if store else None
    known = {}
    if kept and kept.is_file():
        known = {(row["image"], row["text"]): row for row in map(json.loads, kept.open())}
    for row in rows:
        key = row["image"], row["text"]
        if key not in known:
            verdict = verify(*key, settings=load(matcher_weight=0))  # so that the value is the evidence alone
            known[key] = {
                **{"image": key[0], "text": key[1], "evidence": verdict.value, "coverage": verdict.coverage},
                **{"verifiable": "not_verifiable" not in verdict.flags, "english": "not English" not in verdict.flags},
            }
            if kept:
                with kept.open("a") as stream:
                    stream.write(json.dumps(known[key]) + "\n")
    found = [row | known[row["image"], row["text"]] for row in rows]
    return [row | {"whole": match(row["image"], [row["text"]])[0] if row["english"] else None} for row in found]


def values(rows, weight, settings):
    force = settings.model_copy(update={"matcher_weight": weight})
    grades = [Grade(0, row["evidence"], 0.0, 0.0, row["coverage"], row["verifiable"]) for row in rows]
    return np.array([blended(grade, row["whole"], force) for grade, row in zip(grades, rows, strict=True)])


def generated(data):
    for row in csv.DictReader((data / "t2i/Text-To-Image.csv").open()):
        yield {
            "image": str(data / "t2i" / row["image"]),
            "text": row["prompt"],
            "group": row["prompt"],
            "rated": [float(row["sc"])],
        }


def photos(data):
    for row in csv.DictReader((data / "flickr8k/expert.csv").open()):
        yield {
            "image": str(data / "flickr8k" / row["image"]),
            "text": row["caption"],
            "group": row["group"],
            "rated": [int(row[name]) for name in ("e1", "e2", "e3")],
        }


def agreement(rows, found):
    """Spearman's for one rating, Kendall's tau-c with the ratings stacked for several."""
    if len(rows[0]["rated"]) == 1:
        return spearmanr([row["rated"][0] for row in rows], found)[0]
    return kendalltau([each for row in rows for each in row["rated"]], np.repeat(found, 3), variant="c")[0]


def pairs(rows, found):
    """How often the better rated of two images of one text has the higher value; equal ones count half."""
    right = [
        0.5 + 0.5 * np.sign((a["rated"][0] - b["rated"][0]) * (x - y))
        for (a, x), (b, y) in combinations(zip(rows, found, strict=True), 2)
        if a["group"] == b["group"] and abs(a["rated"][0] - b["rated"][0]) >= 0.33
    ]
    return np.mean(right)


def total(sets, weight, settings):
    """What a weight is chosen by: the agreement on all sets together."""
    return sum(agreement(rows, values(rows, weight, settings)) for rows in sets)


def cross_validated(sets, settings):
    """For each set, values by the weight that agrees best on other groups of all sets, fold by fold."""
    found, chosen = [np.zeros(len(rows)) for rows in sets], []
    out = [folds_of(rows) for rows in sets]
    for fold in range(FOLDS):
        others = [
            [row for row, mine in zip(rows, of, strict=True) if mine != fold]
            for rows, of in zip(sets, out, strict=True)
        ]
        best = max(WEIGHTS, key=lambda weight, others=others: total(others, weight, settings))
        for rows, of, into in zip(sets, out, found, strict=True):
            into[of == fold] = values(rows, best, settings)[of == fold]
        chosen.append(best)
    return found, chosen


def folds_of(rows):
    """The fold of each row; rows of one group are in the same."""
    names = sorted({row["group"] for row in rows})
    random.Random(0).shuffle(names)
    return np.array([names.index(row["group"]) % FOLDS for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    if options.store:
        options.store.mkdir(parents=True, exist_ok=True)
    settings = load()
    sets = {
        name: judged(list(source(options.data)), options.store)
        for name, source in (("generated", generated), ("photos", photos))
    }
    for name, rows in sets.items():
        print(f"{name}: {len(rows)} images and texts, mean coverage {np.mean([row['coverage'] for row in rows]):.2f}")
        for weight in WEIGHTS:
            found = values(rows, weight, settings)
            more = f", pairs {pairs(rows, found):.3f}" if name == "generated" else ""
            print(f"  weight {weight:4}: agreement {agreement(rows, found):.3f}{more}")
    reached = {weight: total(sets.values(), weight, settings) for weight in WEIGHTS}
    best = max(WEIGHTS, key=reached.__getitem__)
    least = min(weight for weight in WEIGHTS if reached[weight] >= reached[best] - NEAR)
    found, chosen = cross_validated(list(sets.values()), settings)
    print(
        f"best on both {best}; {least} is as good, and leaves most to the evidence; "
        f"chosen on other groups ({', '.join(map(str, chosen))}):"
    )
    for (name, rows), mine in zip(sets.items(), found, strict=True):
        more = f", pairs {pairs(rows, mine):.3f}" if name == "generated" else ""
        print(f"  {name}: agreement {agreement(rows, mine):.3f}{more}")


main()
