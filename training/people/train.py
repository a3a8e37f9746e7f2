"""Train the probe for a person's apparent sex and age, from photos with captions to the file that the package ships:

    python training/people/train.py DATA src/onprompt/vision/person_kind.npz --store work

DATA holds pairs.jsonl; each line has `image` (a path beside the file), `text`, and `kind`, of which `photo` is used.
A photo is labelled if most of its captions have a word of one side and none has one of the other, and used if a single
person dominates it. A fifth of the photos, and those in matcher/kept_out.txt, are held out for the figures. Needs
scikit-learn. Nothing is random.
"""

import argparse
import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onprompt.language import name_of
from onprompt.settings import load
from onprompt.vision.backbone import run_backbone
from onprompt.vision.detectors import load_detector
from onprompt.vision.image import load_picture
from onprompt.vision.people import KINDS, person_crops

MALE = r"\b(man|men|guys?|males?|boys?|gentlem[ae]n|father|dad|son|brothers?)\b"
FEMALE = r"\b(wom[ae]n|lad(y|ies)|females?|girls?|mother|mom|daughter|sisters?|bride)\b"
ADULT = r"\b(man|men|wom[ae]n|lad(y|ies)|guys?|gentlem[ae]n|adults?)\b"
CHILD = r"\b(boys?|girls?|child|children|kids?|bab(y|ies)|toddlers?|infants?)\b"
WORDS = {"sex": (MALE, FEMALE), "age": (ADULT, CHILD)}
MAJORITY = 3  # captions of five
CONFIDENT, FAINT = 0.5, 0.3  # confidence of the person, and of others who may compete
DOMINANT = 3  # how many times the area of the second-largest person
BUST = 1.2  # height of a bust, in widths of the box
HELD_OUT, FOLDS = 0.2, 5
STRENGTH = 3e-4  # inverse of the penalty on weights, by cross-validation
SURE = 0.75
KEPT_OUT = Path(__file__).parents[1] / "matcher/kept_out.txt"


def read_captions(folder):
    """The captions of each photo."""
    captions = defaultdict(list)
    for line in (folder / "pairs.jsonl").open():
        row = json.loads(line)
        if row["kind"] == "photo":
            captions[row["image"]].append(row["text"].lower())
    return dict(sorted(captions.items()))


def label(captions, kind):
    """0 or 1 where most captions agree and none has a word of the other side; otherwise -1."""
    first, second = (sum(bool(re.search(words, text)) for text in captions) for words in WORDS[kind])
    if first and second:
        return -1
    return 0 if first >= MAJORITY else 1 if second >= MAJORITY else -1


def dominant_person(picture, settings):
    """The box of the only large person, or None."""
    sightings = load_detector(settings).see(picture, [name_of("person")]).sightings
    people = [sighting for sighting in sightings if sighting.label == "person" and sighting.confidence >= FAINT]
    people.sort(key=lambda person: -person.box.area)
    largest = next((person for person in people if person.confidence >= CONFIDENT), None)
    rivals = [person for person in people if person is not largest]
    if largest is None or any(DOMINANT * rival.box.area > largest.box.area for rival in rivals):
        return None
    return largest.box


def compute_features(folder, names, store):
    """Names, sizes in pixels, and features of the person and the bust, each also mirrored; cached in `store`."""
    cached = store / f"people-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]}.npz"
    if not cached.is_file():
        settings = load(permissive=True, detector="coco")
        rows = [row for name in names if (row := photo_row(folder, name, settings))]
        columns = (np.array(column) for column in zip(*rows, strict=True))
        np.savez(cached, **dict(zip(("name", "pixels", "features"), columns, strict=True)))
    with np.load(cached, allow_pickle=False) as data:
        return data["name"], data["pixels"], data["features"].astype(np.float32)


def photo_row(folder, name, settings):
    """A photo's name, the sides of the box in pixels, and four rows of features; None without a dominant person."""
    picture = load_picture(folder / name, settings)
    box = dominant_person(picture, settings)
    if box is None:
        return None
    features = np.concatenate([view_features(picture, view, settings) for view in (box, bust(picture, box))])
    height, width = picture.pixels.shape[:2]
    return name, (box.width * width, box.height * height), features


def bust(picture, box):
    """The upper part of a box, so that adults are seen as close as in portraits; most close photos are of children."""
    height, width = picture.pixels.shape[:2]
    return box._replace(bottom=min(box.bottom, box.top + BUST * box.width * width / height))


def view_features(picture, box, settings):
    """The features of a person, and of the mirror image."""
    crops = person_crops(picture.pixels, box)
    mirrored = [np.ascontiguousarray(crop[:, ::-1]) for crop in crops]
    return run_backbone([*crops, *mirrored], settings)[0].reshape(2, -1).astype(np.float16)


def is_held_out(name, kept_out):
    """A fifth of the photos, by a hash of their names, and those that benchmarks measure on."""
    fraction = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) / 16**8
    return Path(name).name in kept_out or fraction < HELD_OUT


def balance(labels, others):
    """Weights by which both sides count the same, and on each side the sides of the other kind: men are older here."""
    cells = [(labels == side) & (others == other) for side in (0, 1) for other in (-1, 0, 1)]
    return sum(cell / max(1, cell.sum()) for cell in cells) * len(labels) / len(cells)


def fit(features, labels, weights):
    """A logistic regression on all views of the photos."""
    photos, views, _ = features.shape
    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=2000))
    rows = features.swapaxes(0, 1).reshape(photos * views, -1)
    return model.fit(rows, np.tile(labels, views), logisticregression__sample_weight=np.tile(weights, views))


def out_of_fold(features, labels, weights):
    """The log-odds of each photo by a model that has not seen it."""
    scores = np.empty(len(labels))
    for seen, unseen in KFold(FOLDS).split(labels):
        scores[unseen] = fit(features[seen], labels[seen], weights[seen]).decision_function(features[unseen, 0])
    return scores


def calibrate(scores, labels):
    """The slope and intercept that make log-odds of scores."""
    line = LogisticRegression(C=1e6, class_weight="balanced").fit(scores[:, None], labels)
    return line.coef_[0, 0], line.intercept_[0]


def linear(model, slope, intercept):
    """Scaling, regression and calibration as one linear map of the raw features."""
    scaler, regression = (step for _, step in model.steps)
    weights = slope * regression.coef_[0] / scaler.scale_
    return weights, slope * regression.intercept_[0] + intercept - weights @ scaler.mean_


def figures(chances, labels):
    """AUC, accuracy, and how many cases are decided how well where only clear ones are."""
    right, sure = (chances >= 0.5) == labels, np.maximum(chances, 1 - chances) >= SURE
    return (
        f"{len(labels):4} photos, AUC {roc_auc_score(labels, chances):.3f}, accuracy {right.mean():.3f}; "
        f"decided {sure.mean():.3f}, right {right[sure].mean():.3f}"
    )


def report(kind, chances, labels, pixels):
    """The figures of the held-out photos, by the height of the box."""
    print(kind, figures(chances, labels), flush=True)
    heights = pixels[:, 1]
    for low, high in ((0, 80), (80, 120), (120, 180), (180, 999)):
        chosen = (heights >= low) & (heights < high)
        print(f"  {low:3} to {high:3} pixels high:", figures(chances[chosen], labels[chosen]))
    for side, name in enumerate(KINDS[kind]):
        print(f"  {name}: {((chances >= 0.5) == side)[labels == side].mean():.3f} of {(labels == side).sum()} right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--store", type=Path, default=Path(), help="a folder to cache the features in")
    options = parser.parse_args()
    captions = read_captions(options.data)
    wanted = [name for name, texts in captions.items() if any(label(texts, kind) >= 0 for kind in KINDS)]
    names, pixels, features = compute_features(options.data, wanted, options.store)
    kept_out = set(KEPT_OUT.read_text().split())
    held_out = np.array([is_held_out(name, kept_out) for name in names])
    labels = {kind: np.array([label(captions[name], kind) for name in names]) for kind in KINDS}
    weights = {}
    for kind, other in (("sex", "age"), ("age", "sex")):
        known = labels[kind] >= 0
        trained, tested = known & ~held_out, known & held_out
        data = features[trained], labels[kind][trained], balance(labels[kind][trained], labels[other][trained])
        scores = out_of_fold(*data)
        print(f"{kind}: trained on {trained.sum()} photos, AUC in folds {roc_auc_score(data[1], scores):.4f}")
        weights[kind], weights[f"{kind}.intercept"] = linear(fit(*data), *calibrate(scores, data[1]))
        scores = features[tested, 0] @ weights[kind] + weights[f"{kind}.intercept"]
        report(kind, 1 / (1 + np.exp(-scores)), labels[kind][tested], pixels[tested])
    np.savez(options.out, **{name: np.asarray(value, dtype=np.float32) for name, value in weights.items()})


if __name__ == "__main__":
    main()
