"""Fit the curves of vision/calibration.py: `python bench/calibrate.py DATA` where DATA/coco holds annotated photos.

A curve gives the probability that a photo holds at least k objects of a kind, from the scores that a detector gives
to them. Fitted by logistic regression over all kinds and photos; writes vision/curves.toml. Prints what curves fitted
on four fifths of the photos are worth on the rest: how well kinds are found and counted, and how true .5 is.
"""

import argparse
import datetime
import json
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from onprompt.language.ontology import name_of
from onprompt.settings import load
from onprompt.vision import calibration
from onprompt.vision.closed_set import ClosedSetDetector
from onprompt.vision.detectors import coco, world, yolo26
from onprompt.vision.image import load_picture
from onprompt.vision.vocabulary import COCO
from onprompt.weights.cache import paths

MOST = 12  # objects of a kind looked at in a photo
FLOOR = 0.01  # raw scores below this are taken as this
FLOORS = {"yolo-world": 0.001}  # of an open vocabulary fainter scores still tell names apart
# What the second network's score weighs beside the first's. On photos it makes no difference, so a free fit makes it
# nothing; on 259 generated images it orders pairs of one prompt better (.704 alone, .723 together).
SECOND = 0.35
LIGHTEST = 1.0  # strength of the pull towards small weights
HEADER = """# Written by bench/calibrate.py; see vision/calibration.py for what the numbers mean.
data = "{data}"
fitted = "{date}"
"""


def detectors(settings):
    """Each detector by the name of its curve, as a function of a picture."""
    names = [name_of(word) for word in COCO]
    permissive, opened = coco.load(settings), world.load(settings)
    found = {permissive.curve: lambda picture: permissive.candidates(picture, permissive.known(names))}
    for file in (yolo26.MEDIUM, yolo26.LARGE):
        network = yolo26.load_network(paths([file], settings)[file])
        closed = ClosedSetDetector((file,), [network], file.removesuffix(".pt"), settings)
        found[closed.curve] = lambda picture, closed=closed: closed.candidates(picture, closed.known(names))
    found["yolo-world"] = lambda picture: opened.candidates(opened.score(picture, names), names, opened.known(names))
    return found


def fit_tied(x, y):
    """The same with one weight for two networks, of which the second counts less."""
    w = fit_free(np.column_stack([x[:, 0] + SECOND * x[:, 1], x[:, 2:]]), y)
    return np.r_[w[:2], SECOND * w[1], w[2:]]


def fit_free(x, y):
    """Logistic regression: the offset first, then one weight a column."""
    x = np.column_stack([np.ones(len(x)), x])

    def loss(w):
        z = x @ w
        return np.logaddexp(0, z).sum() - (z * y).sum() + LIGHTEST / 2 * (w[1:] ** 2).sum()

    def slope(w):
        return x.T @ (1 / (1 + np.exp(-(x @ w))) - y) + LIGHTEST * np.r_[0, w[1:]]

    # A better score never speaks against an object, so the weights of the networks' own scores are not negative.
    bounds = [(0, None) if 0 < column < x.shape[1] - 6 else (None, None) for column in range(x.shape[1])]
    return minimize(loss, np.zeros(x.shape[1]), jac=slope, method="L-BFGS-B", bounds=bounds).x


def as_curve(w, floor, mix):
    """The weights by their names."""
    own = len(w) - 7
    return calibration.Curve(floor, float(w[0]), mix, tuple(map(float, w[1 : 1 + own])), *map(float, w[1 + own :]))


def chances(ordered, w, floor, mix):
    """Probabilities of a whole table: photos × kinds × k."""
    curve = as_curve(w, floor, mix)
    table = np.zeros((*ordered.shape[:2], ordered.shape[-1]))
    for photo, kind in np.argwhere(ordered.max(axis=(2, 3)) > 0):
        table[photo, kind] = calibration.count_probabilities(ordered[photo, kind], curve)
    table[ordered.max(axis=2) == 0] = 0
    return table


def report(name, ordered, true, crowd):
    """Fit one curve; print what it is worth on photos that it was not fitted on; return it."""
    floor, members = FLOORS.get(name, FLOOR), ordered.shape[2]
    tied = name.endswith(" + yolo-world")
    mix = (1 / (1 + SECOND), SECOND / (1 + SECOND)) if tied else (1 / members,) * members
    rows = [
        (photo, calibration.features(ordered[photo, kind], floor, mix)[k], true[photo, kind] > k)
        for photo, kind in np.argwhere(ordered.max(axis=(2, 3)) > 0)
        for k in np.flatnonzero(ordered[photo, kind].max(axis=0))
    ]
    photo, x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), np.array([r[2] for r in rows], float)
    fit = fit_tied if tied else fit_free
    held = np.zeros((*ordered.shape[:2], ordered.shape[-1]))
    for fold in range(5):
        w = fit(x[photo % 5 != fold], y[photo % 5 != fold])
        mine = np.arange(len(ordered)) % 5 == fold
        held[mine] = chances(ordered[mine], w, floor, mix)
    best, present = held[:, :, 0].ravel(), (true > 0).ravel()
    order = best.argsort()[::-1]
    hits = np.cumsum(present[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + present.sum())
    sure = best >= 0.5
    few = (true >= 1) & (true <= 5) & ~crowd
    p, right = held[ordered.max(axis=2) > 0], (true[:, :, None] > np.arange(MOST))[ordered.max(axis=2) > 0]
    parts = np.array_split(np.argsort(p), 10)
    error = np.mean([abs(p[part].mean() - right[part].mean()) for part in parts])
    print(
        f"{name:23} best F1 {f1.max():.3f}  F1 at .5 {2 * (sure & present).sum() / (sure.sum() + present.sum()):.3f}  "
        f"recall {present[sure].sum() / present.sum():.3f}  counts {((held >= 0.5).sum(2) == true)[few].mean():.3f}  "
        f"calibration error {error:.3f}"
    )
    return as_curve(fit(x, y), floor, mix)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data / "coco"
    settings = load()
    photos = [json.loads(line) for line in (data / "photos.jsonl").open()]
    true = np.array([[Counter(o["category"] for o in photo["objects"])[kind] for kind in COCO] for photo in photos])
    crowds = [{o["category"] for o in photo["objects"] if o["crowd"]} for photo in photos]
    crowd = np.array([[kind in names for kind in COCO] for names in crowds])
    pictures = [load_picture(data / photo["image"], settings) for photo in photos]
    lines = [HEADER.format(data=f"COCO val2017, {len(photos)} photos", date=datetime.date.today())]
    tables = {}
    for name, finds in detectors(settings).items():
        found = [finds(picture) for picture in pictures]
        tables[name] = np.array([[calibration.ordered_scores(labels[kind], MOST) for kind in COCO] for labels in found])
    for name in ("yolo26m", "yolo26x"):
        tables[f"{name} + yolo-world"] = np.concatenate([tables[name], tables["yolo-world"]], axis=2)
    for name, ordered in tables.items():
        curve = report(name, ordered, true, crowd)
        lines.append(f'[curve."{name}"]')
        for key, value in curve._asdict().items():
            lines.append(f"{key} = {[round(w, 4) for w in value] if isinstance(value, tuple) else round(value, 4)}")
        lines.append("")
    Path(calibration.__file__).with_name("curves.toml").write_text("\n".join(lines), encoding="utf-8")


main()
