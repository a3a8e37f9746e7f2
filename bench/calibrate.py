"""Fit the curves of vision/calibration.py: `python bench/calibrate.py DATA` where DATA/coco holds annotated photos.

A detection is right if it overlaps an annotated object of its kind by at least half (IoU), each object taken once, the
surest detection first. Prints the curves, and their calibration error when fitted on four fifths of the photos and
tested on the rest.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from onprompt.language.ontology import name_of
from onprompt.settings import load
from onprompt.types import Box
from onprompt.vision.calibration import CURVES, logit
from onprompt.vision.detectors import coco, fused, world
from onprompt.vision.image import load_picture
from onprompt.vision.vocabulary import COCO


def raw(confidence: float, source: str) -> float:
    """The logit that a calibrated confidence came from."""
    slope, offset = CURVES[source]
    return (float(logit(confidence)) - offset) / slope


def right(sightings, objects):
    """Which sightings meet an annotated object, surest first, each object once."""
    free = list(objects)
    marks = {}
    for index in sorted(range(len(sightings)), key=lambda i: -sightings[i].confidence):
        seen = sightings[index]
        hits = [(seen.box.iou(box), k) for k, (label, box) in enumerate(free) if label == seen.label]
        best = max(hits, default=(0, -1))
        marks[index] = best[0] >= 0.5
        if marks[index]:
            free.pop(best[1])
    return [marks[i] for i in range(len(sightings))]


def fit(x, y):
    """Logistic regression: the offset first, then one weight a column."""
    x = np.column_stack([np.ones(len(x)), x])

    def loss(w):
        z = x @ w
        return np.logaddexp(0, z).sum() - (z * y).sum()

    return minimize(loss, np.zeros(x.shape[1])).x


def error(x, y, w):
    """Mean distance between stated and true share of right ones, over ten bins of equal size."""
    p = 1 / (1 + np.exp(-(np.column_stack([np.ones(len(x)), x]) @ w)))
    parts = np.array_split(np.argsort(p), 10)
    return float(np.mean([abs(p[part].mean() - y[part].mean()) for part in parts if len(part)]))


def report(name, entries):
    """Fit one curve, print it with its error on photos that it was not fitted on, and return it."""
    table = np.array(entries, dtype=float)
    photos, y, x = table[:, 0], table[:, 1], table[:, 2:]
    folds = [(photos % 5 != k, photos % 5 == k) for k in range(5)]
    held = [error(x[test], y[test], fit(x[train], y[train])) for train, test in folds]
    w = fit(x, y)
    print(
        f"{name:15} n {len(y):6}  offset {w[0]:+.2f}  slopes {np.round(w[1:], 2)}  held-out error {np.mean(held):.3f}"
    )
    return w


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data / "coco"
    settings = load(missing_below=0.0)
    detectors = {"picodet": coco.load(settings), "world": world.load(settings)}
    names = [name_of(word) for word in COCO]
    rows = defaultdict(list)  # curve: photo, right or not, logits
    for number, line in enumerate((data / "photos.jsonl").open()):
        photo = json.loads(line)
        picture = load_picture(data / photo["image"], settings)
        height, width = picture.size[1], picture.size[0]
        objects = []
        for each in photo["objects"]:
            x, y, w, h = each["bbox"]
            objects.append((each["category"], Box(x / width, y / height, (x + w) / width, (y + h) / height)))
        seen = {
            name: [s for s in d.see_one(picture, names).sightings if raw(s.confidence, name) > -4.5]
            for name, d in detectors.items()
        }
        for name, sightings in seen.items():
            for sighting, good in zip(sightings, right(sightings, objects), strict=True):
                rows[name].append((number, good, raw(sighting.confidence, name)))
        merged = fused.paired(seen["picodet"], seen["world"])
        sightings = [a or b for a, b in merged]
        for (a, b), good in zip(merged, right(sightings, objects), strict=True):
            logits = [raw(a.confidence, "picodet")] if a else []
            logits += [raw(b.confidence, "world")] if b else []
            rows["both" if a and b else "picodet alone" if a else "world alone"].append((number, good, *logits))
    curves = {name: report(name, rows.pop(name)) for name in detectors}
    # The fused curves start from the two detectors' own probabilities.
    for name, parts in {"both": ["picodet", "world"], "picodet alone": ["picodet"], "world alone": ["world"]}.items():
        report(
            name,
            [
                (*row[:2], *(curves[p][0] + curves[p][1] * x for p, x in zip(parts, row[2:], strict=True)))
                for row in rows[name]
            ],
        )


main()
