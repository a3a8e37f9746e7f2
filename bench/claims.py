"""Calibration: are claims as often true as their probability says? `python bench/claims.py DATA`

DATA holds coco/photos.jsonl. Claims with known truth come from annotated photos: a class that is there or absent, a
class whose best detection is uncertain, a count that is right or off, a recolored object in its color or another, a
side or the other one, a noun outside the 80 classes that nothing shows. Each claim is one prompt. What is compared with
the truth is the probability of its check: given that its object is there, for a count, a color or a side.

Expected calibration error: claims in 10 bins of equal width by probability; the sum over all bins of the share of
claims in the bin, times the distance of their mean probability from the share that is true. A kind takes true and false
claims together, but for nouns, which are all false. Parts of a kind are all true or all false: there, mean probability
says more than an error. A claim that belongs to two kinds counts once in `all`.

Unread claims are those that a verdict has no check for; they count in no figure but `held`. An interval holds a score
s if s/4 lies in it or within .125 of it; it is right if it holds an accepted score. Prints a table and one JSON line.
--cases writes each claim with its probability and verdict.
"""

import argparse
import csv
import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from cases import NUMBERS, plural, with_article
from PIL import Image, ImageDraw
from plain_photos import GROUPS, UNCOUNTED, named, photos

from onprompt import see, verify

BINS = 10
MANY = 10
HALF_STEP = 0.125  # half of the distance between two scores, as values
WEAK = 0.1, 0.5  # the best confidence of a class that is neither seen nor unseen
CLEAR = 0.02  # share of the photo from which an object is beyond doubt there
VISIBLE = 0.005  # from which it is counted and placed
PAINTABLE = 0.02  # from which it is painted, by its outline
LIMITS = {"absent": 5, "count": 6, "color": 4, "side": 4, "noun": 6}  # of a photo; colors: of an object
VAGUE = ("dining table", "book")  # what counts as one is a matter of taste
PAINTED = (
    *("car", "bus", "truck", "train", "boat", "umbrella", "suitcase", "backpack", "handbag", "couch", "chair", "bed"),
    *("vase", "bowl", "cup", "bottle", "bench", "kite", "surfboard", "frisbee", "tie", "motorcycle", "bicycle"),
    "refrigerator",
)
COLORS = {
    "red": (200, 25, 35),
    "orange": (245, 130, 20),
    "yellow": (245, 215, 40),
    "green": (25, 140, 50),
    "blue": (30, 75, 200),
    "purple": (120, 40, 150),
    "pink": (245, 140, 185),
    "brown": (110, 70, 35),
    "black": (28, 28, 28),
    "white": (240, 240, 240),
    "gray": (128, 128, 128),
}
FAR = 60  # distance in CIELAB from which two of these colors are beyond doubt different
NOUNS = (
    *("fox", "wolf", "tiger", "penguin", "camel", "kangaroo", "monkey", "owl", "frog", "snake", "crocodile", "shark"),
    *("whale", "dolphin", "octopus", "crab", "jellyfish", "peacock", "flamingo", "ostrich", "panda", "rhinoceros"),
    *("hippopotamus", "hedgehog", "lobster", "spider", "dinosaur", "dragon", "unicorn", "robot", "ladybug"),
    *("lighthouse", "windmill", "pyramid", "volcano", "igloo", "submarine", "helicopter", "rocket", "cannon"),
    *("sword", "violin", "trumpet", "piano", "harp", "accordion", "saxophone", "cello", "telescope", "microscope"),
    *("anvil", "wheelchair", "hammock", "treadmill", "pineapple", "watermelon", "hourglass", "astronaut", "mermaid"),
    *("pirate", "ballerina", "scarecrow", "typewriter", "sewing machine", "gramophone", "ferris wheel", "carousel"),
    "chessboard",
)
COLUMNS = (*("kind", "part", "photo", "prompt", "true", "accepted"), *("probability", "score", "value", "low", "high"))


@dataclass(frozen=True)
class Case:
    """A prompt of one claim on a picture, whether the claim is true, and the scores that the protocol allows."""

    kind: str
    part: str
    photo: str
    prompt: str
    claim: str  # the kind of the claim that is meant
    true: bool
    accepted: frozenset[int]
    picture: Callable[[], Any]


def cases(photo, seed):
    """All claims on a photo, in an order that depends on the seed and the photo alone."""
    for maker in (objects, weak, counts, colors, sides, nouns):
        yield from maker(photo, random.Random(f"{seed} {maker.__name__} {photo.path.stem}"))


def case(photo, kind, part, prompt, claim, true, accepted, picture=None):
    return Case(kind, part, photo.path.stem, prompt, claim, true, frozenset(accepted), picture or (lambda: photo.path))


def accepted_of(number):
    """Of "a cat" where so many are there: two or three are a minor point at most, a crowd is a wrong count."""
    return {1: {4}, 2: {3, 4}, 3: {3, 4}}.get(number, {2, 3})


def objects(photo, chance):
    """Classes with an object that is large enough, and classes of whose group nothing is there."""
    for kind, things in photo.of.items():
        if max(map(photo.area, things)) > CLEAR:
            number = MANY if any(thing["crowd"] for thing in things) else len(things)
            yield case(photo, "object", "there", named(kind), "object", True, accepted_of(number))
    for kind in chance.sample(photo.absent, min(LIMITS["absent"], len(photo.absent))):
        yield case(photo, "object", "absent", named(kind), "object", False, {0})


def visible(photo, most):
    """The classes with at most so many objects, each of them large enough and annotated as one thing alone."""
    return {
        kind: things
        for kind, things in photo.of.items()
        if len(things) <= most
        and kind not in (*UNCOUNTED, *VAGUE)
        and not any(thing["crowd"] or photo.area(thing) < VISIBLE or photo.is_twofold(thing) for thing in things)
    }


def weak(photo, _):
    """Classes that the detector is not sure of; in place of an absent one there may be a kindred one."""
    best = {}
    for sighting in see(photo.path, attributes=False):
        best[sighting.label] = max(sighting.confidence, best.get(sighting.label, 0))
    for kind in sorted(kind for kind, confidence in best.items() if WEAK[0] <= confidence <= WEAK[1]):
        things = photo.of.get(kind, ())
        kindred = any(kind in kinds and name in photo.groups for name, kinds in GROUPS.items())
        accepted = accepted_of(len(things)) if things else {0, 1} if kindred else {0}
        yield case(photo, "weak", "there" if things else "absent", named(kind), "object", bool(things), accepted)


def counts(photo, chance):
    """One to five of a kind, and one more or fewer."""
    countable = [(kind, len(things)) for kind, things in visible(photo, most=5).items()]
    for kind, number in chance.sample(countable, min(LIMITS["count"], len(countable))):
        other = number + (1 if number == 1 else chance.choice((-1, 1)))
        yield case(photo, "count", "right", several(number, kind), "count", True, {4})
        yield case(photo, "count", "off", several(other, kind), "count", False, {2, 3})


def several(number, kind):
    return f"{NUMBERS[number]} {kind if number == 1 else plural(kind)}"


def colors(photo, chance):
    """An object that is there once, painted: in its color, and in one that is far from it."""
    for kind, (thing,) in visible(photo, most=1).items():
        if kind in PAINTED and outlined(photo.size, thing).mean() > PAINTABLE:
            for color in chance.sample(sorted(COLORS), LIMITS["color"]):
                picture = partial(painted, photo.path, thing, COLORS[color])
                far = [name for name in COLORS if np.linalg.norm(lab(COLORS[name]) - lab(COLORS[color])) > FAR]
                for part, name in (("right", color), ("other", chance.choice(far))):
                    right = part == "right"
                    prompt = f"{with_article(name)} {kind}"
                    yield case(photo, "color", part, prompt, "color", right, {4} if right else {2, 3}, picture)


def outlined(size, thing):
    """The pixels of an object."""
    mask = Image.new("L", size)
    for polygon in thing["segmentation"]:
        ImageDraw.Draw(mask).polygon(list(zip(polygon[::2], polygon[1::2], strict=True)), fill=1)
    return np.array(mask).astype(bool)


def lab(pixels):
    """CIELAB of RGB pixels of any shape."""
    pixels = np.asarray(pixels, np.float32) / 255
    return cv2.cvtColor(pixels.reshape(1, -1, 3), cv2.COLOR_RGB2LAB).reshape(pixels.shape)


def painted(path, thing, color):
    """A photo with one object in another color: half of its light and shade stay, a tenth of its own tints."""
    photo = Image.open(path).convert("RGB")
    mask, pixels = outlined(photo.size, thing), np.array(photo)
    old = lab(pixels[mask])
    new = lab(color) + (old - old.mean(axis=0)) * np.float32((0.5, 0.1, 0.1))
    new[:, 0] = new[:, 0].clip(2, 98)
    pixels[mask] = (cv2.cvtColor(new[None], cv2.COLOR_LAB2RGB)[0].clip(0, 1) * 255).astype(np.uint8)
    return pixels


def sides(photo, chance):
    """Two objects whose boxes are side by side; each side once as it is and once swapped."""
    lone = {named(kind): photo.box(things[0]) for kind, things in visible(photo, most=1).items()}
    pairs = [(left, right) for left in lone for right in lone if lone[left][2] < lone[right][0]]
    for left, right in chance.sample(pairs, min(LIMITS["side"], len(pairs))):
        yield case(photo, "side", "right", f"{left} to the left of {right}", "relation", True, {4})
        yield case(photo, "side", "right", f"{right} to the right of {left}", "relation", True, {4})
        yield case(photo, "side", "swapped", f"{right} to the left of {left}", "relation", False, {2, 3})
        yield case(photo, "side", "swapped", f"{left} to the right of {right}", "relation", False, {2, 3})


def nouns(photo, chance):
    """Nouns outside the 80 classes that no caption names."""
    unnamed = [noun for noun in NOUNS if not photo.said(noun)]
    for noun in chance.sample(unnamed, LIMITS["noun"]):
        yield case(photo, "noun", "absent", with_article(noun), "object", False, {0, 1})


def judged(case):
    verdict = verify(case.picture(), case.prompt)
    found = [check.probability for check in verdict.checks if check.claim.kind == case.claim]
    probability = found[0] if found else None  # None: the verdict has no such claim
    accepted = "/".join(map(str, sorted(case.accepted)))
    shown = probability, verdict.score, verdict.value, *verdict.interval
    named_as = case.kind, case.part, case.photo, case.prompt, case.true, accepted
    return dict(zip(COLUMNS, (*named_as, *shown), strict=True))


def calibration_error(probabilities, truths):
    """The sum over bins of |bin| / n · |mean probability in the bin − share that is true|."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = (probabilities - truths)[:, None] * (bins[:, None] == np.arange(BINS))
    return float(np.abs(gaps.sum(axis=0)).sum() / len(probabilities))


def holds(row):
    """Whether the interval holds an accepted score."""
    low, high = row["low"] - HALF_STEP, row["high"] + HALF_STEP
    return any(low <= int(score) / 4 <= high for score in row["accepted"].split("/"))


def figures(rows):
    """Calibration over a set of claims, and how often intervals hold an accepted score."""
    read = [row for row in rows if row["probability"] is not None]
    told = {"n": len(rows), "unread": len(rows) - len(read), "held": sum(map(holds, rows)) / len(rows)}
    if read:
        probabilities = np.array([row["probability"] for row in read])
        truths = np.array([row["true"] for row in read], float)
        told |= {
            "true": truths.mean(),
            "mean": probabilities.mean(),
            "ece": calibration_error(probabilities, truths),
            "brier": ((probabilities - truths) ** 2).mean(),
        }
    return {name: round(float(figure), 3) if name not in ("n", "unread") else figure for name, figure in told.items()}


def summary(rows):
    kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in dict.fromkeys(row["kind"] for row in rows)}
    distinct = {(row["photo"], row["prompt"], row["true"]): row for row in rows if row["kind"] != "color"}
    once = [*distinct.values(), *kinds.get("color", ())]
    told = {"what": "claims", "all": figures(once)}
    for kind, mine in kinds.items():
        told[kind] = figures(mine)
        parts = dict.fromkeys(row["part"] for row in mine)
        told |= {f"{kind}, {part}": figures([row for row in mine if row["part"] == part]) for part in parts}
    if uncertain := kinds.get("weak"):
        told["weak_there"] = round(sum(row["true"] for row in uncertain) / len(uncertain), 3)
        told["weak_value"] = round(sum(row["value"] for row in uncertain) / len(uncertain), 3)
    if unknown := kinds.get("noun"):
        told["nouns_3_or_4"] = round(sum(row["score"] >= 3 for row in unknown) / len(unknown), 3)
    return told


def print_table(told):
    sets = {name: found for name, found in told.items() if isinstance(found, dict)}
    names = ("n", "unread", "true", "mean", "ece", "brier", "held")
    print(f"{'claims':16}", *(f"{name:>7}" for name in names))
    for name, found in sets.items():
        print(f"{name:16}", *(f"{found.get(figure, '–'):>7}" for figure in names))
    if "weak" in told:
        print(f"weak detections: mean value {told['weak_value']}, really there {told['weak_there']}")
    if "noun" in told:
        print(f"absent nouns outside the classes: score 3 or 4 in {told['nouns_3_or_4']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--photos", type=int, metavar="N", help="the first N in a shuffled order. Default: all.")
    parser.add_argument("--cases", type=Path, metavar="OUT.csv")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = photos(options.data)
    random.Random(options.seed).shuffle(found)
    start, rows = time.perf_counter(), []
    with (options.cases or Path(os.devnull)).open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for photo in found[: options.photos]:
            for each in cases(photo, options.seed):
                rows.append(judged(each))
                writer.writerow(rows[-1])
    told = summary(rows) | {"s_per_claim": round((time.perf_counter() - start) / len(rows), 3)}
    print_table(told)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
