"""Calibrating a matcher on images that come with captions: own captions against those of other images.

Phrases are calibrated on what the captions name: a name that only another image's caption has counts as wrong,
though an image may well show what its caption leaves out.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from onprompt.errors import PromptError, UserError
from onprompt.evidence.observe import NOT_ENGLISH, text_to_match
from onprompt.language import correct_spelling, parse_many
from onprompt.settings import Settings
from onprompt.vision.boxes import Floats
from onprompt.vision.matchers.small import MAX_LENGTH
from onprompt_hub.match_curve import Cosines, Curve, fit_curve

FEWEST = 50  # images; with fewer, the curve depends on which they are
OTHERS = 20  # captions of other images, and images whose phrases are taken, for each image
FOLDS = 5
LEAST_AUC = 0.6  # below this, scores say next to nothing about which caption is right


class Example(NamedTuple):
    """An image by its sha256 and the vectors of its views (the whole first), with one caption."""

    image: str
    views: Floats
    caption: str


class Scores(NamedTuple):
    """Cosines of each image with its own texts and with those of others."""

    right: list[Cosines]
    wrong: list[Cosines]

    def part(self, images: Iterable[int]) -> tuple[Cosines, Cosines]:
        """The cosines of some of the images."""
        chosen = list(images)
        right, wrong = (np.concatenate([rows[index] for index in chosen]) for rows in self)
        return right, wrong


class Fitted(NamedTuple):
    """A curve, and how well it does on images that it was not fitted on."""

    curve: Curve
    auc: float
    log_loss: float  # of curves fitted on the other images
    log_loss_before: float  # of the curve that the model has without calibration


def calibrate(
    examples: Iterable[Example], embed: Callable[[Sequence[str]], Floats], before: Curve, settings: Settings
) -> tuple[dict[str, Fitted], dict[str, int]]:
    """The curves for `whole` images and for `phrase`s, and how many images and texts they were fitted on."""
    views: dict[str, Floats] = {}
    captions: dict[str, list[str]] = defaultdict(list)
    for example in examples:
        views[example.image] = example.views
        captions[example.image].append(example.caption)
    texts, phrases = read_captions(captions, settings)
    names = [name for name in views if texts[name]]
    random.Random(0).shuffle(names)  # noqa: S311 neighbours in a table are often alike
    if len(names) < FEWEST:
        raise UserError(f"{len(names)} images with English captions are too few to calibrate on: {FEWEST} are needed")
    whole = score(names, texts, embed, lambda name: views[name][:1])
    parts = score(names, phrases, embed, lambda name: views[name])
    counts = {"images": len(names), "captions": sum(len(texts[name]) for name in names)}
    counts["phrases"] = sum(len(phrases[name]) for name in names)
    return {"whole": fit(whole, before, "captions"), "phrase": fit(parts, before, "phrases")}, counts


def read_captions(
    captions: dict[str, list[str]], settings: Settings
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Of each image its captions as a matcher is given them, and the phrases in them; those in English."""
    pairs = [(name, caption) for name, own in captions.items() for caption in own]
    texts: dict[str, list[str]] = defaultdict(list)
    phrases: dict[str, set[str]] = defaultdict(set)
    for (name, caption), scene in zip(pairs, parse_many((caption for _, caption in pairs), settings), strict=True):
        if isinstance(scene, PromptError) or NOT_ENGLISH in scene.flags:
            continue
        if text := correct_spelling(text_to_match(caption, scene)[:MAX_LENGTH]):
            texts[name].append(text)
        said = {word for thing in scene.things if not thing.absent for word in (thing.phrase, thing.canonical)}
        phrases[name] |= {correct_spelling(phrase) for phrase in said}
    return texts, defaultdict(list, {name: sorted(said) for name, said in phrases.items()})


def score(
    names: Sequence[str],
    texts: dict[str, list[str]],
    embed: Callable[[Sequence[str]], Floats],
    views: Callable[[str], Floats],
) -> Scores:
    """For each image the best cosine of its views with its own texts, and with those of the next images."""
    known = sorted({text for name in names for text in texts[name]})
    vectors = dict(zip(known, embed(known), strict=True)) if known else {}
    scores = Scores([], [])
    for index, name in enumerate(names):
        next_names = [names[(index + step) % len(names)] for step in range(1, OTHERS + 1)]
        others = [text for other in next_names for text in texts[other] if text not in texts[name]]
        for into, chosen in ((scores.right, texts[name]), (scores.wrong, others)):
            rows = [(views(name) @ vectors[text]).max() for text in chosen]
            into.append(np.array(rows, dtype=np.float64))
    return scores


def fit(scores: Scores, before: Curve, of: str) -> Fitted:
    """The curve, with its log loss by cross-validation over images."""
    images = [i for i, pair in enumerate(zip(*scores, strict=True)) if all(map(len, pair))]
    if len(images) < FEWEST:
        raise UserError(f"{len(images)} images with {of} of their own are too few to calibrate on: {FEWEST} are needed")
    right, wrong = scores.part(images)
    auc = area_under_curve(right, wrong)
    curve = fit_curve(right, wrong)
    if auc < LEAST_AUC or curve.slope <= 0:
        raise UserError(
            f"the model does not tell the images' own {of} from those of others (AUC {auc:.2f}): "
            "there is nothing to calibrate. Do images and captions belong together?"
        )
    folds = [set(images[start::FOLDS]) for start in range(FOLDS)]
    rest = [[index for index in images if index not in fold] for fold in folds]
    held = [fit_curve(*scores.part(rest[k])).log_loss(*scores.part(fold)) for k, fold in enumerate(folds)]
    return Fitted(curve, auc, float(np.mean(held)), before.log_loss(right, wrong))


def area_under_curve(right: Cosines, wrong: Cosines) -> float:
    """How often a right text scores higher than a wrong one; equal scores count half."""
    ordered = np.sort(wrong)
    below = [np.searchsorted(ordered, right, side) for side in ("left", "right")]
    return float(np.mean(below) / len(wrong))
