"""Fit the curves of vision/boxes.py: `python bench/calibrate.py DATA` where DATA/coco holds annotated photos.

A curve gives the probability that a photo holds at least k objects of a kind, from the scores that a detector gives
to them. Fitted by logistic regression over all kinds and photos; writes curves.toml in vision and, for the detectors of
onprompt-yolo if it is installed, in that package. Prints what curves fitted
on four fifths of the photos are worth on the rest: how well kinds are found and counted, and how true .5 is.
`--only NAME` refits one curve and keeps the others.
"""

import argparse
import datetime
import json
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from onprompt.language import name_of
from onprompt.settings import load
from onprompt.vision import boxes
from onprompt.vision.detectors import coco
from onprompt.vision.image import load_picture
from onprompt.vision.vocabulary import COCO

try:
    import onprompt_yolo
    from onprompt_yolo import world, yolo26
except ModuleNotFoundError:
    onprompt_yolo = None

MOST = 12  # objects of a kind looked at in a photo
FLOOR = 0.01  # raw scores below this are taken as this
FLOORS = {"yolo-world": 0.001}  # of an open vocabulary fainter scores still tell names apart
# Networks whose weights are in a fixed ratio. On photos YOLO-World's score makes no difference beside YOLO26's, so a
# free fit makes it nothing; on 259 generated images it orders pairs of one prompt better (.704 alone, .723 together).
# Free weights of six networks are worse on other photos (F1 .785) than these (.799) or equal ones (.793).
RATIOS = {"yolo26m + yolo-world": (1, 0.35), "yolo26x + yolo-world": (1, 0.35)}
LIGHTEST = 1.0  # strength of the pull towards small weights
HEADER = """# Written by bench/calibrate.py; see vision/boxes.py for what the numbers mean.
data = "{data}"
fitted = "{date}"
"""


def detectors(settings):
    """Each detector by the name of its curve: a function that loads it and returns a function of a picture."""
    names = [name_of(word) for word in COCO]

    def closed(make):
        detector = make()
        return lambda picture: detector.candidates(picture, detector.known(names))

    def opened():
        detector = world.load(settings)
        return lambda picture: detector.candidates(detector.score(picture, names), names, detector.known(names))

    small = {coco.CURVE: partial(coco.load, settings)}
    if not onprompt_yolo:
        return {name: partial(closed, make) for name, make in small.items()}
    files = (yolo26.MEDIUM, yolo26.LARGE)
    large = {file.removesuffix(".pt"): partial(yolo26.load_with, file, settings) for file in files}
    return {name: partial(closed, make) for name, make in (small | large).items()} | {"yolo-world": opened}


def fit_ratio(x, y, mix):
    """The same with one weight for all networks, multiplied by the share of each."""
    w = fit_free(np.column_stack([x[:, : len(mix)] @ mix, x[:, len(mix) :]]), y)
    return np.r_[w[0], w[1] * np.array(mix), w[2:]]


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
    return boxes.Curve("", floor, float(w[0]), mix, tuple(map(float, w[1 : 1 + own])), *map(float, w[1 + own :]))


def chances(ordered, w, floor, mix):
    """Probabilities of a whole table: photos × kinds × k."""
    curve = as_curve(w, floor, mix)
    table = np.zeros((*ordered.shape[:2], ordered.shape[-1]))
    for photo, kind in np.argwhere(ordered.max(axis=(2, 3)) > 0):
        table[photo, kind] = boxes.count_probabilities(ordered[photo, kind], curve)
    table[ordered.max(axis=2) == 0] = 0
    return table


def report(name, ordered, true, crowd):
    """Fit one curve; print what it is worth on photos that it was not fitted on; return it."""
    floor, members = FLOORS.get(name, FLOOR), ordered.shape[2]
    ratio = RATIOS.get(name, (1,) * members)
    mix = tuple(part / sum(ratio) for part in ratio)
    rows = [
        (photo, boxes.features(ordered[photo, kind], floor, mix)[k], true[photo, kind] > k)
        for photo, kind in np.argwhere(ordered.max(axis=(2, 3)) > 0)
        for k in np.flatnonzero(ordered[photo, kind].max(axis=0))
    ]
    photo, x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), np.array([r[2] for r in rows], float)
    fit = partial(fit_ratio, mix=mix) if name in RATIOS else fit_free
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
        f"{name:30} best F1 {f1.max():.3f}  F1 at .5 {2 * (sure & present).sum() / (sure.sum() + present.sum()):.3f}  "
        f"recall {present[sure].sum() / present.sum():.3f}  counts {((held >= 0.5).sum(2) == true)[few].mean():.3f}  "
        f"calibration error {error:.3f}"
    )
    return as_curve(fit(x, y), floor, mix)


def write(path, header, fitted):
    """Write the curves of a file anew, those that were not fitted as they are."""
    lines, curves = [header], boxes.load_curves(path)
    if not curves.keys() & fitted.keys():
        return
    for name, curve in curves.items():
        lines.append(f'[curve."{name}"]')
        for key, value in fitted.get(name, curve)._asdict().items():
            if key != "source":
                lines.append(f"{key} = {[round(w, 4) for w in value] if isinstance(value, tuple) else round(value, 4)}")
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    data, settings = options.data / "coco", load()
    photos = [json.loads(line) for line in (data / "photos.jsonl").open()]
    true = np.array([[Counter(o["category"] for o in photo["objects"])[kind] for kind in COCO] for photo in photos])
    crowds = [{o["category"] for o in photo["objects"] if o["crowd"]} for photo in photos]
    crowd = np.array([[kind in names for kind in COCO] for names in crowds])
    pictures = [load_picture(data / photo["image"], settings) for photo in photos]
    tables = {}
    for name, make in detectors(settings).items():
        if options.only in (None, name):
            finds = make()
            found = [finds(picture) for picture in pictures]
            scores = [[boxes.ordered_scores(labels[kind], MOST) for kind in COCO] for labels in found]
            tables[name] = np.array(scores)
    if onprompt_yolo and not options.only:
        for name in ("yolo26m", "yolo26x"):
            tables[f"{name} + yolo-world"] = np.concatenate([tables[name], tables["yolo-world"]], axis=2)
    fitted = {name: report(name, ordered, true, crowd) for name, ordered in tables.items()}
    header = HEADER.format(data=f"COCO val2017, {len(photos)} photos", date=datetime.date.today())
    for path in (boxes.CURVES, *([onprompt_yolo.CURVES] if onprompt_yolo else [])):
        write(path, header, fitted)


main()
